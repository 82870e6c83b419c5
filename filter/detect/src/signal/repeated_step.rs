//! Repeated step: how often the last step occurred before with the same outcome. Other steps may stand between. Counting
//! back stops where a call that was made before brought something new: the repetitions before that were polling.

use super::number;
use crate::step::{Kind, Step};

/// How often the last step occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeated {
    /// Among the steps that are looked at, itself included.
    pub in_window: u32,
    /// Of these, since anything new was tried or found: who goes back to one page between reading others, or runs one
    /// test after each of several changes, is at work.
    pub without_progress: u32,
    /// Steps between the first and the last of these that wait.
    pub waits: u32,
}

/// Looks at the last `window` steps. Fewer than `least` repetitions are none: they need not be looked at closely.
pub fn repeated(steps: &[Step<'_>], window: usize, least: u32) -> Repeated {
    let Some(last) = steps.last() else { return Repeated::default() };
    let recent = || steps.iter().enumerate().rev().take(window);
    let tried = recent().filter(|(_, step)| step.approach == last.approach).count();
    if number(tried) < least {
        return Repeated::default();
    }
    let same = |step: &Step<'_>| last.is_like(step);
    let all = recent().filter(|(_, step)| same(step));
    if number(all.clone().count()) < least {
        return Repeated::default();
    }
    let since = |ends: &dyn Fn(usize) -> bool| {
        let run = recent().take_while(|(at, step)| same(step) || !ends(*at));
        number(run.filter(|(_, step)| same(step)).count())
    };
    let first = all.map(|(at, _)| at).min().unwrap_or_default();
    let waits = steps.iter().skip(first).filter(|step| step.kind() == Kind::Waiting).count();
    Repeated {
        waits: number(waits),
        in_window: since(&|at| is_poll_progress(steps, at)),
        without_progress: since(&|at| is_poll_progress(steps, at) || is_new(steps, at)),
    }
}

/// Repetitions below which a step cannot have been stopped and resumed: one until the kill, and two after it.
pub const LEAST_RESUMED: usize = 3;

/// Whether the last step was repeated until a kill at `kill` (0: never), something else was tried once, and the step has come
/// twice more. A framework that asks again after a kill does this.
pub fn resumes(steps: &[Step<'_>], kill: u32) -> bool {
    let Some(last) = steps.last().filter(|_| kill > 0) else { return false };
    let is_evidence = matches!(last.kind(), Kind::Content | Kind::Failure);
    let (mut was_stopped, mut is_stopped, mut count) = (false, false, 0_u32);
    for (at, step) in steps.iter().enumerate() {
        if is_new(steps, at) {
            (was_stopped, is_stopped, count) = (is_stopped, false, 0);
        }
        if step.is_like(last) {
            count = count.saturating_add(1);
            is_stopped = count >= kill || (was_stopped && count >= 2);
        }
    }
    is_evidence && was_stopped && is_stopped
}

/// The step did what was done before, and something new came of it.
fn is_poll_progress(steps: &[Step<'_>], at: usize) -> bool {
    let Some((step, earlier)) = split(steps, at) else { return false };
    let mut same_approach = earlier.iter().filter(|other| other.approach == step.approach).peekable();
    same_approach.peek().is_some() && same_approach.all(|other| !step.brings_like(other))
}

/// The step tried what had not been tried before.
fn is_new(steps: &[Step<'_>], at: usize) -> bool {
    let Some((step, earlier)) = split(steps, at) else { return false };
    earlier.iter().all(|other| other.approach != step.approach)
}

fn split<'s, 'a>(steps: &'s [Step<'a>], at: usize) -> Option<(&'s Step<'a>, &'s [Step<'a>])> {
    steps.get(..=at).and_then(<[Step<'a>]>::split_last)
}
