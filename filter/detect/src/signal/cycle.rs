//! Cycle: the same few steps with the same outcomes, round after round, up to the tail (A-B-A-B).

use super::count;
use crate::step::Step;

/// Rounds of the cycle of period 2 to 5 that the steps end with; the most of any period.
pub fn rounds(steps: &[Step]) -> u32 {
    (2..=5).map(|period| rounds_of(steps, period)).max().unwrap_or(0)
}

fn rounds_of(steps: &[Step], period: usize) -> u32 {
    let mut rounds = steps.rchunks_exact(period);
    let Some(last) = rounds.next() else { return 0 };
    let same = |a: &Step, b: &Step| a.approach == b.approach && a.outcome == b.outcome;
    // One step over and over is a repeated step, not a cycle.
    let is_one_step = last.iter().zip(last.iter().skip(1)).all(|(a, b)| same(a, b));
    if is_one_step {
        return 0;
    }
    let equal = rounds.take_while(|round| round.iter().zip(last).all(|(a, b)| same(a, b)));
    count(equal.count()).saturating_add(1)
}
