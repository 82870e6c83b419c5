//! The plugin configuration: `raw` is what the user writes, `valid` what the filter works with. Every field is documented in
//! `raw`, and the page docs/configuration.md is made from there (`reference`). To check a configuration as the filter does, this
//! crate is enough.
//!
//! What must not live here: anything that looks at a request (that is the pipeline).

#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod clients;
mod context_window;
mod document;
mod duration;
mod field;
mod placeholders;
pub mod price;
mod raw;
#[cfg(feature = "reference")]
mod reference;
mod valid;

pub use raw::{
    AtLimit, BudgetPer, GuardAction, HintPosition, KillMode, McpAnswer, Mode, OnUnavailable, RawConfig,
    Unpriced, WARN_AT, WhenUnreadable,
};
#[cfg(feature = "reference")]
pub use reference::{FieldInfo, Shape, fields_of_agents, reference};
pub use valid::{
    AgentMatch, BoundsPolicy, Budget, BudgetWindow, CachePolicy, CalendarUnit, Config, GuardPolicy,
    HintPolicy, IdentitySource, KillPolicy, Limits, McpPolicy, ModelPolicy, PathMatch, PathRule,
    PathRuleList, Payer, Policy, PruningPolicy, Sender, ToolPolicy, changeable,
};

/// Why a configuration was refused: where, and what to do about it.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("configuration field `{path}`: {problem}")]
pub struct ConfigError {
    /// Path of the field, such as `kill.status` or `agents[2].settings.hint.position`.
    pub path: String,
    pub problem: String,
}

impl ConfigError {
    fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into() }
    }

    /// The same error one level further out.
    fn below(self, outer: &str) -> Self {
        Self { path: format!("{outer}.{}", self.path), ..self }
    }
}
