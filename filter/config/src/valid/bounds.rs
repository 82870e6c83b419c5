//! How much of a history reaches the model.

use crate::{
    ConfigError,
    context_window::ContextWindow,
    price::Model,
    raw::{RawBounds, RawContextWindow},
};

/// What of the bounds differs from agent to agent. Counts are 0 where there is no bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundsPolicy {
    /// Characters of a user message.
    pub message: usize,
    /// Characters of a tool result.
    pub result: usize,
    pub repair: bool,
    /// User turns.
    pub history: usize,
    pub pruning: Option<PruningPolicy>,
    /// Tokens that are left of the window when the model is told so.
    pub flush: Option<usize>,
    /// Tokens of a model that nobody knows.
    pub window: usize,
}

/// When old tool results are cut, and what stays of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PruningPolicy {
    pub keep: usize,
    /// Shares of the window.
    pub soft: f64,
    pub hard: f64,
    /// Characters.
    pub trim_above: usize,
    pub head: usize,
    pub tail: usize,
    pub least_in_all: usize,
}

impl BoundsPolicy {
    /// Whether nothing is to be looked at.
    pub fn is_off(&self) -> bool {
        self.message == 0 && self.result == 0 && !self.repair && !self.follows()
    }

    /// Whether the history is followed from its beginning.
    pub fn follows(&self) -> bool {
        self.history > 0 || self.pruning.is_some() || self.flush.is_some()
    }
}

pub fn bounds(raw: &RawBounds) -> Result<BoundsPolicy, ConfigError> {
    let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let refuse = |path: &str, problem: &str| Err(ConfigError::new(format!("bounds.{path}"), problem));
    let RawBounds { truncation, pruning, memory_flush, .. } = raw;
    let share = 0.0..=1.0;
    if !share.contains(&pruning.soft_trim_ratio) {
        return refuse("pruning.soft_trim_ratio", "must lie between 0 and 1");
    }
    if !share.contains(&pruning.hard_clear_ratio) || pruning.hard_clear_ratio < pruning.soft_trim_ratio {
        return refuse("pruning.hard_clear_ratio", "must lie between bounds.pruning.soft_trim_ratio and 1");
    }
    if pruning.soft_trim_head.saturating_add(pruning.soft_trim_tail) >= pruning.soft_trim_chars {
        return refuse(
            "pruning.soft_trim_chars",
            "must be more than bounds.pruning.soft_trim_head and bounds.pruning.soft_trim_tail together",
        );
    }
    if raw.context_window == 0 {
        return refuse("context_window", "must be at least 1 (tokens)");
    }
    let bound = |bound: u32| if truncation.enabled { number(bound) } else { 0 };
    Ok(BoundsPolicy {
        message: bound(truncation.max_message_chars),
        result: bound(truncation.max_tool_result_chars),
        repair: raw.repair,
        history: number(raw.history_limit),
        pruning: pruning.enabled.then(|| PruningPolicy {
            keep: number(pruning.keep_last_assistants),
            soft: pruning.soft_trim_ratio,
            hard: pruning.hard_clear_ratio,
            trim_above: number(pruning.soft_trim_chars),
            head: number(pruning.soft_trim_head),
            tail: number(pruning.soft_trim_tail),
            least_in_all: number(pruning.min_prunable_tool_chars),
        }),
        flush: memory_flush.enabled.then(|| number(memory_flush.tokens_left)),
        window: number(raw.context_window),
    })
}

pub fn context_window((at, raw): (usize, &RawContextWindow)) -> Result<ContextWindow, ConfigError> {
    let path = format!("context_windows[{at}]");
    let model = match (&raw.name, &raw.prefix) {
        (Some(name), None) => Model::Name(name.as_str().into()),
        (None, Some(prefix)) => Model::Prefix(prefix.as_str().into()),
        _ => return Err(ConfigError::new(path, "needs exactly one of `name` and `prefix`")),
    };
    if raw.tokens == 0 {
        return Err(ConfigError::new(format!("{path}.tokens"), "must be at least 1"));
    }
    Ok(ContextWindow { model, tokens: usize::try_from(raw.tokens).unwrap_or(usize::MAX) })
}
