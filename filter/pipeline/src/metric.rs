//! Names of the metrics. Labels are closed sets; they stand in the name, separated by dots, where Envoy's
//! `stats_tags` find them.

use std::sync::Arc;

use sentinel_detect::{
    injection::{Pattern, Place},
    verdict::{Signal, Verdict},
};
use sentinel_llm_api::json::Unreadable;
use sentinel_text::clean::Step;

mod cache;

pub use cache::{CacheBypass, CacheHit};

/// A counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Requests in a dialect, whatever became of them. The client as configured, and the dialect's label, or `MCP`.
    Requests(Arc<str>, Status, &'static str),
    /// With the dialect's label, or `MCP`, and the label of the row of `agents[]` whose settings hold.
    Verdicts(Verdict, Option<Signal>, &'static str, Arc<str>),
    /// Tools called through an MCP route.
    McpCalls,
    ServiceCalls(ServiceOutcome),
    Bypasses(Bypass),
    /// Scopes that were forgotten because others needed their room.
    Evictions,
    /// Bytes of request bodies that were read.
    BytesInspected,
    /// Tokens that responses say they took, by model.
    Tokens(Tokens, Arc<str>),
    /// Billionths of a USD that they cost, by model. Envoy counts in whole numbers.
    Costs(Arc<str>),
    /// Tools that an agent may not use, where it met them; with the dialect's label, or `MCP`.
    ToolsDenied(DeniedTool, &'static str),
    /// Injections that the guard found, by pattern and place; with the dialect's label.
    Injections(Pattern, Place, &'static str),
    /// Changes of requests by their bounds; with the dialect's label.
    Bounds(Bound, &'static str),
    /// Tokens that these cut, a token for four bytes; with the dialect's label.
    BoundsTokens(Bounding, &'static str),
    /// Billionths of a USD that these tokens would have cost.
    BoundsSaved(Bounding),
    /// Answers that were cleaned of something; with the dialect's label.
    Cleaned(CleanKind, &'static str),
    /// Billionths of a USD that killed requests would have cost at least, and that answers from the cache did cost once.
    Saved,
    /// Tokens that answers from the cache took when they were made.
    SavedTokens,
    /// Look-ups in the response cache, by what they came to.
    CacheHits(CacheHit),
    /// Requests for which nothing was looked up, and answers that were not kept.
    CacheBypasses(CacheBypass),
}

/// How a request ended, as far as an error rate needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The first digit of the answer's HTTP status: a provider's answer, or Envoy's own in its place.
    Class(u8),
    /// The filter answered in the provider's place.
    Stopped,
    /// It ended before an answer came.
    Unanswered,
}

impl Status {
    /// From the `:status` of an answer.
    pub fn of_answer(status: &[u8]) -> Self {
        match status {
            [first @ b'1'..=b'5', _, _] => Self::Class(first.saturating_sub(b'0')),
            _ => Self::Unanswered,
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Class(1) => "1xx",
            Self::Class(2) => "2xx",
            Self::Class(3) => "3xx",
            Self::Class(4) => "4xx",
            Self::Class(5) => "5xx",
            Self::Stopped => "stopped",
            Self::Class(_) | Self::Unanswered => "none",
        }
    }
}

/// Kinds of tokens: they have different prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tokens {
    Input,
    CachedInput,
    Output,
}

impl Tokens {
    pub fn label(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::CachedInput => "cached_input",
            Self::Output => "output",
        }
    }
}

/// Where an agent met a tool that it may not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeniedTool {
    /// Its request offers it to the model, or a server's list to the agent.
    Offered,
    /// Its request wants it to be called.
    Forced,
    /// It calls it, or the model does.
    Called,
}

impl DeniedTool {
    pub fn label(self) -> &'static str {
        match self {
            Self::Offered => "offered",
            Self::Forced => "forced",
            Self::Called => "called",
        }
    }
}

/// What is done to a request to keep it within its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    MessageTruncated,
    ResultTruncated,
    /// A message of a turn that is over the limit.
    MessageDropped,
    /// An old result lost its middle.
    ResultTrimmed,
    /// An old result is replaced.
    ResultCleared,
    /// A result had no call.
    ResultDropped,
    /// A result stood in the wrong place.
    ResultMoved,
    /// A call had no result.
    ResultMade,
    /// An id named two calls.
    IdRenamed,
}

impl Bound {
    pub fn label(self) -> &'static str {
        match self {
            Self::MessageTruncated => "message_truncated",
            Self::ResultTruncated => "result_truncated",
            Self::MessageDropped => "message_dropped",
            Self::ResultTrimmed => "result_trimmed",
            Self::ResultCleared => "result_cleared",
            Self::ResultDropped => "result_dropped",
            Self::ResultMoved => "result_moved",
            Self::ResultMade => "result_made",
            Self::IdRenamed => "id_renamed",
        }
    }
}

/// Bounds that save tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bounding {
    Truncation,
    History,
    Pruning,
}

impl Bounding {
    pub fn label(self) -> &'static str {
        match self {
            Self::Truncation => "truncation",
            Self::History => "history",
            Self::Pruning => "pruning",
        }
    }
}

/// What cleaning found in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CleanKind {
    Step(Step),
    /// It says that there is nothing to say.
    NoReply,
}

impl CleanKind {
    pub fn label(self) -> &'static str {
        match self {
            Self::Step(step) => step.label(),
            Self::NoReply => "no_reply",
        }
    }
}

/// Label of the MCP breaker among the dialects.
pub const MCP: &str = "mcp";

/// The histogram of milliseconds for which requests were held.
pub const LATENCY: &str = "sentinel_latency_ms";

impl Metric {
    pub fn name(&self) -> String {
        match self {
            // The client stands first: what looks like another label behind it is part of no client's name.
            Self::Requests(client, status, dialect) => {
                format!("sentinel_requests_total.client.{client}.status.{}.dialect.{dialect}", status.label())
            }
            Self::Verdicts(verdict, signal, dialect, agent) => format!(
                "sentinel_verdicts_total.verdict.{}.signal.{}.dialect.{dialect}.agent.{agent}",
                verdict.label(),
                signal.map_or("none", Signal::label),
            ),
            Self::McpCalls => "sentinel_mcp_calls_total".to_owned(),
            Self::ServiceCalls(outcome) => {
                format!("sentinel_service_calls_total.outcome.{}", outcome.label())
            }
            Self::Bypasses(cause) => format!("sentinel_bypasses_total.cause.{}", cause.label()),
            Self::Evictions => "sentinel_state_evictions_total".to_owned(),
            Self::BytesInspected => "sentinel_bytes_inspected_total".to_owned(),
            // A model's name has dots of its own: it stands last.
            Self::Tokens(kind, model) => {
                format!("sentinel_tokens_used_total.kind.{}.model.{model}", kind.label())
            }
            Self::Costs(model) => format!("sentinel_costs_nanousd_total.model.{model}"),
            Self::ToolsDenied(kind, dialect) => {
                format!("sentinel_tools_denied_total.kind.{}.dialect.{dialect}", kind.label())
            }
            Self::Injections(pattern, place, dialect) => format!(
                "sentinel_injections_total.kind.{}.place.{}.dialect.{dialect}",
                pattern.label(),
                place.label()
            ),
            Self::Bounds(kind, dialect) => {
                format!("sentinel_bounds_total.kind.{}.dialect.{dialect}", kind.label())
            }
            Self::BoundsTokens(kind, dialect) => {
                format!("sentinel_bounds_tokens_total.kind.{}.dialect.{dialect}", kind.label())
            }
            Self::BoundsSaved(kind) => format!("sentinel_bounds_nanousd_total.kind.{}", kind.label()),
            Self::Cleaned(kind, dialect) => {
                format!("sentinel_answers_cleaned_total.kind.{}.dialect.{dialect}", kind.label())
            }
            Self::Saved => "sentinel_saved_nanousd_total".to_owned(),
            Self::SavedTokens => "sentinel_saved_tokens_total".to_owned(),
            Self::CacheHits(hit) => format!("sentinel_cache_hits_total.type.{}", hit.label()),
            Self::CacheBypasses(cause) => format!("sentinel_cache_bypasses_total.cause.{}", cause.label()),
        }
    }
}

/// Why a request in a dialect was not inspected, or only in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bypass {
    /// The content type is not JSON.
    ContentType,
    /// The body is compressed.
    Encoded,
    /// The body is larger than `max_body_bytes`.
    TooLarge,
    Empty,
    Unreadable(Unreadable),
    /// No agent and no run: nothing is compared across requests.
    NoIdentity,
    /// The window was changed by others each time it was to be written.
    Contention,
    /// The hint found no place in the body.
    NoPlace,
    /// The response is compressed, too long or of another type: its text does not count.
    Response,
    /// The response was to be cleaned, and it or a part of it could not be.
    Uncleaned,
}

impl Bypass {
    pub fn label(self) -> &'static str {
        match self {
            Self::ContentType => "content_type",
            Self::Encoded => "encoded",
            Self::TooLarge => "too_large",
            Self::Empty => "empty",
            Self::Unreadable(Unreadable::InvalidUtf8) => "invalid_utf8",
            Self::Unreadable(Unreadable::NotJson) => "not_json",
            Self::Unreadable(Unreadable::Shape) => "shape",
            Self::NoIdentity => "no_identity",
            Self::Contention => "contention",
            Self::NoPlace => "no_place",
            Self::Response => "response",
            Self::Uncleaned => "uncleaned",
        }
    }
}

/// How a call of the embedding service ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServiceOutcome {
    Ok,
    Timeout,
    /// Overloaded: RESOURCE_EXHAUSTED.
    Refused,
    /// Nobody there, or the store behind it is gone.
    Unavailable,
    Error,
    /// The answer is no answer.
    Garbage,
    /// Envoy knows no cluster of the configured name.
    UnknownCluster,
    /// The client went away before the answer.
    Cancelled,
}

impl ServiceOutcome {
    /// From a gRPC status that is not OK. Envoy reports its own timeout as UNAVAILABLE with a message.
    pub fn from_status(code: u32, message: &str) -> Self {
        match code {
            4 => Self::Timeout,
            8 => Self::Refused,
            14 if message.starts_with("upstream request timeout") => Self::Timeout,
            14 => Self::Unavailable,
            _ => Self::Error,
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Timeout => "timeout",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
            Self::Error => "error",
            Self::Garbage => "garbage",
            Self::UnknownCluster => "unknown_cluster",
            Self::Cancelled => "cancelled",
        }
    }
}

impl From<Bypass> for Metric {
    fn from(cause: Bypass) -> Self {
        Self::Bypasses(cause)
    }
}
