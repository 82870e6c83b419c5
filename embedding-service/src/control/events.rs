//! What happened, one event each: for readers of `/v1/events`, and for webhooks.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use super::{
    names::Names,
    run::RunStatus,
    turn::{Decision, Turn, TurnStep},
};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    pub kind: EventKind,
    /// By the service's clock, in milliseconds since 1970.
    pub at_ms: u64,
    #[serde(flatten)]
    pub names: Names,
    /// Id of the run; empty where it is about none.
    pub run_id: String,
    /// What else there is to say, by the kind of the event.
    pub data: Map<String, Value>,
}

/// Kinds of events.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
pub enum EventKind {
    #[serde(rename = "run.started")]
    #[strum(serialize = "run.started")]
    RunStarted,
    #[serde(rename = "turn")]
    #[strum(serialize = "turn")]
    Turn,
    #[serde(rename = "tool.call")]
    #[strum(serialize = "tool.call")]
    ToolCall,
    #[serde(rename = "tool.result")]
    #[strum(serialize = "tool.result")]
    ToolResult,
    #[serde(rename = "verdict")]
    #[strum(serialize = "verdict")]
    Verdict,
    #[serde(rename = "run.completed")]
    #[strum(serialize = "run.completed")]
    RunCompleted,
    #[serde(rename = "run.failed")]
    #[strum(serialize = "run.failed")]
    RunFailed,
    #[serde(rename = "run.cancelled")]
    #[strum(serialize = "run.cancelled")]
    RunCancelled,
    #[serde(rename = "budget.warned")]
    #[strum(serialize = "budget.warned")]
    BudgetWarned,
    #[serde(rename = "budget.spent")]
    #[strum(serialize = "budget.spent")]
    BudgetSpent,
    #[serde(rename = "settings.changed")]
    #[strum(serialize = "settings.changed")]
    SettingsChanged,
    #[serde(rename = "security.injection_detected")]
    #[strum(serialize = "security.injection_detected")]
    InjectionDetected,
}

/// An event of a turn, in the form in which it is written; [`Event`] reads it back. Each turn has several events, so they are serialised
/// directly, without a tree of JSON values in between.
#[derive(Debug, Serialize)]
pub struct TurnEvent<'a> {
    pub kind: EventKind,
    pub at_ms: u64,
    #[serde(flatten)]
    pub names: &'a Names,
    pub run_id: &'a str,
    pub data: TurnData<'a>,
}

/// What an event of a turn says.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum TurnData<'a> {
    Begun {},
    Turn {
        #[serde(serialize_with = "without_steps")]
        turn: &'a Turn,
    },
    Call {
        tool: &'a str,
        arguments_digest: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        arguments: &'a str,
    },
    Result {
        tool: &'a str,
        outcome_digest: &'a str,
        /// Of the outcome.
        kind: &'a str,
        bytes: u64,
        repeated: bool,
        #[serde(skip_serializing_if = "str::is_empty")]
        outcome: &'a str,
    },
    Verdict {
        verdict: &'a Decision,
    },
    Injection {
        texts: u32,
        /// What has found them: `rules` or `model`.
        source: &'a str,
    },
    Ended {
        status: RunStatus,
        turns: u64,
        cost_nano_usd: u64,
    },
}

/// Each step has events of its own.
fn without_steps<S: Serializer>(turn: &Turn, serializer: S) -> Result<S::Ok, S::Error> {
    Turn { steps: Vec::new(), ..turn.clone() }.serialize(serializer)
}

impl<'a> TurnData<'a> {
    pub fn call(step: &'a TurnStep) -> Self {
        let TurnStep { tool, arguments_digest, arguments, .. } = step;
        Self::Call { tool, arguments_digest, arguments }
    }

    /// Returns `None` where the outcome is not known.
    pub fn result(step: &'a TurnStep) -> Option<Self> {
        let TurnStep { tool, outcome_digest, kind, bytes, repeated, outcome, .. } = step;
        let (bytes, repeated) = (*bytes, *repeated);
        (!outcome_digest.is_empty()).then_some(Self::Result {
            tool,
            outcome_digest,
            kind,
            bytes,
            repeated,
            outcome,
        })
    }
}

impl Event {
    #[must_use]
    pub fn new(kind: EventKind, at_ms: u64, names: &Names) -> Self {
        let run_id = if names.has_run() { names.run_id() } else { String::new() };
        Self { kind, at_ms, names: names.clone(), run_id, data: Map::new() }
    }

    /// With one more thing to say.
    #[must_use]
    pub fn with(mut self, name: &str, value: &impl Serialize) -> Self {
        self.data.insert(name.to_owned(), serde_json::to_value(value).unwrap_or_default());
        self
    }
}
