//! Cycle: the same few steps with the same outcomes, round after round, up to the tail (A-B-A-B).

use super::{Counted, LONGEST_CYCLE, StepsPolicy, counted::number, kind_of};
use crate::{
    step::{Sequence, Step},
    verdict::Signal,
};

/// Judges the rounds of a cycle. For a kill, one of its steps must be a proof; all other steps are equal in each round too.
pub fn judged(steps: &[Step<'_>], policy: &StepsPolicy) -> Counted {
    let least = policy.least(steps, policy.cycle);
    let (rounds, round) = rounds(steps, least);
    if rounds < least {
        return Counted::NOTHING;
    }
    let row = policy.row_of_all(round, policy.cycle);
    let is_proven = round.iter().any(|step| policy.is_proof(steps, round, step));
    Counted::of(Signal::Cycle, rounds, if is_proven { row } else { row.hinting() }, kind_of(round))
}

/// The number of rounds of the cycle that the steps end with, for the period from 2 on that gives the most, and the last round.
/// Only counted if there can be `least` rounds.
pub fn rounds<'s, 'a>(steps: &'s [Step<'a>], least: u32) -> (u32, &'s [Step<'a>]) {
    (2..=LONGEST_CYCLE)
        .map(|period| rounds_of(steps, period, least))
        .fold((0, &[][..]), |most, next| if next.0 > most.0 { next } else { most })
}

fn rounds_of<'s, 'a>(steps: &'s [Step<'a>], period: usize, least: u32) -> (u32, &'s [Step<'a>]) {
    let mut rounds = steps.rchunks_exact(period);
    let Some(last) = rounds.next() else { return (0, &[]) };
    let does_the_same =
        |round: &&[Step<'_>]| round.iter().zip(last).all(|(step, last)| step.approach == last.approach);
    if number(steps.rchunks_exact(period).take_while(does_the_same).count()) < least {
        return (0, &[]);
    }
    // One step over and over is a repeated step, not a cycle.
    let is_one_step = last.iter().zip(last.iter().skip(1)).all(|(a, b)| b.is_like(a));
    if is_one_step {
        return (0, &[]);
    }
    let mut sequences: Vec<Sequence> =
        last.iter().map(|step| Sequence::ending_with(step.numbers(), period)).collect();
    let equal = rounds.take_while(|round| {
        round.iter().zip(last).zip(&mut sequences).all(|((step, last), sequence)| {
            step.approach == last.approach && step.has_outcome_of(last) && sequence.takes(&step.numbers())
        })
    });
    let count = number(equal.count()).saturating_add(1);
    // A remaining time that gets shorter is progress.
    if sequences.iter().any(Sequence::nears_an_end) { (0, &[]) } else { (count, last) }
}
