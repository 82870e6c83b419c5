//! What the signals had counted at the end of a run, from the digests of its steps. The filter reads more than digests (what a call names,
//! where its user speaks), so its own count may be lower.

use sentinel_detect::signal::{StepsPolicy, Thresholds};

use super::{SignalCount, StepRow, TurnRow};
use crate::words::Outcome;

/// Steps that the filter looks at.
const LOOKED_AT: usize = 20;
/// Longest period of a cycle.
const PERIOD: usize = 5;

/// `rows` and `threshold`: the settings that now hold for the agent.
pub fn count(turns: &[TurnRow], rows: &StepsPolicy, threshold: f64) -> Vec<SignalCount> {
    let steps: Vec<&StepRow> = turns.iter().flat_map(|turn| &turn.steps).collect();
    let steps = steps.get(steps.len().saturating_sub(LOOKED_AT)..).unwrap_or_default();
    let mut counted = Vec::new();
    if let Some(last) = steps.last() {
        let (hint, kill) = limits(last.kind, rows.repeated_step, rows);
        counted.push(SignalCount {
            signal: "repeated_step",
            what: "the last step, with the same result",
            count: number(steps.iter().filter(|step| is_same(step, last)).count()),
            is_above: false,
            hint,
            kill,
        });
        let (hint, kill) = limits(last.kind, rows.cycle, rows);
        counted.push(SignalCount {
            signal: "cycle",
            what: "rounds of the same two to five steps, up to the last",
            count: number(rounds(steps)),
            is_above: false,
            hint,
            kill,
        });
        let same = |step: &&&StepRow| step.tool == last.tool && step.outcome == last.outcome;
        let says_something = !matches!(last.kind, Outcome::Acknowledgement | Outcome::Waiting);
        counted.push(SignalCount {
            signal: "same_outcome",
            what: "one tool in a row with one result, whatever it was asked",
            count: if says_something { number(steps.iter().rev().take_while(same).count()) } else { 0.0 },
            is_above: false,
            hint: at(rows.same_outcome.hint),
            kill: at(rows.same_outcome.kill),
        });
    }
    if let Some(nearest) = turns.iter().filter_map(|turn| turn.similarity).reduce(f64::max) {
        counted.push(SignalCount {
            signal: "semantic",
            what: "how near a prompt came to an earlier one; two earlier ones must be so near",
            count: nearest,
            is_above: true,
            hint: Some(threshold),
            kill: None,
        });
    }
    counted
}

/// The counts at which a repetition hints and kills, by the kind of its result.
fn limits(kind: Outcome, strong: Thresholds, rows: &StepsPolicy) -> (Option<f64>, Option<f64>) {
    let Thresholds { hint, kill } = match kind {
        Outcome::Content | Outcome::Failure => strong,
        Outcome::Empty => rows.empty,
        Outcome::Acknowledgement => Thresholds { hint: rows.acknowledgement, kill: 0 },
        Outcome::Waiting => Thresholds { hint: rows.waiting, kill: 0 },
    };
    (at(hint), at(kill))
}

/// 0: never.
fn at(threshold: u32) -> Option<f64> {
    (threshold > 0).then(|| f64::from(threshold))
}

fn is_same(a: &StepRow, b: &StepRow) -> bool {
    a.approach == b.approach && a.outcome == b.outcome
}

/// Rounds of the cycle that ends the steps; at least one.
fn rounds(steps: &[&StepRow]) -> usize {
    let of = |period: usize| {
        let Some(last) = steps.rchunks_exact(period).next() else { return 0 };
        let is_round = |round: &&[&StepRow]| round.iter().zip(last).all(|(a, b)| is_same(a, b));
        // The same step again and again is no cycle.
        let is_cycle = last.iter().any(|step| !last.first().is_some_and(|first| is_same(first, step)));
        if is_cycle { steps.rchunks_exact(period).take_while(is_round).count() } else { 0 }
    };
    (2..=PERIOD).map(of).max().unwrap_or_default().max(1)
}

#[expect(clippy::cast_precision_loss, reason = "at most 20")]
fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(steps: &str) -> Vec<TurnRow> {
        let step = |letter: char| StepRow {
            approach: letter.to_string(),
            outcome: letter.to_string(),
            ..StepRow::default()
        };
        steps.chars().map(|letter| TurnRow { steps: vec![step(letter)], ..TurnRow::default() }).collect()
    }

    fn counts(steps: &str) -> Vec<(&'static str, f64)> {
        count(&turns(steps), &StepsPolicy::default(), 0.95)
            .iter()
            .map(|one| (one.signal, one.count))
            .collect()
    }

    #[test]
    fn what_ends_a_run_is_counted() {
        assert_eq!(counts("xabab")[..2], [("repeated_step", 2.0), ("cycle", 2.0)]);
        assert_eq!(counts("abcabcabc")[..2], [("repeated_step", 3.0), ("cycle", 3.0)]);
        assert_eq!(counts("aaaa")[..2], [("repeated_step", 4.0), ("cycle", 1.0)]);
        assert_eq!(counts("abcd")[..2], [("repeated_step", 1.0), ("cycle", 1.0)]);
        assert_eq!(counts(""), []);
        let repeated_step = Thresholds { hint: 4, kill: 0 };
        let own = count(&turns("aaaa"), &StepsPolicy { repeated_step, ..StepsPolicy::default() }, 0.95);
        assert_eq!((own[0].hint, own[0].kill), (Some(4.0), None), "the counts to act at are the agent's own");
        let old = format!("a{}", "b".repeat(20));
        assert_eq!(counts(&old)[0], ("repeated_step", 20.0), "only the last twenty steps count");
    }
}
