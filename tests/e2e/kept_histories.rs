//! Histories that the provider keeps: each request has only the last results, and names the answer that it follows or the
//! conversation that it belongs to.

use std::sync::atomic::{AtomicUsize, Ordering};

use sentinel_harness::client::{self, Response};
use sentinel_harness::provider::{Piece, Reply, speak};
use sentinel_harness::{Dialect, Stack};
use serde_json::{Value, json};

use crate::support::{HINT, QUESTION, assert_allowed, hinting};

const FAILED: &str = "error: permission denied";
const STOPPED: &str = "Stopped: this agent goes in circles.";
const EXPECTED: [&str; 7] = ["allow", "allow", "allow", "hint", "hint", "kill", "kill"];
const KEPT: [Dialect; 3] = [Dialect::OpenaiResponses, Dialect::GeminiInteractions, Dialect::Anthropic];

/// The model calls one tool with the same arguments, whatever it is told. Every answer and every call has an id of its own,
/// as with the real providers.
fn calling(stack: &Stack) {
    let answered = AtomicUsize::new(0);
    stack.provider.script(move |request| {
        let mut answer =
            speak(request, &Reply::Tool { name: "deploy".into(), arguments: json!({"to": "prod"}) });
        let number = answered.fetch_add(1, Ordering::Relaxed);
        if Dialect::of_path(&request.path) != Some(Dialect::GeminiInteractions) {
            for piece in &mut answer.pieces {
                if let Piece::Bytes(bytes) = piece {
                    let text = ["resp_mock", "msg_mock", "call_mock_1", "toolu_mock_1"].into_iter().fold(
                        String::from_utf8_lossy(bytes).into_owned(),
                        |text, id| {
                            text.replace(id, &format!("{}_{number}", id.split('_').next().expect("a word")))
                        },
                    );
                    *bytes = text.into();
                }
            }
        }
        answer
    });
}

/// The request that begins a chain, or that follows the answer `before`: its id, that of its call, and what the call came to.
fn request(dialect: Dialect, stream: bool, before: Option<(&str, &str, &str)>) -> Value {
    let mut body = match (dialect, before) {
        (Dialect::OpenaiResponses, None) => json!({"model": "gpt-4o-mini", "input": QUESTION}),
        (Dialect::OpenaiResponses, Some((answer, call, result))) => {
            json!({"model": "gpt-4o-mini", "previous_response_id": answer,
                "input": [{"type": "function_call_output", "call_id": call, "output": result}]})
        }
        (Dialect::GeminiInteractions, None) => json!({"model": "gemini-3-flash-preview", "input": QUESTION}),
        (Dialect::GeminiInteractions, Some((answer, call, result))) => {
            json!({"model": "gemini-3-flash-preview", "previous_interaction_id": answer,
                "input": [{"type": "function_result", "call_id": call, "name": "deploy", "result": result}]})
        }
        (_, None) => json!({"model": "claude-sonnet-5", "max_tokens": 256, "system": "Be brief.",
            "thread": {"type": "create"}, "messages": [{"role": "user", "content": QUESTION}]}),
        (_, Some((answer, call, result))) => {
            json!({"model": "claude-sonnet-5", "max_tokens": 256,
                "thread": {"type": "continue", "previous_message_id": answer},
                "messages": [{"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": call, "content": result}]}]})
        }
    };
    if stream {
        body["stream"] = json!(true);
    }
    body
}

/// The ids of an answer and of its call, JSON or stream.
fn ids(dialect: Dialect, response: &Response) -> (String, String) {
    let text = String::from_utf8_lossy(&response.body).into_owned();
    let after = |start: &str, prefix: &str| {
        let rest = text.split(&format!("{start}\"{prefix}")).nth(1).expect("an id");
        format!("{prefix}{}", rest.split('"').next().expect("an id"))
    };
    match dialect {
        Dialect::OpenaiResponses => (after("", "resp_"), after("\"call_id\":", "call_")),
        Dialect::GeminiInteractions => (after("", "v1_"), after("\"id\":", "call_")),
        _ => (after("", "msg_"), after("", "toolu_")),
    }
}

/// What the model is told with the last result, the result itself left out.
fn told(dialect: Dialect, body: &Value) -> String {
    let text = match dialect {
        Dialect::OpenaiResponses => &body["input"][0]["output"],
        Dialect::GeminiInteractions => &body["input"][0]["result"],
        _ => return body["messages"][0]["content"][1]["text"].as_str().unwrap_or_default().to_owned(),
    };
    text.as_str().and_then(|text| text.strip_prefix(FAILED)).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_chain_that_fails_the_same_way_is_hinted_and_stopped() {
    for mode in ["error", "final_message"] {
        let mut stack = Stack::builder().config(&json!({"kill": {"mode": mode, "message": STOPPED}})).start();
        calling(&stack);
        for (dialect, stream) in KEPT.into_iter().flat_map(|dialect| [(dialect, false), (dialect, true)]) {
            let what = format!("{dialect:?}, stream {stream}, {mode}");
            let run = format!("{}-{stream}", dialect.label());
            let headers = [("x-agent-id", "deployer"), ("x-run-id", run.as_str())];
            let mut body = request(dialect, stream, None);
            let mut verdicts = Vec::new();
            for _ in 0..EXPECTED.len() {
                let response =
                    client::post(stack.address(), dialect.path(stream), &headers, body.to_string()).await;
                verdicts.push(response.verdict().to_owned());
                if response.verdict() == "kill" {
                    let expected = if mode == "error" { 400 } else { 200 };
                    assert_eq!(response.status, expected, "{what}");
                    let said = match mode {
                        "error" => dialect.error_message(&response.json()),
                        _ => dialect.answer_text(&response.body),
                    };
                    assert_eq!(said, STOPPED, "{what}");
                    continue;
                }
                assert_eq!(response.status, 200, "{what}: {:?}", response.body);
                if response.verdict() == "hint" {
                    let got = stack.provider.last().json();
                    assert!(told(dialect, &got).contains("`deploy`"), "{what}: {got}");
                }
                let (answer, call) = ids(dialect, &response);
                body = request(dialect, stream, Some((&answer, &call, FAILED)));
            }
            assert_eq!(verdicts, EXPECTED, "{what}");
        }
        stack.assert_sound();
    }
}

#[tokio::test]
async fn a_chain_with_new_results_goes_on() {
    let mut stack = Stack::builder().start();
    calling(&stack);
    for (dialect, stream) in KEPT.into_iter().flat_map(|dialect| [(dialect, false), (dialect, true)]) {
        let run = format!("{}-{stream}", dialect.label());
        let headers = [("x-agent-id", "deployer"), ("x-run-id", run.as_str())];
        let mut body = request(dialect, stream, None);
        for round in 0..8 {
            let response =
                client::post(stack.address(), dialect.path(stream), &headers, body.to_string()).await;
            assert_allowed(&response, &format!("{dialect:?}, stream {stream}, round {round}"));
            let (answer, call) = ids(dialect, &response);
            let result = format!("Deployed to host {round} of 8: {}", ["alpha", "beta", "gamma"][round % 3]);
            body = request(dialect, stream, Some((&answer, &call, &result)));
        }
    }
    stack.assert_sound();
}

/// Every request of a conversation names it, so no header has to name the run.
#[tokio::test]
async fn a_conversation_is_a_run_of_its_own() {
    let mut stack = Stack::builder().start();
    calling(&stack);
    let dialect = Dialect::OpenaiResponses;
    for (conversation, fails) in [("conv_failing", true), ("conv_working", false)] {
        let mut input = json!(QUESTION);
        let mut verdicts = Vec::new();
        for round in 0..EXPECTED.len() {
            let body = json!({"model": "gpt-4o-mini", "conversation": conversation, "input": input});
            let headers = [("x-agent-id", "deployer")];
            let response =
                client::post(stack.address(), dialect.path(false), &headers, body.to_string()).await;
            verdicts.push(response.verdict().to_owned());
            if response.verdict() == "kill" {
                continue;
            }
            if response.verdict() == "hint" {
                let got = stack.provider.last().json();
                assert!(told(dialect, &got).contains("`deploy`"), "{conversation}: {got}");
            }
            let (_, call) = ids(dialect, &response);
            let result = if fails { FAILED.to_owned() } else { format!("{round} of 7 are up") };
            input = json!([{"type": "function_call_output", "call_id": call, "output": result}]);
        }
        let expected = if fails { EXPECTED } else { ["allow"; 7] };
        assert_eq!(verdicts, expected, "{conversation}");
    }
    stack.assert_sound();
}

/// A thread of Anthropic's has the system text that it began with, and takes no other.
#[tokio::test]
async fn a_hint_for_a_prompt_leaves_the_system_text_of_a_thread_alone() {
    let mut stack = hinting();
    let follows = json!({"type": "continue", "previous_message_id": "msg_mock"});
    for (thread, system) in [(json!({"type": "create"}), Some("Be brief.")), (follows, None)] {
        let mut body = json!({"model": "claude-sonnet-5", "max_tokens": 256, "thread": thread,
            "messages": [{"role": "user", "content": QUESTION}]});
        if let Some(system) = system {
            body["system"] = json!(system);
        }
        let agent = if system.is_some() { "begins" } else { "goes on" };
        let headers = [("x-agent-id", agent)];
        let response = client::post(stack.address(), "/v1/messages", &headers, body.to_string()).await;
        assert_eq!((response.status, response.verdict()), (200, "hint"), "{thread}: {:?}", response.body);
        let got = stack.provider.last().json();
        assert_eq!(got.get("system").and_then(Value::as_str), system, "{got}");
        let said = got["messages"][0]["content"].as_str().unwrap_or_default();
        assert!(said.starts_with(QUESTION) && said.contains(HINT), "{got}");
    }
    stack.assert_sound();
}
