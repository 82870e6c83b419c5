//! An agent on one keep-alive HTTP/1.1 connection. The request is built before the clock starts, and the answer is
//! checked after it has stopped.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sentinel_harness::process::PATIENCE;

use crate::case::Case;
use crate::conversation::{Dice, SLOT, slot_of};
use crate::upstream::{head_of, header};

/// Digits in an agent's number.
const DIGITS: usize = 12;
/// Number of agents on a connection, unless a case wants a new one for each request.
const AGENTS: u64 = 8;

/// Precedes the 16 hexadecimal digits of an id in the results of `conversation.rs`.
pub const ROW: &str = r#"{\"id\":\""#;

/// Counts agents that are used only once, and words of each client.
static NEXT: AtomicU64 = AtomicU64::new(1);

pub struct Client {
    stream: TcpStream,
    /// Head and body, as sent.
    request: Vec<u8>,
    /// Where the agent's number stands in it. `None` if no agent is named.
    agent_at: Option<usize>,
    /// Where the words stand that make each request different.
    slot_at: Option<usize>,
    /// Where the ids stand that make each result different. Empty if results repeat.
    ids_at: Vec<usize>,
    dice: Dice,
    /// The first number of this client's agents. `None` if each request has an agent of its own.
    agents: Option<u64>,
    sent: u64,
    answer: Vec<u8>,
}

impl Client {
    pub fn open(to: SocketAddr, case: &Case) -> Self {
        Self::with_body(to, case, &case.body())
    }

    /// The case's requests with this body.
    pub fn with_body(to: SocketAddr, case: &Case, body: &str) -> Self {
        let stream = TcpStream::connect(to).expect("Envoy accepts a connection");
        stream.set_nodelay(true).expect("no delay");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        let mut head = format!(
            "POST {} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\ncontent-type: application/json\r\n\
             user-agent: OpenAI/Python 2.8.0\r\nx-stainless-lang: python\r\nx-stainless-retry-count: 0\r\n\
             authorization: Bearer sk-0123456789abcdef0123456789abcdef\r\n",
            case.path
        );
        let agent_at = (!case.agent.is_empty()).then(|| {
            head.push_str(&format!("x-agent-id: {}", case.agent));
            let at = head.len();
            head.push_str(&format!("{}\r\n", "0".repeat(DIGITS)));
            at
        });
        head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        let slot_at = slot_of(body).map(|at| head.len() + at);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            stream,
            request: [head.as_bytes(), body.as_bytes()].concat(),
            agent_at,
            slot_at,
            ids_at: Vec::new(),
            dice: Dice::new(number),
            agents: (!case.asks_service).then_some(number * AGENTS),
            sent: 0,
            answer: Vec::with_capacity(4_096),
        }
    }

    /// Uses the same agents as `other`, so that this client's requests belong to their runs.
    pub fn with_agents_of(mut self, other: &Self) -> Self {
        self.agents = other.agents;
        self
    }

    /// Makes the results of each request new: the 16 digits behind each `mark` change.
    pub fn with_new_results(mut self, mark: &str) -> Self {
        let starts =
            self.request.windows(mark.len()).enumerate().filter(|(_, bytes)| *bytes == mark.as_bytes());
        self.ids_at = starts.map(|(at, _)| at + mark.len()).collect();
        assert!(!self.ids_at.is_empty(), "the body has results with {mark}");
        self
    }

    /// Fails when the answer does not have the verdict of the case.
    pub fn exchange(&mut self, verdict: Option<&str>) -> Duration {
        let took = self.send();
        let met = self.verdict();
        assert!(
            met == verdict,
            "this is not what was to be measured: verdict {met:?} instead of {verdict:?}:\n{}",
            String::from_utf8_lossy(self.head())
        );
        took
    }

    /// Sends the next request and reads its answer. Returns the time from the first byte sent to the last byte read.
    /// Fails when the answer is not the provider's.
    pub fn send(&mut self) -> Duration {
        self.prepare();
        self.answer.clear();
        let began = Instant::now();
        self.stream.write_all(&self.request).expect("the connection takes the request");
        let mut whole = None;
        let mut buffer = [0; 4_096];
        while whole.is_none_or(|whole| self.answer.len() < whole) {
            let read = self.stream.read(&mut buffer).expect("Envoy answers in time");
            assert!(read > 0, "Envoy closed the connection in the middle of an answer");
            self.answer.extend_from_slice(&buffer[..read]);
            if whole.is_none() {
                whole = head_of(&self.answer).map(|head| {
                    let length = header(&self.answer[..head], "content-length").and_then(|l| l.parse().ok());
                    head + 4 + length.unwrap_or(0_usize)
                });
            }
        }
        let took = began.elapsed();
        let head = self.head();
        assert!(
            head.starts_with(b"HTTP/1.1 200 "),
            "the answer is not the provider's:\n{}",
            String::from_utf8_lossy(head)
        );
        took
    }

    /// The verdict in the last answer.
    pub fn verdict(&self) -> Option<&str> {
        header(self.head(), "x-sentinel-verdict")
    }

    fn head(&self) -> &[u8] {
        &self.answer[..head_of(&self.answer).unwrap_or(0)]
    }

    /// Moves on to the next agent and the next words.
    fn prepare(&mut self) {
        if let Some(at) = self.agent_at {
            let number = match self.agents {
                Some(first) => first + self.sent % AGENTS,
                None => NEXT.fetch_add(1, Ordering::Relaxed),
            };
            self.request[at..at + DIGITS].copy_from_slice(format!("{number:0DIGITS$}").as_bytes());
        }
        if let Some(at) = self.slot_at {
            self.request[at..at + SLOT].copy_from_slice(self.dice.text(SLOT).as_bytes());
        }
        for at in &self.ids_at {
            self.request[*at..at + 16].copy_from_slice(format!("{:016x}", self.dice.roll()).as_bytes());
        }
        self.sent += 1;
    }
}

/// Number of agents of one client. Each must have sent a request before its run can go on.
pub const fn agents() -> u64 {
    AGENTS
}
