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
    fn row(&self, steps: &[Step<'_>], strong: Thresholds) -> Thresholds {
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
    fn of_tools(&self, step: &Step<'_>, row: Thresholds) -> Thresholds {
        step.rules.iter().map(|rule| rule.over(row)).reduce(Thresholds::lenient).unwrap_or(row)
    }

    /// The count from which a repetition among `steps` can say anything, whatever its kind.
    fn least(&self, steps: &[Step<'_>], strong: Thresholds) -> u32 {
        let weak = [self.acknowledgement, self.waiting].map(|hint| Thresholds { hint, kill: 0 });
        let by_kind = [strong, self.empty].into_iter().chain(weak);
        let by_tool = steps.iter().flat_map(|step| &step.rules).map(|rule| rule.over(Thresholds::default()));
        by_kind.chain(by_tool).map(Thresholds::least).min().unwrap_or(u32::MAX)
    }
}

/// The kind of several steps together.
fn kind_of(steps: &[Step<'_>]) -> Kind {
    steps.iter().map(Step::kind).reduce(Kind::and).unwrap_or(Kind::Acknowledgement)
}

/// Steps that a cycle has at most, and that are remembered of a loop that was stopped.
const LONGEST_CYCLE: usize = 5;

/// The strongest finding in `steps`, which end with the last step before the request.
pub fn in_steps(steps: &Steps<'_>, policy: &StepsPolicy) -> Option<Finding> {
    if !policy.enabled {
        return None;
    }
    let counts: Vec<&[Step<'_>]> = steps.counts().collect();
    in_last_count(&counts, &steps.all, policy)
}

/// The strongest finding in the last of these counts.
fn in_last_count(counts: &[&[Step<'_>]], all: &[Step<'_>], policy: &StepsPolicy) -> Option<Finding> {
    let (count, before) = counts.split_last()?;
    let found = in_one_count(count, policy);
    if found.as_ref().is_some_and(|finding| finding.verdict == Verdict::Kill) {
        return found;
    }
    resumed(count, before, all, policy).or(found)
}

/// A loop was stopped, and a user's text followed that may be a framework's. The loop goes on: its step has come for the
/// second time since.
fn resumed(
    count: &[Step<'_>],
    before: &[&[Step<'_>]],
    all: &[Step<'_>],
    policy: &StepsPolicy,
) -> Option<Finding> {
    let (last, previous) = (count.last()?, before.last()?);
    let tail = previous.get(previous.len().saturating_sub(LONGEST_CYCLE)..).unwrap_or_default();
    let is_known = tail.iter().any(|step| step.is_like(last));
    let again = || count.iter().filter(|step| step.is_like(last)).count();
    let is_evidence = || matches!(last.kind(), Kind::Content | Kind::Failure);
    let was_stopped =
        || in_last_count(before, all, policy).is_some_and(|finding| finding.verdict == Verdict::Kill);
    (is_known && again() >= 2 && is_evidence() && was_stopped()).then(|| Finding {
        count: number(all.iter().filter(|step| step.is_like(last)).count()),
        tool: last.tool.to_owned(),
        ..Finding::of(Signal::RepeatedStep, Verdict::Kill)
    })
}

/// The strongest finding in the steps of one count. Of equal ones the most telling: in the order below.
fn in_one_count(steps: &[Step<'_>], policy: &StepsPolicy) -> Option<Finding> {
    let last = steps.last()?;
    let stale = progress::stagnation(steps, policy.least(steps, policy.stagnation));
    let very_old = match stale.very_old.proves() {
        true => policy.row(stale.very_old.steps, policy.stagnation).killing(),
        false => Thresholds::default(),
    };
    let old = policy.row(stale.old.steps, policy.stagnation).hinting();
    let (old_kind, waits) = (kind_of(stale.old.steps), stale.old.waits());
    // Where something is waited for, only waiting is too long.
    let old_count = if old_kind == Kind::Waiting { waits } else { stale.old.length };
    // What is said of tools makes them later, if anything.
    let weak = |signal, strong: Thresholds, count: fn(&[Step<'_>], u32) -> u32, kind| {
        let count = count(steps, strong.least());
        (signal, count, policy.of_tools(last, strong).lenient(strong), kind)
    };
    let [killing, hinting] = repetition(steps, last, Signal::RepeatedStep, policy);
    strongest(
        last,
        [
            killing,
            hinting,
            in_rounds(steps, policy),
            (Signal::Stagnation, stale.very_old.length, very_old, Kind::Content),
            (Signal::Stagnation, old_count, old, old_kind),
            weak(Signal::SimilarFailures, policy.similar_failures, similar_failures::count, Kind::Failure),
            weak(Signal::SameOutcome, policy.same_outcome, same_outcome::count, Kind::Content),
            weak(Signal::Stuck, policy.stuck, progress::stuck, Kind::Content),
        ],
    )
}

/// The strongest finding in exchanges of texts, which end with the last one before the request. Only repetition and cycles
/// are judged: what an agent says in texts is not so plain as what it calls.
pub fn in_exchanges(exchanges: &[Step<'_>], policy: &StepsPolicy) -> Option<Finding> {
    if !policy.enabled {
        return None;
    }
    let last = exchanges.last()?;
    let [killing, hinting] = repetition(exchanges, last, Signal::RepeatedExchange, policy);
    strongest(
        last,
        [killing, hinting, in_rounds(exchanges, policy), resumed_exchange(exchanges, last, policy)],
    )
}

/// An exchange that had been stopped, and goes on after a framework has asked again.
fn resumed_exchange(exchanges: &[Step<'_>], last: &Step<'_>, policy: &StepsPolicy) -> Counted {
    // The kind is judged only where it can matter.
    if exchanges.iter().filter(|exchange| exchange.approach == last.approach).count()
        < repeated_step::LEAST_RESUMED
    {
        return NOTHING;
    }
    let row = policy.of_tools(last, policy.of_kind(last.kind(), policy.repeated_step));
    if !repeated_step::resumes(exchanges, row.kill) {
        return NOTHING;
    }
    let count = number(exchanges.iter().filter(|exchange| exchange.is_like(last)).count());
    (Signal::RepeatedExchange, count, Thresholds { hint: 0, kill: count }, last.kind())
}

/// Rounds of a cycle.
fn in_rounds(steps: &[Step<'_>], policy: &StepsPolicy) -> Counted {
    let (rounds, round) = cycle::rounds(steps);
    if rounds < policy.least(steps, policy.cycle) {
        return NOTHING;
    }
    (Signal::Cycle, rounds, policy.row(round, policy.cycle), kind_of(round))
}

/// How often the last step was there, for a kill and for a hint.
fn repetition(steps: &[Step<'_>], last: &Step<'_>, signal: Signal, policy: &StepsPolicy) -> [Counted; 2] {
    let least = policy.least(steps, policy.repeated_step);
    let repeated = repeated_step::repeated(steps, policy.window, least);
    let counted = |count: u32, is_meant: fn(Thresholds) -> Thresholds| {
        if count < least {
            return NOTHING;
        }
        // Who waits in every round is polling.
        let waits = repeated.waits >= count.saturating_sub(1).max(1);
        let kind = if waits { Kind::Waiting } else { last.kind() };
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
/// A count that says nothing.
const NOTHING: Counted = (Signal::RepeatedStep, 0, Thresholds { hint: 0, kill: 0 }, Kind::Acknowledgement);

fn strongest<const N: usize>(last: &Step<'_>, found: [Counted; N]) -> Option<Finding> {
    let mut strongest: Option<Finding> = None;
    for (signal, count, thresholds, kind) in found {
        let verdict = thresholds.verdict(count);
        if verdict > strongest.as_ref().map_or(Verdict::Allow, |finding| finding.verdict) {
            strongest = Some(Finding {
                count,
                tool: last.tool.to_owned(),
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
