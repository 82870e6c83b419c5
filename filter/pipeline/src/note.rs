//! What passes put on record. A pass only says it: `record` counts it and writes it into the log, in one place.

use sentinel_config::GuardAction;
use sentinel_guard::{Pattern, Place};
use strum::IntoStaticStr;

use crate::{
    bypass::Bypass,
    metric::{CacheHit, Metric},
    service_outcome::ServiceOutcome,
    stored::{Partition, StoreOrder},
};

#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    Count(Metric, u64),
    /// A request was not inspected, or only in part.
    Bypassed(Bypass),
    /// How a call of the embedding service ended.
    Called(ServiceOutcome),
    Injection(Injection),
    ToolCall(CountedToolCall),
    /// The answer says that there is nothing to say. `is_marked`: the client is told by a header.
    NoReply {
        is_marked: bool,
    },
    CacheHit(FoundAnswer),
    /// No stored answer serves the request. `similarity`: of the nearest question. 0 if none is stored.
    CacheMiss {
        similarity: f64,
        partition: Partition,
    },
    /// The answer is to be stored in the response cache.
    Store(Box<StoreOrder>),
}

/// An injection that the guard found. Holds nothing of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    pub pattern: Pattern,
    pub place: Place,
    /// Bytes of the text before it.
    pub offset: usize,
    pub action: GuardAction,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedToolCall {
    pub tool: String,
    /// Digest of the canonical arguments.
    pub arguments: u64,
    pub decision: CallDecision,
}

/// What became of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum CallDecision {
    Allow,
    /// The policy denies it.
    Deny,
    /// The breaker answered it, as one too many.
    Break,
    /// A model called a tool that may not be offered. The answer still passes.
    NotOffered,
}

impl CallDecision {
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// An answer that was found in the cache, whether it is given or not.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundAnswer {
    pub hit: CacheHit,
    pub similarity: f64,
    /// Milliseconds.
    pub age: u64,
    /// The name by which an administrator erases the answer.
    pub entry: String,
    pub is_given: bool,
}
