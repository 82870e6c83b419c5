//! What is reported of requests, and what an operator's word does to them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

use std::{cell::RefCell, rc::Rc};

use sentinel_pipeline::{
    control::{Directive, DirectiveVersions, LiveSettings, Report, ReportReply, Stop},
    in_memory::{ClientRequest, InMemory, ProviderResponse},
    metric::Metric,
    service_outcome::ServiceOutcome,
    turn::{End, Turn},
};
use serde_json::json;

const ON: &str = r#"{"control":{"enabled":true},"semantic":{"enabled":false},"prices":[{"name":"gpt-4o","input":2,"cached_input":1,"output":8}]}"#;

/// A host, and what the service was told. `say`: what the service replies to the report of this number, from 0 on.
fn host(
    config: &str,
    mut say: impl FnMut(usize) -> Result<ReportReply, ServiceOutcome> + 'static,
) -> (InMemory, Rc<RefCell<Vec<Report>>>) {
    let mut host = InMemory::of_json(config).unwrap();
    let told = Rc::<RefCell<Vec<Report>>>::default();
    let reports = Rc::clone(&told);
    host.control = Box::new(move |report| {
        let mut reports = reports.borrow_mut();
        reports.push(report.clone());
        say(reports.len() - 1)
    });
    (host, told)
}

fn silent(_: usize) -> Result<ReportReply, ServiceOutcome> {
    Ok(ReportReply::default())
}

fn a_second_later(host: &mut InMemory) {
    host.now += 1_250;
    host.tick();
}

fn request(run: &str, messages: serde_json::Value) -> ClientRequest {
    let body = json!({"model": "gpt-4o", "messages": messages}).to_string();
    ClientRequest::post("/v1/chat/completions", body)
        .with("x-tenant-id", "acme")
        .with("x-agent-id", "support-7")
        .with("x-run-id", run)
}

fn hello(run: &str) -> ClientRequest {
    request(run, json!([{"role": "user", "content": "hello there"}]))
}

fn answer() -> ProviderResponse {
    ProviderResponse::json(
        json!({
            "model": "gpt-4o-2024-08-06",
            "choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}}
        })
        .to_string(),
    )
}

fn turns(told: &RefCell<Vec<Report>>) -> Vec<Turn> {
    told.borrow().iter().flat_map(|report| report.turns.clone()).collect()
}

fn stop(fill: impl FnOnce(&mut Stop)) -> ReportReply {
    let mut stop = Stop { id: "s-1".into(), reason: "It mails \"everybody\".".into(), ..Stop::default() };
    fill(&mut stop);
    let known = Some(DirectiveVersions { epoch: 1, stops: 1, settings: 0 });
    ReportReply { known, directives: vec![Directive::Stop { stop, remaining: 0 }], ..ReportReply::default() }
}

#[test]
fn a_turn_says_who_what_and_how_much_and_no_word_of_the_conversation() {
    let (mut host, told) = host(ON, silent);
    let sent = request(
        "task-1",
        json!([
            {"role": "user", "content": "find my secret-word"},
            {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{\"q\":\"secret-word\"}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "secret-word is here"}
        ]),
    );
    host.exchange(&sent, &answer());
    a_second_later(&mut host);
    let [turn] = &turns(&told)[..] else { panic!("{:?}", told.borrow()) };
    let names = [&turn.names.tenant, &turn.names.agent, &turn.names.run];
    assert_eq!(names, ["acme", "support-7", "task-1"]);
    assert_eq!((turn.number, turn.begun, turn.is_under_way), (1, 0, false));
    assert_eq!((turn.dialect, turn.model.as_str(), turn.status), ("openai_chat", "gpt-4o-2024-08-06", 200));
    assert_eq!((turn.usage.input, turn.usage.cached, turn.usage.output), (60, 40, 10));
    assert_eq!((turn.cost, turn.is_estimated, turn.end), (Some(240_000), false, End::Text));
    let [step] = &turn.steps[..] else { panic!("{:?}", turn.steps) };
    assert_eq!((step.tool.as_str(), step.kind, step.is_repeated), ("find", "content", false));
    assert!(!format!("{turn:?}").contains("secret-word"));
    assert!(host.log.is_empty(), "{:?}", host.log);
}

#[test]
fn a_turn_has_the_new_steps_of_a_history_that_the_provider_keeps() {
    let (mut host, told) = host(ON, silent);
    let call = |n: usize| {
        let call =
            json!({"type": "function_call", "call_id": format!("c{n}"), "name": "look", "arguments": "{}"});
        ProviderResponse::json(json!({"id": format!("r{n}"), "output": [call]}).to_string())
    };
    let post = |body: serde_json::Value| {
        ClientRequest::post("/v1/responses", body.to_string()).with("x-agent-id", "a").with("x-run-id", "r")
    };
    host.exchange(&post(json!({"model": "m", "input": "How is the weather?"})), &call(0));
    for n in 0..2 {
        let output =
            json!([{"type": "function_call_output", "call_id": format!("c{n}"), "output": "It rains."}]);
        host.exchange(
            &post(json!({"model": "m", "previous_response_id": format!("r{n}"), "input": output})),
            &call(n + 1),
        );
    }
    a_second_later(&mut host);
    let turns = turns(&told);
    let steps: Vec<_> = turns.iter().map(|turn| turn.steps.iter().collect::<Vec<_>>()).collect();
    let [asked, first, second] = &steps[..] else { panic!("{turns:?}") };
    let ([first], [second]) = (&first[..], &second[..]) else { panic!("{turns:?}") };
    assert!(asked.is_empty());
    assert_eq!((first.tool.as_str(), first.kind, first.is_repeated), ("look", "content", false));
    assert!(first.outcome != 0 && (first.arguments, first.outcome) == (second.arguments, second.outcome));
    assert_eq!((second.is_repeated, second.bytes), (true, "It rains.".len()));
}

#[test]
fn nothing_is_reported_where_control_is_off() {
    let (mut host, told) = host(r#"{"semantic":{"enabled":false}}"#, silent);
    host.exchange(&hello("r"), &answer());
    a_second_later(&mut host);
    assert!(told.borrow().is_empty());
}

#[test]
fn an_answer_without_usage_is_counted_from_its_bytes() {
    let (mut host, told) = host(ON, silent);
    let said = "word ".repeat(80);
    let body = json!({"choices": [{"message": {"role": "assistant", "content": said}}]}).to_string();
    let sent = hello("r");
    host.exchange(&sent, &ProviderResponse::json(body));
    a_second_later(&mut host);
    let [turn] = &turns(&told)[..] else { panic!() };
    let input = u64::try_from(sent.body.len().div_ceil(4)).unwrap();
    assert_eq!((turn.is_estimated, turn.usage.input, turn.usage.output), (true, input, 100));
    assert!(turn.cost.is_some_and(|cost| cost > 0));
}

#[test]
fn a_report_without_a_reply_is_sent_again_with_the_same_turns_and_newer_ones_behind_them() {
    let reply = |at| if at < 2 { Err(ServiceOutcome::Unavailable) } else { Ok(ReportReply::default()) };
    let (mut host, told) = host(ON, reply);
    for run in ["a", "b", "c"] {
        host.exchange(&hello(run), &answer());
        a_second_later(&mut host);
    }
    let told = told.borrow();
    let numbers: Vec<Vec<u64>> =
        told.iter().map(|report| report.turns.iter().map(|turn| turn.number).collect()).collect();
    assert_eq!(numbers, [vec![1], vec![1, 2], vec![1, 2, 3]]);
    assert_eq!(told[0].turns[..], told[1].turns[..1]);
    assert_eq!(host.counted(Metric::Reports(ServiceOutcome::Unavailable)), 2);
}

#[test]
fn a_service_that_keeps_no_runs_is_left_alone_for_a_minute() {
    let (mut host, told) = host(ON, |_| Err(ServiceOutcome::Unimplemented));
    for _ in 0..40 {
        host.exchange(&hello("r"), &answer());
        a_second_later(&mut host);
    }
    assert_eq!(told.borrow().len(), 1);
}

#[test]
fn whoever_is_stopped_gets_the_kill_response_with_the_operators_words_until_it_is_lifted() {
    let configs = [ON, &ON.replacen('{', r#"{"kill":{"enabled":false},"#, 1)];
    for config in configs {
        let lift = ReportReply { directives: vec![Directive::Lift("s-1".into())], ..ReportReply::default() };
        let reply = move |at| match at {
            0 => Ok(stop(|stop| stop.run = Some("bad".into()))),
            3 => Ok(lift.clone()),
            _ => silent(at),
        };
        let (mut host, told) = host(config, reply);
        host.exchange(&hello("good"), &answer());
        a_second_later(&mut host);
        let stopped = host.exchange(&hello("bad"), &answer());
        assert_eq!((stopped.verdict(), stopped.header("x-sentinel-reason")), (Some("kill"), Some("stopped")));
        let reply = stopped.reply.unwrap();
        let body = String::from_utf8(reply.body).unwrap();
        assert!(body.contains(r#"an operator stopped it: It mails \"everybody\"."#), "{body}");
        assert!(!body.contains("Send a new user message"), "no message lifts a stop: {body}");
        assert!(host.exchange(&hello("good"), &answer()).sent.is_some());
        let [line] = host.lines("verdict")[..] else { panic!("{:?}", host.log) };
        assert!(line.contains(r#""signal":"stopped""#) && !line.contains("everybody"), "{line}");
        for _ in 0..3 {
            a_second_later(&mut host);
        }
        assert!(host.exchange(&hello("bad"), &answer()).sent.is_some(), "it is lifted");
        let killed: Vec<_> = turns(&told)
            .into_iter()
            .filter(|turn| turn.signal == "stopped")
            .map(|turn| turn.status)
            .collect();
        assert_eq!(killed, [reply.status]);
    }
}

#[test]
fn a_stop_holds_for_requests_that_cannot_be_read_and_for_mcp_servers() {
    let config = ON.replacen('{', r#"{"mcp":{"paths":[{"prefix":"/mcp"}]},"#, 1);
    let (mut host, _) = host(&config, |_| Ok(stop(|stop| stop.agent = Some("support-7".into()))));
    host.exchange(&hello("r"), &answer());
    a_second_later(&mut host);
    let mut garbage = hello("r");
    garbage.body = b"{not json".to_vec();
    assert!(host.exchange(&garbage, &answer()).reply.is_some());
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}"#;
    let mcp = |agent| ClientRequest::post("/mcp", call).with("x-agent-id", agent);
    let answered = host.exchange(&mcp("support-7"), &answer());
    assert_eq!(answered.header("x-sentinel-reason"), Some("stopped"));
    let body = String::from_utf8(answered.reply.unwrap().body).unwrap();
    assert!(body.contains(r#""id":1"#) && body.contains("an operator stopped it"), "{body}");
    assert!(host.exchange(&mcp("other"), &answer()).sent.is_some());
}

#[test]
fn in_observe_a_stop_is_recorded_and_nothing_else() {
    let config = ON.replacen('{', r#"{"mode":"observe","#, 1);
    let (mut host, told) = host(&config, |_| Ok(stop(|stop| stop.agent = Some("support-7".into()))));
    host.exchange(&hello("r"), &answer());
    a_second_later(&mut host);
    assert!(host.exchange(&hello("r"), &answer()).sent.is_some());
    a_second_later(&mut host);
    let turns = turns(&told);
    assert_eq!(turns.last().map(|turn| (turn.signal, turn.is_enforced)), Some(("stopped", false)));
}

#[test]
fn names_can_be_hidden_and_a_stop_then_names_the_digest() {
    let config = ON.replacen('{', r#"{"identity":{"names":false},"#, 1);
    let (mut host, told) = host(&config, silent);
    host.exchange(&hello("task-1"), &answer());
    a_second_later(&mut host);
    let names = turns(&told)[0].names.clone();
    assert!(!format!("{names:?}").contains("task-1") && names.run.len() == 16, "{names:?}");
    host.control = Box::new(move |_| Ok(stop(|stop| stop.run = Some(names.run.clone()))));
    host.exchange(&hello("task-2"), &answer());
    a_second_later(&mut host);
    assert!(host.exchange(&hello("task-1"), &answer()).reply.is_some());
    assert!(host.exchange(&hello("task-2"), &answer()).sent.is_some());
}

#[test]
fn live_settings_act_on_the_next_request_and_those_that_do_not_fit_change_nothing() {
    let settings = |version: u64, json: &str| ReportReply {
        directives: vec![Directive::Settings(LiveSettings { version, json: json.into() })],
        ..ReportReply::default()
    };
    let off =
        r#"{"agents":[{"name":"support-7","settings":{"mode":"observe","models":[{"name":"other"}]}}]}"#;
    let reply = move |at| {
        Ok(match at {
            0 => settings(1, r#"{"agents":[{"name":"support-7","settings":{"models":[{"name":"other"}]}}]}"#),
            1 => settings(2, off),
            2 => settings(3, r#"{"agents":[{"settings":{}}]}"#),
            3 => settings(0, ""),
            _ => ReportReply::default(),
        })
    };
    let (mut host, _) = host(ON, reply);
    let mut verdicts = Vec::new();
    for _ in 0..5 {
        let exchange = host.exchange(&hello("r"), &answer());
        let header = |name| exchange.header(name).unwrap_or_default().to_owned();
        verdicts.push((exchange.sent.is_some(), header("x-sentinel-settings-version")));
        a_second_later(&mut host);
    }
    let expected = [(true, ""), (false, "1"), (true, ""), (true, ""), (true, "")];
    assert_eq!(verdicts, expected.map(|(passed, version)| (passed, version.to_owned())));
    assert_eq!(
        host.log.iter().filter(|line| line.contains("live settings 3 do not fit")).count(),
        1,
        "{:?}",
        host.log
    );
}

#[test]
fn what_one_worker_was_told_the_others_know_without_a_call() {
    let (mut host, told) = host(ON, |_| Ok(stop(|stop| stop.agent = Some("support-7".into()))));
    host.exchange(&hello("r"), &answer());
    a_second_later(&mut host);
    let mut other = InMemory::of_json(ON).unwrap();
    (other.now, other.slots) = (host.now, host.slots.clone());
    other.control = Box::new(|_| panic!("it asks"));
    other.tick();
    assert!(other.exchange(&hello("r"), &answer()).reply.is_some());
    assert_eq!(told.borrow().len(), 1);
}

/// A stream of chat completions, in parts of `part` bytes.
fn stream(part: usize) -> ProviderResponse {
    let event = |data: serde_json::Value| format!("data: {data}\n\n");
    let words = ["one ", "two ", "three ", "four ", "five "];
    let chunk = |word: &&str| event(json!({"choices": [{"index": 0, "delta": {"content": word}}]}));
    let body = words.iter().map(chunk).collect::<String>() + "data: [DONE]\n\n";
    ProviderResponse {
        content_type: "text/event-stream".into(),
        part: Some(part),
        ..ProviderResponse::json(body)
    }
}

#[test]
fn a_stream_under_way_ends_behind_the_event_that_is_passing_with_an_error_of_the_dialect() {
    for part in [7, 50, 64, 90] {
        let (mut host, told) = host(ON, |_| Ok(stop(|stop| stop.run = Some("r".into()))));
        host.tick_in_response = Some(2);
        let mut sent = hello("r");
        sent.body =
            br#"{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"hello there"}]}"#
                .to_vec();
        let exchange = host.exchange(&sent, &stream(part));
        let received = String::from_utf8(exchange.received).unwrap();
        let events: Vec<&str> = received.split_terminator("\n\n").collect();
        let [whole @ .., error, "data: [DONE]"] = &events[..] else { panic!("{part}: {received}") };
        assert!(!whole.is_empty() && whole.len() < 5, "{part}: {received}");
        for event in whole {
            serde_json::from_str::<serde_json::Value>(event.strip_prefix("data: ").unwrap()).unwrap();
        }
        assert!(
            error.contains(r#""code":"agent_loop_killed""#) && error.contains("an operator stopped it"),
            "{error}"
        );
        a_second_later(&mut host);
        let last = turns(&told).pop().unwrap();
        assert_eq!((last.signal, last.end, last.is_under_way, last.begun), ("stopped", End::Error, false, 1));
        assert_eq!(host.lines("verdict").len(), 1);
    }
}

#[test]
fn streams_of_others_and_in_observe_pass_to_their_end() {
    for (config, run) in [(ON.to_owned(), "other"), (ON.replacen('{', r#"{"mode":"observe","#, 1), "r")] {
        let (mut host, _) = host(&config, move |_| Ok(stop(|stop| stop.run = Some("r".into()))));
        host.tick_in_response = Some(2);
        let response = stream(40);
        assert_eq!(host.exchange(&hello(run), &response).received, response.body);
    }
}

#[test]
fn texts_are_reported_where_that_is_wished_with_keys_masked() {
    let config = ON.replacen(
        r#"{"control":{"#,
        r#"{"mcp":{"paths":[{"prefix":"/mcp"}]},"control":{"content":true,"#,
        1,
    );
    let (mut host, told) = host(&config, silent);
    let ask = |text: &str| request("r", json!([{"role": "user", "content": text}]));
    host.exchange(&ask(&format!("find it with sk-abcdef123456{}", " word".repeat(1_000))), &answer());
    let long = "x".repeat(9_000);
    let sent = request(
        "r",
        json!([
            {"role": "user", "content": "find it"},
            {"role": "assistant", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{\"q\":\"ledger\",\"api_key\":\"hunter2\"}"}},
                {"id": "c2", "type": "function", "function": {"name": "write", "arguments": json!({"text": long}).to_string()}}
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "in the drawer; password: hunter2"},
            {"role": "tool", "tool_call_id": "c2", "content": "done"}
        ]),
    );
    host.exchange(&sent, &answer());
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"token":"hunter2","n":1}}}"#;
    host.exchange(&ClientRequest::post("/mcp", call).with("x-agent-id", "a"), &answer());
    a_second_later(&mut host);
    let [first, second, mcp] = &turns(&told)[..] else { panic!("{:?}", told.borrow()) };
    assert!(first.text.starts_with("find it with [masked] word word") && first.text.len() <= 2_048);
    let [find, write] = &second.steps[..] else { panic!("{second:?}") };
    assert_eq!(find.texts.arguments, r#"{"q":"ledger","api_key":"[masked]"}"#);
    assert_eq!((find.texts.outcome.as_str(), find.bytes), ("in the drawer; password: [masked]", 32));
    assert!(write.texts.arguments.starts_with(r#"{"text":"xxx"#) && write.texts.arguments.len() == 2_048);
    assert_eq!((second.text.as_str(), write.texts.outcome.as_str()), ("", "done"));
    assert_eq!(mcp.steps[0].texts.arguments, r#"{"token":"[masked]","n":1}"#);
    assert!(host.log.is_empty(), "{:?}", host.log);
}

/// The answer has no known length, or is held to be cleaned. So nothing of it has gone to the client.
#[test]
fn an_answer_whose_headers_have_not_gone_is_not_given_to_whoever_is_stopped() {
    let held = ON.replacen('{', r#"{"clean":{"enabled":true},"#, 1);
    let events = stream(64);
    for (config, response, at) in [
        (ON, answer(), 0),
        (ON, events, 0),
        (held.as_str(), ProviderResponse { part: Some(64), ..answer() }, 1),
    ] {
        let (mut host, told) = host(config, |_| Ok(stop(|stop| stop.run = Some("r".into()))));
        host.tick_in_response = Some(at);
        let exchange = host.exchange(&hello("r"), &response);
        assert_eq!((exchange.sent.is_some(), exchange.hangs), (true, false));
        assert!(exchange.received.is_empty(), "{at}");
        let reply = exchange.reply.as_ref().unwrap_or_else(|| panic!("{at}: {exchange:?}"));
        let reason = exchange.header("x-sentinel-reason");
        assert_eq!((reply.status, exchange.verdict(), reason), (400, Some("kill"), Some("stopped")));
        let body = String::from_utf8(reply.body.clone()).unwrap();
        assert!(body.contains("an operator stopped it") && body.contains("agent_loop_killed"), "{body}");
        a_second_later(&mut host);
        let last = turns(&told).pop().unwrap();
        assert_eq!((last.signal, last.status, last.is_under_way), ("stopped", 400, false));
        assert_eq!(host.lines("verdict").len(), 1);
    }
    // In `observe`, and once its headers have gone, it passes to its end.
    let observe = ON.replacen('{', r#"{"mode":"observe","#, 1);
    for (config, at) in [(observe.as_str(), 0), (ON, 1)] {
        let (mut host, _) = host(config, |_| Ok(stop(|stop| stop.run = Some("r".into()))));
        host.tick_in_response = Some(at);
        let response = ProviderResponse { part: Some(64), ..answer() };
        assert_eq!(host.exchange(&hello("r"), &response).received, response.body);
    }
}
