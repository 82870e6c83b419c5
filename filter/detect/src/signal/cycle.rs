//! Cycle: the same few steps with the same outcomes, round after round, up to the tail (A-B-A-B).

use super::{LONGEST_CYCLE, number};
use crate::step::Step;

/// Rounds of the cycle that the steps end with, the most of any period from 2 on, and its last round.
pub fn rounds<'s, 'a>(steps: &'s [Step<'a>]) -> (u32, &'s [Step<'a>]) {
    (2..=LONGEST_CYCLE)
        .map(|period| rounds_of(steps, period))
        .fold((0, &[][..]), |most, next| if next.0 > most.0 { next } else { most })
}

fn rounds_of<'s, 'a>(steps: &'s [Step<'a>], period: usize) -> (u32, &'s [Step<'a>]) {
    let mut rounds = steps.rchunks_exact(period);
    let Some(last) = rounds.next() else { return (0, &[]) };
    // One step over and over is a repeated step, not a cycle.
    let is_one_step = last.iter().zip(last.iter().skip(1)).all(|(a, b)| a.is_like(b));
    if is_one_step {
        return (0, &[]);
    }
    let equal = rounds.take_while(|round| round.iter().zip(last).all(|(a, b)| a.is_like(b)));
    (number(equal.count()).saturating_add(1), last)
}
