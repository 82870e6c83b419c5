//! Steps that are not in the request as calls and results: an agent that writes its actions as text, and a history that
//! the provider keeps.

use std::sync::atomic::{AtomicUsize, Ordering};

use sentinel_tests::client;
use sentinel_tests::provider::{Piece, Reply, speak};
use sentinel_tests::{Dialect, Stack};
use serde_json::json;

use crate::history::Run;
use crate::support::{QUESTION, inserted};

const EXPECTED: [&str; 7] = ["allow", "allow", "allow", "hint", "hint", "kill", "kill"];

#[tokio::test]
async fn actions_and_observations_that_are_text() {
    let mut stack = Stack::builder().start();
    stack
        .provider
        .script(|request| speak(request, &Reply::Text("Thought: again.\nAction: search[ledger]".into())));
    for dialect in Dialect::ALL {
        for (loops, agent) in [(true, None), (true, Some("react")), (false, None)] {
            let what = format!("{dialect:?}, agent {agent:?}, loops {loops}");
            let agent = agent.map(|name| format!("{name} {dialect:?}"));
            let headers: Vec<_> = agent.iter().map(|agent| ("x-agent-id", agent.as_str())).collect();
            let mut run = Run::new(dialect, QUESTION);
            let mut verdicts = Vec::new();
            for round in 0..7 {
                let body = run.body(false);
                let response =
                    client::post(stack.address(), dialect.path(false), &headers, body.clone()).await;
                verdicts.push(response.verdict().to_owned());
                if response.verdict() == "hint" {
                    assert_eq!(
                        response.reason(),
                        format!("repeated_step; count={round}; tool=search"),
                        "{what}"
                    );
                    let hint = inserted(body.as_bytes(), &stack.provider.last().body).expect("one insertion");
                    assert!(String::from_utf8_lossy(&hint).contains("search"), "{what}");
                }
                let found =
                    if loops { "Nothing was found.".to_owned() } else { format!("Page {round} of nine.") };
                run.assistant(&format!("Thought: I have seen {round} answers.\nAction: search[ledger]"));
                run.user(&format!("Observation: {found}"));
            }
            let expected = if loops { EXPECTED } else { ["allow"; 7] };
            assert_eq!(verdicts, expected, "{what}");
        }
    }
    stack.assert_sound();
}

/// What the provider keeps is not sent again: each request has the last results alone.
#[tokio::test]
async fn a_history_that_the_provider_keeps() {
    let mut stack = Stack::builder().start();
    let calls = AtomicUsize::new(0);
    stack.provider.script(move |request| {
        let mut answer =
            speak(request, &Reply::Tool { name: "deploy".into(), arguments: json!({"to": "prod"}) });
        // Every call has an id of its own, as with the real provider.
        let id = format!("call_{}", calls.fetch_add(1, Ordering::Relaxed));
        for piece in &mut answer.pieces {
            if let Piece::Bytes(bytes) = piece {
                *bytes = String::from_utf8_lossy(bytes).replace("call_mock_1", &id).into();
            }
        }
        answer
    });
    for (kept, stream) in
        [("previous_response_id", false), ("previous_response_id", true), ("conversation", false)]
    {
        for (outcome, expected) in [("error: permission denied", EXPECTED), ("", ["allow"; 7])] {
            let what = format!("{kept}, stream {stream}, outcome {outcome:?}");
            let name = format!("{kept}-{stream}-{}", outcome.is_empty());
            // A conversation names the run by itself; a chain of responses does not.
            let headers = [("x-agent-id", "deployer"), ("x-run-id", name.as_str())];
            let headers = if kept == "conversation" { &headers[..1] } else { &headers[..] };
            let mut input = json!(QUESTION);
            let mut verdicts = Vec::new();
            for round in 0..7 {
                let mut body = json!({"model": "gpt-4o-mini", "input": input, "stream": stream});
                match kept {
                    "conversation" => body["conversation"] = json!(format!("conv_{name}")),
                    _ if round > 0 => body["previous_response_id"] = json!(format!("resp_{round}")),
                    _ => {}
                }
                let response = client::post(
                    stack.address(),
                    Dialect::OpenaiResponses.path(stream),
                    headers,
                    body.to_string(),
                )
                .await;
                verdicts.push(response.verdict().to_owned());
                if response.verdict() == "hint" {
                    let got = stack.provider.last().json();
                    let told = got["input"][0]["output"].as_str().unwrap_or_default();
                    assert!(told.starts_with(outcome) && told.contains("`deploy`"), "{what}: {told}");
                }
                if response.verdict() == "kill" {
                    continue;
                }
                let result =
                    if outcome.is_empty() { format!("{round} of 7 are up") } else { outcome.to_owned() };
                input = json!([{"type": "function_call_output", "call_id": last_call(&response.body), "output": result}]);
            }
            assert_eq!(verdicts, expected, "{what}");
        }
    }
    stack.assert_sound();
}

/// The id of the call in a response, JSON or stream.
fn last_call(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let rest = text.rsplit("\"call_id\":\"").next().expect("the rest of a text");
    rest.split('"').next().expect("an id").to_owned()
}
