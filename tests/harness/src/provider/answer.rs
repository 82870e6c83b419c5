//! An answer of the mock provider, in pieces.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use serde_json::Value;
use tokio::sync::Semaphore;

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    /// Each `Bytes` is sent as one chunk. An answer that consists only of `Bytes` and is not SSE has a content-length.
    pub pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
pub enum Piece {
    Bytes(Bytes),
    /// Waits until the gate is opened once more.
    Await(Gate),
    Pause(Duration),
    /// The headers wait until the gate is opened once more. It stands before all others.
    Head(Gate),
    Trailers(HeaderMap),
    /// Breaks the connection.
    Cut,
}

/// Each time it is opened, it lets one waiting answer go on.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Semaphore>);

impl Gate {
    pub fn closed() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    pub fn open(&self) {
        self.0.add_permits(1);
    }

    pub async fn pass(&self) {
        self.0.acquire().await.expect("never closed for good").forget();
    }
}

impl Answer {
    pub fn json(status: u16, body: &Value) -> Self {
        Self::of(status, "application/json", vec![Piece::Bytes(Bytes::from(body.to_string()))])
    }

    /// Server-sent events, one chunk each. `events` include their empty line.
    pub fn events(events: Vec<String>) -> Self {
        let pieces = events.into_iter().map(|event| Piece::Bytes(Bytes::from(event))).collect();
        Self::of(200, "text/event-stream; charset=utf-8", pieces)
    }

    pub fn of(status: u16, content_type: &str, pieces: Vec<Piece>) -> Self {
        let mut answer = Self { status, headers: HeaderMap::new(), pieces };
        answer.set("content-type", content_type);
        answer
    }

    pub fn set(&mut self, name: &str, value: &str) {
        let name = HeaderName::try_from(name).expect("a header name");
        self.headers.insert(name, HeaderValue::try_from(value).expect("a header value"));
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.set(name, value);
        self
    }

    /// The same pieces, where each except the first waits for the gate.
    pub fn gated(mut self, gate: &Gate) -> Self {
        let mut pieces = Vec::new();
        for piece in self.pieces {
            if !pieces.is_empty() {
                pieces.push(Piece::Await(gate.clone()));
            }
            pieces.push(piece);
        }
        self.pieces = pieces;
        self
    }

    /// The same, where the headers wait for the gate.
    pub fn head_gated(mut self, gate: &Gate) -> Self {
        self.pieces.insert(0, Piece::Head(gate.clone()));
        self
    }

    /// Breaks off after this many pieces.
    pub fn cut_after(mut self, pieces: usize) -> Self {
        self.pieces.truncate(pieces);
        self.pieces.push(Piece::Cut);
        self
    }
}

/// One server-sent event. If `name` is empty, it has no `event:` line.
pub fn event(name: &str, data: &Value) -> String {
    if name.is_empty() { format!("data: {data}\n\n") } else { format!("event: {name}\ndata: {data}\n\n") }
}

/// Splits a text into pieces of a few words, as models stream it.
pub fn pieces_of(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    words.chunks(3).map(|chunk| chunk.concat()).collect()
}
