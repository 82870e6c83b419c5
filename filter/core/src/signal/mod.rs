//! The signals: each looks at what is known and says what it found. None of them acts, and none knows a dialect.

mod cycle;
mod progress;
mod repeated_step;
mod same_outcome;
pub mod score;
mod similar_failures;

use crate::{
    config::{Policy, Rungs, StepsPolicy},
    dialect::Reading,
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

impl Finding {
    /// For a header: signal, count and tool.
    pub fn reason(&self) -> String {
        let tool = if self.tool.is_empty() { String::new() } else { format!("; tool={}", self.tool) };
        format!("{}; count={}{tool}", self.signal.label(), self.count)
    }

    /// For the agent: a clause that goes on after "because".
    pub fn told(&self) -> String {
        let Self { count, tool, .. } = self;
        match self.signal {
            Signal::RepeatedStep => {
                format!("it called `{tool}` {count} times with the same arguments and the same result")
            }
            Signal::Cycle => format!("it went through the same steps {count} times, with the same results"),
            Signal::Stagnation => format!("{count} steps in a row repeated what it had done and seen before"),
            Signal::Stuck => {
                format!("{count} new attempts in a row failed or brought what it had seen before")
            }
            Signal::SimilarFailures => {
                format!("`{tool}` failed {count} times in a row with similar arguments")
            }
            Signal::SameOutcome => format!("`{tool}` brought the same result {count} times in a row"),
            Signal::RunLimit => format!("it took {count} turns without a word from the user"),
            Signal::Score | Signal::Semantic | Signal::McpBreaker => "it keeps repeating itself".to_owned(),
        }
    }
}

/// The strongest finding in what a request says.
pub fn strongest(reading: &Reading<'_>, policy: &Policy) -> Option<Finding> {
    let (steps, turns) =
        (in_steps(&reading.steps, &policy.steps), in_turns(reading.turns_alone, policy.run_limit));
    match (steps, turns) {
        (Some(steps), Some(turns)) if turns.verdict > steps.verdict => Some(turns),
        (Some(steps), _) => Some(steps),
        (None, turns) => turns,
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
