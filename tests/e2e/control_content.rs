//! `control.content` from end to end: where it is on, turns and events show the beginnings of texts with keys masked; where it is off, no
//! byte of a text leaves Envoy.

use http_body_util::Full;
use hyper::{Method, body::Bytes};
use sentinel_harness::redis::Redis;
use sentinel_harness::{Stack, client};
use serde_json::{Value, json};

use crate::control::{Operator, until};
use crate::support::CHAT;

/// What a conversation holds, and what of it is secret.
const TEXTS: [&str; 3] = ["zanzibarine", "marmalade", "chancellor"];
const SECRETS: [&str; 3] = ["sk-quixotic123456", "hunter2", "AKIAIOSFODNN7EXAMPLE"];

fn conversation() -> [Value; 2] {
    let ask = json!({"role": "user", "content": "Where is the zanzibarine ledger? Use sk-quixotic123456."});
    let arguments = json!({"q": "marmalade", "password": "hunter2"}).to_string();
    let call = json!({"id": "c1", "type": "function", "function": {"name": "find", "arguments": arguments}});
    let result = "the chancellor has it; id AKIAIOSFODNN7EXAMPLE";
    let done = json!([
        ask,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": result}
    ]);
    [json!([ask]), done]
}

/// All events so far, once both turns and the result are among them. Each worker of Envoy reports by itself, so either turn may come
/// first.
async fn events(operator: &Operator) -> String {
    let path = "/v1/events?cursor=0-0";
    let nothing = Full::new(Bytes::new());
    let mut events = client::begin(client::request(operator.0, Method::GET, path, &[], nothing)).await;
    let mut got = String::new();
    let complete = |got: &str| {
        let count = |kind: &str| got.split("\n\n").filter(|event| event.contains(kind)).count();
        got.ends_with("\n\n") && count("event: turn\n") == 2 && count("event: tool.result\n") == 1
    };
    while !complete(&got) {
        let chunk = events.chunk().await.unwrap_or_else(|| panic!("the events end: {got}"));
        got.push_str(&String::from_utf8_lossy(&chunk));
    }
    got
}

#[tokio::test]
async fn texts_are_shown_with_keys_masked_where_that_is_on_and_nowhere_where_it_is_off() {
    for content in [true, false] {
        let redis = Redis::start();
        let url = redis.url();
        // The signals that the service serves remember prompts as numbers; here its log of control alone is looked at.
        let config =
            json!({"control": {"enabled": true, "content": content}, "semantic": {"enabled": false}});
        let operator = Operator::on_a_free_port();
        let settings = operator.settings();
        let mut settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        settings.extend([("REDIS_URL", url.as_str()), ("LOG_LEVEL", "debug")]);
        let mut stack = Stack::builder().config(&config).service_with(&settings).start();
        for messages in conversation() {
            let body = json!({"model": "gpt-4o-mini", "messages": messages}).to_string();
            let headers = [("x-agent-id", "reader"), ("x-run-id", "r")];
            let answer = client::post(stack.address(), CHAT.path(false), &headers, body).await;
            assert_eq!(answer.status, 200);
        }
        let run = until("both turns are known", async || {
            let runs = operator.ask(Method::GET, "/v1/runs?agent=reader", &Value::Null).await;
            let id = runs["runs"].get(0)?["id"].as_str()?.to_owned();
            let run = operator.ask(Method::GET, &format!("/v1/runs/{id}"), &Value::Null).await;
            (run["turns"].as_array()?.len() == 2).then_some(run)
        })
        .await;
        let shown = [
            ("the API", run.to_string(), content),
            ("events", events(&operator).await, content),
            ("Envoy's log", stack.envoy.log(), false),
            ("the service's log", stack.service.as_ref().expect("it runs").log(), false),
            ("the service's metrics", operator.metrics_text().await, false),
        ];
        for (place, text, has_texts) in &shown {
            for word in TEXTS {
                assert_eq!(text.contains(word), *has_texts, "{place}, content: {content}: {word}");
            }
            for secret in SECRETS {
                assert!(!text.contains(secret), "{place} holds {secret}, content: {content}");
            }
        }
        assert!(TEXTS.iter().all(|word| redis.holds(word) == content), "Redis, content: {content}");
        assert!(!SECRETS.iter().any(|word| redis.holds(word)), "Redis, content: {content}");
        if content {
            let [done, asked] = [&run["turns"][0], &run["turns"][1]];
            assert_eq!(asked["prompt"], "Where is the zanzibarine ledger? Use [masked]");
            assert_eq!(done["steps"][0]["arguments"], r#"{"password":"[masked]","q":"marmalade"}"#);
            assert_eq!(done["steps"][0]["outcome"], "the chancellor has it; id [masked]");
        }
        stack.assert_sound();
    }
}
