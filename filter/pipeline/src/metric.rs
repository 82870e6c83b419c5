//! The metrics: families with labels, and what is counted in them. The values of `client`, `agent` and `model` come from the
//! configuration; those of the other labels are fixed.

use std::sync::Arc;

use crate::{bypass::Bypass, clean_text::Removal, service_outcome::ServiceOutcome};
use sentinel_config::{Mode, Policy};
use sentinel_detect::verdict::{Signal, Verdict};
use sentinel_guard::{Pattern, Place};
use strum::{IntoStaticStr, VariantNames};

mod cache;

pub use cache::{CacheBypass, CacheHit};

/// A counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Requests in a dialect, whatever became of them. The client as configured, and the dialect's label, or `MCP`.
    Requests(Arc<str>, RequestStatus, &'static str),
    /// With the dialect's label, or `MCP`; whether it is enforced or only recorded; and the label of the row of `agents[]` whose
    /// settings apply.
    Verdicts(Verdict, Option<Signal>, &'static str, Enforced, Arc<str>),
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
    /// Tools that an agent may not use, by where it met them; with the dialect's label, or `MCP`.
    ToolsDenied(DeniedTool, &'static str, Enforced),
    /// Injections that the guard found, by pattern and place; with the dialect's label.
    Injections(Pattern, Place, &'static str, Enforced),
    /// Changes of requests by their bounds; with the dialect's label.
    Bounds(Bound, &'static str),
    /// Tokens that these cut, a token for four bytes; with the dialect's label.
    BoundsTokens(Bounding, &'static str),
    /// Billionths of a USD that these tokens would have cost.
    BoundsSaved(Bounding),
    /// Answers that were cleaned of something; with the dialect's label.
    Cleaned(CleanKind, &'static str),
    /// Billionths of a USD: the least that killed requests would have cost, and what answers from the cache cost when they were made.
    Saved,
    /// Tokens that answers from the cache took when they were made.
    SavedTokens,
    /// Look-ups in the response cache, by what they came to.
    CacheHits(CacheHit),
    /// Requests for which nothing was looked up, and answers that were not stored.
    CacheBypasses(CacheBypass),
    /// Reports of turns to the embedding service.
    Reports(ServiceOutcome),
    /// Turns that were not reported, because too many waited.
    TurnsDropped,
    /// Requests that budgets count, by what came of their reservation.
    Reservations(Reserved),
}

/// What came of the reservation for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Reserved {
    /// From a lease, without a call.
    Lease,
    /// The service granted it.
    Granted,
    /// A budget allows no more.
    Refused,
    /// A budget allows no more, which is only recorded.
    Recorded,
    /// The service did not answer.
    Unavailable,
}

/// Whether what was decided is carried out. In mode `observe` it is only recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Enforced(pub bool);

impl Enforced {
    pub fn of(policy: &Policy) -> Self {
        Self(policy.mode == Mode::Enforce)
    }

    pub fn label(self) -> &'static str {
        if self.0 { "true" } else { "false" }
    }
}

/// How a request ended, as far as an error rate needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestStatus {
    /// The first digit of the answer's HTTP status. The answer may be the provider's, or Envoy's own.
    Class(u8),
    /// The filter answered in the provider's place.
    Stopped,
    /// It ended before an answer came.
    Unanswered,
}

impl RequestStatus {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Tokens {
    Input,
    CachedInput,
    Output,
}

impl Tokens {
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// Where an agent met a tool that it may not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum DeniedTool {
    /// Its request offers the tool to the model, or a server's list offers it to the agent.
    Offered,
    /// Its request forces the model to call it.
    Forced,
    /// The agent or the model calls it.
    Called,
}

impl DeniedTool {
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// What is done to a request to keep it within its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
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
        self.into()
    }
}

/// Bounds that save tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Bounding {
    Truncation,
    History,
    Pruning,
}

impl Bounding {
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// What cleaning found in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CleanKind {
    Removal(Removal),
    /// It says that there is nothing to say.
    NoReply,
}

impl CleanKind {
    pub fn label(self) -> &'static str {
        match self {
            Self::Removal(removal) => removal.label(),
            Self::NoReply => "no_reply",
        }
    }
}

/// Label of the MCP breaker among the dialects.
pub const MCP: &str = "mcp";

/// Metrics of one name. `Metric::values` has the values of its labels in this order.
#[derive(Debug, PartialEq, Eq)]
pub struct Family {
    pub name: &'static str,
    pub labels: &'static [&'static str],
    pub kind: FamilyKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyKind {
    Counter,
    Histogram,
}

const fn counter(name: &'static str, labels: &'static [&'static str]) -> Family {
    Family { name, labels, kind: FamilyKind::Counter }
}

// `client` comes first: then no part of a client's name can be taken for another label. `model` comes last, because model names
// have dots of their own.
static REQUESTS: Family = counter("sentinel_requests_total", &["client", "status", "dialect"]);
static VERDICTS: Family =
    counter("sentinel_verdicts_total", &["verdict", "signal", "dialect", "enforced", "agent"]);
static MCP_CALLS: Family = counter("sentinel_mcp_calls_total", &[]);
static SERVICE_CALLS: Family = counter("sentinel_service_calls_total", &["outcome"]);
static BYPASSES: Family = counter("sentinel_bypasses_total", &["cause"]);
static EVICTIONS: Family = counter("sentinel_state_evictions_total", &[]);
static BYTES_INSPECTED: Family = counter("sentinel_bytes_inspected_total", &[]);
static TOKENS: Family = counter("sentinel_tokens_used_total", &["kind", "model"]);
static COSTS: Family = counter("sentinel_costs_nanousd_total", &["model"]);
static TOOLS_DENIED: Family = counter("sentinel_tools_denied_total", &["kind", "dialect", "enforced"]);
static INJECTIONS: Family = counter("sentinel_injections_total", &["kind", "place", "dialect", "enforced"]);
static BOUNDS: Family = counter("sentinel_bounds_total", &["kind", "dialect"]);
static BOUNDS_TOKENS: Family = counter("sentinel_bounds_tokens_total", &["kind", "dialect"]);
static BOUNDS_SAVED: Family = counter("sentinel_bounds_nanousd_total", &["kind"]);
static CLEANED: Family = counter("sentinel_answers_cleaned_total", &["kind", "dialect"]);
static SAVED: Family = counter("sentinel_saved_nanousd_total", &[]);
static SAVED_TOKENS: Family = counter("sentinel_saved_tokens_total", &[]);
static CACHE_HITS: Family = counter("sentinel_cache_hits_total", &["type"]);
static CACHE_BYPASSES: Family = counter("sentinel_cache_bypasses_total", &["cause"]);
static REPORTS: Family = counter("sentinel_reports_total", &["outcome"]);
static RESERVATIONS: Family = counter("sentinel_reservations_total", &["outcome"]);
static TURNS_DROPPED: Family = counter("sentinel_turns_dropped_total", &[]);
/// The histogram of milliseconds for which requests were held.
pub static LATENCY: Family = Family { name: "sentinel_latency_ms", labels: &[], kind: FamilyKind::Histogram };

/// All of them, for hosts that must declare families when the configuration is read.
pub static FAMILIES: [&Family; 23] = [
    &REQUESTS,
    &VERDICTS,
    &MCP_CALLS,
    &SERVICE_CALLS,
    &BYPASSES,
    &EVICTIONS,
    &BYTES_INSPECTED,
    &TOKENS,
    &COSTS,
    &TOOLS_DENIED,
    &INJECTIONS,
    &BOUNDS,
    &BOUNDS_TOKENS,
    &BOUNDS_SAVED,
    &CLEANED,
    &SAVED,
    &SAVED_TOKENS,
    &CACHE_HITS,
    &CACHE_BYPASSES,
    &REPORTS,
    &TURNS_DROPPED,
    &RESERVATIONS,
    &LATENCY,
];

impl Metric {
    pub fn family(&self) -> &'static Family {
        match self {
            Self::Requests(..) => &REQUESTS,
            Self::Verdicts(..) => &VERDICTS,
            Self::McpCalls => &MCP_CALLS,
            Self::ServiceCalls(_) => &SERVICE_CALLS,
            Self::Bypasses(_) => &BYPASSES,
            Self::Evictions => &EVICTIONS,
            Self::BytesInspected => &BYTES_INSPECTED,
            Self::Tokens(..) => &TOKENS,
            Self::Costs(_) => &COSTS,
            Self::ToolsDenied(..) => &TOOLS_DENIED,
            Self::Injections(..) => &INJECTIONS,
            Self::Bounds(..) => &BOUNDS,
            Self::BoundsTokens(..) => &BOUNDS_TOKENS,
            Self::BoundsSaved(_) => &BOUNDS_SAVED,
            Self::Cleaned(..) => &CLEANED,
            Self::Saved => &SAVED,
            Self::SavedTokens => &SAVED_TOKENS,
            Self::CacheHits(_) => &CACHE_HITS,
            Self::CacheBypasses(_) => &CACHE_BYPASSES,
            Self::Reports(_) => &REPORTS,
            Self::TurnsDropped => &TURNS_DROPPED,
            Self::Reservations(_) => &RESERVATIONS,
        }
    }

    /// The values of the family's labels, in their order.
    pub fn values(&self) -> Vec<&str> {
        match self {
            Self::Requests(client, status, dialect) => vec![client, status.label(), dialect],
            Self::Verdicts(verdict, signal, dialect, enforced, agent) => {
                vec![verdict.label(), signal.map_or("none", Signal::label), dialect, enforced.label(), agent]
            }
            Self::TurnsDropped
            | Self::McpCalls
            | Self::Evictions
            | Self::BytesInspected
            | Self::Saved
            | Self::SavedTokens => Vec::new(),
            Self::ServiceCalls(outcome) => vec![outcome.label()],
            Self::Bypasses(cause) => vec![cause.label()],
            Self::Tokens(kind, model) => vec![kind.label(), model],
            Self::Costs(model) => vec![model],
            Self::ToolsDenied(kind, dialect, enforced) => vec![kind.label(), dialect, enforced.label()],
            Self::Injections(pattern, place, dialect, enforced) => {
                vec![pattern.label(), place.label(), dialect, enforced.label()]
            }
            Self::Bounds(kind, dialect) => vec![kind.label(), dialect],
            Self::BoundsTokens(kind, dialect) => vec![kind.label(), dialect],
            Self::BoundsSaved(kind) => vec![kind.label()],
            Self::Cleaned(kind, dialect) => vec![kind.label(), dialect],
            Self::CacheHits(hit) => vec![hit.label()],
            Self::CacheBypasses(cause) => vec![cause.label()],
            Self::Reports(outcome) => vec![outcome.label()],
            Self::Reservations(outcome) => vec![outcome.into()],
        }
    }

    /// One name for family and labels, for hosts whose metrics have no labels: Envoy's `stats_tags` find the values in it.
    pub fn series(&self) -> String {
        let Family { name, labels, .. } = self.family();
        let labelled = labels.iter().zip(self.values());
        labelled.fold((*name).to_owned(), |name, (label, value)| name + "." + label + "." + value)
    }
}

impl From<Bypass> for Metric {
    fn from(cause: Bypass) -> Self {
        Self::Bypasses(cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_names_the_values_in_the_order_of_the_labels() {
        let requests = Metric::Requests("alice".into(), RequestStatus::Class(2), "openai_chat");
        assert_eq!(requests.series(), "sentinel_requests_total.client.alice.status.2xx.dialect.openai_chat");
        assert_eq!(Metric::Saved.series(), "sentinel_saved_nanousd_total");
        let tokens = Metric::Tokens(Tokens::Input, "gpt-4.1".into());
        assert_eq!(tokens.series(), "sentinel_tokens_used_total.kind.input.model.gpt-4.1");
    }

    #[test]
    fn no_two_families_share_a_name() {
        let names: std::collections::BTreeSet<_> = FAMILIES.iter().map(|family| family.name).collect();
        assert_eq!(names.len(), FAMILIES.len());
    }
}
