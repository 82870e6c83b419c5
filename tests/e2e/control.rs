//! Control from end to end: the real service hears what agents did, and a stop of its operator reaches requests and streams under
//! way; so do live settings.

use std::time::Duration;

use hyper::Method;
pub use sentinel_harness::operator::{Operator, until};
use sentinel_harness::process::eventually;
use sentinel_harness::provider::{Answer, Gate, Piece, faithful};
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
    // A stop reaches every worker within two seconds.
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

/// The stop comes while the provider thinks: nothing of its answer has begun.
#[tokio::test]
async fn an_answer_whose_headers_have_not_gone_is_not_given() {
    let (mut stack, operator) = start();
    let gate = Gate::closed();
    let provider_gate = gate.clone();
    stack.provider.script(move |request| faithful(request).head_gated(&provider_gate));
    let mut asked = Vec::new();
    for dialect in Dialect::ALL {
        for stream in [false, true] {
            let (address, body) = (stack.address(), dialect.ask(QUESTION, stream).to_string());
            let path = dialect.path(stream).to_owned();
            asked.push(tokio::spawn(async move {
                let headers = [("x-tenant-id", "acme"), ("x-agent-id", dialect.label())];
                (dialect, stream, client::post(address, &path, &headers, body).await)
            }));
        }
    }
    eventually("the provider thinks about all", async || stack.provider.count() == asked.len()).await;
    let stop = json!({"tenant": "acme", "author": "eve", "reason": "enough"});
    operator.ask(Method::POST, "/v1/stops", &stop).await;
    // A stop reaches every worker within two seconds.
    tokio::time::sleep(Duration::from_secs(2)).await;
    for _ in 0..asked.len() {
        gate.open();
    }
    for asked in asked {
        let (dialect, stream, answer) = asked.await.expect("it is answered");
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!(
            (answer.status, answer.verdict(), answer.reason()),
            (400, "kill", "stopped"),
            "{dialect:?}, stream: {stream}: {body}"
        );
        assert!(body.contains("an operator stopped it: enough"), "{dialect:?}, stream: {stream}: {body}");
    }
    stack.assert_sound();
}

/// An answer that is held back whole to be cleaned can still be replaced, however much of it has come.
#[tokio::test]
async fn an_answer_that_is_kept_back_to_be_cleaned_is_not_given() {
    let (mut stack, operator) = start_with(&json!({"clean": {"enabled": true}}), |builder| builder);
    let gate = Gate::closed();
    let provider_gate = gate.clone();
    stack.provider.script(move |request| {
        let whole = faithful(request);
        let Some(Piece::Bytes(body)) = whole.pieces.first().cloned() else { panic!("{whole:?}") };
        let halves = [body.slice(..body.len() / 2), body.slice(body.len() / 2..)].map(Piece::Bytes);
        Answer { pieces: halves.into(), ..whole }
            .with("content-length", &body.len().to_string())
            .gated(&provider_gate)
    });
    let (address, body) = (stack.address(), CHAT.ask(QUESTION, false).to_string());
    let asked = tokio::spawn(async move {
        client::post(address, CHAT.path(false), &[("x-agent-id", "cleaned")], body).await
    });
    eventually("the provider answers", async || stack.provider.count() == 1).await;
    let stop = json!({"agent": "cleaned", "author": "eve", "reason": "enough"});
    operator.ask(Method::POST, "/v1/stops", &stop).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    gate.open();
    let answer = asked.await.expect("it is answered");
    assert_eq!((answer.status, answer.verdict(), answer.reason()), (400, "kill", "stopped"));
    assert!(String::from_utf8_lossy(&answer.body).contains("an operator stopped it: enough"));
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
