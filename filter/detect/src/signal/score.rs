//! The local score of a prompt against the window of its scope.
//!
//! A prompt that was sent before to the letter, in the same context, counts by itself. One that differs in numbers, ids, dates or
//! a word may be part of a healthy batch: it counts only if the response was the same to the letter too, and never kills. Texts
//! of a few words ("continue", "yes") count only if the response repeats. A text that stands in the same history already is no
//! new prompt: it is judged in the history. The score kills only within a run that has a name, unless the operator wants it to
//! kill by the agent's name alone.

use crate::{
    prompts::IncomingPrompt,
    verdict::{Evidence, Finding, Signal, Verdict},
    window::{Fate, PromptEvent, Window},
};

/// When the score speaks.
#[derive(Clone, Debug, PartialEq)]
pub struct ScorePolicy {
    pub enabled: bool,
    pub hint: f64,
    pub kill: f64,
    /// Shorter prompts are evidence only where their responses repeat.
    pub min_words: u16,
    /// Prompts that are remembered.
    pub window: usize,
    /// Whether it may kill if only the agent is known, and not the run.
    pub kill_by_agent: bool,
}

/// What the window says about a new prompt. With `names_run`, all that it remembers is of the same run.
pub fn judge(
    window: &Window,
    prompt: &IncomingPrompt,
    names_run: bool,
    policy: &ScorePolicy,
) -> (Verdict, Evidence) {
    // An observation, a text that stands in the history, and an addition that says little are no new prompts.
    if !policy.enabled || prompt.is_known() || prompt.is_observation || prompt.is_weak_addition {
        return (Verdict::Allow, Evidence::default());
    }
    let IncomingPrompt { text, context, .. } = prompt;
    // A prompt without an answer does not count: it is part of a fan-out, or the provider failed.
    let answered = || window.entries.iter().filter(|entry| entry.fate == Fate::Answered);
    let verbatim: Vec<&PromptEvent> =
        answered().filter(|entry| entry.prompt.is_verbatim(text) && entry.context == context.whole).collect();
    let similar: Vec<&PromptEvent> = answered()
        .filter(|entry| entry.prompt.is_near(text) && !entry.prompt.is_verbatim(text))
        .filter(|entry| entry.setting == context.setting)
        .collect();
    let counts_alone = text.words >= policy.min_words;
    let strict = tally(&verbatim, counts_alone, false);
    let loose = tally(&similar, false, true);
    let evidence = Evidence {
        prompts: strict.prompts.saturating_add(loose.prompts),
        responses: strict.responses.saturating_add(loose.responses),
        tools: strict.tools.saturating_add(loose.tools),
    };
    let proven = if names_run || policy.kill_by_agent { strict } else { Evidence::default() };
    let verdict = if proven.score() >= policy.kill && proven.responses.saturating_add(proven.tools) > 0 {
        Verdict::Kill
    } else if evidence.score() >= policy.hint {
        Verdict::Hint
    } else {
        Verdict::Allow
    };
    (verdict, evidence)
}

/// With fewer related prompts than this, equal answers prove nothing.
pub const LEAST_RELATED: u32 = 2;

/// Judges the prompt of the entry `number`. The embedding service says that `related` of the last prompts are related to it. If
/// the last answers were the same to the letter, these prompts count towards a hint.
pub fn judge_related(window: &Window, number: u32, related: u32, policy: &ScorePolicy) -> Option<Finding> {
    if !policy.enabled {
        return None;
    }
    let setting = window.entries.iter().find(|entry| entry.number == number)?.setting;
    let mut answered =
        window.entries.iter().rev().filter(|entry| {
            entry.number != number && entry.fate == Fate::Answered && entry.setting == setting
        });
    let last = answered.next()?;
    let equal = answered.take_while(|entry| entry.answered_like(last, true)).count().saturating_add(1);
    let prompts = u32::try_from(equal).unwrap_or(u32::MAX).min(related);
    let evidence = Evidence { prompts, responses: prompts.saturating_sub(1), tools: 0 };
    (evidence.score() >= policy.hint)
        .then(|| Finding { evidence, ..Finding::of(Signal::Score, Verdict::Hint) })
}

/// Counts over the entries that match. `alone`: a prompt counts without its response. `exactly`: the entries may be a batch. A
/// batch may well begin with the same call each time, so calls prove nothing.
fn tally(matching: &[&PromptEvent], alone: bool, exactly: bool) -> Evidence {
    let calls_like = |a: &PromptEvent, b: &PromptEvent| !exactly && a.called_like(b);
    let repeats = |a: &PromptEvent, b: &PromptEvent| {
        a.number != b.number && (a.answered_like(b, exactly) || calls_like(a, b))
    };
    let count = |wanted: &dyn Fn(&PromptEvent) -> bool| {
        u32::try_from(matching.iter().filter(|entry| wanted(entry)).count()).unwrap_or(u32::MAX)
    };
    let Some(last) = matching.last() else { return Evidence::default() };
    let earlier = |entry: &PromptEvent| entry.number != last.number;
    Evidence {
        prompts: count(&|entry| alone || matching.iter().any(|other| repeats(entry, other))),
        responses: count(&|entry| earlier(entry) && entry.answered_like(last, exactly)),
        tools: count(&|entry| earlier(entry) && calls_like(entry, last)),
    }
}

#[cfg(test)]
mod tests;
