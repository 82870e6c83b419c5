//! What happened, one event each: for readers of `/v1/events`, and for webhooks.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use super::names::Names;

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

impl Event {
    #[must_use]
    pub fn new(kind: EventKind, at_ms: u64, names: &Names) -> Self {
        let run_id = if names.has_run() { names.run_id() } else { String::new() };
        Self { kind, at_ms, names: names.clone(), run_id, data: Map::new() }
    }

    /// With a text, where it is not empty.
    #[must_use]
    pub fn with_text(self, name: &str, text: &str) -> Self {
        if text.is_empty() { self } else { self.with(name, &text) }
    }

    /// With one more thing to say.
    #[must_use]
    pub fn with(mut self, name: &str, value: &impl Serialize) -> Self {
        self.data.insert(name.to_owned(), serde_json::to_value(value).unwrap_or_default());
        self
    }
}
