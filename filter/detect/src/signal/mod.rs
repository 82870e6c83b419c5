//! The signals: each looks at what is known and says what it found. None of them acts, and none knows a dialect.

mod cycle;
mod progress;
mod repeated_step;
mod same_outcome;
pub mod score;
mod similar_failures;

use crate::{
    step::Step,
    verdict::{Evidence, Finding, Signal, Verdict},
};

/// Counts from which a signal hints and kills; 0: never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    pub hint: u32,
    pub kill: u32,
}

/// When the signals in the steps of a run speak.
#[derive(Clone, Debug, PartialEq)]
pub struct StepsPolicy {
    pub enabled: bool,
    /// Actions in assistants' texts count, with the observations in the next user messages.
    pub react: bool,
    pub repeated_step: Thresholds,
    pub cycle: Thresholds,
    pub stagnation: Thresholds,
    pub stuck: Thresholds,
    pub similar_failures: Thresholds,
    pub same_outcome: Thresholds,
}

impl Default for StepsPolicy {
    /// Set on public runs of agents: `make eval` shows what they do on yours.
    fn default() -> Self {
        let never = 0;
        Self {
            enabled: true,
            react: true,
            repeated_step: Thresholds { hint: 3, kill: 5 },
            cycle: Thresholds { hint: 3, kill: 5 },
            stagnation: Thresholds { hint: 3, kill: 5 },
            stuck: Thresholds { hint: 5, kill: never },
            similar_failures: Thresholds { hint: 3, kill: never },
            same_outcome: Thresholds { hint: 6, kill: never },
        }
    }
}

/// The strongest finding in `steps`, which end with the last step before the request. Of equal ones the most telling:
/// in the order below.
pub fn in_steps(steps: &[Step], policy: &StepsPolicy) -> Option<Finding> {
    if !policy.enabled {
        return None;
    }
    let tool = &steps.last()?.tool;
    let (repeated, stagnation) = (repeated_step::repeated(steps), progress::stagnation(steps));
    let found = [
        (Signal::RepeatedStep, repeated.without_progress, policy.repeated_step.killing()),
        (Signal::RepeatedStep, repeated.in_window, policy.repeated_step.hinting()),
        (Signal::Cycle, cycle::rounds(steps), policy.cycle),
        (Signal::Stagnation, stagnation.very_old, policy.stagnation.killing()),
        (Signal::Stagnation, stagnation.old, policy.stagnation.hinting()),
        (Signal::SimilarFailures, similar_failures::count(steps), policy.similar_failures),
        (Signal::SameOutcome, same_outcome::count(steps), policy.same_outcome),
        (Signal::Stuck, progress::stuck(steps), policy.stuck),
    ];
    let mut strongest: Option<Finding> = None;
    for (signal, count, thresholds) in found {
        let verdict = thresholds.verdict(count);
        if verdict > strongest.as_ref().map_or(Verdict::Allow, |finding| finding.verdict) {
            let evidence = Evidence::default();
            strongest = Some(Finding { verdict, signal, count, tool: tool.clone(), evidence });
        }
    }
    strongest
}

/// The run limit: so many assistant turns after the last user message.
pub fn in_turns(turns: u32, limit: u32) -> Option<Finding> {
    let hint = limit.saturating_mul(4).checked_div(5).unwrap_or(0);
    let verdict = Thresholds { hint, kill: limit }.verdict(turns);
    (limit > 0 && verdict > Verdict::Allow)
        .then(|| Finding { count: turns, ..Finding::of(Signal::RunLimit, verdict) })
}

impl Thresholds {
    /// Without the hint.
    fn killing(self) -> Self {
        Self { hint: 0, ..self }
    }

    /// Without the kill.
    fn hinting(self) -> Self {
        Self { kill: 0, ..self }
    }

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
