//! Repeated step: the last step was there before, with the same outcome. Other work may lie between, but no progress
//! of something that is polled: then the repetition belongs to the polling.

use super::count as count_of;
use crate::step::Step;

/// Steps back from the tail that are looked at.
const WINDOW: usize = 20;

/// How often the last step occurs among the last 20, itself included.
pub fn count(steps: &[Step]) -> u32 {
    let Some(last) = steps.last() else { return 0 };
    let same = |step: &Step| step.approach == last.approach && step.outcome == last.outcome;
    let recent = steps.iter().enumerate().rev().take(WINDOW);
    let since_progress = recent.take_while(|(at, step)| same(step) || !is_poll_progress(steps, *at));
    count_of(since_progress.filter(|(_, step)| same(step)).count())
}

/// The step did what was done before, and something new came of it.
fn is_poll_progress(steps: &[Step], at: usize) -> bool {
    let Some((step, earlier)) = steps.get(..=at).and_then(<[Step]>::split_last) else { return false };
    let mut same_approach = earlier.iter().filter(|other| other.approach == step.approach).peekable();
    same_approach.peek().is_some() && same_approach.all(|other| other.outcome != step.outcome)
}
