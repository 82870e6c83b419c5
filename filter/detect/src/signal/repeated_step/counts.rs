//! How often the last step occurred before with the same outcome. Other steps may stand between.

use super::super::{
    counted::number,
    policy::{Condition, StepsPolicy},
};
use crate::step::{Kind, Sequence, Step, Weight, nears_an_end};

/// How often the last step occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeated {
    /// In the window, the last step included, since a call that was made before brought something new.
    pub in_window: u32,
    /// In the window, whatever other calls brought in between.
    pub in_all: u32,
    /// Since anything new was tried or learned. An agent that returns to one page between reading others, or runs one test after
    /// each of several changes, is at work.
    pub proven: u32,
    /// Since anything new was tried or learned that did not recur later. A step that recurs is part of a round, and no new work.
    pub in_rounds: u32,
    /// Since anything new was learned. New calls in between count only if their outcomes were new.
    pub without_news: u32,
    /// In a row at the tail, with no other step in between.
    pub in_a_row: u32,
    /// Steps that wait, since the first of these repetitions.
    pub waits: u32,
    /// The call had the same outcome each time in this count.
    pub is_steady: bool,
    /// Whether the equal outcomes in a row may be chance. Matters only when `is_steady` is false.
    pub is_chance: bool,
    /// A remaining time gets shorter each time.
    pub nears_an_end: bool,
}

/// Counts the last step among the steps before it. Returns zeros when it occurs fewer than `least` times, without closer analysis.
pub fn repeated(steps: &[Step<'_>], policy: &StepsPolicy, least: u32) -> Repeated {
    let Some((last, earlier)) = steps.split_last() else { return Repeated::default() };
    let recent = || steps.iter().enumerate().rev().take(policy.window);
    if number(recent().filter(|(_, step)| step.approach == last.approach).count()) < least {
        return Repeated::default();
    }
    let mut sequence = None;
    let mut is_open = true;
    let mut same = vec![steps.len().saturating_sub(1)];
    for (at, step) in earlier.iter().enumerate().rev().take(policy.window.saturating_sub(1)) {
        let has_frame = is_open && is_same(step, last, policy);
        // A number that moved in another way ends the sequence.
        is_open &= !has_frame
            || policy.off == Some(Condition::Explicit)
            || sequence
                .get_or_insert_with(|| Sequence::ending_with(last.numbers(), 1))
                .takes(&step.numbers());
        if has_frame && is_open {
            same.push(at);
        }
    }
    if number(same.len()) < least {
        return Repeated::default();
    }
    let is_same = |at: usize| same.contains(&at);
    let since = |ends: &dyn Fn(usize) -> bool| {
        let run = recent().take_while(|(at, _)| is_same(*at) || !ends(*at));
        number(run.filter(|(at, _)| is_same(*at)).count())
    };
    let first = same.iter().min().copied().unwrap_or_default();
    let waits = steps.iter().skip(first).filter(|step| step.kind() == Kind::Waiting).count();
    let in_window = since(&|at| is_poll_progress(steps, at));
    // A step that moves on in between makes the next call look at something else.
    let has_moved_on = |at: usize| steps.get(at).is_some_and(Step::has_moved_on);
    let proven = since(&|at| is_new(steps, at) || has_moved_on(at));
    Repeated {
        waits: number(waits),
        in_window,
        in_all: number(same.len()),
        proven: if policy.off == Some(Condition::NothingNew) { in_window } else { proven },
        in_rounds: since(&|at| is_new(steps, at) && !recurs(steps, at)),
        without_news: since(&|at| is_new(steps, at) && !brings_old_news(steps, at)),
        in_a_row: since(&|_| true),
        is_steady: policy.off == Some(Condition::CallDecides) || is_steady(steps, last, policy),
        is_chance: is_chance(steps, last, &same),
        nears_an_end: sequence.as_ref().is_some_and(Sequence::nears_an_end),
    }
}

/// The same approach with the same outcome, the numbers of failures aside.
fn is_same(step: &Step<'_>, last: &Step<'_>, policy: &StepsPolicy) -> bool {
    step.approach == last.approach
        && match policy.off {
            Some(Condition::Equal) => step.has_frame_of(last),
            _ => step.has_outcome_of(last),
        }
}

/// Whether the call of the step had this outcome each time.
pub fn is_steady(steps: &[Step<'_>], step: &Step<'_>, policy: &StepsPolicy) -> bool {
    let mut others = steps.iter().filter(|other| other.approach == step.approach);
    others.all(|other| match policy.off {
        Some(Condition::Equal) => other.has_frame_of(step),
        _ => step.brings_like(other),
    })
}

/// How often the last call was made in a row at the tail, with any outcomes. 0 if it waits or moves towards an end.
pub fn same_call(steps: &[Step<'_>], least: u32) -> u32 {
    let Some(last) = steps.last() else { return 0 };
    let row = || steps.iter().rev().take_while(|step| step.approach == last.approach);
    let count = number(row().count());
    // In a talk, the same words may well answer whatever is asked.
    if count < least || !last.acts || last.moves_on() || row().any(|step| step.kind() == Kind::Waiting) {
        return 0;
    }
    // A call that names little and has another outcome each time reads on, unless it fails.
    let differ = |pair: &[Step<'_>]| matches!(pair, [before, step] if !step.brings_nearly(before) && step.kind() != Kind::Failure);
    let mut pairs = steps.windows(2).rev().take(row().skip(1).count());
    if last.weight_of_calls() < Weight::Words && pairs.all(differ) {
        return 0;
    }
    // If the texts of the outcomes are not kept, nobody can say whether they move.
    let texts: Option<Vec<String>> = row().map(Step::text).collect();
    // The newest outcome may be the end itself, so the row is judged without it too.
    let moves = |texts: &[String]| nears_an_end(texts) || texts.get(1..).is_some_and(nears_an_end);
    if texts.is_none_or(|texts| moves(&texts)) { 0 } else { count }
}

/// How often the last step occurs in the window with an outcome that differs only in what is volatile, or that the agent has cut
/// out of its history. Counted since another call was made for the first time. 0 if all outcomes are the same content: that is a
/// repeated step.
pub fn alike(steps: &[Step<'_>], window: usize, least: u32) -> u32 {
    let Some(last) = steps.last() else { return 0 };
    let recent = || steps.iter().enumerate().rev().take(window);
    if number(recent().filter(|(_, step)| step.approach == last.approach).count()) < least {
        return 0;
    }
    let is_new_call = |at: usize, step: &Step<'_>| {
        steps.get(..at).is_some_and(|earlier| earlier.iter().all(|other| other.approach != step.approach))
    };
    let run = || recent().take_while(|(at, step)| step.approach == last.approach || !is_new_call(*at, step));
    let is_like =
        |step: &Step<'_>| step.approach == last.approach && (step.is_alike(last) || step.is_cut_out());
    let like: Vec<&Step<'_>> = run().map(|(_, step)| step).filter(|step| is_like(step)).collect();
    // If steps in between wait, this is polling.
    if number(like.len()) < least
        || (last.kind() == Kind::Content && like.iter().all(|step| last.brings_like(step)))
        || run().any(|(_, step)| step.kind() == Kind::Waiting)
    {
        return 0;
    }
    let texts: Option<Vec<String>> = like.iter().map(|step| step.text()).collect();
    if texts.is_none_or(|texts| nears_an_end(&texts)) { 0 } else { number(like.len()) }
}

/// Whether a remaining time gets shorter in each of these failures. The last failure comes first.
pub fn gets_shorter<'s, 'a: 's>(mut steps: impl Iterator<Item = &'s Step<'a>>) -> bool {
    let Some(last) = steps.next() else { return false };
    let mut sequence = Sequence::ending_with(last.numbers(), 1);
    steps.all(|step| sequence.takes(&step.numbers())) && sequence.nears_an_end()
}

/// A step that was stopped and resumed occurs at least this often: once before the kill, and twice after it.
pub const LEAST_RESUMED: usize = 3;

/// Whether the last step was repeated until a kill at the count `kill` (0: never), something else was tried once, and the step
/// has come twice more. This happens if a framework asks again after a kill.
pub fn resumes(steps: &[Step<'_>], kill: u32) -> bool {
    let Some(last) = steps.last().filter(|_| kill > 0) else { return false };
    let is_evidence = matches!(last.kind(), Kind::Content | Kind::Failure);
    let (mut was_stopped, mut is_stopped, mut count) = (false, false, 0_u32);
    for (at, step) in steps.iter().enumerate() {
        if is_new(steps, at) {
            (was_stopped, is_stopped, count) = (is_stopped, false, 0);
        }
        if last.is_like(step) {
            count = count.saturating_add(1);
            is_stopped = count >= kill || (was_stopped && count >= 2);
        }
    }
    is_evidence && was_stopped && is_stopped
}

/// Whether the step did what was done before, and something new came of it.
fn is_poll_progress(steps: &[Step<'_>], at: usize) -> bool {
    let Some((step, earlier)) = split(steps, at) else { return false };
    let mut same_approach = earlier.iter().filter(|other| other.approach == step.approach).peekable();
    same_approach.peek().is_some() && same_approach.all(|other| !step.brings_like(other))
}

/// Whether the step tried something new, or brought what this call had not brought before, or a person told it to go on.
#[inline(never)]
fn is_new(steps: &[Step<'_>], at: usize) -> bool {
    let Some((step, earlier)) = split(steps, at) else { return false };
    step.is_go_ahead() || !earlier.iter().any(|other| step.repeats(other))
}

/// Whether the step comes again later.
#[inline(never)]
fn recurs(steps: &[Step<'_>], at: usize) -> bool {
    let later = steps.get(at.saturating_add(1)..).unwrap_or_default();
    steps.get(at).is_some_and(|step| later.iter().any(|other| other.is_like(step)))
}

/// Whether the equal outcomes at the tail may come by chance. Judged by how often the call had this outcome before them: for a
/// test that fails two times out of three, ten failures in a row say little.
fn is_chance(steps: &[Step<'_>], last: &Step<'_>, same: &[usize]) -> bool {
    /// Below this probability, equal outcomes in a row are not explained by chance.
    const LIKELY: f64 = 0.001;
    let row = (0..steps.len()).rev().take_while(|at| same.contains(at)).count();
    let before = steps.get(..steps.len().saturating_sub(row)).unwrap_or_default();
    let calls = || before.iter().filter(|step| step.approach == last.approach);
    let equal = calls().filter(|step| step.has_outcome_of(last)).count();
    // Laplace's rule: one more of each outcome, so that the estimate is never 0 or 1.
    let likely =
        f64::from(number(equal).saturating_add(1)) / f64::from(number(calls().count()).saturating_add(2));
    likely.powf(f64::from(number(row))) >= LIKELY
}

/// Whether the outcome of the step tells something, and an earlier step had the same outcome.
fn brings_old_news(steps: &[Step<'_>], at: usize) -> bool {
    let Some((step, earlier)) = split(steps, at) else { return false };
    matches!(step.kind(), Kind::Content | Kind::Failure)
        && !step.is_receipt()
        && earlier.iter().any(|other| step.brings_like(other))
}

fn split<'s, 'a>(steps: &'s [Step<'a>], at: usize) -> Option<(&'s Step<'a>, &'s [Step<'a>])> {
    steps.get(..=at).and_then(<[Step<'a>]>::split_last)
}
