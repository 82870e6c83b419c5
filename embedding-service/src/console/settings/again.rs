//! Judges a recorded verdict again, by other settings. Also says which settings cannot be judged in this way.

use sentinel_config::Policy;
use sentinel_detect::{
    signal::{Range, Recorded, StepsPolicy, Thresholds, in_turns, is_earlier},
    step::Kind,
    verdict::{Signal, Verdict},
};

use crate::control::turn::{Turn, VerdictKind};

/// The verdict that `policy` would give to a turn that was judged by `recorded`. A turn that was let pass keeps no counts, so it counts as let
/// pass again.
pub fn again(turn: &Turn, recorded: &Policy, policy: &Policy) -> Range {
    let verdict = match turn.verdict.kind {
        VerdictKind::Allow => return Range::of(Verdict::Allow),
        VerdictKind::Hint => Verdict::Hint,
        VerdictKind::Kill => Verdict::Kill,
    };
    let signal = Signal::ALL.iter().copied().find(|signal| signal.label() == turn.verdict.signal);
    let Some(signal) = signal else { return Range::ANY };
    let unless = |is_same: bool| if is_same { Range::of(verdict) } else { Range::ANY };
    if !policy.enabled {
        return Range::of(Verdict::Allow);
    }
    let range = match signal {
        // Decided by an operator or a budget, not by the policy.
        Signal::Stopped | Signal::Budget => return Range::of(verdict),
        Signal::ModelDenied => return unless(recorded.models == policy.models),
        Signal::ToolDenied => return unless(recorded.tools == policy.tools),
        Signal::Injection => return unless(recorded.guard == policy.guard),
        Signal::Unreadable => return unless(recorded.unreadable == policy.unreadable),
        Signal::MemoryFlush => return unless(recorded.bounds == policy.bounds),
        Signal::McpBreaker => return Range::of(verdict),
        Signal::RunLimit => {
            let found = in_turns(turn.verdict.count, policy.run_limit);
            Range::of(found.map_or(Verdict::Allow, |found| found.verdict))
        }
        Signal::Score if !policy.prompts.score.enabled => Range::of(Verdict::Allow),
        Signal::Score => unless(recorded.prompts == policy.prompts),
        Signal::Semantic => semantic(turn, verdict, recorded, policy),
        Signal::RepeatedStep
        | Signal::Cycle
        | Signal::Stagnation
        | Signal::Stuck
        | Signal::SameOutcome
        | Signal::SimilarFailures
        | Signal::RepeatedExchange => {
            // The kind of a step is on record only if the turn brought a single call.
            let kind = match turn.steps.as_slice() {
                [step] if turn.more_steps == 0 => kind(&step.kind),
                _ => None,
            };
            let count = turn.verdict.count;
            recorded.steps.again(Recorded { signal, verdict, count, kind }, &policy.steps)
        }
    };
    kept_from_killing(range, verdict, recorded, policy)
}

fn kind(name: &str) -> Option<Kind> {
    match name {
        "content" => Some(Kind::Content),
        "failure" => Some(Kind::Failure),
        "empty" => Some(Kind::Empty),
        "acknowledgement" => Some(Kind::Acknowledgement),
        "waiting" => Some(Kind::Waiting),
        _ => None,
    }
}

/// Only the similarity to the nearest prompt is on record, so with another threshold the result may be open.
fn semantic(turn: &Turn, verdict: Verdict, recorded: &Policy, policy: &Policy) -> Range {
    let is_near = |similarity: f64| similarity > policy.similarity_threshold;
    if policy.prompts.words_to_ask.is_none() || turn.similarity.is_some_and(|similarity| !is_near(similarity))
    {
        return Range::of(Verdict::Allow);
    }
    let counts =
        |policy: &Policy| (policy.semantic_repeats, policy.semantic_kill, policy.prompts.words_to_ask);
    let is_same = counts(recorded) == counts(policy);
    #[expect(clippy::float_cmp, reason = "the same setting, or another one")]
    match is_same {
        true if recorded.similarity_threshold == policy.similarity_threshold => Range::of(verdict),
        true if policy.similarity_threshold > recorded.similarity_threshold => {
            Range { least: Verdict::Allow, most: verdict }
        }
        _ => Range::ANY,
    }
}

/// Applies `kill.enabled: false`, which makes each kill a hint.
fn kept_from_killing(range: Range, verdict: Verdict, recorded: &Policy, policy: &Policy) -> Range {
    if !policy.kill.enabled {
        return Range { least: range.least.min(Verdict::Hint), most: range.most.min(Verdict::Hint) };
    }
    // If kills were switched off, a recorded hint may have been a kill.
    let may_be_more = !recorded.kill.enabled && verdict == Verdict::Hint && range.most == Verdict::Hint;
    if may_be_more { Range { most: Verdict::Kill, ..range } } else { range }
}

const PASSED: &str = "turns that were let pass keep no counts";
const PROOF: &str = "whether a hint would have been a kill depends on what the results said";
const TEXTS: &str = "it depends on texts, which runs do not keep";
const ALL: &str = "which step counts is decided from the whole history";

/// Settings that differ and whose effect cannot be told from what runs keep, each with the reason.
pub fn not_judged(before: &Policy, after: &Policy) -> Vec<(String, &'static str)> {
    let mut all: Vec<(String, &'static str)> = Vec::new();
    let mut say = |differs: bool, path: &str, why: &'static str| {
        if differs {
            all.push((path.to_owned(), why));
        }
    };
    if !after.enabled {
        return all;
    }
    say(!before.enabled, "enabled", "requests that were not looked at keep no verdict");
    say(after.kill.enabled && !before.kill.enabled, "kill.enabled", PROOF);
    say(after.similarity_threshold < before.similarity_threshold, "similarity_threshold", PASSED);
    let semantic =
        |policy: &Policy| (policy.semantic_repeats, policy.semantic_kill, policy.prompts.words_to_ask);
    let is_on = after.prompts.words_to_ask.is_some();
    say(
        is_on && semantic(before) != semantic(after),
        "semantic",
        "only the nearest prompt is stored, and not how many were near",
    );
    let score = after.prompts.score.enabled;
    say(score && before.prompts != after.prompts, "score", "runs do not keep their score");
    say(is_earlier(before.run_limit, after.run_limit), "run_limit", PASSED);
    say(
        before.models != after.models,
        "models",
        "runs do not keep which models they asked for and did not get",
    );
    say(before.tools != after.tools, "tools", "runs do not keep which tools they were offered");
    say(before.guard != after.guard, "guard", TEXTS);
    say(before.unreadable != after.unreadable, "unreadable", TEXTS);
    say(before.bounds != after.bounds, "bounds", TEXTS);
    if after.steps.enabled {
        steps(&before.steps, &after.steps, &mut say);
    }
    all
}

fn steps(before: &StepsPolicy, after: &StepsPolicy, say: &mut impl FnMut(bool, &str, &'static str)) {
    say(!before.enabled, "steps.enabled", PASSED);
    say(before.window != after.window, "steps.window", ALL);
    say(before.react != after.react, "steps.react", TEXTS);
    say(before.tools != after.tools, "steps.tools", ALL);
    let hint = |hint: u32| Thresholds { hint, kill: 0 };
    let rows = |policy: &StepsPolicy| {
        [
            ("repeated_step", policy.repeated_step),
            ("cycle", policy.cycle),
            ("stagnation", policy.stagnation),
            ("stuck", policy.stuck),
            ("similar_failures", policy.similar_failures),
            ("same_outcome", policy.same_outcome),
            ("empty", policy.empty),
            ("acknowledgement", hint(policy.acknowledgement)),
            ("waiting", hint(policy.waiting)),
            ("one_token", policy.one_token),
            ("changing", policy.changing),
            ("alike", policy.alike),
            ("weak", hint(policy.weak)),
            ("talk", hint(policy.talk)),
        ]
    };
    for ((name, before), (_, after)) in rows(before).into_iter().zip(rows(after)) {
        say(is_earlier(before.hint, after.hint), &format!("steps.{name}.hint"), PASSED);
        say(is_earlier(before.kill, after.kill), &format!("steps.{name}.kill"), PROOF);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sentinel_config::{Config, Sender};

    use super::*;
    use crate::control::{prices::Prices, turn::Turn};

    fn policy(json: &str) -> Arc<Policy> {
        Arc::clone(Config::from_json(json.as_bytes()).unwrap().policy(Sender::default()))
    }

    fn turn(kind: VerdictKind, signal: &str, count: u32, similarity: Option<f64>) -> Turn {
        let mut turn = Turn::of(sentinel_proto::v1::Turn::default(), 0, &Prices::default());
        turn.verdict.kind = kind;
        turn.verdict.signal = signal.to_owned();
        turn.verdict.count = count;
        turn.similarity = similarity;
        turn
    }

    fn range(turn: &Turn, before: &str, after: &str) -> (Verdict, Verdict) {
        let Range { least, most } = again(turn, &policy(before), &policy(after));
        (least, most)
    }

    #[test]
    fn a_verdict_is_judged_again_as_far_as_it_is_on_record() {
        use Verdict::{Allow, Hint, Kill};
        let limit = turn(VerdictKind::Kill, "run_limit", 20, None);
        assert_eq!(range(&limit, r#"{"run_limit": 20}"#, r#"{"run_limit": 25}"#), (Hint, Hint));
        assert_eq!(range(&limit, r#"{"run_limit": 20}"#, "{}"), (Allow, Allow));
        assert_eq!(
            range(&limit, r#"{"run_limit": 20}"#, r#"{"run_limit": 20, "kill": {"enabled": false}}"#),
            (Hint, Hint)
        );
        let near = turn(VerdictKind::Hint, "semantic", 0, Some(0.96));
        assert_eq!(range(&near, "{}", r#"{"similarity_threshold": 0.97}"#), (Allow, Allow));
        assert_eq!(range(&near, "{}", r#"{"similarity_threshold": 0.955}"#), (Allow, Hint));
        assert_eq!(range(&near, "{}", r#"{"semantic": {"enabled": false}}"#), (Allow, Allow));
        assert_eq!(range(&near, "{}", r#"{"semantic": {"repeats": 3}}"#), (Allow, Kill));
        let stuck = turn(VerdictKind::Hint, "stuck", 5, None);
        assert_eq!(range(&stuck, "{}", r#"{"steps": {"stuck": {"hint": 6}}}"#), (Allow, Allow));
        assert_eq!(range(&stuck, "{}", r#"{"enabled": false}"#), (Allow, Allow));
        let stopped = turn(VerdictKind::Kill, "stopped", 0, None);
        assert_eq!(range(&stopped, "{}", r#"{"kill": {"enabled": false}}"#), (Kill, Kill));
        assert_eq!(
            range(&turn(VerdictKind::Hint, "new", 1, None), "{}", r#"{"run_limit": 9}"#),
            (Allow, Kill)
        );
    }

    #[test]
    fn what_is_not_on_record_is_named() {
        let named = |before: &str, after: &str| -> Vec<String> {
            not_judged(&policy(before), &policy(after)).into_iter().map(|(path, _)| path).collect()
        };
        assert_eq!(
            named("{}", r#"{"steps": {"repeated_step": {"hint": 4, "kill": 9}}}"#),
            Vec::<String>::new()
        );
        assert_eq!(
            named("{}", r#"{"steps": {"repeated_step": {"hint": 2, "kill": 4}, "window": 9}}"#),
            ["steps.window", "steps.repeated_step.hint", "steps.repeated_step.kill"]
        );
        assert_eq!(named("{}", r#"{"score": {"hint": 6.0}, "run_limit": 9}"#), ["score", "run_limit"]);
        assert_eq!(named("{}", r#"{"score": {"enabled": false}}"#), Vec::<String>::new());
        assert_eq!(named(r#"{"enabled": false}"#, "{}"), ["enabled"]);
        assert_eq!(named(r#"{"kill": {"enabled": false}}"#, "{}"), ["kill.enabled"]);
    }
}
