//! What must be found in steps, and what must not: each public detector missed or misjudged some of these.

use sentinel_text::{WordSet, digest};

use super::*;
use crate::step::{Brought, Kind};

/// A step of one call: tool, arguments, result.
fn step(tool: &'static str, arguments: &str, result: &str) -> Step<'static> {
    let kind = match result {
        "OK." => Kind::Acknowledgement,
        "[]" => Kind::Empty,
        "running" => Kind::Waiting,
        _ if result.starts_with("error") || result.starts_with("No ") => Kind::Failure,
        _ => Kind::Content,
    };
    Step {
        approach: digest(format!("{tool} {arguments}").as_bytes()),
        words: WordSet::of(arguments),
        tools: digest(tool.as_bytes()),
        tool,
        rules: Vec::new(),
        brought: Brought::known(digest(result.as_bytes()), kind),
    }
}

fn judged(steps: &[Step<'_>]) -> Option<(Verdict, Signal, u32)> {
    judged_by(steps, &StepsPolicy::default())
}

fn judged_by(steps: &[Step<'_>], policy: &StepsPolicy) -> Option<(Verdict, Signal, u32)> {
    let finding = in_steps(&Steps { all: steps.to_vec(), begins: Vec::new() }, policy)?;
    Some((finding.verdict, finding.signal, finding.count))
}

/// Nothing is found at any point of the run.
fn assert_quiet(steps: &[Step<'_>], what: &str) {
    for len in 0..=steps.len() {
        assert_eq!(judged(&steps[..len]), None, "{what}, after {len} steps");
    }
}

fn work(n: usize) -> Step<'static> {
    step("read", &format!("file {n}"), &format!("content {n}"))
}

fn failing() -> Step<'static> {
    step("deploy", "prod", "error: permission denied")
}

#[test]
fn a_failing_call_is_hinted_at_the_third_time_and_killed_at_the_fifth() {
    use Verdict::{Hint, Kill};
    let steps = vec![failing(); 6];
    let verdicts: Vec<_> = (1..=6).map(|len| judged(&steps[..len]).map(|found| (found.0, found.2))).collect();
    assert_eq!(verdicts, [None, None, Some((Hint, 3)), Some((Hint, 4)), Some((Kill, 5)), Some((Kill, 6))]);
    assert_eq!(judged(&steps[..3]).unwrap().1, Signal::RepeatedStep);
}

#[test]
fn what_lies_before_and_between_does_not_hide_it() {
    let mut behind: Vec<_> = (0..40).map(work).collect();
    behind.extend(vec![failing(); 3]);
    assert_eq!(judged(&behind).unwrap().0, Verdict::Hint);
    let interleaved: Vec<_> = (0..5).flat_map(|n| [work(n), failing()]).collect();
    assert_eq!(judged(&interleaved), Some((Verdict::Hint, Signal::RepeatedStep, 5)), "work goes on between");
    let noted: Vec<_> = (0..5).flat_map(|n| [step("note", &n.to_string(), "OK."), failing()]).collect();
    assert_eq!(judged(&noted), Some((Verdict::Hint, Signal::RepeatedStep, 5)), "something is tried between");
    let circling: Vec<_> = (0..5).flat_map(|_| [step("note", "again", "OK."), failing()]).collect();
    assert_eq!(judged(&circling).unwrap().0, Verdict::Kill);
}

#[test]
fn going_back_between_pages_is_never_killed() {
    let steps: Vec<_> = (0..10).flat_map(|n| [work(n), step("back", "", "the list of all pages")]).collect();
    assert!((1..=20).all(|len| judged(&steps[..len]).is_none_or(|found| found.0 == Verdict::Hint)));
}

#[test]
fn failures_in_a_round_make_it_very_old_sooner() {
    let round = [step("think", "a", "OK."), step("click", "b", "opened the page b"), failing()];
    let steps: Vec<_> = (0..12).map(|n| round[n % 3].clone()).collect();
    let first = |verdict| (1..=12).find(|len| judged(&steps[..*len]).is_some_and(|found| found.0 == verdict));
    assert_eq!((first(Verdict::Hint), first(Verdict::Kill)), (Some(8), Some(10)));
}

#[test]
fn two_passes_over_a_batch_in_which_something_fails_are_work() {
    for fails in 0..5 {
        let pass: Vec<_> = (0..5).map(|n| if n == fails { failing() } else { work(n) }).collect();
        assert_quiet(&[pass.clone(), pass].concat(), "two passes");
    }
}

#[test]
fn the_same_failure_after_each_of_several_changes_is_never_killed() {
    let test = step("test", "", "error: 1 test failed");
    let steps: Vec<_> =
        (0..12).flat_map(|n| [step("edit", &format!("change {n}"), "OK."), test.clone()]).collect();
    assert!((1..=24).all(|len| judged(&steps[..len]).is_none_or(|found| found.0 == Verdict::Hint)));
}

#[test]
fn cycles_of_every_period() {
    for period in 2..=5 {
        let round: Vec<_> = (0..period).map(work).collect();
        for (rounds, verdict) in [(2, None), (3, Some(Verdict::Hint)), (5, Some(Verdict::Kill))] {
            let steps = vec![round.clone(); rounds].concat();
            assert_eq!(judged(&steps).map(|found| found.0), verdict, "period {period}, {rounds} rounds");
            assert_eq!(cycle::rounds(&steps).0, number(rounds), "period {period}, {rounds} rounds");
        }
    }
}

#[test]
fn one_tool_with_one_outcome_is_hinted_and_never_killed() {
    for result in ["[]", "No results were found for this query."] {
        let steps: Vec<_> = (0..30).map(|n| step("search", &format!("query {n}"), result)).collect();
        let first = (1..=30).find(|len| judged(&steps[..*len]).is_some());
        assert_eq!(first, Some(5), "{result}");
        assert!((1..=30).all(|len| judged(&steps[..len]).is_none_or(|found| found.0 == Verdict::Hint)));
    }
}

#[test]
fn a_page_that_does_not_change_whatever_is_asked() {
    let steps: Vec<_> = (0..30).map(|n| step("open", &format!("page {n}"), "the start page")).collect();
    let found = (1..=30).find_map(|len| judged(&steps[..len]));
    assert_eq!(found, Some((Verdict::Hint, Signal::SameOutcome, 6)));
    assert!((1..=30).all(|len| judged(&steps[..len]).is_none_or(|found| found.0 == Verdict::Hint)));
}

#[test]
fn failures_one_after_the_other_are_hinted_and_a_success_ends_them() {
    let fail = |n: usize| step("search", &n.to_string(), &format!("error: nothing for {n}"));
    let steps: Vec<_> = (0..5).map(fail).collect();
    assert_eq!(judged(&steps), Some((Verdict::Hint, Signal::Stuck, 5)));
    let with_success: Vec<_> = (0..30).map(|n| if n % 5 == 4 { work(n) } else { fail(n) }).collect();
    assert_quiet(&with_success, "four failures and a success");
}

#[test]
fn one_search_in_other_words_that_finds_nothing() {
    let search = |n: usize, words: &str| step("search", words, &format!("No results for {n}"));
    let asked = ["the shallows", "The Shallows book", "the shallows (novel)", "shallows, the book"];
    let steps: Vec<_> = asked.iter().enumerate().map(|(n, words)| search(n, words)).collect();
    assert_eq!(judged(&steps[..2]), None);
    assert_eq!(judged(&steps[..3]), Some((Verdict::Hint, Signal::SimilarFailures, 3)));
    assert_eq!(judged(&steps).unwrap().0, Verdict::Hint, "and never a kill");
    let others = ["history of Rome", "rivers in Spain", "who painted Guernica", "largest moon"];
    assert_quiet(
        &others.iter().enumerate().map(|(n, words)| search(n, words)).collect::<Vec<_>>(),
        "four searches",
    );
    let mut found = steps.clone();
    found.insert(2, work(1));
    assert_quiet(&found, "something was found between");
}

#[test]
fn one_test_that_fails_otherwise_each_time_is_progress() {
    let steps: Vec<_> =
        (0..4).map(|n| step("test", "all", &format!("error: {} tests failed", 20 - n))).collect();
    assert_quiet(&steps, "fewer failures each time");
}

#[test]
fn polling_and_alternation_with_changing_results_are_progress() {
    let poll: Vec<_> = (0..30).map(|n| step("status", "job", &format!("{n} %"))).collect();
    assert_quiet(&poll, "polling");
    let alternation: Vec<_> = (0..30).map(|n| step(["a", "b"][n % 2], "", &n.to_string())).collect();
    assert_quiet(&alternation, "alternation");
    let spaced: Vec<_> = (0..15)
        .flat_map(|n| [step("sleep", "5", "slept"), step("status", "job", &format!("{n} %"))])
        .collect();
    assert_quiet(&spaced, "a spacer beside a poll");
}

#[test]
fn batches_are_work() {
    let writes: Vec<_> = (0..30).map(|n| step("write", &format!("row {n}"), "OK.")).collect();
    assert_quiet(&writes, "30 distinct writes");
    let passes: Vec<_> = (0..30).map(|n| work(n % 15)).collect();
    assert_quiet(&passes, "two passes over 15 files");
    let slices: Vec<_> = (0..30).map(|n| step("read", &format!("lines {n}"), &format!("text {n}"))).collect();
    assert_quiet(&slices, "slices of one file");
}

#[test]
fn fixing_and_testing_again_is_work() {
    let steps: Vec<_> = (0..10)
        .flat_map(|n| {
            [
                step("read", "main.rs", "the same file"),
                step("edit", &format!("change {n}"), "OK."),
                step("test", "", &format!("{} tests failed", 20 - n)),
            ]
        })
        .collect();
    assert_quiet(&steps, "fix and test");
}

#[test]
fn an_old_loop_is_forgotten() {
    let mut steps = vec![failing(); 2];
    steps.extend((0..20).map(work));
    steps.push(failing());
    assert_eq!(judged(&steps), None);
}

#[test]
fn a_run_limit_hints_before_it_kills() {
    assert_eq!(in_turns(100, 0), None);
    assert_eq!(in_turns(15, 20), None);
    assert_eq!(in_turns(16, 20).map(|found| found.verdict), Some(Verdict::Hint));
    assert_eq!(in_turns(20, 20).map(|found| found.verdict), Some(Verdict::Kill));
    assert_eq!(in_turns(1, 1).map(|found| found.verdict), Some(Verdict::Kill));
}

#[test]
fn what_a_repetition_proves_depends_on_its_kind() {
    use Verdict::{Hint, Kill};
    let first = |result: &str, verdict| {
        let steps = vec![step("tool", "same", result); 30];
        (1..=30).find(|len| judged(&steps[..*len]).is_some_and(|found| found.0 == verdict))
    };
    for (result, hint, kill) in [
        ("a page of text", 3, Some(5)),
        ("error: locked", 3, Some(5)),
        ("[]", 5, None),
        ("OK.", 10, None),
        ("running", 10, None),
    ] {
        assert_eq!((first(result, Hint), first(result, Kill)), (Some(hint), kill), "{result}");
    }
}

#[test]
fn a_round_with_a_waiting_step_waits() {
    let round = [step("status", "job", "running"), step("log", "job", "the same old lines")];
    let steps: Vec<_> = (0..40).map(|n| round[n % 2].clone()).collect();
    let first = (1..=40).find_map(|len| judged(&steps[..len]).map(|found| (len, found)));
    assert_eq!(first, Some((19, (Verdict::Hint, Signal::RepeatedStep, 10))));
    assert!((1..=40).all(|len| judged(&steps[..len]).is_none_or(|found| found.0 == Verdict::Hint)));
    let steps = Steps { all: steps[..20].to_vec(), begins: Vec::new() };
    assert!(in_steps(&steps, &StepsPolicy::default()).unwrap().is_waiting);
}

#[test]
fn waiting_acting_and_empty_runs_are_never_killed() {
    let runs: [Vec<Step<'_>>; 4] = [
        (0..40).map(|_| step("press", "Down", "OK.")).collect(),
        (0..40).map(|n| [step("inbox", "", "[]"), step("sleep", "60", "running")][n % 2].clone()).collect(),
        (0..40).map(|n| [step("press", "Down", "OK."), step("look", "", "[]")][n % 2].clone()).collect(),
        (0..40).map(|n| [step("ask", "proceed", "OK."), work(n)][n % 2].clone()).collect(),
    ];
    for run in runs {
        assert!(
            (1..=40).all(|len| judged(&run[..len]).is_none_or(|found| found.0 == Verdict::Hint)),
            "{run:?}"
        );
    }
}

#[test]
fn after_a_kill_a_new_text_passes_once_and_the_loop_that_resumes_is_stopped_at_its_second_step() {
    let verdicts: Vec<_> = (0..4)
        .map(|again| {
            let mut all = vec![failing(); 5];
            all.extend(vec![failing(); again]);
            let finding = in_steps(&Steps { all, begins: vec![0, 5] }, &StepsPolicy::default());
            finding.map(|finding| (finding.verdict, finding.count))
        })
        .collect();
    assert_eq!(verdicts, [None, None, Some((Verdict::Kill, 7)), Some((Verdict::Kill, 8))]);
    let mut other = vec![failing(); 5];
    other.extend(vec![step("deploy", "test", "error: no such place"); 2]);
    assert_eq!(
        in_steps(&Steps { all: other, begins: vec![5] }, &StepsPolicy::default()),
        None,
        "another loop"
    );
    let mut early = vec![failing(); 4];
    early.extend(vec![failing(); 2]);
    assert_eq!(
        in_steps(&Steps { all: early, begins: vec![4] }, &StepsPolicy::default()),
        None,
        "not stopped before"
    );
    // A framework asks again after each kill.
    let all = vec![failing(); 9];
    let finding = in_steps(&Steps { all, begins: vec![5, 7] }, &StepsPolicy::default()).unwrap();
    assert_eq!(finding.verdict, Verdict::Kill);
}

#[test]
fn what_the_operator_says_of_a_tool_goes_before_its_kind() {
    use crate::step::Rule;
    let with = |result: &str, rule: Rule| {
        let mut step = step("tool", "same", result);
        step.rules = vec![rule];
        let steps = vec![step; 30];
        let first =
            |verdict| (1..=30).find(|len| judged(&steps[..*len]).is_some_and(|found| found.0 == verdict));
        (first(Verdict::Hint), first(Verdict::Kill))
    };
    let rule = |hint, kill| Rule { hint, kill, ..Rule::default() };
    assert_eq!(with("a page of text", rule(Some(7), Some(9))), (Some(7), Some(9)));
    assert_eq!(with("a page of text", rule(None, Some(0))), (Some(3), None));
    assert_eq!(with("OK.", rule(Some(2), Some(4))), (Some(2), Some(4)));
}

#[test]
fn exchanges_are_judged_by_repetition_and_cycles_alone() {
    let found = |exchanges: &[Step<'_>]| {
        in_exchanges(exchanges, &StepsPolicy::default())
            .map(|found| (found.verdict, found.signal, found.count))
    };
    let repeated = vec![failing(); 5];
    assert_eq!(found(&repeated[..2]), None);
    assert_eq!(found(&repeated[..3]), Some((Verdict::Hint, Signal::RepeatedExchange, 3)));
    assert_eq!(found(&repeated), Some((Verdict::Kill, Signal::RepeatedExchange, 5)));
    let cycle: Vec<_> = (0..6).map(|n| work(n % 2)).collect();
    assert_eq!(found(&cycle), Some((Verdict::Hint, Signal::RepeatedExchange, 3)));
    let others: Vec<_> = (0..20).map(|n| step("say", &n.to_string(), "error: no")).collect();
    assert_eq!(found(&others), None);
}

#[test]
fn an_exchange_that_resumes_after_a_kill_is_stopped_at_its_second_repetition() {
    let verdict = |exchanges: &[Step]| {
        in_exchanges(exchanges, &StepsPolicy::default()).map_or(Verdict::Allow, |found| found.verdict)
    };
    let re_ask = |n: usize| step("say", &format!("I was stopped after {n}"), "error: no code");
    let mut run = vec![failing(); 5];
    for n in 0..3 {
        run.push(re_ask(n));
        assert_eq!(verdict(&run), Verdict::Allow, "{n}");
        run.push(failing());
        assert_eq!(verdict(&run), Verdict::Hint, "{n}");
        run.push(failing());
        assert_eq!(verdict(&run), Verdict::Kill, "{n}");
    }
    // Other work in between makes it a new attempt, and what was not stopped does not resume.
    for (before, between) in [(5, 2), (4, 1)] {
        let mut run = vec![failing(); before];
        run.extend((0..between).map(re_ask));
        run.extend([failing(), failing()]);
        assert_eq!(verdict(&run), Verdict::Hint, "{before}, {between}");
    }
}
