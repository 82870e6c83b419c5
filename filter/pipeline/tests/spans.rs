//! Which spans a run becomes: what it was asked for, the calls of the model, and the steps.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test may fail"
)]

use sentinel_config::Config;
use sentinel_pipeline::{
    control::{Directive, ReportReply, Stop},
    in_memory::{ClientRequest, InMemory, ProviderResponse},
    span::{Cause, Span, Value as Attribute},
};
use serde_json::{Value, json};

fn host(config: &str) -> InMemory {
    InMemory::new(Config::from_json(config.as_bytes()).unwrap())
}

fn traced() -> InMemory {
    host(r#"{"traces": {"cluster": "collector"}}"#)
}

/// A request of the run `r`, one second after the last.
fn send(host: &mut InMemory, path: &str, body: &Value, answer: Value) {
    host.now += 1_000;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let request =
        ClientRequest::post(path, body.to_string()).with("x-run-id", "r").with("traceparent", parent);
    host.exchange(&request, &ProviderResponse::json(answer.to_string()));
}

fn chat(calls: usize) -> Value {
    let asked: Vec<_> = (0..calls)
        .map(|n| json!({"id": format!("c{n}"), "function": {"name": format!("look_{n}"), "arguments": "{}"}}))
        .collect();
    let told = (0..calls)
        .map(|n| json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": "error: denied"}));
    let mut messages =
        vec![json!({"role": "user", "content": "hello"}), json!({"role": "assistant", "tool_calls": asked})];
    messages.extend(told);
    json!({"model": "m", "messages": messages})
}

fn named<'a>(spans: &'a [Span], operation: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name.split(' ').next() == Some(operation)).collect()
}

fn attribute<'a>(span: &'a Span, name: &str) -> Option<&'a Attribute> {
    span.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
}

fn text(span: &Span, name: &str) -> String {
    match attribute(span, name) {
        Some(Attribute::Text(text)) => text.clone(),
        other => panic!("{name} is {other:?}"),
    }
}

fn said(text: &str) -> Value {
    let usage = json!({"prompt_tokens": 120, "completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": 20}});
    json!({"model": "m-2026", "choices": [{"message": {"content": text}}], "usage": usage})
}

fn tools(spans: &[Span]) -> Vec<&str> {
    spans.iter().filter_map(|span| span.name.strip_prefix("execute_tool ")).collect()
}

#[test]
fn none_are_made_unless_a_collector_is_named() {
    let mut host = host("{}");
    send(&mut host, "/v1/chat/completions", &chat(2), json!({}));
    assert_eq!(host.spans, []);
}

#[test]
fn a_wide_fan_out_is_cut_and_each_call_keeps_its_name() {
    let mut host = traced();
    send(&mut host, "/v1/chat/completions", &chat(40), said("Done."));
    let expected: Vec<_> = (0..16).map(|n| format!("look_{n}")).collect();
    assert_eq!(tools(&host.spans), expected);
    let [run] = named(&host.spans, "invoke_agent")[..] else { panic!("{:?}", host.spans) };
    assert_eq!((run.parent, run.cause), (None, None));
    for step in named(&host.spans, "execute_tool") {
        assert_eq!((step.trace, step.parent), (run.trace, Some(run.id)));
        assert_eq!(
            (step.began, step.ended, step.is_failure),
            (host.now, host.now, true),
            "nothing came before it"
        );
        let cause = Cause { trace: 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c, id: 0xb7ad_6b71_6920_3331 };
        assert_eq!(step.cause, Some(cause));
    }
}

#[test]
fn a_history_that_the_provider_keeps_has_the_same_steps() {
    let mut host = traced();
    let path = "/v1/responses";
    let call = |n: usize| {
        let call =
            json!({"type": "function_call", "call_id": format!("c{n}"), "name": "look", "arguments": "{}"});
        json!({"id": format!("r{n}"), "output": [call]})
    };
    send(&mut host, path, &json!({"model": "m", "input": "What of it all, I would like to know?"}), call(0));
    let answered = host.now;
    for n in 0..3 {
        let output =
            json!([{"type": "function_call_output", "call_id": format!("c{n}"), "output": "It rains."}]);
        let body = json!({"model": "m", "previous_response_id": format!("r{n}"), "input": output});
        send(&mut host, path, &body, call(n + 1));
    }
    assert_eq!(tools(&host.spans), ["look"; 3]);
    let first = named(&host.spans, "execute_tool")[0];
    assert_eq!((first.began, first.ended), (answered, answered + 1_000));
    let mut ids: Vec<_> = host.spans.iter().map(|span| span.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3 + 4, "three steps and four calls: {:?}", host.spans);
}

#[test]
fn a_run_is_one_trace_with_its_calls_and_steps_and_ends_as_it_did() {
    let mut host = traced();
    let path = "/v1/chat/completions";
    let call = json!({"id": "c0", "function": {"name": "look_0", "arguments": "{}"}});
    let calls = json!({"choices": [{"message": {"tool_calls": [call]}}]});
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "hello"}]});
    send(&mut host, path, &body, calls);
    let began = host.now;
    assert!(named(&host.spans, "invoke_agent").is_empty(), "the agent has calls to do");
    send(&mut host, path, &chat(1), said("It is denied."));
    let [run] = named(&host.spans, "invoke_agent")[..] else { panic!("{:?}", host.spans) };
    assert_eq!((run.began, run.ended, run.is_failure), (began, host.now, false));
    assert_eq!((text(run, "sentinel.status").as_str(), run.parent), ("done", None));
    let below: Vec<&Span> = host.spans.iter().filter(|span| span.id != run.id).collect();
    assert_eq!(
        below.iter().map(|span| span.name.as_str()).collect::<Vec<_>>(),
        ["chat m", "execute_tool look_0", "chat m"]
    );
    assert!(below.iter().all(|span| (span.trace, span.parent) == (run.trace, Some(run.id))));
    let last = below[2];
    assert!(last.is_call && !last.is_failure);
    for (name, value) in [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "m"),
        ("gen_ai.response.model", "m-2026"),
    ] {
        assert_eq!(text(last, name), value);
    }
    for (name, value) in [
        ("gen_ai.usage.input_tokens", 120),
        ("gen_ai.usage.cache_read.input_tokens", 20),
        ("gen_ai.usage.output_tokens", 30),
    ] {
        assert_eq!(attribute(last, name), Some(&Attribute::Number(value)));
    }
    // What the run is asked next is another span of the same trace.
    body["messages"] = json!([{"role": "user", "content": "And now to something else?"}]);
    send(&mut host, path, &body, said("Well."));
    let [first, second] = named(&host.spans, "invoke_agent")[..] else { panic!("{:?}", host.spans) };
    assert!(first.trace == second.trace && first.id != second.id);
    assert_eq!(host.spans.iter().filter(|span| span.parent == Some(second.id)).count(), 1);
}

#[test]
fn an_error_ends_a_run_unless_its_sdk_tries_again() {
    for (status, ends) in [(400, true), (401, true), (429, false), (500, false), (529, false)] {
        let mut host = traced();
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).to_string();
        let request = ClientRequest::post("/v1/chat/completions", body).with("x-run-id", "r");
        host.exchange(&request, &ProviderResponse { status, ..ProviderResponse::json("{}") });
        let [call] = named(&host.spans, "chat")[..] else { panic!("{:?}", host.spans) };
        assert!(call.is_failure, "{status}");
        assert_eq!(text(call, "error.type"), status.to_string());
        let runs = named(&host.spans, "invoke_agent");
        assert_eq!(runs.len(), usize::from(ends), "{status}");
        assert!(runs.iter().all(|run| run.is_failure && text(run, "sentinel.status") == "failed"));
    }
}

#[test]
fn what_an_sdk_sends_again_is_a_call_and_brings_no_step() {
    let mut host = traced();
    let request = ClientRequest::post("/v1/chat/completions", chat(1).to_string()).with("x-run-id", "r");
    host.exchange(&request, &ProviderResponse { status: 500, ..ProviderResponse::json("{}") });
    let again = request.with("x-stainless-retry-count", "1");
    host.exchange(&again, &ProviderResponse::json(said("Done.").to_string()));
    assert_eq!(named(&host.spans, "chat").len(), 2);
    assert_eq!(tools(&host.spans), ["look_0"]);
    let [run] = named(&host.spans, "invoke_agent")[..] else { panic!("{:?}", host.spans) };
    assert!(host.spans.iter().all(|span| span.id == run.id || span.parent == Some(run.id)));
}

#[test]
fn a_killed_run_ends_with_the_request_that_was_killed() {
    let mut host = traced();
    let mut messages = vec![json!({"role": "user", "content": "hello"})];
    for n in 0..5 {
        let id = format!("c{n}");
        let call = json!({"id": id, "function": {"name": "find", "arguments": "{\"path\": \"report.md\"}"}});
        messages.push(json!({"role": "assistant", "tool_calls": [call]}));
        messages
            .push(json!({"role": "tool", "tool_call_id": id, "content": "error: report.md: no such file"}));
        let answer = json!({"choices": [{"message": {"tool_calls": [call]}}]});
        send(&mut host, "/v1/chat/completions", &json!({"model": "m", "messages": messages}), answer);
    }
    let [run] = named(&host.spans, "invoke_agent")[..] else { panic!("{:?}", host.spans) };
    assert!(run.is_failure);
    for (name, value) in
        [("sentinel.status", "killed"), ("error.type", "sentinel_kill"), ("sentinel.signal", "repeated_step")]
    {
        assert_eq!(text(run, name), value);
    }
    assert_eq!(named(&host.spans, "chat").len(), 4, "the fifth was not made");
}

#[test]
fn a_run_that_an_operator_stops_says_so() {
    let config = r#"{"control": {"enabled": true}, "traces": {"cluster": "collector"}}"#;
    let mut host = InMemory::of_json(config).unwrap();
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hello"}]});
    let call = json!({"id": "c0", "function": {"name": "look", "arguments": "{}"}});
    send(&mut host, "/v1/chat/completions", &body, json!({"choices": [{"message": {"tool_calls": [call]}}]}));
    host.control = Box::new(|_| {
        let stop = Stop { id: "1".into(), run: Some("r".into()), reason: "enough".into(), ..Stop::default() };
        let directives = vec![Directive::Stop { stop, remaining: 0 }];
        Ok(ReportReply { directives, ..ReportReply::default() })
    });
    host.now += 1_250;
    host.tick();
    let before = named(&host.spans, "chat").len();
    send(&mut host, "/v1/chat/completions", &body, said("Nobody asks for it."));
    host.tick();
    let run = named(&host.spans, "invoke_agent").pop().unwrap();
    assert!(run.is_failure);
    assert_eq!(
        (text(run, "sentinel.status"), text(run, "error.type")),
        ("stopped".into(), "sentinel_stop".into())
    );
    assert_eq!(named(&host.spans, "chat").len(), before, "the model was not called");
}

#[test]
fn a_response_that_was_not_read_leaves_a_step_without_length() {
    let mut host = traced();
    let path = "/v1/chat/completions";
    send(
        &mut host,
        path,
        &json!({"model": "m", "messages": [{"role": "user", "content": "hello"}]}),
        json!({"choices": []}),
    );
    host.now += 1_000;
    let failed = ProviderResponse { status: 500, ..ProviderResponse::json("") };
    let one = json!({"model": "m", "messages": [{"role": "user", "content": "hello again"}]});
    host.exchange(&ClientRequest::post(path, one.to_string()).with("x-run-id", "r"), &failed);
    send(&mut host, path, &chat(1), json!({}));
    let step = named(&host.spans, "execute_tool")[0];
    assert_eq!((step.began, step.ended), (host.now, host.now));
}

#[test]
fn only_a_span_that_is_kept_is_linked() {
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";
    assert!(Cause::of(format!("{trace}-01").as_bytes()).is_some());
    for wrong in [
        format!("{trace}-00"),
        trace.to_owned(),
        trace.replace('b', "x"),
        format!("00-{}-b7ad6b7169203331-01", "0".repeat(32)),
        "é".to_owned(),
    ] {
        assert_eq!(Cause::of(wrong.as_bytes()), None, "{wrong}");
    }
    assert_eq!(Cause::of(b"00-\xff-01-01"), None);
}
