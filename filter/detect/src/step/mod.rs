//! Steps: what the agent did and what came of it. No signal is judged here, and nothing of a dialect is known.

use sentinel_text::{WordSet, digest};

pub(crate) use self::{
    judge::{Judged, is_weak_answer, without_volatile},
    log::StrayResult,
    outcome::Brought,
    purpose::Purpose,
    tool_rules::ToolRule,
};
pub use self::{
    kind::Kind,
    log::StepLog,
    tool_rules::{ToolName, ToolRule as Rule, ToolRules},
};

mod acknowledging;
mod errors;
mod failing;
mod first_words;
mod judge;
mod kind;
mod known;
mod log;
mod member;
mod memo;
mod outcome;
mod phrases;
mod plain;
mod purpose;
mod states;
mod structure;
pub(crate) mod text;
mod tool_rules;
mod volatile;
mod waiting;

/// Steps that are remembered: five rounds of the longest cycle, and room for what lies between.
pub const LENGTH: usize = 48;
/// A tool's name is not longer than this (bytes).
const MAX_NAME: usize = 64;

/// One assistant turn and what came of it. A parallel fan-out is one step.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// Digest of the multiset of (tool name, canonical arguments).
    pub approach: u64,
    /// The words in all arguments.
    pub words: WordSet,
    /// Digest of the multiset of tool names.
    pub tools: u64,
    /// Name of the first tool, for people to read; empty where no tool was called.
    pub tool: &'a str,
    /// What the operator says of its tools.
    pub(crate) rules: Vec<ToolRule>,
    pub(crate) brought: Brought<'a>,
}

impl Step<'_> {
    pub fn kind(&self) -> Kind {
        self.brought.kind()
    }

    /// Digest of the multiset of results.
    pub fn outcome(&self) -> u64 {
        self.brought.outcome()
    }

    /// Both brought the same.
    pub fn brings_like(&self, other: &Self) -> bool {
        self.brought.is_like(&other.brought)
    }

    /// The same approach with the same outcome.
    pub fn is_like(&self, other: &Self) -> bool {
        self.approach == other.approach && self.brings_like(other)
    }
}

/// The steps of a history, oldest first, and where a new count begins.
#[derive(Clone, Debug, Default)]
pub struct Steps<'a> {
    pub all: Vec<Step<'a>>,
    /// Places in `all` before which a user said something new; ascending, the number of steps at most.
    pub begins: Vec<usize>,
}

impl<'a> Steps<'a> {
    /// The steps from one new user text to the next, oldest first; the last are those that count now.
    pub fn counts(&self) -> impl Iterator<Item = &[Step<'a>]> {
        let ends = self.begins.iter().copied().chain([self.all.len()]);
        let mut start = 0;
        ends.map(move |end| {
            let from = std::mem::replace(&mut start, end);
            self.all.get(from..end).unwrap_or_default()
        })
    }

    /// The steps since a user said something new.
    pub fn current(&self) -> &[Step<'a>] {
        self.all.get(self.begins.last().copied().unwrap_or(0)..).unwrap_or_default()
    }
}

/// A call that has its result, as a trace shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedCall {
    pub tool: String,
    /// Digest of tool and canonical arguments.
    pub approach: u64,
    /// Digest of the result.
    pub outcome: u64,
    pub kind: Kind,
}

impl FinishedCall {
    /// Whether a repetition of it is evidence: not where it merely acknowledges, is empty or waits.
    pub fn is_evidence(&self) -> bool {
        matches!(self.kind, Kind::Content | Kind::Failure)
    }
}

/// A tool's name as it may stand in a header and a log. Agents that act in text may call anything a tool: what does not
/// look like a name stands there as its digest.
pub fn shown(name: &str) -> String {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "_.-/:@".contains(c);
    if !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_sign) {
        name.to_owned()
    } else {
        format!("tool-{:016x}", digest(name.as_bytes()))
    }
}
