//! Progress matrix: is the approach new, is the outcome new? A new outcome is progress and ends every streak.

use super::count;
use crate::step::Step;

/// What was done this often before is old: a second pass over a batch is not stagnation yet.
const OLD: usize = 2;

/// Steps at the tail that did what was done before and brought what had come before.
pub fn stagnation(steps: &[Step]) -> u32 {
    streak(steps, |step, earlier| {
        seen(earlier, |other| other.approach == step.approach) >= OLD
            && seen(earlier, |other| other.outcome == step.outcome) >= OLD
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
