//! The operator's rules for single tools, for what the filter cannot know by itself.

use serde::{Deserialize, Serialize};

use super::Kind;
use crate::thresholds::Thresholds;

/// Rules for tools; the first that fits counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolRules(pub Vec<(ToolName, ToolRule)>);

/// Which tools a rule is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolName {
    Exact(String),
    Prefix(String),
}

/// What is said of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ToolRule {
    /// What its results amount to, whatever they say.
    pub kind: Option<Kind>,
    /// Equal outcomes from which its step hints; 0: never.
    pub hint: Option<u32>,
    /// Equal outcomes from which its step kills; 0: never.
    pub kill: Option<u32>,
    /// Its calls are ignored.
    pub ignore: bool,
}

impl ToolName {
    pub fn fits(&self, tool: &str) -> bool {
        match self {
            Self::Exact(name) => name == tool,
            Self::Prefix(prefix) => tool.starts_with(prefix.as_str()),
        }
    }

    /// Whether it fits every tool that `other` fits.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Prefix(prefix), Self::Exact(name) | Self::Prefix(name)) => name.starts_with(prefix),
            _ => self == other,
        }
    }
}

impl ToolRules {
    pub(crate) fn of(&self, tool: &str) -> ToolRule {
        self.0.iter().find(|(name, _)| name.fits(tool)).map(|(_, rule)| *rule).unwrap_or_default()
    }
}

impl ToolRule {
    /// The thresholds of this rule. What it leaves open comes from `row`.
    pub(crate) fn over(self, row: Thresholds) -> Thresholds {
        Thresholds { hint: self.hint.unwrap_or(row.hint), kill: self.kill.unwrap_or(row.kill) }
    }
}
