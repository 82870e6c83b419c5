use serde_json::value::RawValue;

use super::*;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(serde_json::to_string(text).unwrap()).unwrap()
}

fn result<'a>(log: &mut StepLog, id: &'a str, content: Option<&'a RawValue>) {
    log.result(&ToolResult { of: CallRef::Id(id.into()), content, is_error: false });
}

fn step(calls: &[(&str, &str, &str)]) -> Step {
    let mut log = StepLog::default();
    log.turn();
    for (n, (name, arguments, _)) in calls.iter().enumerate() {
        log.call(&n.to_string(), name, arguments, &ToolRules::default());
    }
    for (n, (.., told)) in calls.iter().enumerate() {
        result(&mut log, &n.to_string(), Some(&raw(told)));
    }
    log.steps().all.pop().unwrap()
}

#[test]
fn order_ids_and_wrapping_do_not_count() {
    let one = step(&[("read", r#"{"a":1,"b":2}"#, "x"), ("list", "{}", "y")]);
    let two = step(&[("list", "", "y"), ("read", r#""{\"b\": 2, \"a\": 1}""#, "x")]);
    assert_eq!((one.approach, one.outcome, one.tools), (two.approach, two.outcome, two.tools));
    assert_eq!(one.tool, "read");
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
    result(&mut log, "1", Some(&raw("early")));
    log.turn();
    log.call("1", "f", "{}", &ToolRules::default());
    log.call("2", "g", "{}", &ToolRules::default());
    result(&mut log, "1", Some(&raw("x")));
    result(&mut log, "1", Some(&raw("again")));
    result(&mut log, "unknown", Some(&raw("x")));
    assert_eq!(log.steps().all, []);
}

#[test]
fn only_the_last_steps_are_kept_and_a_users_word_begins_a_new_count() {
    let mut log = StepLog::default();
    for n in 0..200 {
        log.turn();
        log.call(&n.to_string(), "f", &n.to_string(), &ToolRules::default());
        result(&mut log, &n.to_string(), None);
    }
    log.word();
    let steps = log.steps();
    assert_eq!((steps.all.len(), steps.current()), (LENGTH, [].as_slice()));
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
            result(&mut log, &n.to_string(), None);
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
    let step = |rules: &ToolRules| {
        let mut log = StepLog::default();
        log.turn();
        log.call("1", "log_note", "{}", rules);
        log.call("2", "read", "{}", rules);
        for id in ["1", "2"] {
            result(&mut log, id, Some(&raw("a page of text that tells something to whoever reads it")));
        }
        log.steps().all.pop().unwrap()
    };
    let waiting = ToolRule { kind: Some(Kind::Waiting), ..ToolRule::default() };
    assert_eq!(step(&rule(waiting)).kind, Kind::Waiting);
    let ignored = step(&rule(ToolRule { ignore: true, ..ToolRule::default() }));
    assert_eq!((ignored.tool.as_str(), ignored.kind), ("read", Kind::Content));
}

#[test]
fn arguments_name_something_or_do_not() {
    for arguments in [r#"{"order":"W1"}"#, r#"["a"]"#, r#"{"q": {"x": "y"}}"#, "look here"] {
        assert!(names_something(arguments), "{arguments}");
    }
    for arguments in ["{}", "", r#"{"limit":10,"all":true}"#] {
        assert!(!names_something(arguments), "{arguments}");
    }
}
