//! Progress matrix: is the approach new, is the outcome new? A new outcome is progress and ends every streak. A receipt
//! of something new ("OK." to a note) is neither progress nor evidence and is passed over.

use crate::step::{Kind, Step};

/// How far a streak of stagnation at the tail counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stagnation {
    /// Steps that repeat what was old: enough for a hint.
    pub old: u32,
    /// Steps that repeat what was very old: enough for a kill.
    pub very_old: u32,
}

/// Steps at the tail that did what was done before and brought what had come before. A second pass over a batch does so
/// too: it takes a third to be old and a fifth to be very old, or the beginning of a fourth where something fails in each.
/// Nothing new may have been tried in between where it is to be very old.
pub fn stagnation(steps: &[Step]) -> Stagnation {
    let is_fourth = steps.split_last().is_some_and(|(last, earlier)| repeats(3)(last, earlier));
    let failing = if is_fourth { streak(steps, repeats(1), false).from_failure } else { 0 };
    Stagnation {
        old: streak(steps, repeats(2), true).length,
        very_old: failing.max(streak(steps, repeats(4), false).length),
    }
}

/// Steps at the tail that tried something new and brought nothing new: a failure, or what had come before.
pub fn stuck(steps: &[Step]) -> u32 {
    let is_stuck = |step: &Step, earlier: &[Step]| {
        step.kind != Kind::Receipt
            && seen(earlier, |other| other.approach == step.approach) == 0
            && (step.kind == Kind::Failure || seen(earlier, |other| other.outcome == step.outcome) > 0)
    };
    streak(steps, is_stuck, true).length
}

/// The step's approach and its outcome were there before, so often each.
fn repeats(times: usize) -> impl Fn(&Step, &[Step]) -> bool {
    move |step, earlier| {
        seen(earlier, |other| other.approach == step.approach) >= times
            && seen(earlier, |other| other.outcome == step.outcome) >= times
    }
}

fn seen(earlier: &[Step], is_it: impl Fn(&Step) -> bool) -> usize {
    earlier.iter().filter(|step| is_it(step)).count()
}

#[derive(Default)]
struct Streak {
    length: u32,
    /// Of these, the steps since the first failure among them, itself included.
    from_failure: u32,
}

/// The steps at the tail that belong. With `passes_over`, receipts among them do not end the streak.
fn streak(steps: &[Step], belongs: impl Fn(&Step, &[Step]) -> bool, passes_over: bool) -> Streak {
    let mut streak = Streak::default();
    for at in (0..steps.len()).rev() {
        let Some((step, earlier)) = steps.get(at).zip(steps.get(..at)) else { break };
        if belongs(step, earlier) {
            streak.length = streak.length.saturating_add(1);
            if step.kind == Kind::Failure {
                streak.from_failure = streak.length;
            }
        } else if !(passes_over && step.kind == Kind::Receipt) {
            break;
        }
    }
    streak
}
