//! Bounds: how much of a history reaches the model. Long texts are cut, turns beyond the limit are dropped, old results are cut
//! down, and calls and results are paired. The model gets a hint before its window is full. All this depends on the request
//! alone.

use sentinel_detect::verdict::{Finding, Signal, Verdict};
use sentinel_llm_api::{
    conversation::Role,
    outline::{Changes, Outline, Repaired, repair},
    usage::Usage,
};

use self::{
    follow::{Follow, Followed, OldResult},
    truncation::Truncated,
};
use super::Seen;
use crate::{
    case::Case,
    metric::{Bound, Bounding, Metric},
    note::Note,
};
use sentinel_config::price::BYTES_A_TOKEN;
use sentinel_config::{BoundsPolicy, Config};

mod follow;
mod truncation;

/// Stands in the middle of a result that was trimmed.
const TRIMMED: &str = "...";
/// Stands for a result that was cleared.
const CLEARED: &str = "[Old tool result content cleared]";

/// Adds the edits to the case, and a finding if the model must be told that its window is almost full.
pub fn run(seen: &Seen<'_, '_>, case: &mut Case) {
    let Seen { config, conversation, body, .. } = seen;
    let policy = case.policy.bounds;
    if policy.is_off() || is_short(&policy, body) {
        return;
    }
    let Ok(outline) = conversation.outline() else { return };
    let window = config.context_window(&case.model).unwrap_or(policy.window);
    let mut changes = Changes::of(&outline);
    let mut tally = Tally::new(&outline);
    let truncated = Truncated::of(&outline, &changes, &policy);
    let followed = Follow::new(&outline, &changes, &policy, &truncated, window).whole_run();
    let is_cut = apply(&outline, &truncated, &followed, &policy, &mut changes, &mut tally);
    if policy.repair || is_cut {
        tally.repaired(repair(&mut changes));
    }
    tally.note_all(config, case);
    let crosses = followed.crosses;
    changes.add(std::mem::take(&mut case.edits));
    case.edits = changes.edits();
    case.findings.extend(crosses.then(|| Finding::of(Signal::MemoryFlush, Verdict::Hint)));
}

/// Whether no text can be too long, and nothing else is asked.
fn is_short(policy: &BoundsPolicy, body: &[u8]) -> bool {
    let fits = |bound: usize| bound == 0 || body.len() <= bound;
    !policy.repair && !policy.follows() && fits(policy.message) && fits(policy.result)
}

/// Makes the changes. Returns whether messages were dropped. A result that is dropped is not cut, one that is cleared is not
/// trimmed, and one that is trimmed is not truncated.
fn apply(
    outline: &Outline<'_>,
    truncated: &Truncated<'_>,
    followed: &Followed<'_>,
    policy: &BoundsPolicy,
    changes: &mut Changes<'_, '_>,
    tally: &mut Tally,
) -> bool {
    let mut is_cut = false;
    for (at, entry) in outline.entries.iter().enumerate().take(followed.first) {
        if entry.role != Role::Instruction {
            changes.drop_entry(at);
            tally.add(Bound::MessageDropped, at, entry.size());
            is_cut = true;
        }
    }
    for old in &followed.old {
        if changes.is_dropped(old.entry) {
            continue;
        }
        // What truncation would have cut is cut now too.
        let saved = old.saved.saturating_add(truncated.saved(old.entry, old.number));
        match (old.state, &old.texts, &policy.pruning) {
            (OldResult::Trimmed, Some(texts), Some(pruning)) => {
                changes.cut_texts(texts, follow::trimmed(pruning));
                tally.add(Bound::ResultTrimmed, old.entry, saved);
            }
            (OldResult::Cleared, ..) => {
                changes.clear_result(old.entry, old.number, CLEARED);
                tally.add(Bound::ResultCleared, old.entry, saved);
            }
            _ => {}
        }
    }
    let is_pruned = |entry: usize, number: usize| {
        let at = followed.old.partition_point(|old| (old.entry, old.number) < (entry, number));
        let old = followed.old.get(at).filter(|old| (old.entry, old.number) == (entry, number));
        old.is_some_and(|old| old.state != OldResult::Whole)
    };
    for (at, number, long) in &truncated.long {
        if changes.is_dropped(*at) || number.is_some_and(|number| is_pruned(*at, number)) {
            continue;
        }
        changes.cut_texts(&long.texts, long.cut());
        let bound = if number.is_some() { Bound::ResultTruncated } else { Bound::MessageTruncated };
        tally.add(bound, *at, long.saved);
    }
    is_cut
}

/// What was done, for the metrics.
struct Tally {
    done: Vec<(Bound, u64)>,
    /// Bytes that each saves: of messages that no earlier request had, and of other messages.
    saved: [(Bounding, u64, u64); 3],
    /// The first message that no earlier request had.
    newest: usize,
}

impl Tally {
    fn new(outline: &Outline<'_>) -> Self {
        let last = outline.entries.iter().rposition(|entry| entry.role == Role::Assistant);
        let saved = [Bounding::Truncation, Bounding::History, Bounding::Pruning].map(|kind| (kind, 0, 0));
        Self { done: Vec::new(), saved, newest: last.unwrap_or(0) }
    }

    fn note(&mut self, bound: Bound, by: usize) {
        let by = u64::try_from(by).unwrap_or(u64::MAX);
        match self.done.iter_mut().find(|(known, _)| *known == bound) {
            Some((_, count)) => *count = count.saturating_add(by),
            None if by > 0 => self.done.push((bound, by)),
            None => {}
        }
    }

    fn add(&mut self, bound: Bound, entry: usize, saved: usize) {
        self.note(bound, 1);
        let kind = match bound {
            Bound::MessageTruncated | Bound::ResultTruncated => Bounding::Truncation,
            Bound::MessageDropped => Bounding::History,
            _ => Bounding::Pruning,
        };
        let saved = u64::try_from(saved).unwrap_or(u64::MAX);
        for (_, new, old) in self.saved.iter_mut().filter(|(known, ..)| *known == kind) {
            let sum = if entry >= self.newest { new } else { old };
            *sum = sum.saturating_add(saved);
        }
    }

    fn repaired(&mut self, repaired: Repaired) {
        let Repaired { dropped, moved, made, renamed } = repaired;
        for (bound, by) in [
            (Bound::ResultDropped, dropped),
            (Bound::ResultMoved, moved),
            (Bound::ResultMade, made),
            (Bound::IdRenamed, renamed),
        ] {
            self.note(bound, by);
        }
    }

    fn note_all(self, config: &Config, case: &mut Case) {
        let dialect = case.dialect.label();
        for (bound, by) in self.done {
            case.notes.push(Note::Count(Metric::Bounds(bound, dialect), by));
        }
        let tokens = |bytes: u64| {
            let bytes_a_token = u64::try_from(BYTES_A_TOKEN).unwrap_or(1);
            bytes.checked_div(bytes_a_token).unwrap_or(0)
        };
        for (kind, new, old) in self.saved {
            // Messages that were sent before are in the provider's cache.
            let usage = Usage { input: tokens(new), cached: tokens(old), output: 0 };
            let all = usage.input.saturating_add(usage.cached);
            if all == 0 {
                continue;
            }
            case.notes.push(Note::Count(Metric::BoundsTokens(kind, dialect), all));
            if let Some(price) = config.price(&case.model) {
                case.notes.push(Note::Count(Metric::BoundsSaved(kind), price.of(&usage)));
            }
        }
    }
}
