//! Which spans the steps of a run become.
#![allow(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "a test may fail")]

use sentinel_config::Config;
use sentinel_pipeline::{
    in_memory::{ClientRequest, InMemory, ProviderResponse},
    span::{Cause, Span},
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
    send(&mut host, "/v1/chat/completions", &chat(40), json!({}));
    let expected: Vec<_> = (0..16).map(|n| format!("look_{n}")).collect();
    assert_eq!(tools(&host.spans), expected);
    let [run, steps @ ..] = host.spans.as_slice() else { panic!("{:?}", host.spans) };
    assert_eq!((run.name.as_str(), run.parent, run.cause), ("invoke_agent", None, None));
    for step in steps {
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
    let [run, first, ..] = host.spans.as_slice() else { panic!("{:?}", host.spans) };
    assert_eq!((run.began, first.began, first.ended), (answered, answered, answered + 1_000));
    let mut ids: Vec<_> = host.spans.iter().map(|span| span.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4, "{:?}", host.spans);
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
    assert_eq!((host.spans[1].began, host.spans[1].ended), (host.now, host.now));
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
