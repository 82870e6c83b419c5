//! The signals: each looks at what is known and says what it found. None of them acts, and none knows a dialect.

mod cycle;
mod progress;
mod repeated_step;
mod same_outcome;
pub mod score;
mod similar_failures;

pub use crate::thresholds::Thresholds;
use crate::{
    step::{Kind, Step, Steps, ToolRules},
    verdict::{Finding, Signal, Verdict},
};

/// When the signals in the steps of a run speak.
#[derive(Clone, Debug, PartialEq)]
pub struct StepsPolicy {
    pub enabled: bool,
    /// Actions and observations in texts are steps too, and so are exchanges of texts.
    pub react: bool,
    /// Steps back from the last one in which it is looked for.
    pub window: usize,
    pub repeated_step: Thresholds,
    pub cycle: Thresholds,
    pub stagnation: Thresholds,
    pub stuck: Thresholds,
    pub similar_failures: Thresholds,
    pub same_outcome: Thresholds,
    /// Of a repetition that brings nothing new.
    pub empty: Thresholds,
    /// Of a repetition that is merely acknowledged: hints only.
    pub acknowledgement: u32,
    /// Of a repetition that waits: hints only.
    pub waiting: u32,
    pub tools: ToolRules,
}

impl Default for StepsPolicy {
    /// Set on public runs of agents: `make eval` shows what they do on yours.
    fn default() -> Self {
        let never = 0;
        Self {
            enabled: true,
            react: true,
            window: 20,
            repeated_step: Thresholds { hint: 3, kill: 5 },
            cycle: Thresholds { hint: 3, kill: 5 },
            stagnation: Thresholds { hint: 3, kill: 5 },
            stuck: Thresholds { hint: 5, kill: never },
            similar_failures: Thresholds { hint: 3, kill: never },
            same_outcome: Thresholds { hint: 6, kill: never },
            empty: Thresholds { hint: 5, kill: never },
            acknowledgement: 10,
            waiting: 10,
            tools: ToolRules::default(),
        }
    }
}

impl StepsPolicy {
    /// The thresholds of a repetition of `steps` together: those of their kind, `strong` where they tell something or
    /// fail, and what the operator says of their tools.
    fn row(&self, steps: &[Step], strong: Thresholds) -> Thresholds {
        let by_kind = self.of_kind(kind_of(steps), strong);
        steps.iter().map(|step| self.of_tools(step, by_kind)).reduce(Thresholds::lenient).unwrap_or(by_kind)
    }

    fn of_kind(&self, kind: Kind, strong: Thresholds) -> Thresholds {
        match kind {
            Kind::Content | Kind::Failure => strong,
            Kind::Empty => self.empty,
            Kind::Acknowledgement => Thresholds { hint: self.acknowledgement, kill: 0 },
            Kind::Waiting => Thresholds { hint: self.waiting, kill: 0 },
        }
    }

    /// `row`, and what the operator says of the tools of `step` over it.
    fn of_tools(&self, step: &Step, row: Thresholds) -> Thresholds {
        step.rules.iter().map(|rule| rule.over(row)).reduce(Thresholds::lenient).unwrap_or(row)
    }
}

/// The kind of several steps together.
fn kind_of(steps: &[Step]) -> Kind {
    steps.iter().map(|step| step.kind).reduce(Kind::and).unwrap_or(Kind::Acknowledgement)
}

/// Steps that a cycle has at most, and that are remembered of a loop that was stopped.
const LONGEST_CYCLE: usize = 5;

/// The strongest finding in `steps`, which end with the last step before the request.
pub fn in_steps(steps: &Steps, policy: &StepsPolicy) -> Option<Finding> {
    if !policy.enabled {
        return None;
    }
    // Where a loop was stopped, and a user's text followed that may be a framework's: the loop that goes on is known.
    let mut stopped: &[Step] = &[];
    let mut found = None;
    for count in steps.counts() {
        found = in_one_count(count, policy);
        if found.as_ref().is_none_or(|finding| finding.verdict < Verdict::Kill) {
            found = resumed(count, stopped, &steps.all).or(found);
        }
        let kills = found.as_ref().is_some_and(|finding| finding.verdict == Verdict::Kill);
        stopped = if kills {
            count.get(count.len().saturating_sub(LONGEST_CYCLE)..).unwrap_or_default()
        } else {
            &[]
        };
    }
    found
}

/// The loop that had been stopped goes on: its step has come for the second time since.
fn resumed(count: &[Step], stopped: &[Step], all: &[Step]) -> Option<Finding> {
    let last = count.last()?;
    let again = count.iter().filter(|step| step.is_like(last)).count();
    let is_known = stopped.iter().any(|step| step.is_like(last));
    let is_evidence = matches!(last.kind, Kind::Content | Kind::Failure);
    (is_known && again >= 2 && is_evidence).then(|| Finding {
        count: number(all.iter().filter(|step| step.is_like(last)).count()),
        tool: last.tool.clone(),
        ..Finding::of(Signal::RepeatedStep, Verdict::Kill)
    })
}

/// The strongest finding in the steps of one count. Of equal ones the most telling: in the order below.
fn in_one_count(steps: &[Step], policy: &StepsPolicy) -> Option<Finding> {
    let last = steps.last()?;
    let (rounds, round) = cycle::rounds(steps);
    let stale = progress::stagnation(steps);
    let very_old = match stale.very_old.proves() {
        true => policy.row(stale.very_old.steps, policy.stagnation).killing(),
        false => Thresholds::default(),
    };
    let old = policy.row(stale.old.steps, policy.stagnation).hinting();
    let (old_kind, waits) = (kind_of(stale.old.steps), stale.old.waits());
    // Where something is waited for, only waiting is too long.
    let old_count = if old_kind == Kind::Waiting { waits } else { stale.old.length };
    let weak = |thresholds| policy.of_tools(last, thresholds).lenient(thresholds);
    let [killing, hinting] = repetition(steps, last, Signal::RepeatedStep, policy);
    strongest(
        last,
        [
            killing,
            hinting,
            (Signal::Cycle, rounds, policy.row(round, policy.cycle), kind_of(round)),
            (Signal::Stagnation, stale.very_old.length, very_old, Kind::Content),
            (Signal::Stagnation, old_count, old, old_kind),
            (
                Signal::SimilarFailures,
                similar_failures::count(steps),
                weak(policy.similar_failures),
                Kind::Failure,
            ),
            (Signal::SameOutcome, same_outcome::count(steps), weak(policy.same_outcome), Kind::Content),
            (Signal::Stuck, progress::stuck(steps), weak(policy.stuck), Kind::Content),
        ],
    )
}

/// The strongest finding in exchanges of texts, which end with the last one before the request. Only repetition and cycles
/// are judged: what an agent says in texts is not so plain as what it calls.
pub fn in_exchanges(exchanges: &[Step], policy: &StepsPolicy) -> Option<Finding> {
    if !policy.enabled {
        return None;
    }
    let last = exchanges.last()?;
    let (rounds, round) = cycle::rounds(exchanges);
    let [mut killing, hinting] = repetition(exchanges, last, Signal::RepeatedExchange, policy);
    let (_, count, row, _) = &mut killing;
    if repeated_step::resumes(exchanges, row.kill) {
        (*count, row.kill) = (hinting.1, hinting.1);
    }
    strongest(
        last,
        [killing, hinting, (Signal::Cycle, rounds, policy.row(round, policy.cycle), kind_of(round))],
    )
}

/// How often the last step was there, for a kill and for a hint.
fn repetition(steps: &[Step], last: &Step, signal: Signal, policy: &StepsPolicy) -> [Counted; 2] {
    let repeated = repeated_step::repeated(steps, policy.window);
    let counted = |count: u32, is_meant: fn(Thresholds) -> Thresholds| {
        // Who waits in every round is polling.
        let waits = repeated.waits >= count.saturating_sub(1).max(1);
        let kind = if waits { Kind::Waiting } else { last.kind };
        let row = policy.of_tools(last, policy.of_kind(kind, policy.repeated_step));
        (signal, count, is_meant(row), kind)
    };
    [
        counted(repeated.without_progress, Thresholds::killing),
        counted(repeated.in_window, Thresholds::hinting),
    ]
}

/// What a signal has counted, from which count it speaks, and the kind of what it counted.
type Counted = (Signal, u32, Thresholds, Kind);

fn strongest<const N: usize>(last: &Step, found: [Counted; N]) -> Option<Finding> {
    let mut strongest: Option<Finding> = None;
    for (signal, count, thresholds, kind) in found {
        let verdict = thresholds.verdict(count);
        if verdict > strongest.as_ref().map_or(Verdict::Allow, |finding| finding.verdict) {
            strongest = Some(Finding {
                count,
                tool: last.tool.clone(),
                is_waiting: kind == Kind::Waiting,
                ..Finding::of(signal, verdict)
            });
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

/// A length as a count.
fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
