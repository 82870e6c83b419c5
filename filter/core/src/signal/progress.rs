//! Progress matrix: is the approach new, is the outcome new? A new outcome is progress and ends every streak.

use super::count;
use crate::step::Step;

/// What was done twice before is old: a second pass over a batch is not stagnation yet.
pub const OLD: usize = 2;
/// What was done four times before is old beyond doubt.
pub const VERY_OLD: usize = 4;

/// Steps at the tail that did what was done `age` times before and brought what had come as often.
pub fn stagnation(steps: &[Step], age: usize) -> u32 {
    streak(steps, |step, earlier| {
        seen(earlier, |other| other.approach == step.approach) >= age
            && seen(earlier, |other| other.outcome == step.outcome) >= age
    })
}

/// Steps at the tail that tried something new and brought what had come before. A receipt is no outcome: different
/// writes end alike.
pub fn stuck(steps: &[Step]) -> u32 {
    streak(steps, |step, earlier| {
        !step.is_receipt
            && seen(earlier, |other| other.approach == step.approach) == 0
            && seen(earlier, |other| other.outcome == step.outcome) > 0
    })
}

fn seen(earlier: &[Step], is_it: impl Fn(&Step) -> bool) -> usize {
    earlier.iter().filter(|step| is_it(step)).count()
}

fn streak(steps: &[Step], belongs: impl Fn(&Step, &[Step]) -> bool) -> u32 {
    let at_tail = (0..steps.len()).rev().take_while(|at| {
        let step = steps.get(*at).zip(steps.get(..*at));
        step.is_some_and(|(step, earlier)| belongs(step, earlier))
    });
    count(at_tail.count())
}
