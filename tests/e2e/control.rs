//! Control from end to end: the real service hears what agents did, and a stop of its operator reaches requests and streams under
//! way; so do live settings.

use std::time::Duration;

use hyper::Method;
pub use sentinel_harness::operator::{Operator, until};
use sentinel_harness::provider::{Gate, faithful};
use sentinel_harness::stack::Builder;
use sentinel_harness::{Dialect, Stack, client};
use serde_json::{Value, json};

use crate::support::{CHAT, QUESTION};

/// A stack with control on, and its operator.
fn start() -> (Stack, Operator) {
    start_with(&json!({}), |builder| builder)
}

/// The same with this above the configuration.
pub fn start_with(more: &Value, built: impl FnOnce(Builder) -> Builder) -> (Stack, Operator) {
    let operator = Operator::on_a_free_port();
    let mut config =
        json!({"control": {"enabled": true}, "semantic": {"enabled": false}, "score": {"enabled": false}});
    for (name, value) in more.as_object().expect("an object") {
        config[name] = value.clone();
    }
    let settings = operator.settings();
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    (built(Stack::builder().config(&config).service_with(&settings)).start(), operator)
}

#[tokio::test]
async fn the_service_knows_the_runs_and_a_stop_reaches_the_next_request() {
    let (mut stack, operator) = start();
    let answer = stack.ask(CHAT, "billing-bot-7", QUESTION).await;
    assert_eq!(answer.verdict(), "allow");
    let run = until("the run is known", async || {
        let runs = operator.ask(Method::GET, "/v1/runs?agent=billing-bot-7", &Value::Null).await;
        runs["runs"].get(0).filter(|run| run["status"] == "done").cloned()
    })
    .await;
    assert_eq!((&run["turns"], &run["run"]), (&json!(1), &json!("billing-bot-7")), "{run}");

    let stop = json!({"agent": "billing-bot-7", "author": "eve", "reason": "it mails everybody"});
    operator.ask(Method::POST, "/v1/stops", &stop).await;
    let stopped = until("the stop holds", async || {
        let answer = stack.ask(CHAT, "billing-bot-7", QUESTION).await;
        (answer.verdict() == "kill").then_some(answer)
    })
    .await;
    assert_eq!(stopped.reason(), "stopped");
    assert!(String::from_utf8_lossy(&stopped.body).contains("it mails everybody"));
    assert_eq!(stack.ask(CHAT, "another", QUESTION).await.verdict(), "allow");
    stack.assert_sound();
}

#[tokio::test]
async fn streams_under_way_end_with_an_error_of_their_dialect() {
    let (mut stack, operator) = start();
    let gate = Gate::closed();
    let provider_gate = gate.clone();
    stack.provider.script(move |request| faithful(request).gated(&provider_gate));
    let mut answers = Vec::new();
    for dialect in Dialect::ALL {
        let body = dialect.ask(QUESTION, true).to_string();
        let headers = [("x-tenant-id", "acme"), ("x-agent-id", dialect.label())];
        let mut answer = client::stream(stack.address(), dialect.path(true), &headers, body).await;
        let first = answer.chunk().await.expect("a first chunk").to_vec();
        answers.push((dialect, answer, first));
    }
    let stop = json!({"tenant": "acme", "author": "eve", "reason": "enough"});
    operator.ask(Method::POST, "/v1/stops", &stop).await;
    // The promise for every worker.
    tokio::time::sleep(Duration::from_secs(2)).await;
    for _ in 0..1_000 {
        gate.open();
    }
    for (dialect, mut answer, mut got) in answers {
        while let Some(chunk) = answer.chunk().await {
            got.extend_from_slice(&chunk);
        }
        let text = String::from_utf8_lossy(&got);
        assert!(text.contains("an operator stopped it: enough"), "{dialect:?}: {text}");
    }
    stack.assert_sound();
}

#[tokio::test]
async fn live_settings_act_without_a_restart() {
    let (mut stack, operator) = start();
    assert_eq!(stack.ask(CHAT, "nightly", QUESTION).await.verdict(), "allow");
    let only = json!([{"name": "nightly", "settings": {"models": [{"name": "no-such-model"}]}}]);
    let settings = json!({"version": 0, "author": "eve", "reason": "a test", "settings": {"agents": only}});
    operator.ask(Method::PUT, "/v1/settings", &settings).await;
    let refused = until("the settings act", async || {
        let answer = stack.ask(CHAT, "nightly", QUESTION).await;
        (answer.verdict() == "kill").then_some(answer)
    })
    .await;
    assert!(refused.reason().starts_with("model_denied"), "{}", refused.reason());
    assert_eq!(refused.header("x-sentinel-settings-version"), Some("1"));
    stack.assert_sound();
}
