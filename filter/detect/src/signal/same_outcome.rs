//! Same outcome: one tool is called with any arguments and brings the same result each time. This is weak evidence, so it
//! hints and does not kill by default.

use super::{number, repeated_step::gets_shorter};
use crate::step::{Kind, Step};

/// The number of steps in a row at the tail with the same tools and the same outcome; counted only if there can be `least`.
/// Acknowledgements are no outcome and are skipped, and waiting ends the row. A receipt in a few words counts as an
/// acknowledgement.
pub fn count(steps: &[Step<'_>], least: u32) -> u32 {
    if number(steps.len()) < least {
        return 0;
    }
    let is_outcome = |step: &&Step<'_>| step.kind() != Kind::Acknowledgement;
    let outcomes = || steps.iter().rev().filter(is_outcome);
    let Some(last) = outcomes().next().filter(|step| step.kind() != Kind::Waiting) else { return 0 };
    let same = |step: &&Step<'_>| step.tools == last.tools && last.brings_like(step);
    // The kinds of the others are judged only where they can matter.
    if number(steps.iter().filter(same).count()) < least {
        return 0;
    }
    let row = || outcomes().take_while(same);
    // A call that was acknowledged at another time does not count.
    let is_done = |step: &Step<'_>| {
        steps.iter().any(|other| other.approach == step.approach && other.kind() == Kind::Acknowledgement)
    };
    let count = number(row().filter(|step| !is_done(step)).count());
    let is_receipt = || last.kind() == Kind::Content && last.is_receipt();
    // One call whose failures differ in their numbers makes progress. If they are equal, it is a repeated step.
    let moves = || row().all(|step| step.approach == last.approach);
    if count >= least && (is_receipt() || moves() || gets_shorter(row())) { 0 } else { count }
}
