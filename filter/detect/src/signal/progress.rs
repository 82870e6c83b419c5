//! Progress matrix: is the approach new, is the outcome new? A new outcome is progress and ends every streak. Two kinds
//! of steps are skipped, because they are neither progress nor evidence: an acknowledgement of something new ("OK." to
//! a note), and waiting.

use super::number;
use crate::step::{Kind, Step};

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
    /// Of these, the steps since the first failure among them, itself included.
    from_failure: u32,
}

impl Streak<'_, '_> {
    /// Its steps that wait.
    pub fn waits(&self) -> u32 {
        number(self.steps.iter().filter(|step| step.kind() == Kind::Waiting).count())
    }

    /// Whether it can be more than a suspicion: two steps at least tell something or fail, and none waits.
    pub fn proves(&self) -> bool {
        let tells = |step: &&Step<'_>| matches!(step.kind(), Kind::Content | Kind::Failure);
        self.steps.iter().all(|step| step.kind() != Kind::Waiting)
            && self.steps.iter().filter(tells).count() >= 2
    }
}

/// Steps at the tail that did what was done before and brought what had come before, where they may be `least` or more. A
/// second pass over a batch does so too: it takes a third to be old and a fifth to be very old, or the beginning of a fourth
/// where something fails in each. Nothing new may have been tried in between where it is to be very old.
pub fn stagnation<'s, 'a>(steps: &'s [Step<'a>], least: u32) -> Stagnation<'s, 'a> {
    let is_fourth = || steps.split_last().is_some_and(|(last, earlier)| repeats(last, earlier, 3));
    let failing = streak(steps, 1, false, least);
    let failing = if failing.length >= least && is_fourth() { failing } else { Streak::default() };
    let failing = Streak { length: failing.from_failure, ..failing };
    let very_old = streak(steps, 4, false, least);
    Stagnation {
        old: streak(steps, 2, true, least),
        very_old: if failing.length > very_old.length { failing } else { very_old },
    }
}

/// Steps at the tail that tried something new and brought nothing new: a failure, or what had come before.
/// Acknowledgements between count as far as they are fewer than the others: alone they are work. Looked at where they may
/// be `least` or more.
pub fn stuck(steps: &[Step<'_>], least: u32) -> u32 {
    if number(steps.len()) < least {
        return 0;
    }
    let (mut stale, mut acknowledged) = (0_u32, 0_u32);
    for at in (0..steps.len()).rev() {
        let Some((step, earlier)) = steps.get(at).zip(steps.get(..at)) else { break };
        let is_new = seen(earlier, |other| other.approach == step.approach) == 0;
        let is_old_outcome = || earlier.iter().any(|other| step.brings_like(other));
        match step.kind() {
            Kind::Waiting => {}
            Kind::Acknowledgement => {
                acknowledged = acknowledged.saturating_add(u32::from(is_new && is_old_outcome()))
            }
            Kind::Failure | Kind::Empty if is_new => stale = stale.saturating_add(1),
            Kind::Content if is_new && is_old_outcome() => stale = stale.saturating_add(1),
            _ => break,
        }
    }
    stale.saturating_add(acknowledged.min(stale.saturating_sub(1)))
}

/// The step's approach and its outcome were there before, so often each.
fn repeats(step: &Step<'_>, earlier: &[Step<'_>], times: usize) -> bool {
    is_tried(step, earlier, times) && seen(earlier, |other| step.brings_like(other)) >= times
}

/// The step's approach was there before so often.
fn is_tried(step: &Step<'_>, earlier: &[Step<'_>], times: usize) -> bool {
    seen(earlier, |other| other.approach == step.approach) >= times
}

fn is_passed_over(step: &Step<'_>) -> bool {
    matches!(step.kind(), Kind::Acknowledgement | Kind::Waiting)
}

/// What is waited for has moved on.
fn is_news(step: &Step<'_>, earlier: &[Step<'_>]) -> bool {
    step.kind() == Kind::Waiting && !earlier.iter().any(|other| step.brings_like(other))
}

fn seen(earlier: &[Step<'_>], is_it: impl Fn(&Step<'_>) -> bool) -> usize {
    earlier.iter().filter(|step| is_it(step)).count()
}

/// The steps at the tail that repeat what was there so many `times`. With `passes_over`, acknowledgements among them do not end
/// the streak, nor does waiting that brings what was seen before. Nothing where they are fewer than `least`.
fn streak<'s, 'a>(steps: &'s [Step<'a>], times: usize, passes_over: bool, least: u32) -> Streak<'s, 'a> {
    let mut streak = Streak::default();
    if !reaches(steps, times, passes_over, least) {
        return streak;
    }
    for at in (0..steps.len()).rev() {
        let Some((step, earlier)) = steps.get(at).zip(steps.get(..at)) else { break };
        if repeats(step, earlier, times) {
            streak.length = streak.length.saturating_add(1);
            streak.steps = steps.get(at..).unwrap_or_default();
            if step.kind() == Kind::Failure {
                streak.from_failure = streak.length;
            }
        } else if streak.length == 0 || !passes_over || !is_passed_over(step) || is_news(step, earlier) {
            break;
        }
    }
    streak
}

/// Whether a streak may go over `least` steps, by what they did alone.
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
