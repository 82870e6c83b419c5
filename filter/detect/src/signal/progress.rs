//! Progress matrix: is the approach new, is the outcome new? A new outcome is progress and ends every streak. Acknowledgements
//! and waiting are neither progress nor evidence, and are skipped. But an acknowledgement of something new ("OK." to another
//! edit) is new work: the steps before it do not stagnate.

use std::collections::HashSet;

use super::{LONGEST_CYCLE, number, repeated_step::gets_shorter};
use crate::step::{Kind, Purpose, Sequence, Step};

/// How far stagnation at the tail goes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stagnation<'s, 'a> {
    /// Steps that repeat what was old: enough for a hint.
    pub old: Streak<'s, 'a>,
    /// Steps that repeat what was very old: enough for a kill.
    pub very_old: Streak<'s, 'a>,
}

/// A streak of steps at the tail.
#[derive(Clone, Copy, Debug, Default)]
pub struct Streak<'s, 'a> {
    /// The steps from its first to the tail.
    pub steps: &'s [Step<'a>],
    /// Steps that belong to it.
    pub length: u32,
    /// Of these, the steps from the earliest one on that told little: a failure, or a few words.
    from_little: u32,
}

impl Streak<'_, '_> {
    /// The number of its steps that wait, without those that only sleep.
    pub fn waits(&self) -> u32 {
        let is_wait = |step: &&Step<'_>| step.kind() == Kind::Waiting && !step.brought.is_for(Purpose::Wait);
        number(self.steps.iter().filter(is_wait).count())
    }

    /// What is counted: its steps or, with `by_rounds`, how often it did each of its calls on average.
    pub fn count(&self, by_rounds: bool) -> u32 {
        if !by_rounds {
            return self.length;
        }
        let approaches: HashSet<_> = self.steps.iter().map(|step| step.approach).collect();
        self.length.div_ceil(number(approaches.len()).max(1))
    }

    /// Whether it is more than a suspicion: at least two of its steps prove something, and none waits.
    pub fn proves(&self, is_proof: impl Fn(&Step<'_>) -> bool) -> bool {
        self.steps.iter().all(|step| step.kind() != Kind::Waiting)
            && self.steps.iter().filter(|step| is_proof(step)).count() >= 2
    }
}

/// The steps at the tail that did what was done before, with the same outcome as before. Streaks shorter than `least` are empty.
/// A second pass over a batch repeats steps too. So steps are old from their third occurrence on, and very old from their fifth,
/// or when the fourth pass begins and some steps fail or tell little. Within a very old streak, nothing new was tried.
pub fn stagnation<'s, 'a>(steps: &'s [Step<'a>], least: u32) -> Stagnation<'s, 'a> {
    let fourth = fourth(steps, least);
    let fourth = Streak { length: fourth.from_little, ..fourth };
    let very_old = streak(steps, 4, false, least);
    Stagnation {
        old: streak(steps, 2, true, least),
        very_old: if fourth.length > very_old.length { fourth } else { very_old },
    }
}

/// The streak of repeated steps at the tail. Returns an empty one unless the last step occurs for the fourth time.
pub fn fourth<'s, 'a>(steps: &'s [Step<'a>], least: u32) -> Streak<'s, 'a> {
    // Checked first, because few steps occur so often, and counting a streak takes long.
    if !steps.split_last().is_some_and(|(last, earlier)| repeats(last, earlier, 3)) {
        return Streak::default();
    }
    let streak = streak(steps, 1, false, least);
    if streak.length >= least { streak } else { Streak::default() }
}

/// Counts the steps at the tail that tried something new and brought nothing new: a failure, an outcome that had come before, or one
/// that only repeats the words of the call. Acknowledgements of other tools in between count only as long as they are fewer than the
/// other steps: alone they are work. A call that is repaired and fails differently each time counts once. Returns 0 when the last step
/// succeeded, or when there are fewer than `least` steps in all.
pub fn stuck(steps: &[Step<'_>], least: u32) -> u32 {
    // The kind is judged only where it can matter.
    let is_new =
        |at: usize, step: &Step<'_>| steps.get(..at).is_some_and(|earlier| !is_tried(step, earlier, 1));
    let Some((last, earlier)) = steps.split_last() else { return 0 };
    if number(steps.len()) < least || !is_new(earlier.len(), last) || is_passed_over(last) {
        return 0;
    }
    let (mut stale, mut acknowledged) = (0_u32, 0_u32);
    let mut later: Option<&Step<'_>> = None;
    let mut counted = Vec::new();
    for at in (0..steps.len()).rev() {
        let Some((step, earlier)) = steps.get(at).zip(steps.get(..at)) else { break };
        let is_new = is_new(at, step);
        if is_passed_over(step) {
            if !step.lets_time_pass() {
                // The tool that fails now has worked here, or has started something.
                if later.is_none_or(|later| later.tools == step.tools) {
                    break;
                }
                acknowledged = acknowledged.saturating_add(u32::from(is_new && brings_old(step, earlier)));
            }
            continue;
        }
        let is_stale = match step.kind() {
            Kind::Failure => step.residue().is_some(),
            Kind::Empty => true,
            _ => !step.is_receipt() && (brings_old(step, earlier) || gives_back(step, steps)),
        };
        if !is_new || !is_stale {
            break;
        }
        if !later.is_some_and(|later| is_repaired(step, later)) {
            stale = stale.saturating_add(1);
        }
        counted.push(step);
        later = Some(step);
    }
    // A waiting time that gets shorter is progress, and a batch (calls that are equal but for numbers) may find nothing.
    let is_batch = counted.iter().all(|step| {
        step.kind() != Kind::Failure && (step.approach == last.approach || step.is_numbered_as(last))
    });
    if is_batch || gets_shorter(counted.iter().copied()) {
        return 0;
    }
    stale.saturating_add(acknowledged.min(stale.saturating_sub(1)))
}

fn brings_old(step: &Step<'_>, earlier: &[Step<'_>]) -> bool {
    earlier.iter().any(|other| step.brings_like(other))
}

/// Whether another call has the same residue.
fn gives_back(step: &Step<'_>, steps: &[Step<'_>]) -> bool {
    let residue = step.residue();
    residue.is_some_and(|residue| residue.is_nothing)
        && steps.iter().any(|other| {
            other.approach != step.approach && other.residue() == residue && !step.brings_like(other)
        })
}

/// Whether the later step is the same call after a repair: its arguments are similar, and it fails in another way.
fn is_repaired(step: &Step<'_>, later: &Step<'_>) -> bool {
    step.tools == later.tools && step.words.is_similar(later.words) && step.residue() != later.residue()
}

/// Whether the step's approach occurred at least `times` times before with the same outcome. In failures, only counters may have changed.
fn repeats(step: &Step<'_>, earlier: &[Step<'_>], times: usize) -> bool {
    if !is_tried(step, earlier, times) {
        return false;
    }
    let is_same = |other: &&Step<'_>| other.approach == step.approach && other.has_outcome_of(step);
    if earlier.iter().filter(is_same).count() < times {
        return false;
    }
    let mut sequence = Sequence::ending_with(step.numbers(), LONGEST_CYCLE);
    let same = earlier.iter().rev().filter(is_same).take_while(|other| sequence.takes(&other.numbers()));
    same.count() >= times && !sequence.nears_an_end()
}

/// Whether the step's approach occurred at least `times` times before, with any outcome.
fn is_tried(step: &Step<'_>, earlier: &[Step<'_>], times: usize) -> bool {
    seen(earlier, |other| other.approach == step.approach) >= times
}

/// Whether it acknowledges or waits. That is neither progress nor evidence.
pub fn is_passed_over(step: &Step<'_>) -> bool {
    matches!(step.kind(), Kind::Acknowledgement | Kind::Waiting)
}

/// Whether it did something for the first time, and that was acknowledged.
fn is_new_work(step: &Step<'_>, earlier: &[Step<'_>]) -> bool {
    step.kind() == Kind::Acknowledgement && !is_tried(step, earlier, 1)
}

/// Whether something that is awaited has moved on, or the next item has come.
fn is_news(step: &Step<'_>, earlier: &[Step<'_>]) -> bool {
    is_passed_over(step) && !earlier.iter().any(|other| step.brings_like(other))
}

fn seen(earlier: &[Step<'_>], is_it: impl Fn(&Step<'_>) -> bool) -> usize {
    earlier.iter().filter(|step| is_it(step)).count()
}

/// The steps at the tail that occurred at least `times` times before, with the same outcome. With `passes_over`, acknowledgements of what
/// was done before do not end the streak, nor does waiting that brings what was seen before. May return an empty streak when there are
/// fewer than `least` such steps.
fn streak<'s, 'a>(steps: &'s [Step<'a>], times: usize, passes_over: bool, least: u32) -> Streak<'s, 'a> {
    let mut streak = Streak::default();
    let begins = || steps.split_last().is_some_and(|(last, earlier)| repeats(last, earlier, times));
    if !begins() || !reaches(steps, times, passes_over, least) {
        return streak;
    }
    for at in (0..steps.len()).rev() {
        let Some((step, earlier)) = steps.get(at).zip(steps.get(..at)) else { break };
        if repeats(step, earlier, times) {
            streak.length = streak.length.saturating_add(1);
            streak.steps = steps.get(at..).unwrap_or_default();
            if step.kind() == Kind::Failure || (step.kind() == Kind::Content && step.brings_few_words()) {
                streak.from_little = streak.length;
            }
        } else if streak.length == 0
            || !passes_over
            || !is_passed_over(step)
            || is_news(step, earlier)
            || is_new_work(step, earlier)
        {
            break;
        }
    }
    streak
}

/// Whether a streak may have `least` steps or more, judged by their approaches alone: outcomes are not read.
fn reaches(steps: &[Step<'_>], times: usize, passes_over: bool, least: u32) -> bool {
    let mut count = 0_u32;
    for at in (0..steps.len()).rev() {
        if count >= least {
            return true;
        }
        let Some((step, earlier)) = steps.get(at).zip(steps.get(..at)) else { break };
        if !is_tried(step, earlier, times) && (count == 0 || !passes_over || !is_passed_over(step)) {
            break;
        }
        count = count.saturating_add(1);
    }
    count >= least
}
