//! What must be found in steps, and what must not: each public detector missed or misjudged some of these.

use super::*;
use crate::step::{Begin, StepLog, ToolRules};

/// A step of one call: tool, arguments, result. It is read as a step of a history is.
fn step(tool: &'static str, arguments: &str, result: &str) -> Step<'static> {
    let mut log = StepLog::default();
    log.turn();
    log.call("1", tool, arguments.to_owned(), &ToolRules::default());
    log.text_result("1", result);
    let log: &'static StepLog<'static> = Box::leak(Box::new(log));
    log.steps().all.remove(0)
}

/// Prose, and what answers it.
fn talk(said: &str, answer: &str) -> Step<'static> {
    Step { acts: false, ..step("", said, answer) }
}

fn begins(places: &[usize]) -> Vec<Begin> {
    places.iter().map(|at| Begin { at: *at, is_answered: false }).collect()
}

fn exchanges(all: Vec<Step<'_>>) -> Steps<'_> {
    Steps { all, ..Steps::default() }
}

fn judged(steps: &[Step<'_>]) -> Option<(Verdict, Signal, u32)> {
    judged_by(steps, &StepsPolicy::default())
}

fn judged_by(steps: &[Step<'_>], policy: &StepsPolicy) -> Option<(Verdict, Signal, u32)> {
    let finding = in_steps(&Steps { all: steps.to_vec(), ..Steps::default() }, policy)?;
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
fn where_nothing_was_said_before_a_kill_is_a_hint_first() {
    let outcome = "the build stops at the same place as before and prints the whole list of its inputs again";
    let all: Vec<_> =
        "xaxbxcdeabcdx".chars().map(|name| step("", &format!("make {name}"), outcome)).collect();
    let judged = |policy: &StepsPolicy| {
        let verdicts = (1..=all.len()).map(|len| in_exchanges(&exchanges(all[..len].to_vec()), policy));
        verdicts.map(|found| found.map(|found| found.verdict)).collect::<Vec<_>>()
    };
    let (last, before) = (all.len() - 1, all.len() - 2);
    let policy = StepsPolicy { stuck: Thresholds::default(), ..StepsPolicy::default() };
    let told = judged(&policy);
    assert_eq!((told[before], told[last]), (None, Some(Verdict::Hint)));
    // Who wants no hints gets the kill at once.
    let no_hints = StepsPolicy { repeated_step: Thresholds { hint: 0, kill: 5 }, ..policy };
    assert_eq!(judged(&no_hints)[last], Some(Verdict::Kill));
}

/// Another step of the loop lies between, which says too little for a hint itself.
#[test]
fn a_hint_at_the_repetition_before_is_enough() {
    let rows = |order: char| {
        let found = format!("[{order}] is the first of all of the rows that were found in it");
        step("", &format!("SELECT name, n FROM t ORDER BY {order} LIMIT 9"), &found)
    };
    let all: Vec<_> = "baccbccbc".chars().map(rows).collect();
    let verdicts =
        (1..=all.len()).map(|len| in_exchanges(&exchanges(all[..len].to_vec()), &StepsPolicy::default()));
    let letters: String = verdicts
        .map(|found| found.map_or('a', |found| if found.verdict == Verdict::Kill { 'k' } else { 'h' }))
        .collect();
    assert_eq!(letters, "aaaaahhak");
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
    assert_eq!(judged(&interleaved), None, "work goes on between");
    let interleaved: Vec<_> = (0..6).flat_map(|n| [work(n), failing()]).collect();
    assert_eq!(judged(&interleaved), Some((Verdict::Hint, Signal::RepeatedStep, 6)), "work goes on between");
    let noted: Vec<_> = (0..6).flat_map(|n| [step("note", &n.to_string(), "OK."), failing()]).collect();
    assert_eq!(judged(&noted), Some((Verdict::Hint, Signal::RepeatedStep, 6)), "something is tried between");
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
    assert_eq!((first(Verdict::Hint), first(Verdict::Kill)), (Some(9), Some(10)));
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
            assert_eq!(cycle::rounds(&steps, 0).0, number(rounds), "period {period}, {rounds} rounds");
        }
    }
}

#[test]
fn one_tool_with_one_outcome_is_hinted_and_never_killed() {
    for (result, hint) in [("[]", 6), ("No results were found for this query.", 6)] {
        let steps: Vec<_> = (0..30).map(|n| step("search", &format!("query {n}"), result)).collect();
        let first = (1..=30).find(|len| judged(&steps[..*len]).is_some());
        assert_eq!(first, Some(hint), "{result}");
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
    let search = |_: usize, words: &str| step("search", words, &format!("No results for '{words}'"));
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
        let steps = vec![step("tool", "the same", result); 30];
        (1..=30).find(|len| judged(&steps[..*len]).is_some_and(|found| found.0 == verdict))
    };
    for (result, hint, kill) in [
        ("a page of text", 3, Some(5)),
        ("error: locked", 3, Some(5)),
        ("[]", 5, None),
        // The call names something: six times in a row is much, whatever comes of it.
        ("OK.", 6, None),
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
    let steps = Steps { all: steps[..20].to_vec(), ..Steps::default() };
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
            let finding = in_steps(
                &Steps { all, begins: begins(&[0, 5]), ..Steps::default() },
                &StepsPolicy::default(),
            );
            finding.map(|finding| (finding.verdict, finding.count))
        })
        .collect();
    assert_eq!(verdicts, [None, None, Some((Verdict::Kill, 7)), Some((Verdict::Kill, 8))]);
    let mut other = vec![failing(); 5];
    other.extend(vec![step("deploy", "test", "error: no such place"); 2]);
    assert_eq!(
        in_steps(&Steps { all: other, begins: begins(&[5]), ..Steps::default() }, &StepsPolicy::default()),
        None,
        "another loop"
    );
    let mut early = vec![failing(); 4];
    early.extend(vec![failing(); 2]);
    assert_eq!(
        in_steps(&Steps { all: early, begins: begins(&[4]), ..Steps::default() }, &StepsPolicy::default()),
        None,
        "not stopped before"
    );
    // A framework asks again after each kill.
    let all = vec![failing(); 9];
    let finding =
        in_steps(&Steps { all, begins: begins(&[5, 7]), ..Steps::default() }, &StepsPolicy::default())
            .unwrap();
    assert_eq!(finding.verdict, Verdict::Kill);
}

#[test]
fn what_the_operator_says_of_a_tool_goes_before_its_kind() {
    use crate::step::Rule;
    let with = |result: &str, rule: Rule| {
        let mut step = step("tool", "the same", result);
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
fn actions_in_text_that_always_get_one_answer_are_hinted() {
    let row = |actions: &str, answer: fn(usize) -> String, acts: bool| {
        let all: Vec<_> = actions
            .chars()
            .enumerate()
            .map(|(at, action)| Step { acts, ..step("", &format!("look for {action} in here"), &answer(at)) })
            .collect();
        let found = |len: usize| in_exchanges(&exchanges(all[..len].to_vec()), &StepsPolicy::default());
        (1..=all.len())
            .map(|len| match found(len).map(|found| (found.verdict, found.signal)) {
                None => 'a',
                Some((Verdict::Hint, Signal::Stuck)) => 'h',
                Some(_) => '?',
            })
            .collect::<String>()
    };
    let nothing = |_| "There is no such thing in this house.".to_owned();
    assert_eq!(row("xyzxwyzv", nothing, true), "aaaaahha");
    // New actions alone, other answers, receipts and talks.
    assert_eq!(row("abcdefgh", nothing, true), "aaaaaaaa");
    assert_eq!(row("xyzxwyzv", |at| format!("There are {at} things in this house."), true), "aaaaaaaa");
    assert_eq!(row("xyzxwyzv", |_| "INSERT 0 1".to_owned(), true), "aaaaaaaa");
    assert_eq!(row("xyzxwyzv", |_| "Still running.".to_owned(), true), "aaaaaaaa");
    assert_eq!(row("xyzxwyzv", nothing, false), "aaaaaaaa");
    // New actions that fail in one way, in two ways in turn, or not to the end.
    let rejected =
        |at: usize| format!("Your edit was rejected.\n- E999 SyntaxError: bad line {at}\nline {at}");
    assert_eq!(row("abcdefgh", rejected, true), "aaaahhhh");
    let mended = |at: usize| format!("{}: no {at}", ["KeyError", "ValueError"][at % 2]);
    assert_eq!(row("abcdefgh", mended, true), "aaaaaaaa");
    let succeeds = |at: usize| if at == 4 { "3 passed".to_owned() } else { format!("KeyError: no {at}") };
    assert_eq!(row("abcdefgh", succeeds, true), "aaaaaaaa");
    assert_eq!(row("abcdefgh", rejected, false), "aaaaaaaa");
}

#[test]
fn exchanges_are_judged_by_repetition_and_cycles() {
    let found = |exchanges: &[Step<'_>]| {
        in_exchanges(&super::tests::exchanges(exchanges.to_vec()), &StepsPolicy::default())
            .map(|found| (found.verdict, found.signal, found.count))
    };
    let repeated = vec![failing(); 5];
    assert_eq!(found(&repeated[..2]), None);
    assert_eq!(found(&repeated[..3]), Some((Verdict::Hint, Signal::RepeatedExchange, 3)));
    assert_eq!(found(&repeated), Some((Verdict::Kill, Signal::RepeatedExchange, 5)));
    let cycle: Vec<_> = (0..6).map(|n| work(n % 2)).collect();
    assert_eq!(found(&cycle), Some((Verdict::Hint, Signal::RepeatedExchange, 3)));
    let others: Vec<_> = (0..20).map(|n| step("say", &n.to_string(), &format!("page {n}"))).collect();
    assert_eq!(found(&others), None);
}

#[test]
fn an_exchange_that_resumes_after_a_kill_is_stopped_at_its_second_repetition() {
    let verdict = |exchanges: &[Step]| {
        in_exchanges(&super::tests::exchanges(exchanges.to_vec()), &StepsPolicy::default())
            .map_or(Verdict::Allow, |found| found.verdict)
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

/// It was told before it was stopped, and is stopped again though nothing is said one step before.
#[test]
fn an_exchange_that_resumes_is_not_told_again() {
    let policy = StepsPolicy { repeated_step: Thresholds { hint: 3, kill: 4 }, ..StepsPolicy::default() };
    let verdict = |run: &[Step<'_>]| {
        let found = in_exchanges(&super::tests::exchanges(run.to_vec()), &policy);
        found.map_or(Verdict::Allow, |found| found.verdict)
    };
    let mut run = vec![failing(); 4];
    assert_eq!(verdict(&run), Verdict::Kill);
    run.push(step("say", "I was stopped", "error: no code"));
    run.push(failing());
    assert_eq!(verdict(&run), Verdict::Allow, "the first repetition");
    run.push(failing());
    assert_eq!(verdict(&run), Verdict::Kill, "the second one");
}

/// The table of `docs/how-it-decides.md`: from which repetition a hint, and from which a kill.
#[test]
fn a_call_and_its_outcome_weigh_together() {
    let first = |tool: &'static str, arguments: &str, result: &str, verdict| {
        let steps = vec![step(tool, arguments, result); 30];
        (1..=30).find(|len| judged(&steps[..*len]).is_some_and(|found| found.0 == verdict))
    };
    for (tool, arguments, result, hint, kill) in [
        ("search_orders", r#"{"query": "order 123"}"#, "No order found", 3, Some(5)),
        ("execute_code", r#"{"code": "print(6 * 7)"}"#, "42", 3, Some(5)),
        ("execute_code", r#"{"code": "print(colour)"}"#, "blue", 3, Some(5)),
        ("measure", r#"{"probe": "channel A voltage"}"#, "3.30 V", 5, Some(10)),
        (
            "bash",
            r#"{"command": "ssh -o ConnectTimeout=9 vm uname"}"#,
            "ssh: connect to host vm port 22: Connection refused",
            5,
            Some(10),
        ),
        ("psql", r#"{"q": "select 1"}"#, "FATAL: the database system is starting up", 3, Some(10)),
        ("fetch", r#"{"url": "http://a/b"}"#, "error 503: service unavailable", 3, Some(10)),
        ("fetch", r#"{"url": "http://a/b"}"#, "error 403: forbidden", 3, Some(5)),
        ("edit", r#"{"path": "a.py"}"#, "error: the file has not been read yet", 3, Some(5)),
        ("post", r#"{"path": "/v1/ask"}"#, r#"{"error":"model is loading"}"#, 3, Some(10)),
        ("bash", r#"{"command": "./process_next.sh"}"#, "Item handled, 1 invoice booked.", 10, None),
        (
            "bash",
            r#"{"command": "./process_next.sh"}"#,
            "./process_next.sh: line 3: jq: command not found",
            3,
            Some(5),
        ),
        ("python", r#"{"code": "obs, done = env.step(1)"}"#, "False, 0 points", 10, None),
        ("act", r#"{"command": "walk to the north"}"#, "You cannot go that way.", 3, Some(5)),
        (
            "use",
            r#"{"tool": "watering can", "on": "next dry row"}"#,
            "You water the row. The soil turns dark.",
            10,
            None,
        ),
        ("search", r#"{"query": "next bus to town"}"#, "No bus today.", 3, Some(5)),
        ("read_file", r#"{"path": "/reports/march.csv"}"#, "locked", 3, Some(5)),
        ("deploy", "{}", "error: permission denied", 3, Some(5)),
        (
            "look",
            "{}",
            "A long hall with doors on both sides, and a lamp that hangs over each of them.",
            3,
            Some(5),
        ),
        ("get_order", r#"{"id": 9}"#, "No order found", 5, Some(10)),
        ("deploy", r#"{"to": "prod"}"#, "No such place", 5, Some(10)),
        ("attack", "{}", "You hit the zombie.", 6, None),
        ("set_volume", r#"{"level": 7}"#, "volume 7", 6, None),
        ("press_key", r#"{"key": "Down"}"#, "ok", 10, None),
        ("sleep", r#"{"seconds": 5}"#, "slept", 10, None),
        ("check_inbox", "{}", "[]", 5, None),
    ] {
        assert_eq!(
            (first(tool, arguments, result, Verdict::Hint), first(tool, arguments, result, Verdict::Kill)),
            (Some(hint), kill),
            "{tool} {arguments}: {result}"
        );
    }
}

/// The verdicts on a run as it grows: `a`, `h` or `k` for each step.
fn letters(steps: &[Step<'_>]) -> String {
    let letter = |len| match judged(&steps[..len]).map(|found| found.0) {
        None | Some(Verdict::Allow) => 'a',
        Some(Verdict::Hint) => 'h',
        Some(Verdict::Kill) => 'k',
    };
    (1..=steps.len()).map(letter).collect()
}

/// The same call with these outcomes, one after the other.
fn call_of(arguments: &str, results: &[String]) -> String {
    letters(&results.iter().map(|result| step("run", arguments, result)).collect::<Vec<_>>())
}

fn twelve_of(result: &str) -> Vec<String> {
    vec![result.to_owned(); 12]
}

fn twelve(of: fn(usize) -> String) -> Vec<String> {
    (0..12).map(of).collect()
}

/// Healthy work that some rule has killed, and cases like it.
#[test]
fn work_is_never_killed() {
    let coin = ["heads", "tails", "heads", "heads", "heads", "heads", "heads", "heads", "heads"];
    let coin: Vec<String> = coin.map(str::to_owned).to_vec();
    let calls: [(&str, &str, Vec<String>); 16] = [
        (
            "a place that changes",
            "look around here",
            twelve(|n| format!("You stand at ({n}, 4). No monsters here.")),
        ),
        ("an error that falls", "train one epoch", twelve(|n| format!("validation error 0.{}", 60 - n))),
        (
            "requests that come in",
            "count the requests",
            twelve(|n| format!("{} requests, 0 errors", 1_000 + 37 * n)),
        ),
        (
            "an import that goes on",
            "import the next",
            twelve(|n| format!("{{\"imported\": {n}, \"errors\": 3}}")),
        ),
        (
            "a place in a queue",
            "ask for the place",
            twelve(|n| format!("error: you are number {}", 40 - 2 * n)),
        ),
        (
            "a time to wait",
            "call the service",
            twelve(|n| format!("error: retry after {} seconds", 130 - 10 * n)),
        ),
        ("a build with fewer errors", "make all", twelve(|n| format!("error: {} errors left", 50 - 3 * n))),
        ("a line that moves", "python a.py", twelve(|n| format!("SyntaxError: bad, line {}", 3 + n * n))),
        ("a coin", "flip the coin", coin),
        ("a sensor", "read register 4", twelve(|n| format!("{}", [17, 18, 17, 17, 19, 17][n % 6]))),
        ("a price", "ask the price", twelve(|n| format!("EUR 1{}.50", n % 3))),
        (
            "a flaky test",
            "pytest -x tests",
            twelve(|n| if n % 4 == 1 { "1 failed".into() } else { "3 passed".into() }),
        ),
        (
            "a page that is read on",
            "open the page",
            twelve(|n| format!("Text of page {n} of the book, which is long and goes on for many words.")),
        ),
        ("keys", r#"{"key":"Down"}"#, twelve(|_| "ok".into())),
        ("a blow", "{}", twelve(|_| "You hit the zombie.".into())),
        ("a level", r#"{"level":3}"#, twelve(|_| "set to 3".into())),
    ];
    for (what, arguments, results) in calls {
        let seen = call_of(arguments, &results);
        assert!(!seen.contains('k') && seen.starts_with("aaaa"), "{what}: {seen}");
    }
}

/// Loops whose steps do not look the same, and cases like them.
#[test]
fn loops_are_stopped_at_the_fifth() {
    let calls: [(&str, &str, Vec<String>); 12] = [
        ("an attempt that is counted", "{}", twelve(|n| format!("error: attempt {} failed", n + 1))),
        (
            "an id and a time",
            "{}",
            twelve(|n| format!("error: reset (id {:012x}, 10:{n:02}:07)", 7_919 * (n + 9_999_999))),
        ),
        ("a duration", "{}", twelve(|n| format!("error: timeout after {}.{n} s", [3, 9, 4, 8, 5, 7][n % 6]))),
        ("a process", "{}", twelve(|n| format!("error: killed (pid {})", 4_100 + 13 * n))),
        ("colours", "{}", twelve(|n| format!("\u{1b}[3{}mError: broken\u{1b}[0m", n % 7))),
        (
            "an address",
            "{}",
            twelve(|n| format!("RuntimeError: <Session at 0x7f{:08x}> is closed", 4_096 * n)),
        ),
        ("a temporary file", "{}", twelve(|n| format!("error: cannot open /tmp/tmpabcd{n}efg/a.json"))),
        ("an object in a string", "{}", twelve(|_| r#"{"output":"{\"error\":\"locked\"}"}"#.into())),
        (
            "a wrapper's flag",
            "{}",
            twelve(|_| r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#.into()),
        ),
        ("a program's own words", "{}", twelve(|_| "cat: /a/b.csv: Permission denied".into())),
        ("a search", "{'query': 'order 123'}", twelve(|_| "Insufficient funds.".into())),
        ("another language", "Konto 17 belasten", twelve(|_| "Zeitüberschreitung".into())),
    ];
    for (what, arguments, results) in calls {
        assert_eq!(call_of(arguments, &results[..6]), "aahhkk", "{what}");
    }
}

/// Failures that have no form of a failure, and are alike but for what is volatile.
#[test]
fn outcomes_that_are_alike_are_hinted_from_the_fifth() {
    for (what, results) in [
        ("a duration", twelve(|n| format!("timed out after 30.0{} s", [1, 3, 2, 5, 4, 6][n % 6]))),
        ("a process", twelve(|n| format!("Killed (pid {})", 4_100 + 13 * n))),
        (
            "a time that it took",
            twelve(|n| {
                format!("{{\"took\":{},\"hits\":{{\"total\":0}},\"shards\":5}}", [3, 9, 4, 8, 5][n % 5])
            }),
        ),
        (
            "a test run",
            twelve(|n| {
                format!(
                    "\u{1b}[31mFAIL\u{1b}[39m a.test.js\nTests: 1 failed, 1 total\nTime: 0.{} s",
                    50 + n % 7
                )
            }),
        ),
    ] {
        let seen = call_of("run the tests", &results);
        assert!(seen.starts_with("aaaah") && !seen.contains('k'), "{what}: {seen}");
    }
}

#[test]
fn the_same_call_in_a_row_is_hinted_whatever_comes_of_it() {
    let grown =
        twelve(|n| format!("The file a.py has {} lines now, and the edit is at its end.", 100 + 7 * n));
    assert_eq!(call_of("edit a.py", &grown[..8]), "aaaaahhh");
    let progress = twelve(|n| format!("{} of 40 pages printed", 3 * n));
    assert!(!call_of("print it all", &progress).contains('h'), "it moves towards an end");
    for (what, failing) in [
        (
            "a reference",
            twelve(|n| format!(r#"{{"error":"insufficient funds","ref":"R{}"}}"#, 88_120 + 113 * n)),
        ),
        (
            "an id in a sentence",
            twelve(|n| {
                format!("No tool of that name is here, look at the list. (trace 6d{:02}be)", 7 * n + 3)
            }),
        ),
        ("a state of the server", twelve(|n| format!("Error: locked by {}", ["ann", "bob", "cyd"][n % 3]))),
    ] {
        let steps: Vec<_> = failing.iter().map(|said| step("order", r#"{"id": "X"}"#, said)).collect();
        let verdict = |count: usize| judged(&steps[..count]).map(|found| found.0);
        assert_eq!(
            (verdict(5), verdict(6), verdict(12)),
            (None, Some(Verdict::Hint), Some(Verdict::Hint)),
            "{what}"
        );
    }
    let read: Vec<_> =
        (0..12).map(|n| step("next", r#"{"id": "X"}"#, &format!("{n} herons flew by"))).collect();
    assert_quiet(&read, "who asks for the next one reads on");
}

/// Browser agents, robots, readers of streams: their repeated steps stand between new ones.
#[test]
fn what_is_done_after_each_new_thing_is_work() {
    let pairs = |new: &dyn Fn(usize) -> Step<'static>, again: Step<'static>| -> Vec<Step<'static>> {
        (0..14).flat_map(|n| [new(n), again.clone()]).collect()
    };
    let entry = |n| step("type_text", &format!(r#"{{"text": "entry {n}"}}"#), "ok");
    assert_quiet(&pairs(&entry, step("press_key", r#"{"key": "Tab"}"#, "ok")), "a key after each entry");
    let next = |n| step("next_question", "{}", &format!("Question {n}"));
    assert_quiet(&pairs(&next, step("answer", r#"{"value": "fully agree"}"#, "ok")), "one answer to all");
    let wood = step("ask", r#"{"question": "Is it made of wood?"}"#, "It is not.");
    assert_quiet(&pairs(&next, wood)[..10], "one question on each");
    let photo = step("take_photo", r#"{"camera": "front garden"}"#, "Photo taken.");
    assert_quiet(&pairs(&next, photo), "a photo of each");
    let page = |n| {
        step("read_more", "{}", &format!("Page {n} tells of herons, and goes on about rivers and ports."))
    };
    assert_quiet(&(0..14).map(page).collect::<Vec<_>>(), "pages of a stream");
    let same = vec![page(1); 5];
    assert_eq!(judged(&same).map(|found| found.0), Some(Verdict::Kill), "one page is no stream");
}

#[test]
fn what_the_user_has_asked_for_is_done_first() {
    let judged = |task: &str, count: usize| {
        let all = vec![step("pytest", "tests -x", "1 failed, 3 passed"); count];
        let steps = Steps { all, task: Task::Texts([task; 2]), ..Steps::default() };
        in_steps(&steps, &StepsPolicy::default()).map(|found| found.verdict)
    };
    let first = |task: &str, verdict| (1..=40).find(|count| judged(task, *count) == Some(verdict));
    for (task, hint, kill) in [
        ("Run the tests 10 times.", 12, 14),
        ("Take twelve samples of register 4.", 14, 16),
        ("5× please", 7, 9),
        ("Look at order 9, line 42.", 3, 5),
        ("Run the tests.", 3, 5),
        ("Run them twice, or 3 times.", 3, 5),
    ] {
        assert_eq!(
            (first(task, Verdict::Hint), first(task, Verdict::Kill)),
            (Some(hint), Some(kill)),
            "{task}"
        );
    }
}

#[test]
fn what_is_to_be_done_until_something_comes_about_waits() {
    let first = |task: &str, result: &str, verdict| {
        (1..=40).find(|count| {
            let all = vec![step("kiln", r#"{"kiln":"big kiln"}"#, result); *count];
            let steps = Steps { all, task: Task::Texts([task; 2]), ..Steps::default() };
            in_steps(&steps, &StepsPolicy::default()).map(|found| found.verdict) == Some(verdict)
        })
    };
    let both = |task, result| (first(task, result, Verdict::Hint), first(task, result, Verdict::Kill));
    for task in [
        "Tell me when the kiln has cooled.",
        "Keep an eye on the kiln until it has cooled",
        "Sell ten shares when it reaches 55.",
        "Sag Bescheid, sobald der Ofen kalt ist.",
        "Préviens-moi quand le four est froid.",
        "Avísame cuando el horno esté frío.",
        "Следи за печью, пока не остынет.",
        "炉子凉了告诉我。",
        "炉が冷めたら教えて。",
    ] {
        assert_eq!(both(task, "412 degrees inside"), (Some(10), None), "{task}");
        assert_eq!(both(task, "[]"), (Some(10), None), "{task}");
        assert_eq!(both(task, "error: kiln is offline"), (Some(3), Some(5)), "{task}");
    }
    for task in ["How hot is the kiln?", "Read the kiln. When was it built?", "Book it from 9 bis 10"] {
        assert_eq!(both(task, "412 degrees inside"), (Some(3), Some(5)), "{task}");
    }
}

#[test]
fn what_is_looked_at_again_after_minutes_may_not_be_there_yet() {
    const MISSING: &str = "ls: cannot access '/in/MT940.sta': No such file or directory";
    let first = |task: &str, arguments: &str, result: &str, verdict| {
        (1..=40).find(|count| {
            let all = vec![step("exec", arguments, result); *count];
            let steps = Steps { all, task: Task::Texts([task; 2]), ..Steps::default() };
            in_steps(&steps, &StepsPolicy::default()).map(|found| found.verdict) == Some(verdict)
        })
    };
    let kill = |task: &str, arguments: &str, result: &str| first(task, arguments, result, Verdict::Kill);
    let look = r#"{"cmd":"ls -l /in/MT940.sta"}"#;
    // The user has said how often.
    for task in [
        "Check every 15 min, import it once it is there.",
        "Check hourly",
        "Sieh stündlich nach",
        "每小时看一次",
    ] {
        assert_eq!(kill(task, look, MISSING), Some(28), "{task}");
        assert_eq!(kill(task, look, "ongoing-request=\"true\""), None, "{task}");
    }
    // The call says it.
    for wait in [r#""after":"15m""#, r#""delay": "1h""#, r#""wait_min":10"#, r#""delayHours": 2"#] {
        let waits = format!(r#"{{"cmd":"ls -l /in/MT940.sta",{wait}}}"#);
        assert_eq!(kill("Import the statement", &waits, MISSING), Some(28), "{wait}");
        assert_eq!(first("Import the statement", &waits, MISSING, Verdict::Hint), Some(3), "{wait}");
    }
    for wait in
        [r#""wait":2"#, r#""timeout":"15m""#, r#""after":"step 5""#, r#""delay_ms":600"#, r#""wait_min":0"#]
    {
        let other = format!(r#"{{"cmd":"ls -l /in/MT940.sta",{wait}}}"#);
        assert_eq!(kill("Import the statement", &other, MISSING), Some(5), "{wait}");
    }
}

#[test]
fn what_the_user_has_counted_is_not_stopped_before() {
    let first = |task: &str, arguments: &str, verdict| {
        (1..=40).find(|count| {
            let all = vec![step("craft", arguments, "A new board lies before you."); *count];
            let steps = Steps { all, task: Task::Texts([task; 2]), ..Steps::default() };
            in_steps(&steps, &StepsPolicy::default()).map(|found| found.verdict) == Some(verdict)
        })
    };
    let plank = r#"{"recipe":"oak plank"}"#;
    for (task, arguments, kill) in [
        ("Craft 8 planks.", plank, 12),
        ("Make a table of 12 planks", plank, 16),
        ("Craft planks", plank, 5),
        ("Craft 8 swords", plank, 5),
        ("Craft 8 planks", r#"{"recipe":"plank.json"}"#, 5),
    ] {
        assert_eq!(
            (first(task, arguments, Verdict::Hint), first(task, arguments, Verdict::Kill)),
            (Some(3), Some(kill)),
            "{task} {arguments}"
        );
    }
}

#[test]
fn what_is_done_at_the_second_try_is_no_same_outcome() {
    let send = |n: usize, result: &str| step("send", &format!(r#"{{"to":"p{n}@x.org"}}"#), result);
    let run = |second: &str| -> Vec<_> {
        (0..7).flat_map(|n| [send(n, "error: greylisted, try again"), send(n, second)]).collect()
    };
    assert_quiet(&run("sent"), "each is sent at last");
    let fails = run("error: greylisted, try again");
    assert!((1..=fails.len()).any(|len| judged(&fails[..len]).is_some()));
}

#[test]
fn a_word_alone_is_hardly_an_outcome() {
    let run = |arguments: &str, result: &str| call_of(arguments, &twelve_of(result));
    for (arguments, result) in [
        (r#"{"bell":"great bell"}"#, "dong"),
        (r#"{"pad":"kick drum"}"#, "thud!"),
        (r#"{"stall":"hinterer Stall"}"#, "Gefüttert."),
        (r#"{"商品":"ブラックコーヒー"}"#, "どうぞ"),
        (r#"{"door":"front"}"#, "denied"),
    ] {
        assert_eq!(run(arguments, result), "aaaaahhhhhhh", "{arguments}: {result}");
    }
    for (arguments, result) in [
        (r#"{"code":"print(colour)"}"#, "blue"),
        (r#"{"path":"owner.txt"}"#, "Alice"),
        (r#"{"query":"order 123"}"#, "No order found"),
    ] {
        assert!(run(arguments, result).starts_with("aahhk"), "{arguments}: {result}");
    }
    // A number alone, with what it is counted in.
    for (arguments, result) in [
        (r#"{"query":"open orders"}"#, "17"),
        (r#"{"command":"grep -c ERROR app.log"}"#, "0"),
        (r#"{"what":"air temperature"}"#, "21.5 °C"),
    ] {
        assert_eq!(run(arguments, result), "aaaahhhhhkkk", "{arguments}: {result}");
    }
    assert!(run(r#"{"command":"pytest a.py"}"#, "1 failed").starts_with("aahhk"), "no unit");
}

#[test]
fn a_person_who_is_asked_lets_a_round_go_on() {
    let fine = "Chip is found. Writing is done. The hash of the data is verified.";
    let run = |flashed: &str, tool: &'static str, arguments: &str, answer: &str| {
        let flash = step("flash", r#"{"image":"build/board.bin"}"#, flashed);
        letters(&vec![[flash, step(tool, arguments, answer)]; 7].concat())
    };
    for (tool, arguments, answer) in [
        ("ask_user", r#"{"question":"Is the next board plugged in?"}"#, "yes"),
        ("ask_human", r#"{"question":"Please plug in the next one."}"#, "done"),
        ("request_human_approval", r#"{"what":"flash the next board"}"#, "approved"),
        ("confirmWithUser", r#"{"text":"flash it?"}"#, "ok, go on"),
        ("prompt_operator", r#"{"text":"Turn the wheel by one."}"#, "Done."),
    ] {
        assert!(!run(fine, tool, arguments, answer).contains('k'), "{tool}");
        assert!(run(fine, tool, arguments, answer).contains('h'), "{tool}");
    }
    for (flashed, tool, arguments, answer) in [
        ("error: no chip", "create_user", r#"{"name":"joe"}"#, "ok"),
        (
            "error: no chip",
            "ask_user",
            r#"{"question":"Which board is it?"}"#,
            "It is the blue one on the left.",
        ),
        ("error: no chip", "ask_model", r#"{"prompt":"Shall I go on?"}"#, "yes"),
        ("error: no chip", "confirm", r#"{"order":"order 7"}"#, "ok"),
        (fine, "get_user", r#"{"id":"joe"}"#, "ok"),
    ] {
        assert!(run(flashed, tool, arguments, answer).contains('k'), "{tool}");
    }
}

#[test]
fn a_failure_is_hinted_whatever_else_is_learned_between() {
    let clock = |n: usize| step("bash", r#"{"cmd":"date"}"#, &format!("Monday 10:{n:02}"));
    let run: Vec<_> = (0..10).flat_map(|n| [failing(), clock(n)]).collect();
    assert_eq!(judged(&run[..19]), Some((Verdict::Hint, Signal::RepeatedStep, 10)));
    assert_quiet(&run[..18], "fewer");
}

#[test]
fn a_call_that_does_not_decide_its_outcome_is_killed_at_ten_in_a_row() {
    let mut results = vec!["3 passed".to_owned()];
    results.extend(vec!["1 failed".to_owned(); 12]);
    assert_eq!(call_of("pytest -x tests", &results), "aaaaahhhhhkkk");
}

#[test]
fn a_talk_is_hinted_and_never_killed() {
    let thanks = |n: usize| vec![talk("Thank you very much!", "You are welcome, any time."); n];
    let verdict = |talk: Vec<Step<'static>>| {
        in_exchanges(&exchanges(talk), &StepsPolicy::default()).map(|found| found.verdict)
    };
    assert_eq!(verdict(thanks(4)), None);
    assert!((5..=30).all(|n| verdict(thanks(n)) == Some(Verdict::Hint)));
    // What an agent did before it answered does not count.
    let run = |n: usize| vec![step("", "ls -la /tmp", "a.txt b.txt"); n];
    let mut answered = run(4);
    answered.push(talk("There are two files.", "And now?"));
    answered.extend(run(2));
    assert_eq!(verdict(answered), None);
    assert_eq!(verdict(run(5)), Some(Verdict::Kill));
}

#[test]
fn an_agent_that_repairs_its_call_is_no_loop() {
    let repaired =
        ["'file_path' is required", "'ranges' is required", "'start' is required", "'end' is required"];
    let steps: Vec<_> = repaired
        .iter()
        .enumerate()
        .map(|(n, what)| {
            step("read", &format!("the file /home/u/a.md with {n} options"), &format!("error: {what}"))
        })
        .collect();
    assert_quiet(&steps, "each failure says something else");
}

#[test]
fn receipts_in_other_clothes_are_no_outcome() {
    for receipt in [
        "INSERT 0 1",
        r#"{"status":"inserted"}"#,
        r#"{"output":"Success. Updated the following files:\nM a.rs\n","metadata":{"exit_code":0,"duration_seconds":0.1}}"#,
        "3 lines written to notes.txt",
    ] {
        let steps: Vec<_> = (0..20).map(|n| step("do", &format!("change {n} of all"), receipt)).collect();
        assert_quiet(&steps, receipt);
    }
}

/// A job that failed on one server starts on the next, so each job of a batch succeeds at the second try.
#[test]
fn a_job_that_has_begun_ends_a_row_of_failures() {
    let tried = |n: usize, server: &str, result: &str| {
        step("upload", &format!(r#"{{"file":"film {n}.mov","server":"{server}"}}"#), result)
    };
    for begun in ["queued", "uploading", r#"{"status":"pending"}"#, "Your upload is being processed", "12%"] {
        let batch: Vec<_> = (0..6)
            .flat_map(|n| [tried(n, "north", "503 Service Unavailable"), tried(n, "south", begun)])
            .collect();
        assert_quiet(&batch, begun);
    }
    let only_waits = |wait: fn(usize) -> Step<'static>| {
        let name = |n: usize| ["red lamp", "lamp red", "a red lamp", "the red lamp", "red lamp shop"][n % 5];
        let search = |n| step("bash", &format!("find_it {}", name(n)), "find_it: error: index offline");
        let all: Vec<_> = (0..5).flat_map(|n| [search(n), wait(n)]).collect();
        (1..=all.len()).any(|len| judged(&all[..len]).is_some())
    };
    assert!(only_waits(|_| step("bash", r#"{"command":"sleep 5"}"#, "")), "who sleeps has begun nothing");
    assert!(only_waits(|_| step("bash", r#"{"command":"docker ps"}"#, "starting")), "nor who asks");
}

#[test]
fn what_an_interpreter_shows_of_a_new_thing_is_a_receipt() {
    let columns = ["mass", "height", "speed", "colour", "price", "weight", "age"];
    let cells = |result: &str| -> Vec<_> {
        let cell =
            |name| step("run_cell", &format!(r#"{{"code":"df['{name}'].plot(kind='hist')"}}"#), result);
        columns.map(cell).to_vec()
    };
    for result in [
        "<Figure size 640x480 with 1 Axes>",
        "<Axes: xlabel='x'>",
        "<class 'pandas.DataFrame'>",
        "<function plot>",
    ] {
        assert_quiet(&cells(result), result);
    }
    assert!(judged(&cells("no such column")).is_some());
}

#[test]
fn one_call_whose_failure_moves_is_no_same_outcome() {
    let run = |of: fn(usize) -> String| -> Vec<_> {
        let edit = |n| step("edit", &format!(r#"{{"path":"a","new":"n{n}"}}"#), "ok");
        (0..8).flat_map(|n| [edit(n), step("check", r#"{"target":"all of it"}"#, &of(n))]).collect()
    };
    let lines = run(|n| format!("  File \"a.py\", line {}\nSyntaxError: invalid syntax", 5 + n * 7));
    assert_quiet(&lines, "the line moves");
    let same = run(|_| "  File \"a.py\", line 5\nSyntaxError: invalid syntax".into());
    assert!((1..=same.len()).any(|len| judged(&same[..len]).is_some()));
}
