//! Where `allow_on_headers_stop_iteration` cannot be set, as with Istio's WasmPlugin: headers go on at once, and all else
//! is as it is elsewhere.

use sentinel_harness::client;
use sentinel_harness::provider::{Reply, speak};
use sentinel_harness::{Dialect, Stack};
use serde_json::{Value, json};

use crate::support::QUESTION;
use crate::support::assert_valid;
use sentinel_wire::{Run, told_after_the_last_result};

const RESULT: &str = "error: the ledger is locked";

fn stack(more: &Value) -> Stack {
    let mut config = json!({"hold_headers": false});
    config.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    Stack::builder()
        .config(&config)
        .edit("                        allow_on_headers_stop_iteration: true\n", "")
        .start()
}

#[tokio::test]
async fn hints_and_kills_without_held_headers() {
    let mut stack = stack(&json!({}));
    stack.provider.script(|request| speak(request, &Reply::Text("Let me see.".into())));
    for dialect in Dialect::ALL {
        for (stream, agent) in [(false, None), (true, None), (false, Some("json")), (true, Some("stream"))] {
            let what = format!("{dialect:?}, stream {stream}, agent {agent:?}");
            let agent = agent.map(|agent| format!("{agent} {dialect:?}"));
            let headers: Vec<_> = agent.iter().map(|agent| ("x-agent-id", agent.as_str())).collect();
            let mut run = Run::new(dialect, QUESTION);
            let mut verdicts = Vec::new();
            for _ in 0..6 {
                let body = run.body(stream);
                let response =
                    client::post(stack.address(), dialect.path(stream), &headers, body.clone()).await;
                verdicts.push(response.verdict().to_owned());
                // Of a request that is killed the provider has got the headers: it is cut, which may be noted after the next.
                let got = stack.provider.received().into_iter().rfind(|got| got.complete);
                let got = got.expect("the provider has got a request");
                match response.verdict() {
                    "allow" => assert_eq!(got.body, body, "{what}"),
                    "hint" => {
                        assert_valid(dialect, &got.json());
                        let hint = told_after_the_last_result(dialect, &got.json(), RESULT);
                        assert!(hint.contains("`search`"), "{what}: {hint}");
                    }
                    _ => assert_eq!(response.status, 400, "{what}"),
                }
                assert!(
                    response.verdict() == "kill" || response.status == 200,
                    "{what}: {}",
                    response.status
                );
                assert_eq!(got.header("content-length"), None, "{what}");
                run.step("search", r#"{"for": "ledger"}"#, RESULT);
            }
            assert_eq!(verdicts, ["allow", "allow", "allow", "hint", "hint", "kill"], "{what}");
        }
    }
    stack.assert_sound();
}

#[tokio::test]
async fn what_is_not_read_passes() {
    let mut stack = stack(&json!({"max_body_bytes": 2_000}));
    let long = Dialect::OpenaiChat.ask(&"word ".repeat(4_000), false).to_string();
    for (what, body, path) in [
        ("too long", long.clone(), "/v1/chat/completions"),
        ("no JSON", "{\"messages\": ".to_owned(), "/v1/chat/completions"),
        ("no dialect", long, "/v1/files"),
    ] {
        let response = client::post(stack.address(), path, &[("x-agent-id", "a")], body.clone()).await;
        assert_ne!(response.status, 400, "{what}");
        assert_eq!(stack.provider.last().body, body, "{what}");
    }
    stack.assert_sound();
}
