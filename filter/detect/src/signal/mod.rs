//! The signals: each looks at what is known and says what it found. None of them acts, and none knows a dialect.

mod again;
mod counted;
mod cycle;
mod policy;
mod progress;
mod repeated_step;
mod same_outcome;
pub mod score;
mod similar_failures;

use std::collections::HashSet;

pub use self::{
    again::{Range, Recorded, is_earlier},
    policy::{Condition, StepsPolicy},
};
use self::{
    counted::{Counted, number, strongest},
    progress::Streak,
};
pub use crate::thresholds::Thresholds;
use crate::{
    step::{Asked, Kind, Step, Steps, Task, Weight},
    verdict::{Finding, Signal, Verdict},
};

/// The kind of several steps together.
fn kind_of(steps: &[Step<'_>]) -> Kind {
    steps.iter().map(Step::kind).reduce(Kind::and).unwrap_or(Kind::Acknowledgement)
}

/// Most steps of a cycle. Of a loop that was stopped, this many of the last steps are looked at to see whether it goes on.
const LONGEST_CYCLE: usize = 5;

/// The strongest finding in `steps`, which end with the last step before the request.
pub fn in_steps(steps: &Steps<'_>, policy: &StepsPolicy) -> Option<Finding> {
    if !policy.enabled {
        return None;
    }
    let counts: Vec<_> = steps.counts().collect();
    unless_asked_for(&steps.task, steps.all.last(), policy, &|policy| {
        in_last_count(&counts, &steps.all, policy)
    })
}

/// What `find` finds, unless the user has asked for this many repetitions. The user's text is read only if something was found.
/// `last`: the last step, whose call may be what the user asked for a number of times.
fn unless_asked_for(
    task: &Task<'_>,
    last: Option<&Step<'_>>,
    policy: &StepsPolicy,
    find: &dyn Fn(&StepsPolicy) -> Option<Finding>,
) -> Option<Finding> {
    let found = find(policy)?;
    if policy.off == Some(Condition::Asked) {
        return Some(found);
    }
    let milder = match task.asked() {
        Asked::AtIntervals => policy.at_intervals(),
        Asked::NotSaid => {
            let is_kill = found.verdict == Verdict::Kill;
            if is_kill && last.is_some_and(Step::waits_for_minutes) {
                return find(&policy.at_intervals());
            }
            // The user may have asked for a number of what the call names: "craft 8 planks". Then a kill comes later, but hints do not.
            let number = last.filter(|_| is_kill).map_or(0, |last| task.named_by(last));
            if number == 0 {
                return Some(found);
            }
            policy.killing_from(number.saturating_add(4))
        }
        Asked::OpenEnded => policy.open_ended(),
        Asked::Times(number) if last.is_some_and(|last| last.gives_back(number)) => return Some(found),
        Asked::Times(number) => policy.asked_for(number),
    };
    find(&milder)
}

/// Steps of one count, and whether the assistant had answered before them.
type Count<'s, 'a> = (&'s [Step<'a>], bool);

/// The strongest finding in the last of these counts.
fn in_last_count(counts: &[Count<'_, '_>], all: &[Step<'_>], policy: &StepsPolicy) -> Option<Finding> {
    let ((count, is_answered), before) = counts.split_last()?;
    let found = told_first(count, policy, in_one_count);
    if found.as_ref().is_some_and(|finding| finding.verdict == Verdict::Kill) || *is_answered {
        return found;
    }
    resumed(count, before, all, policy).or(found)
}

/// Finds a loop that goes on after it was stopped. In between, the user sent a text that may be a framework's. Since then, the
/// loop's step has come at least twice.
fn resumed(
    count: &[Step<'_>],
    before: &[Count<'_, '_>],
    all: &[Step<'_>],
    policy: &StepsPolicy,
) -> Option<Finding> {
    let (last, (previous, _)) = (count.last()?, before.last()?);
    let tail = previous.get(previous.len().saturating_sub(LONGEST_CYCLE)..).unwrap_or_default();
    let is_known = tail.iter().any(|step| last.is_like(step));
    let again = || count.iter().filter(|step| last.is_like(step)).count();
    let is_evidence = || matches!(last.kind(), Kind::Content | Kind::Failure);
    let was_stopped =
        || in_last_count(before, all, policy).is_some_and(|finding| finding.verdict == Verdict::Kill);
    (is_known && again() >= 2 && is_evidence() && was_stopped()).then(|| Finding {
        count: number(all.iter().filter(|step| last.is_like(step)).count()),
        tool: last.tool.to_owned(),
        ..Finding::of(Signal::RepeatedStep, Verdict::Kill)
    })
}

/// What `find` finds in `steps`. The model gets a hint first, and is stopped if the loop goes on. So a kill becomes a hint,
/// unless `find` already found something one step earlier, or when the call of the last step was made the previous time.
fn told_first(
    steps: &[Step<'_>],
    policy: &StepsPolicy,
    find: fn(&[Step<'_>], &StepsPolicy) -> Option<Finding>,
) -> Option<Finding> {
    let found = find(steps, policy)?;
    let (last, earlier) = steps.split_last()?;
    // This holds only if the operator wants a hint before the kill.
    let row = policy.of_tools(last, policy.repeated_step);
    let hints_first = row.hint > 0 && (row.kill == 0 || row.hint < row.kill);
    let last_time = || earlier.iter().rposition(|step| step.approach == last.approach);
    let was_found = |until: usize| earlier.get(..until).is_some_and(|steps| find(steps, policy).is_some());
    let is_told =
        || was_found(earlier.len()) || last_time().is_some_and(|at| was_found(at.saturating_add(1)));
    if found.verdict == Verdict::Kill && hints_first && !is_told() {
        return Some(Finding { verdict: Verdict::Hint, ..found });
    }
    Some(found)
}

/// The strongest finding in the steps of one count.
fn in_one_count(steps: &[Step<'_>], policy: &StepsPolicy) -> Option<Finding> {
    let last = steps.last()?;
    if number(steps.len()) < policy.fewest(steps) {
        return None;
    }
    let stale = progress::stagnation(steps, policy.least(steps, policy.stagnation));
    let very_old = match stale.very_old.proves(|step| policy.is_proof(steps, stale.very_old.steps, step)) {
        true => policy.row_of_all(stale.very_old.steps, policy.stagnation).killing(),
        false => Thresholds::default(),
    };
    let old = policy.row_of_all(stale.old.steps, policy.stagnation).hinting();
    let (old_kind, waits) = (kind_of(stale.old.steps), stale.old.waits());
    // If something is awaited, only the steps that wait are counted.
    let old_count = if old_kind == Kind::Waiting { waits } else { stale.old.count(policy.counts_rounds) };
    // The operator's rules for tools can only raise these thresholds.
    let weak = |signal, strong: Thresholds, count: fn(&[Step<'_>], u32) -> u32, kind| {
        let count = count(steps, strong.least());
        Counted::of(signal, count, policy.of_tools(last, strong).lenient(strong), kind)
    };
    let [proven, hinting, across, same_call, alike] =
        repeated_step::judged(steps, last, Signal::RepeatedStep, policy);
    strongest(
        last,
        [
            proven,
            hinting,
            across,
            cycle::judged(steps, policy),
            Counted::of(
                Signal::Stagnation,
                stale.very_old.count(policy.counts_rounds),
                very_old,
                Kind::Content,
            ),
            Counted::of(Signal::Stagnation, old_count, old, old_kind),
            weak(Signal::SimilarFailures, policy.similar_failures, similar_failures::count, Kind::Failure),
            alike,
            weak(Signal::SameOutcome, policy.same_outcome, same_outcome::count, Kind::Content),
            weak(Signal::Stuck, policy.stuck, progress::stuck, Kind::Content),
            same_call,
        ],
    )
}

/// The strongest finding in exchanges of texts, which end with the last exchange before the request. Judged are repetition, cycles,
/// streaks of old exchanges, answers that are always the same, and new actions that fail in one way. Similar failures are not: the
/// outcome of a text is less clear than that of a call.
pub fn in_exchanges(exchanges: &Steps<'_>, policy: &StepsPolicy) -> Option<Finding> {
    if !policy.enabled {
        return None;
    }
    let last = exchanges.all.last()?;
    // Prose that the user answered ends what the agent did before.
    let talks = |step: &Step<'_>| !step.acts;
    let start = match policy.off {
        Some(Condition::Answered) => None,
        _ if talks(last) => None,
        _ => exchanges.all.iter().rposition(talks).map(|at| at.saturating_add(1)),
    };
    let steps = exchanges.all.get(start.unwrap_or(0)..).unwrap_or_default();
    unless_asked_for(&exchanges.task, None, policy, &|policy| {
        let found = told_first(steps, policy, in_one_row);
        if found.as_ref().is_some_and(|finding| finding.verdict == Verdict::Kill) {
            return found;
        }
        // The hint came before the first kill, so an exchange that goes on after it is killed at once.
        resumed_exchange(steps, policy).or(found)
    })
}

/// The strongest finding in exchanges of actions alone, or, if the last one is a talk, in all exchanges.
fn in_one_row(steps: &[Step<'_>], policy: &StepsPolicy) -> Option<Finding> {
    let last = steps.last()?;
    let [proven, hinting, across, same_call, alike] =
        repeated_step::judged(steps, last, Signal::RepeatedExchange, policy);
    strongest(
        last,
        [
            proven,
            hinting,
            across,
            cycle::judged(steps, policy),
            stale_exchanges(steps, policy),
            alike,
            same_call,
            same_answer(steps, last, policy),
        ],
    )
}

/// Actions in text that get the same answer, or that fail in one way. If the last action was tried before, equal answers count. They
/// prove nothing in a talk, or if neither the action nor its answer says much, as with a step in a game. If the last action is new, only
/// failures of one kind count: a list of new actions may be what the user asked for, and an agent that meets another kind of failure
/// each time corrects one mistake after the other.
fn same_answer(steps: &[Step<'_>], last: &Step<'_>, policy: &StepsPolicy) -> Counted {
    let is_old = steps.iter().rev().skip(1).any(|step| step.approach == last.approach);
    let count = match (last.acts, is_old) {
        (true, true) if last.weight() >= Weight::Full => same_outcome::count(steps, policy.stuck.least()),
        (true, false) => failures_like(last, steps),
        _ => 0,
    };
    Counted::of(Signal::Stuck, count, policy.stuck, Kind::Content)
}

/// How many different actions in a row, up to the last one, fail in the way in which that one fails.
fn failures_like(last: &Step<'_>, steps: &[Step<'_>]) -> u32 {
    let head = last.failure_head();
    let fails = |step: &&Step<'_>| step.acts && step.kind() == Kind::Failure && step.failure_head() == head;
    let approaches: HashSet<_> = steps.iter().rev().take_while(fails).map(|step| step.approach).collect();
    number(approaches.len())
}

/// An exchange that was stopped, and goes on because a framework asked again.
fn resumed_exchange(exchanges: &[Step<'_>], policy: &StepsPolicy) -> Option<Finding> {
    let last = exchanges.last()?;
    // The kind is judged only where it can matter.
    if exchanges.iter().filter(|exchange| exchange.approach == last.approach).count()
        < repeated_step::LEAST_RESUMED
    {
        return None;
    }
    let row = policy.row(last, policy.repeated_step);
    repeated_step::resumes(exchanges, row.kill).then(|| Finding {
        count: number(exchanges.iter().filter(|exchange| last.is_like(exchange)).count()),
        tool: last.tool.to_owned(),
        ..Finding::of(Signal::RepeatedExchange, Verdict::Kill)
    })
}

/// Exchanges in a row that all occurred before, the last one at least three times.
fn stale_exchanges(exchanges: &[Step<'_>], policy: &StepsPolicy) -> Counted {
    let least = policy.stagnation.kill;
    let stale = if least == 0 { Streak::default() } else { progress::fourth(exchanges, least) };
    if !stale.proves(|step| policy.is_proof(exchanges, stale.steps, step)) {
        return Counted::NOTHING;
    }
    let row = policy.row_of_all(stale.steps, policy.stagnation).killing();
    Counted::of(Signal::Stagnation, stale.count(policy.counts_rounds), row, Kind::Content)
}

/// The run limit: the most assistant turns after the last user message.
pub fn in_turns(turns: u32, limit: u32) -> Option<Finding> {
    let hint = limit.saturating_mul(4).checked_div(5).unwrap_or(0);
    let verdict = Thresholds { hint, kill: limit }.verdict(turns);
    (limit > 0 && verdict > Verdict::Allow)
        .then(|| Finding { count: turns, ..Finding::of(Signal::RunLimit, verdict) })
}

#[cfg(test)]
mod tests;
