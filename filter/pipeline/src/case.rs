//! What is known of one request, from the moment its body was read until it has gone on or was answered.

use std::sync::Arc;

use sentinel_detect::{kept_history::ThreadRef, verdict::Finding};
use sentinel_llm_api::{dialect::DialectRef, edit::Edit, framing::Framing};

use crate::{config::Policy, identity::Scope, metric::ServiceOutcome, passes::cache::Cached, span::Span};

#[derive(Debug)]
pub struct Case {
    /// Milliseconds since 1970.
    pub arrived: u64,
    pub dialect: DialectRef,
    /// How the client expects the answer.
    pub framing: Framing,
    pub include_usage: bool,
    pub model: String,
    pub policy: Arc<Policy>,
    pub scope: Scope,
    pub body: Vec<u8>,
    /// The request tells its length, and it can still be changed.
    pub has_length: bool,
    /// What the passes found, the most telling first.
    pub findings: Vec<Finding>,
    /// What the passes want changed in the body, apart from a hint.
    pub edits: Vec<Edit>,
    /// Entry of the scope's window to which the response belongs; none where nothing is remembered.
    pub entry: Option<u32>,
    /// The thread that the provider keeps, where it keeps one.
    pub thread: ThreadRef,
    /// How the call of the embedding service ended; none where it was not asked.
    pub service: Option<ServiceOutcome>,
    /// It was asked for nothing but a stored answer.
    pub asks_cache_only: bool,
    /// What the service said.
    pub similarity: Option<f64>,
    /// What it has to do with the response cache; none where that is off.
    pub cache: Option<Cached>,
    /// Spans of the steps that the request brings.
    pub spans: Vec<Span>,
}
