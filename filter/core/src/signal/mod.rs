//! The signals: each looks at what is known and says what it found. None of them acts, and none knows a dialect.

mod cycle;
mod progress;
mod repeated_step;
mod same_outcome;
pub mod score;

use crate::{
    config::{Rungs, StepsPolicy},
    step::Step,
    verdict::{Signal, Verdict},
};

/// What a signal found in the steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub verdict: Verdict,
    pub signal: Signal,
    /// Steps, or rounds of a cycle.
    pub count: u32,
    /// The tool that it is about.
    pub tool: String,
}

/// The strongest finding in `steps`, which end with the last step before the request. Of equal ones the most telling:
/// in the order below.
pub fn in_steps(steps: &[Step], policy: &StepsPolicy) -> Option<Finding> {
    if !policy.enabled {
        return None;
    }
    let tool = &steps.last()?.tool;
    let found = [
        (Signal::RepeatedStep, repeated_step::count(steps), policy.repeated_step),
        (Signal::Cycle, cycle::rounds(steps), policy.cycle),
        (Signal::Stagnation, progress::stagnation(steps), policy.stagnation),
        (Signal::SameOutcome, same_outcome::count(steps), policy.same_outcome),
        (Signal::Stuck, progress::stuck(steps), policy.stuck),
    ];
    let mut strongest: Option<Finding> = None;
    for (signal, count, rungs) in found {
        let verdict = rungs.verdict(count);
        if verdict > strongest.as_ref().map_or(Verdict::Allow, |finding| finding.verdict) {
            strongest = Some(Finding { verdict, signal, count, tool: tool.clone() });
        }
    }
    strongest
}

/// The run limit: so many assistant turns after the last user message.
pub fn in_turns(turns: u32, limit: u32) -> Option<Finding> {
    let hint = limit.saturating_mul(4).checked_div(5).unwrap_or(0);
    let verdict = Rungs { hint, kill: limit }.verdict(turns);
    (limit > 0 && verdict > Verdict::Allow).then(|| Finding {
        verdict,
        signal: Signal::RunLimit,
        count: turns,
        tool: String::new(),
    })
}

impl Rungs {
    fn verdict(self, count: u32) -> Verdict {
        if self.kill > 0 && count >= self.kill {
            Verdict::Kill
        } else if self.hint > 0 && count >= self.hint {
            Verdict::Hint
        } else {
            Verdict::Allow
        }
    }
}

/// A length as a count.
fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
