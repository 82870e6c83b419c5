use sentinel_llm_api::json::Raw;

use super::{super::Kind, *};

/// A text that outlives every log.
fn raw(text: &str) -> Raw<'static> {
    Raw::read(Box::leak(serde_json::to_string(text).unwrap().into_boxed_str())).unwrap()
}

fn result<'a>(log: &mut StepLog<'a>, id: &'a str, content: Option<Raw<'a>>) {
    log.result(&ToolResult { of: CallRef::Id(id.into()), content, is_error: false });
}

/// What the one step of these calls is read as.
#[derive(Debug)]
struct Read {
    approach: u64,
    outcome: u64,
    tools: u64,
    tool: String,
    kind: Kind,
}

fn only_step(log: &StepLog<'_>) -> Read {
    let steps = log.steps();
    let [step] = steps.all.as_slice() else { panic!("{steps:?}") };
    let Step { approach, tools, tool, .. } = *step;
    Read { approach, outcome: step.outcome(), tools, tool: tool.to_owned(), kind: step.kind() }
}

fn step(calls: &[(&str, &str, &str)]) -> Read {
    let told: Vec<_> = calls.iter().map(|(.., told)| raw(told)).collect();
    let ids: Vec<_> = (0..calls.len()).map(|n| n.to_string()).collect();
    let mut log = StepLog::default();
    log.turn();
    for (id, (name, arguments, _)) in ids.iter().zip(calls) {
        log.call(id, *name, *arguments, &ToolRules::default());
    }
    for (id, told) in ids.iter().zip(&told) {
        result(&mut log, id, Some(*told));
    }
    only_step(&log)
}

#[test]
fn order_ids_and_wrapping_do_not_count() {
    let one = step(&[("read", r#"{"a":1,"b":2}"#, "x"), ("list", "{}", "y")]);
    let two = step(&[("list", "", "y"), ("read", r#""{\"b\": 2, \"a\": 1}""#, "x")]);
    assert_eq!((one.approach, one.outcome, one.tools), (two.approach, two.outcome, two.tools));
    assert_eq!(one.tool, "read");
}

#[test]
fn each_result_belongs_to_its_call() {
    let lamps = |red: &str, green: &str| {
        step(&[("lamp", r#"{"at":"red"}"#, red), ("lamp", r#"{"at":"green"}"#, green)])
    };
    assert_ne!(lamps("on", "off").outcome, lamps("off", "on").outcome);
    assert_eq!(lamps("on", "off").approach, lamps("off", "on").approach);
    let twice = |one: &str, other: &str| step(&[("lamp", "{}", one), ("lamp", "{}", other)]);
    assert_eq!(twice("on", "off").outcome, twice("off", "on").outcome, "nobody can tell these calls apart");
}

#[test]
fn arguments_and_results_count() {
    let one = step(&[("read", r#"{"a":1}"#, "x")]);
    assert_ne!(one.approach, step(&[("read", r#"{"a":2}"#, "x")]).approach);
    assert_ne!(one.outcome, step(&[("read", r#"{"a":1}"#, "y")]).outcome);
    assert_eq!(one.outcome, step(&[("other", r#"{"a":2}"#, "x")]).outcome);
}

#[test]
fn a_call_without_result_is_no_step_and_a_stray_result_says_nothing() {
    let mut log = StepLog::default();
    result(&mut log, "1", Some(raw("early")));
    log.turn();
    log.call("1", "f", "{}", &ToolRules::default());
    log.call("2", "g", "{}", &ToolRules::default());
    result(&mut log, "1", Some(raw("x")));
    result(&mut log, "1", Some(raw("again")));
    result(&mut log, "unknown", Some(raw("x")));
    assert!(log.steps().all.is_empty());
}

#[test]
fn only_the_last_steps_are_kept_and_a_users_word_begins_a_new_count() {
    let mut log = StepLog::default();
    for n in 0..200 {
        log.turn();
        log.call(&n.to_string(), "f", n.to_string(), &ToolRules::default());
        log.result(&ToolResult { of: CallRef::Id(n.to_string().into()), content: None, is_error: false });
    }
    log.word(false, Asked::NotSaid);
    let steps = log.steps();
    assert_eq!((steps.all.len(), steps.current().len()), (LENGTH, 0));
}

#[test]
fn a_turn_with_more_calls_than_a_provider_allows_is_no_step() {
    let mut log = StepLog::default();
    for turn in 0..2 {
        log.turn();
        for n in 0..=(CALLS - turn) {
            log.call(&n.to_string(), "f", "{}", &ToolRules::default());
        }
        for n in (0..CALLS).rev() {
            log.result(&ToolResult { of: CallRef::Id(n.to_string().into()), content: None, is_error: false });
        }
    }
    assert_eq!(log.steps().all.len(), 1);
    assert_eq!(log.tools.len(), 1);
}

#[test]
fn a_shown_name_holds_no_words_of_the_agent() {
    assert_eq!(shown("mcp__files.read-it:1"), "mcp__files.read-it:1");
    let long = "x".repeat(65);
    for name in ["", "Look up the diagnosis of John", "get\r\nx: y\u{0}", long.as_str(), "größe"] {
        let shown = shown(name);
        assert!(shown.starts_with("tool-") && shown.len() == 21, "{name}: {shown}");
    }
}

#[test]
fn what_the_operator_says_of_a_tool_comes_first() {
    let rule = |rule| ToolRules(vec![(crate::step::ToolName::Prefix("log_".into()), rule)]);
    let said = raw("a page of text that tells something to whoever reads it");
    let step = |rules: &ToolRules| {
        let mut log = StepLog::default();
        log.turn();
        log.call("1", "log_note", "{}", rules);
        log.call("2", "read", "{}", rules);
        for id in ["1", "2"] {
            result(&mut log, id, Some(said));
        }
        only_step(&log)
    };
    let waiting = ToolRule { kind: Some(Kind::Waiting), ..ToolRule::default() };
    assert_eq!(step(&rule(waiting)).kind, Kind::Waiting);
    let ignored = step(&rule(ToolRule { ignore: true, ..ToolRule::default() }));
    assert_eq!((ignored.tool.as_str(), ignored.kind), ("read", Kind::Content));
}

/// Some frameworks keep a whole run as one assistant message. A fan-out, even of equal calls, is one step.
#[test]
fn a_turn_that_holds_a_whole_run_is_many_steps() {
    let steps = |calls: usize, turns: usize| {
        let mut log = StepLog::default();
        for turn in 0..turns {
            log.turn();
            for n in 0..calls {
                let id = format!("{turn} {n}");
                log.call(&id, "deploy", r#"{"to":"prod"}"#, &ToolRules::default());
                log.text_result(&id, "error: locked");
            }
        }
        log.steps().all.len()
    };
    assert_eq!([steps(6, 1), steps(7, 1), steps(7, 2)], [1, 7, 2]);
}

#[test]
fn a_picture_belongs_to_the_step_before_it() {
    let steps = |pictures: [u64; 2]| {
        let mut log = StepLog::default();
        for picture in pictures {
            log.turn();
            log.call("1", "screenshot", "{}", &ToolRules::default());
            log.text_result("1", "ok");
            log.picture(picture);
        }
        let steps = log.steps();
        (steps.all[0].is_like(&steps.all[1]), steps.all[1].kind())
    };
    assert_eq!(steps([7, 7]), (true, Kind::Content), "an identical picture says something");
    assert_eq!(steps([7, 8]), (false, Kind::Content));
}
