//! Repeated step: the last step, or the last exchange, came again. Judges its counts by the policy.

mod counts;

use self::counts::Repeated;
pub use self::counts::{LEAST_RESUMED, gets_shorter, is_steady, resumes};
use super::{Counted, StepsPolicy};
use crate::{
    step::{Kind, Step, Weight},
    thresholds::Thresholds,
    verdict::Signal,
};

/// Five counts of the last step: towards a kill, towards a hint, towards a hint with new work in between, of the same call in a row,
/// and of outcomes that are alike.
pub fn judged(steps: &[Step<'_>], last: &Step<'_>, signal: Signal, policy: &StepsPolicy) -> [Counted; 5] {
    let least = policy.least(steps, policy.repeated_step);
    let repeated = counts::repeated(steps, policy, least);
    let [killing, hinting, across] = if repeated.nears_an_end {
        [Counted::NOTHING; 3]
    } else if repeated.in_window < least {
        // An equal explicit failure is hinted from `waiting` repetitions on, even if other steps brought something new.
        let row = policy.of_tools(last, Thresholds::hinting_from(policy.waiting));
        let is_failure = last.kind() == Kind::Failure;
        let across = if is_failure {
            Counted::of(signal, repeated.in_all, row.hinting(), Kind::Failure)
        } else {
            Counted::NOTHING
        };
        [Counted::NOTHING, Counted::NOTHING, across]
    } else {
        repetitions(&repeated, last, signal, policy)
    };
    [killing, hinting, across, same_call(steps, last, signal, policy), alike(steps, last, signal, policy)]
}

/// The counts of a last step that occurs often enough: for a kill, for a hint, and for a hint with new work in between.
fn repetitions(repeated: &Repeated, last: &Step<'_>, signal: Signal, policy: &StepsPolicy) -> [Counted; 3] {
    let weak = Thresholds::hinting_from(policy.weak);
    // If a step in every round waits, this is polling.
    let waits = repeated.waits >= repeated.in_window.saturating_sub(1).max(1);
    let is_plain = waits || !matches!(last.kind(), Kind::Content | Kind::Failure);
    let kind = if waits { Kind::Waiting } else { last.kind() };
    let row = match waits {
        true => policy.of_tools(last, Thresholds::hinting_from(policy.waiting)),
        false => policy.row(last, policy.repeated_step),
    };
    // Results that prove nothing are counted over the whole window. Acknowledgements are counted only since the last new step: an agent
    // that presses a key after each entry is at work.
    if is_plain {
        let count = if kind == Kind::Acknowledgement { repeated.in_rounds } else { repeated.in_window };
        [Counted::of(signal, count, row, kind), Counted::NOTHING, Counted::NOTHING]
    } else if repeated.is_steady {
        [
            Counted::of(signal, repeated.proven, row.killing(), kind),
            Counted::of(signal, repeated.in_rounds, row.hinting(), kind),
            // If the steps in between brought only known outcomes, a hint needs one repetition more than usual.
            if repeated.without_news > row.hint {
                Counted::of(signal, repeated.without_news, row.hinting(), kind)
            } else {
                Counted::of(signal, repeated.in_window, weak.lenient(row).hinting(), kind)
            },
        ]
    } else {
        let row = policy.changing.lenient(row);
        let kills = if repeated.is_chance { Thresholds::default() } else { row.killing() };
        [
            Counted::of(signal, repeated.in_a_row, kills, kind),
            Counted::of(signal, repeated.proven, row.hinting(), kind),
            Counted::of(signal, repeated.in_window, weak.lenient(row).hinting(), kind),
        ]
    }
}

/// The same call in a row, whatever came of it.
fn same_call(steps: &[Step<'_>], last: &Step<'_>, signal: Signal, policy: &StepsPolicy) -> Counted {
    let weak = Thresholds::hinting_from(policy.weak).lenient(policy.repeated_step.hinting());
    let count = counts::same_call(steps, weak.least());
    if count < weak.least() {
        return Counted::NOTHING;
    }
    // For an agent without tools, the user's answer may be another task. So an earlier step must have a similar outcome.
    let ends = if last.weight_of_calls() >= Weight::Long { last.ends() } else { None };
    let is_like = |step: &Step<'_>| step.is_alike(last) || ends.is_some() && step.ends() == ends;
    if signal == Signal::RepeatedExchange && !steps.iter().rev().skip(1).any(is_like) {
        return Counted::NOTHING;
    }
    // If neither the call nor the outcome says much, the thresholds of its kind and weight apply.
    let is_told = last.weight() >= Weight::Full || matches!(last.kind(), Kind::Content | Kind::Failure);
    let row = if is_told { weak } else { policy.row(last, policy.repeated_step) };
    let row = policy.of_tools(last, policy.of_deed(last, row)).hinting();
    Counted { is_any_outcome: true, ..Counted::of(signal, count, row, Kind::Content) }
}

/// Outcomes that differ in what is volatile by its shape.
fn alike(steps: &[Step<'_>], last: &Step<'_>, signal: Signal, policy: &StepsPolicy) -> Counted {
    let count = counts::alike(steps, policy.window, policy.alike.least());
    if count < policy.alike.least() || !matches!(last.kind(), Kind::Content | Kind::Failure) {
        return Counted::NOTHING;
    }
    let row = policy.row(last, policy.repeated_step);
    Counted::of(signal, count, policy.of_tools(last, policy.alike.lenient_hint(row)), last.kind())
}
