//! A mock LLM provider. It answers like the real ones, by a script that a test may set, and records every request
//! exactly as it arrived. It runs on its own threads, so that a test may block. What must not live here: the answers of
//! one provider, which have a file each.

pub mod answer;
pub mod anthropic;
pub mod bedrock;
pub mod gemini;
pub mod gemini_interactions;
pub mod openai_chat;
pub mod openai_responses;
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
pub use sentinel_wire::{event_stream, pairing};

use crate::threads::Threads;

/// One request as it reached the provider.
#[derive(Clone, Debug)]
pub struct Received {
    /// The number of the connection, from 0. Two requests on the same connection have the same number.
    pub connection: usize,
    pub method: String,
    /// With the query.
    pub path: String,
    /// Host and port of the URI, as HTTP/2 carries them.
    pub authority: Option<String>,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub trailers: Option<HeaderMap>,
    /// Whether the body arrived completely.
    pub complete: bool,
}

impl Received {
    /// First value of a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The host that the request was sent to, in HTTP/1.1 or HTTP/2.
    pub fn host(&self) -> Option<String> {
        self.authority.clone().or_else(|| self.header("host").map(str::to_owned))
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("the provider got JSON")
    }
}

/// Makes the answer to a request.
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
    /// Starts on a free port with the script [`faithful`].
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

    /// Every request whose body has arrived completely or was cut off, in that order.
    pub fn received(&self) -> Vec<Received> {
        self.shared.received.lock().expect("no one panics with it").clone()
    }

    /// The last request.
    pub fn last(&self) -> Received {
        self.received().pop().expect("the provider has got a request")
    }

    pub fn count(&self) -> usize {
        self.shared.received.lock().expect("no one panics with it").len()
    }
}
