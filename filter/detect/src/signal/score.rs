//! The local score of a prompt against the window of its scope.
//!
//! A prompt that was sent before to the letter, in the same context, counts by itself. One that differs in numbers, ids,
//! dates or a word is what a healthy batch sends: it counts only where the response was the same to the letter too, and
//! never kills. Texts of a few words ("continue", "yes") count only where the response repeats. A text that stands in the same history
//! already is no new prompt: what the history says of it is judged there. It kills only within a run that has a name,
//! unless the operator wants it to kill by the agent's name alone.

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
    /// Whether it kills what is known to be of one agent, and not of one run.
    pub kill_by_agent: bool,
}

/// What the window says about a new prompt. With `names_run`, all that it remembers is of the same run.
pub fn judge(
    window: &Window,
    prompt: &IncomingPrompt,
    names_run: bool,
    policy: &ScorePolicy,
) -> (Verdict, Evidence) {
    // What an agent that acts in texts is told while it waits is no prompt.
    if !policy.enabled || prompt.is_known() || prompt.is_observation || prompt.is_weak_addition {
        return (Verdict::Allow, Evidence::default());
    }
    let IncomingPrompt { text, context, .. } = prompt;
    // What was not answered is no outcome: a fan-out, or a fault of the provider.
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

/// Related prompts below which equal answers to them prove nothing.
pub const LEAST_RELATED: u32 = 2;

/// What the window says about the prompt of the entry `number`, of which the embedding service says that `related` of the
/// last prompts are related to it: where the last answers were the same to the letter, they count towards a hint.
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

/// Counts over the entries that match; `alone` where a prompt counts without its response. `exactly`: they may be a batch, which may well
/// begin with one call each time, so calls prove nothing.
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
