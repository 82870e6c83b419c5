//! A mock LLM provider: answers as the real ones do, by a script that each test may give, and keeps every request
//! exactly as it came. Runs on threads of its own, so that a test may block.
//! What must not live here: how the answers of one provider look (one file each beside this one).

pub mod answer;
pub mod anthropic;
pub mod bedrock;
pub mod event_stream;
pub mod gemini;
pub mod gemini_interactions;
pub mod openai_chat;
pub mod openai_responses;
pub mod pairing;
pub mod reply;
mod server;
pub mod sigv4;
pub mod vertex;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use hyper::HeaderMap;

pub use answer::{Answer, Gate, Piece};
pub use reply::{Reply, faithful, speak};

use crate::threads::Threads;

/// One request as it reached the provider.
#[derive(Clone, Debug)]
pub struct Received {
    /// Counts connections from 0: tells whether two requests came over the same one.
    pub connection: usize,
    pub method: String,
    /// With the query.
    pub path: String,
    /// Host and port of the URI, as HTTP/2 carries them.
    pub authority: Option<String>,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub trailers: Option<HeaderMap>,
    /// Whether the body came to its end.
    pub complete: bool,
}

impl Received {
    /// First value of a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Whom the request was meant for, in either HTTP.
    pub fn host(&self) -> Option<String> {
        self.authority.clone().or_else(|| self.header("host").map(str::to_owned))
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("the provider got JSON")
    }
}

/// From a request to its answer.
pub type Script = Arc<dyn Fn(&Received) -> Answer + Send + Sync>;

pub struct Provider {
    address: SocketAddr,
    shared: Arc<Shared>,
    _threads: Threads,
}

pub(crate) struct Shared {
    pub(crate) script: Mutex<Script>,
    pub(crate) received: Mutex<Vec<Received>>,
}

impl Provider {
    /// On a free port, with the script [`faithful`].
    pub fn start() -> Self {
        Self::start_on(SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    pub fn start_on(address: SocketAddr) -> Self {
        let shared =
            Arc::new(Shared { script: Mutex::new(Arc::new(faithful)), received: Mutex::new(Vec::new()) });
        let threads = Threads::start();
        let (listener, address) = threads.listen_on(address);
        threads.spawn(server::run(listener, Arc::clone(&shared)));
        Self { address, shared, _threads: threads }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn script(&self, script: impl Fn(&Received) -> Answer + Send + Sync + 'static) {
        *self.shared.script.lock().expect("no one panics with it") = Arc::new(script);
    }

    /// Every request whose body has come to its end or been cut, in that order.
    pub fn received(&self) -> Vec<Received> {
        self.shared.received.lock().expect("no one panics with it").clone()
    }

    /// The last one.
    pub fn last(&self) -> Received {
        self.received().pop().expect("the provider has got a request")
    }

    pub fn count(&self) -> usize {
        self.shared.received.lock().expect("no one panics with it").len()
    }
}
