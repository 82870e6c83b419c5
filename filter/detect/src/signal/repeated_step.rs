//! Repeated step: the last step was there before, with the same outcome. Other work may lie between, but no progress
//! of something that is polled: then the repetition belongs to the polling.

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

/// Looks at the last `window` steps.
pub fn repeated(steps: &[Step], window: usize) -> Repeated {
    let Some(last) = steps.last() else { return Repeated::default() };
    let same = |step: &Step| step.is_like(last);
    let recent = || steps.iter().enumerate().rev().take(window);
    let since = |ends: &dyn Fn(usize) -> bool| {
        let run = recent().take_while(|(at, step)| same(step) || !ends(*at));
        number(run.filter(|(_, step)| same(step)).count())
    };
    let first = recent().filter(|(_, step)| same(step)).map(|(at, _)| at).min().unwrap_or_default();
    let waits = steps.iter().skip(first).filter(|step| step.kind == Kind::Waiting).count();
    Repeated {
        waits: number(waits),
        in_window: since(&|at| is_poll_progress(steps, at)),
        without_progress: since(&|at| is_poll_progress(steps, at) || is_new(steps, at)),
    }
}

/// Whether the last step was repeated until `kill` (0: never), something else was tried once, and it has come twice more:
/// a framework that asks again after a kill looks like this.
pub fn resumes(steps: &[Step], kill: u32) -> bool {
    let Some(last) = steps.last().filter(|_| kill > 0) else { return false };
    let is_evidence = matches!(last.kind, Kind::Content | Kind::Failure);
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
fn is_poll_progress(steps: &[Step], at: usize) -> bool {
    let Some((step, earlier)) = split(steps, at) else { return false };
    let mut same_approach = earlier.iter().filter(|other| other.approach == step.approach).peekable();
    same_approach.peek().is_some() && same_approach.all(|other| other.outcome != step.outcome)
}

/// The step tried what had not been tried before.
fn is_new(steps: &[Step], at: usize) -> bool {
    let Some((step, earlier)) = split(steps, at) else { return false };
    earlier.iter().all(|other| other.approach != step.approach)
}

fn split(steps: &[Step], at: usize) -> Option<(&Step, &[Step])> {
    steps.get(..=at).and_then(<[Step]>::split_last)
}
