//! Similar failures: one tool fails again and again, and the arguments vary little: the same search in other words. It
//! hints; a person would try a few times too.

use super::number;
use crate::step::{Kind, Step};

/// Of the failures in a row at the tail, those like the last, where they may be `least` or more. One test that fails otherwise
/// each time is progress, and what fails in the same way each time is a repeated step.
pub fn count(steps: &[Step<'_>], least: u32) -> u32 {
    if number(steps.len()) < least {
        return 0;
    }
    // Who waits between two tries has not done anything else.
    let tries = || steps.iter().rev().filter(|step| step.kind() != Kind::Waiting);
    let failures = || tries().take_while(|step| matches!(step.kind(), Kind::Failure | Kind::Empty));
    let Some(last) = failures().next() else { return 0 };
    let is_like_it = |step: &&Step<'_>| {
        step.tools == last.tools
            && if step.approach == last.approach {
                step.brings_like(last)
            } else {
                step.words.is_similar(last.words)
            }
    };
    if failures().filter(is_like_it).all(|step| step.approach == last.approach) {
        return 0;
    }
    number(failures().filter(is_like_it).count())
}
