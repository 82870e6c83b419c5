//! Judges a recorded finding again by other thresholds. The record has the signal, the count and the verdict. It does not say
//! which threshold decided, because that depends on texts. So every threshold that could have decided is tried, and the result is
//! a range.

use super::{StepsPolicy, Thresholds};
use crate::{
    step::Kind,
    verdict::{Signal, Verdict},
};

/// Below this count, no number of repetitions that a user asked for has raised a threshold: five is the least number (`asked`),
/// and a hint comes two later.
const LEAST_ASKED: u32 = 7;

/// The mildest and the strongest verdict that are possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub least: Verdict,
    pub most: Verdict,
}

impl Range {
    #[must_use]
    pub fn of(verdict: Verdict) -> Self {
        Self { least: verdict, most: verdict }
    }

    /// Every verdict is possible.
    pub const ANY: Self = Self { least: Verdict::Allow, most: Verdict::Kill };
}

/// What is on record of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub signal: Signal,
    pub verdict: Verdict,
    pub count: u32,
    /// The kind of the last step, if it is known.
    pub kind: Option<Kind>,
}

/// Whether the count reaches a threshold: all that could have decided, some, or none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaks {
    All,
    Some,
    None,
}

impl StepsPolicy {
    /// Judges a finding in steps, which was judged by this policy, by the policy `after`. The record does not say whether another
    /// signal speaks in its place.
    #[must_use]
    pub fn again(&self, recorded: Recorded, after: &Self) -> Range {
        let same = Self { own_words: self.own_words.clone(), ..after.clone() };
        if !after.enabled {
            return Range::of(Verdict::Allow);
        }
        if *self == same {
            return Range::of(recorded.verdict);
        }
        let looks_elsewhere =
            self.window != after.window || self.react != after.react || self.off != after.off;
        if looks_elsewhere || !self.tools.0.is_empty() || !after.tools.0.is_empty() {
            return Range::ANY;
        }
        let pairs: Vec<(Thresholds, Thresholds)> =
            self.rows(recorded).into_iter().zip(after.rows(recorded)).collect();
        let hints = speaks(recorded.count, pairs.iter().map(|(before, after)| (before.hint, after.hint)));
        let kills = speaks(recorded.count, pairs.iter().map(|(before, after)| (before.kill, after.kill)));
        match recorded.verdict {
            Verdict::Allow => Range::ANY,
            Verdict::Hint => {
                // A kill needs proof, and the record does not say whether there was one. If no threshold of a kill becomes lower,
                // what was missing is still missing.
                let could_kill = pairs.iter().any(|(before, after)| is_earlier(before.kill, after.kill))
                    && pairs.iter().any(|(_, after)| reached(recorded.count, after.kill));
                Range {
                    least: if hints == Speaks::All { Verdict::Hint } else { Verdict::Allow },
                    most: match hints {
                        _ if could_kill => Verdict::Kill,
                        Speaks::None => Verdict::Allow,
                        Speaks::All | Speaks::Some => Verdict::Hint,
                    },
                }
            }
            Verdict::Kill => {
                let kills = if recorded.count >= LEAST_ASKED && has_wider_gap(&pairs) && kills == Speaks::All
                {
                    Speaks::Some
                } else {
                    kills
                };
                // A hint counts at least as many steps as a kill, so this count is enough for a hint too. Not for stagnation,
                // where hint and kill count different steps.
                let mut deciding = pairs.iter().filter(|(before, _)| reached(recorded.count, before.kill));
                let is_hinted = recorded.signal != Signal::Stagnation
                    && deciding.all(|(_, after)| reached(recorded.count, after.hint));
                let milder = if is_hinted { Verdict::Hint } else { Verdict::Allow };
                match kills {
                    Speaks::All => Range::of(Verdict::Kill),
                    Speaks::Some => Range { least: milder, most: Verdict::Kill },
                    Speaks::None => Range { least: milder, most: Verdict::Hint },
                }
            }
        }
    }

    /// The thresholds that can decide about a finding.
    fn rows(&self, recorded: Recorded) -> Vec<Thresholds> {
        let hint = Thresholds::hinting_from;
        let repetition = |strong: Thresholds| {
            let by_weight = || [strong, self.one_token, hint(self.weak)];
            let talk = hint(self.talk);
            match recorded.kind {
                Some(Kind::Failure) => vec![strong, hint(self.weak), talk],
                Some(Kind::Content) => by_weight().into_iter().chain([talk]).collect(),
                Some(Kind::Empty) => vec![self.empty, hint(self.weak), hint(self.waiting), talk],
                Some(Kind::Acknowledgement | Kind::Waiting) | None => by_weight()
                    .into_iter()
                    .chain([self.empty, hint(self.acknowledgement), hint(self.waiting), talk])
                    .collect(),
            }
        };
        let every = || {
            let all = [self.empty, hint(self.acknowledgement), hint(self.waiting)];
            all.into_iter().chain(repetition(self.repeated_step))
        };
        match recorded.signal {
            Signal::SimilarFailures => vec![self.similar_failures],
            Signal::SameOutcome => vec![self.same_outcome],
            Signal::Stuck => vec![self.stuck],
            Signal::RepeatedStep | Signal::RepeatedExchange => {
                let waits = hint(self.waiting);
                let rows = repetition(self.repeated_step).into_iter();
                rows.chain([self.changing, self.alike, self.repeated_step.hinting(), waits]).collect()
            }
            // A round has steps of several kinds.
            Signal::Cycle => every().chain([self.one_token, self.cycle]).collect(),
            Signal::Stagnation => every().chain([self.one_token, self.stagnation]).collect(),
            _ => Vec::new(),
        }
    }
}

/// `0`: never.
fn reached(count: u32, threshold: u32) -> bool {
    threshold > 0 && count >= threshold
}

/// Of the thresholds that the count reached before: whether it still reaches all, some or none of them.
fn speaks(count: u32, thresholds: impl Iterator<Item = (u32, u32)>) -> Speaks {
    let (mut all, mut none) = (true, true);
    for (_, after) in thresholds.filter(|(before, _)| reached(count, *before)) {
        if reached(count, after) {
            none = false;
        } else {
            all = false;
        }
    }
    match (all, none) {
        // (true, true): none of these thresholds can have decided, so the rules here do not cover the finding.
        (true, true) | (false, false) => Speaks::Some,
        (true, false) => Speaks::All,
        (false, true) => Speaks::None,
    }
}

/// Whether a threshold is lower than before, or exists where there was none. `0`: never.
#[must_use]
pub fn is_earlier(before: u32, after: u32) -> bool {
    after > 0 && (before == 0 || after < before)
}

/// Whether the distance from hint to kill is larger than before.
fn has_wider_gap(pairs: &[(Thresholds, Thresholds)]) -> bool {
    let gap = |row: &Thresholds| row.kill.saturating_sub(row.hint);
    pairs.iter().any(|(before, after)| gap(after) > gap(before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        signal::in_steps,
        step::{Step, StepLog, Steps, ToolRules},
    };

    fn step(tool: &'static str, arguments: String, result: &str) -> Step<'static> {
        let mut log = StepLog::default();
        log.turn();
        log.call("1", tool, arguments, &ToolRules::default());
        log.text_result("1", result);
        let log: &'static StepLog<'static> = Box::leak(Box::new(log));
        log.steps().all.remove(0)
    }

    fn repeated(verdict: Verdict, count: u32) -> Recorded {
        Recorded { signal: Signal::RepeatedStep, verdict, count, kind: Some(Kind::Failure) }
    }

    #[test]
    fn later_thresholds_take_back_what_only_they_can_have_said() {
        let before = StepsPolicy::default();
        let after = StepsPolicy { repeated_step: Thresholds { hint: 4, kill: 8 }, ..before.clone() };
        let again = |verdict, count| before.again(repeated(verdict, count), &after);
        assert_eq!(again(Verdict::Hint, 3), Range::of(Verdict::Allow));
        assert_eq!(again(Verdict::Hint, 4), Range::of(Verdict::Hint));
        assert_eq!(again(Verdict::Kill, 5), Range::of(Verdict::Hint));
        assert_eq!(again(Verdict::Kill, 9), Range { least: Verdict::Hint, most: Verdict::Kill });
        let off = StepsPolicy { enabled: false, ..before.clone() };
        assert_eq!(before.again(repeated(Verdict::Kill, 5), &off), Range::of(Verdict::Allow));
        let narrow = StepsPolicy { window: 9, ..before.clone() };
        assert_eq!(before.again(repeated(Verdict::Hint, 3), &narrow), Range::ANY);
        let earlier = StepsPolicy { repeated_step: Thresholds { hint: 3, kill: 4 }, ..before.clone() };
        let wanted = Range { least: Verdict::Hint, most: Verdict::Kill };
        assert_eq!(before.again(repeated(Verdict::Hint, 4), &earlier), wanted, "a kill needs proof");
    }

    /// Numbers from a seed.
    struct Chance(u64);

    impl Chance {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % end
        }

        fn later(&mut self, row: Thresholds) -> Thresholds {
            let more = |from: u32, by: u64| if from == 0 { 0 } else { from + u32::try_from(by).unwrap_or(0) };
            let hint = more(row.hint, self.below(4));
            Thresholds { hint, kill: more(row.kill, self.below(5)).max(if row.kill == 0 { 0 } else { hint }) }
        }
    }

    /// The range holds when the steps themselves are judged by the new policy.
    #[test]
    fn it_never_says_what_the_steps_do_not() {
        let results = [
            "error: permission denied",
            "[]",
            "ok",
            "Account 17 is closed, and its owner has been told so twice already today.",
            "no",
        ];
        let mut chance = Chance(7);
        let (mut known, mut seen) = (0, 0);
        for _ in 0..1_500 {
            let wide = 1 + chance.below(3);
            let length = 6 + chance.below(9);
            let steps: Vec<Step<'static>> = (0..length)
                .map(|_| {
                    let which = usize::try_from(chance.below(wide)).unwrap_or_default();
                    let tool = ["read_file", "press", "search"][which];
                    let which = usize::try_from(chance.below(wide * 2)).unwrap_or_default();
                    step(tool, format!("{{\"a\": {}}}", chance.below(wide)), results[which % results.len()])
                })
                .collect();
            let before = StepsPolicy::default();
            let after = StepsPolicy {
                repeated_step: chance.later(before.repeated_step),
                cycle: chance.later(before.cycle),
                stagnation: chance.later(before.stagnation),
                stuck: chance.later(before.stuck),
                same_outcome: chance.later(before.same_outcome),
                empty: chance.later(before.empty),
                one_token: chance.later(before.one_token),
                ..before.clone()
            };
            let all = Steps { all: steps.clone(), ..Steps::default() };
            let Some(found) = in_steps(&all, &before) else { continue };
            let kind = steps.last().map(Step::kind);
            let recorded =
                Recorded { signal: found.signal, verdict: found.verdict, count: found.count, kind };
            let range = before.again(recorded, &after);
            let now = in_steps(&all, &after);
            let verdict = now.as_ref().map_or(Verdict::Allow, |finding| finding.verdict);
            seen += 1;
            known += u32::from(range.least == range.most);
            assert!(verdict >= range.least, "{recorded:?} {range:?} {now:?} {after:?}");
            // Another signal, or another count of the same, may speak in its place.
            let is_it =
                |now: &crate::verdict::Finding| now.signal == found.signal && now.count == found.count;
            if now.as_ref().is_some_and(is_it) {
                assert!(verdict <= range.most, "{recorded:?} {range:?} {now:?} {after:?}");
            }
        }
        assert!(seen > 300 && known * 3 > seen, "{known} of {seen}");
    }
}
