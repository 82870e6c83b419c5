//! Similar failures: one tool fails again and again in the same way, and the arguments vary little: the same search in other
//! words. It hints; a person would try a few times too. Calls that differ in numbers alone and go well are a batch.

use super::{number, progress::is_passed_over, repeated_step::gets_shorter};
use crate::step::{Kind, Step, Weight};

/// Of the steps in a row at the tail that brought nothing of their own, the number of those that are like the last one; counted
/// only if there can be `least`. A test that fails in another way each time is progress. A call that fails in the same way each
/// time is a repeated step.
pub fn count(steps: &[Step<'_>], least: u32) -> u32 {
    if number(steps.len()) < least {
        return 0;
    }
    // Calls that only let time pass are skipped. A result that says "running" ends the row: the last try has started a job.
    let mut tries = steps.iter().rev().filter(|step| !step.lets_time_pass());
    let Some(last) = tries.next().filter(|step| !is_passed_over(step)) else { return 0 };
    let brings_nothing =
        |step: &&Step<'_>| step.residue().is_some() || (last.brings_like(step) && is_small(step, last));
    let is_like_it = |step: &&Step<'_>| {
        step.tools == last.tools
            && if step.approach == last.approach {
                last.brings_like(step)
            } else {
                step.words.is_similar(last.words)
                    && (last.brings_like(step) || has_same_residue(step, last))
                    && (step.kind() == Kind::Failure || !step.is_numbered_as(last))
            }
    };
    // Whether the last step brought something is judged at the end. In most runs the step before it did, and then there is
    // nothing to judge.
    let before: Vec<&Step<'_>> = tries.take_while(brings_nothing).filter(is_like_it).collect();
    let count = number(before.len()).saturating_add(1);
    if count < least || !brings_nothing(&last) {
        return 0;
    }
    let is_one_call = before.iter().all(|step| step.approach == last.approach);
    let like = std::iter::once(last).chain(before);
    if is_one_call || gets_shorter(like) { 0 } else { count }
}

fn has_same_residue(step: &Step<'_>, other: &Step<'_>) -> bool {
    step.residue().is_some() && step.residue() == other.residue()
}

/// Whether the outcome is a few words that do not say that something was done. For a tool that goes through files or commands,
/// these may be all there is to say: `ruff check a`, `ruff check b`.
fn is_small(step: &Step<'_>, last: &Step<'_>) -> bool {
    step.kind() == Kind::Content
        && step.brings_few_words()
        && (step.weight_of_calls() < Weight::Place || !step.differs_in_a_word_from(last))
}
