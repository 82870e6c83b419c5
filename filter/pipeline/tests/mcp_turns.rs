//! What is reported of requests to MCP servers.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

use std::{cell::RefCell, rc::Rc};

use sentinel_pipeline::{
    control::{Directive, Report, ReportReply, Stop},
    in_memory::{ClientRequest, InMemory, ProviderResponse},
    turn::{End, Turn},
};
use serde_json::{Value, json};

const ON: &str = r#"{"control":{"enabled":true},"semantic":{"enabled":false},"mcp":{"paths":[{"prefix":"/mcp"}],"calls":2},"tools":{"deny":[{"name":"rm"}]}}"#;

fn host() -> (InMemory, Rc<RefCell<Vec<Report>>>) {
    let mut host = InMemory::of_json(ON).unwrap();
    let told = Rc::<RefCell<Vec<Report>>>::default();
    let reports = Rc::clone(&told);
    host.control = Box::new(move |report| {
        reports.borrow_mut().push(report.clone());
        Ok(ReportReply::default())
    });
    (host, told)
}

fn turns(host: &mut InMemory, told: &RefCell<Vec<Report>>) -> Vec<Turn> {
    host.now += 1_250;
    host.tick();
    told.borrow_mut().drain(..).flat_map(|report| report.turns).collect()
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

fn post(body: &Value, headers: &[(&str, &str)]) -> ClientRequest {
    let post = ClientRequest::post("/mcp", body.to_string()).with("x-agent-id", "support-7");
    headers.iter().fold(post, |post, (name, value)| post.with(name, value))
}

fn answer() -> ProviderResponse {
    ProviderResponse::json(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#)
}

#[test]
fn calls_are_steps_in_both_forms_of_the_protocol() {
    let (mut host, told) = host();
    let without_sessions: &[_] = &[
        ("x-run-id", "r"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "echo"),
    ];
    let with_a_session: &[_] = &[("mcp-session-id", "s-1")];
    for (headers, run) in [(without_sessions, "r"), (with_a_session, "")] {
        let arguments = json!({"text": "secret-word"});
        let batch = json!([
            call(1, "echo", &arguments),
            {"jsonrpc": "2.0", "id": 2, "method": "ping"},
            call(3, "find it", &json!({})),
        ]);
        for body in [call(1, "echo", &arguments), batch] {
            assert!(host.exchange(&post(&body, headers), &answer()).sent.is_some());
        }
        let [one, two] = &turns(&mut host, &told)[..] else { panic!("{:?}", told.borrow()) };
        assert_eq!((one.names.agent.as_str(), one.names.run.as_str()), ("support-7", run));
        assert_eq!(one.names.history != 0, run.is_empty(), "a session is a run");
        assert_eq!((one.dialect, one.status, one.end, one.is_under_way), ("mcp", 200, End::Results, false));
        let [step] = &one.steps[..] else { panic!("{:?}", one.steps) };
        assert_eq!((step.tool.as_str(), step.outcome, step.is_repeated), ("echo", 0, false));
        let [again, other] = &two.steps[..] else { panic!("{:?}", two.steps) };
        assert_eq!((again.arguments, again.is_repeated), (step.arguments, true));
        assert!(!other.tool.contains(' '), "what is no name stands there as its digest: {}", other.tool);
        assert!(!format!("{one:?}{two:?}").contains("secret-word"));
    }
}

#[test]
fn what_is_denied_is_a_turn_with_its_signal_and_what_calls_nothing_is_none() {
    let (mut host, told) = host();
    let silent = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    for body in silent {
        host.exchange(&post(&body, &[]), &answer());
    }
    assert_eq!(turns(&mut host, &told), []);
    let denied = host.exchange(&post(&call(1, "rm", &json!({})), &[]), &answer());
    assert!(denied.reply.is_some());
    for id in 0..3 {
        host.exchange(&post(&call(id, "echo", &json!({})), &[]), &answer());
    }
    // What cannot be read is refused where a tool is denied.
    let mut garbage = post(&json!({}), &[]);
    garbage.body = b"{not json".to_vec();
    assert!(host.exchange(&garbage, &answer()).reply.is_some());
    let found: Vec<_> = turns(&mut host, &told)
        .iter()
        .map(|turn| (turn.signal, turn.is_enforced, turn.steps.len()))
        .collect();
    let breaker = ("mcp_breaker", true, 1);
    let echo = ("", true, 1);
    assert_eq!(found, [("tool_denied", true, 1), echo, echo, breaker, ("unreadable", true, 0)]);
}

#[test]
fn a_session_can_be_stopped_and_an_answer_that_is_cut_off_is_reported() {
    let (mut host, told) = host();
    let session: &[_] = &[("mcp-session-id", "s-1")];
    let mut half = answer();
    half.is_cut_off = true;
    host.exchange(&post(&call(1, "echo", &json!({})), session), &half);
    let [turn] = &turns(&mut host, &told)[..] else { panic!() };
    assert_eq!((turn.end, turn.is_under_way), (End::ClientGone, false));
    let stop = Stop { id: "s".into(), history: Some(turn.names.history), ..Stop::default() };
    host.control = Box::new(move |_| {
        let directives = vec![Directive::Stop { stop: stop.clone(), remaining: 0 }];
        Ok(ReportReply { directives, ..ReportReply::default() })
    });
    turns(&mut host, &told);
    let mut garbage = post(&json!({}), session);
    garbage.body = b"{not json".to_vec();
    for stopped in [post(&call(2, "echo", &json!({"n": 1})), session), garbage] {
        let exchange = host.exchange(&stopped, &answer());
        assert_eq!(exchange.header("x-sentinel-reason"), Some("stopped"));
    }
    let other = post(&call(2, "echo", &json!({"n": 1})), &[("mcp-session-id", "s-2")]);
    assert!(host.exchange(&other, &answer()).sent.is_some());
}

fn stop_of_r(host: &mut InMemory, told: &Rc<RefCell<Vec<Report>>>) {
    let reports = Rc::clone(told);
    host.control = Box::new(move |report| {
        reports.borrow_mut().push(report.clone());
        let stop = Stop {
            id: "s".into(),
            reason: "It deletes mail.".into(),
            run: Some("r".into()),
            ..Stop::default()
        };
        Ok(ReportReply { directives: vec![Directive::Stop { stop, remaining: 0 }], ..ReportReply::default() })
    });
}

/// Progress of a call, and its result.
fn stream(part: usize) -> ProviderResponse {
    let event = |data: Value| format!("event: message\ndata: {data}\n\n");
    let progress = |n: u64| {
        event(
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": n}}),
        )
    };
    let body = (1..5).map(progress).collect::<String>()
        + &event(json!({"jsonrpc": "2.0", "id": "a", "result": {"content": []}}));
    ProviderResponse {
        content_type: "text/event-stream".into(),
        part: Some(part),
        ..ProviderResponse::json(body)
    }
}

#[test]
fn a_stream_under_way_ends_with_an_answer_to_each_request_once_it_is_stopped() {
    let mut request = call(1, "echo", &json!({}));
    request["id"] = json!("a");
    for (run, part) in [("r", 30), ("r", 130), ("r", 200), ("other", 30)] {
        let (mut host, told) = host();
        stop_of_r(&mut host, &told);
        host.tick_in_response = Some(2);
        let response = stream(part);
        let exchange = host.exchange(&post(&request, &[("x-run-id", run)]), &response);
        let [.., turn] = &turns(&mut host, &told)[..] else { panic!() };
        if run == "other" {
            assert_eq!(exchange.received, response.body);
            assert_eq!((turn.end, turn.signal), (End::Results, ""));
            continue;
        }
        let received = String::from_utf8(exchange.received).unwrap();
        let events: Vec<&str> = received.split_terminator("\n\n").collect();
        let [whole @ .., last] = &events[..] else { panic!("{part}: {received}") };
        assert!(!whole.is_empty() && whole.len() < 5, "{part}: {received}");
        for event in whole {
            let data = event.strip_prefix("event: message\ndata: ").unwrap();
            assert_eq!(serde_json::from_str::<Value>(data).unwrap()["method"], "notifications/progress");
        }
        let last: Value = serde_json::from_str(last.strip_prefix("event: message\ndata: ").unwrap()).unwrap();
        assert_eq!((&last["id"], &last["result"]["isError"]), (&json!("a"), &json!(true)));
        assert!(last.to_string().contains("It deletes mail."), "{last}");
        assert_eq!((turn.end, turn.signal, turn.is_under_way), (End::Error, "stopped", false));
        assert_eq!(host.lines("verdict").len(), 1);
    }
}

#[test]
fn an_answer_whose_headers_have_not_gone_is_replaced_once_it_is_stopped() {
    let (mut host, told) = host();
    stop_of_r(&mut host, &told);
    host.tick_in_response = Some(0);
    let batch = json!([call(1, "echo", &json!({})), call(2, "echo", &json!({"n": 1}))]);
    let exchange = host.exchange(&post(&batch, &[("x-run-id", "r")]), &answer());
    let reply = exchange.reply.unwrap();
    let body: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!((reply.status, &body[0]["id"], &body[1]["id"]), (200, &json!(1), &json!(2)));
    let [.., turn] = &turns(&mut host, &told)[..] else { panic!() };
    assert_eq!((turn.end, turn.signal, turn.status), (End::Error, "stopped", 200));
}
