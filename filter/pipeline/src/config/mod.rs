//! The plugin configuration: `raw` is what the user writes, `valid` what the filter works with. Every field is
//! documented in `raw`; the page docs/configuration.md is made from there (`reference`).

mod clients;
mod duration;
mod field;
mod raw;
#[cfg(feature = "reference")]
mod reference;
mod valid;

pub use raw::{GuardAction, HintPosition, KillMode, McpAnswer, Mode, RawConfig};
#[cfg(feature = "reference")]
pub use reference::reference;
pub use valid::{
    AgentMatch, BoundsPolicy, CachePolicy, Config, GuardPolicy, HintPolicy, IdentitySource, KillPolicy,
    McpPolicy, PathMatch, PathRule, PathRuleList, Policy, PruningPolicy, ToolPolicy,
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
