//! What the host is to do, and what it hands back.

use crate::{
    metric::{Bypass, Metric, ServiceOutcome},
    span::Span,
};

/// One thing for the host to do. `LoadSlot` and `StoreSlot` come last in a row, and the host hands their results back
/// as the next event, at once.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Keep the request back.
    Hold,
    /// Let the request go on.
    Release,
    SetRequestHeader(&'static str, String),
    RemoveRequestHeader(&'static str),
    ReplaceRequestBody(Vec<u8>),
    /// Answer the request in the provider's place.
    Reply(Reply),
    /// Ask the embedding service; the reply comes as `Event::ServiceReply`.
    Ask(Question),
    /// The answer is no longer awaited.
    Cancel,
    LoadSlot(String),
    /// Write only if the slot still has this version.
    StoreSlot {
        key: String,
        bytes: Vec<u8>,
        version: Option<u32>,
    },
    SetResponseHeader(&'static str, String),
    Count(Metric, u64),
    /// The request was held for so many milliseconds.
    Held(u64),
    /// One line of JSON for the log.
    Log(String),
    /// What is known of the request, for Envoy's tracer and access logs: a name and its value.
    Note(&'static str, String),
    /// Spans for the collector, some time.
    Trace(Vec<Span>),
}

impl From<Bypass> for Effect {
    fn from(cause: Bypass) -> Self {
        Self::Count(Metric::Bypasses(cause), 1)
    }
}

impl From<ServiceOutcome> for Metric {
    fn from(outcome: ServiceOutcome) -> Self {
        Self::ServiceCalls(outcome)
    }
}

/// A local response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

/// A question to the embedding service.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Names of the scope, hashed.
    pub tenant: String,
    pub agent: String,
    pub run: String,
    pub prompt: String,
    pub similarity_threshold: f64,
    pub repeats: u32,
}

/// The service's answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServiceReply {
    pub loop_detected: bool,
    /// 0 to 1; anything else is no answer.
    pub max_similarity: f64,
}
