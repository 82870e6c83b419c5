//! Who runs the gateway reads in Envoy's log that requests pass unchecked, and why: one line a minute and cause.

use sentinel_harness::Stack;
use sentinel_harness::process::eventually;
use serde_json::{Value, json};

use crate::support::{CHAT, QUESTION};

/// The lines that say so, by cause.
fn told(stack: &Stack) -> Vec<(String, Value)> {
    let log = stack.envoy.log();
    let lines = log.lines().filter_map(|line| {
        let at = line.find(r#"{"event":"fail_open""#)?;
        let text = &line[at..=line.rfind('}')?];
        let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{line}: {error}"));
        Some((value["cause"].as_str()?.to_owned(), value))
    });
    lines.collect()
}

#[tokio::test]
async fn each_cause_is_told_once_a_minute_whatever_the_number_of_requests() {
    let stack = Stack::builder().start();
    let asked = 40;
    let question =
        |number: usize| CHAT.ask(&format!("{QUESTION} {}", "x".repeat(number + 1)), false).to_string();
    let unread = [("content-encoding", "gzip"), ("x-agent-id", "hidden-name")];
    let requests = (0..asked).map(|number| {
        let (stack, unread) = (&stack, &unread);
        async move {
            let agent = format!("hidden-name-{number}");
            let seen = stack.post(CHAT, &[("x-agent-id", &agent)], question(number)).await;
            let encoded = stack.post(CHAT, unread, question(number)).await;
            let broken = stack.post(CHAT, &unread[1..], "{hidden").await;
            assert_eq!([seen.status, encoded.status, broken.status], [200; 3]);
        }
    });
    futures_util::future::join_all(requests).await;
    let calls = stack.count("sentinel_service_calls_total", &[("outcome", "unavailable")]);
    assert_eq!(calls, asked as u64, "the absent service was asked each time");
    assert_eq!(stack.count("sentinel_bypasses_total", &[("cause", "encoded")]), asked as u64);

    eventually("the log has it", async || told(&stack).len() >= 3).await;
    let mut causes: Vec<String> = told(&stack).into_iter().map(|(cause, _)| cause).collect();
    causes.sort();
    assert_eq!(causes, ["encoded", "not_json", "service_unavailable"]);
    for (cause, line) in told(&stack) {
        assert!(line["meaning"].as_str().is_some_and(|text| text.contains("pass")), "{cause}: {line}");
    }
    assert!(!stack.envoy.log().contains("hidden"), "something of a request stands in the log");
}

#[tokio::test]
async fn a_cluster_that_envoy_does_not_have_is_told_with_the_first_call() {
    let stack = Stack::builder().config(&json!({"cluster": "nowhere"})).start();
    // Without an identity the service is not called.
    assert_eq!(stack.post(CHAT, &[], CHAT.ask(QUESTION, false).to_string()).await.status, 200);
    assert_eq!(told(&stack), [], "it is told before there was a call");
    let agent = [("x-agent-id", "a")];
    assert_eq!(stack.post(CHAT, &agent, CHAT.ask(QUESTION, false).to_string()).await.status, 200);
    eventually("the log has it", async || !told(&stack).is_empty()).await;
    let causes: Vec<String> = told(&stack).into_iter().map(|(cause, _)| cause).collect();
    assert_eq!(causes, ["service_unknown_cluster"]);
}

#[tokio::test]
async fn what_is_no_fault_is_not_told() {
    let stack = Stack::builder().config(&json!({"semantic": {"enabled": false}})).start();
    // Without an identity nothing is compared, by design; the second has no body to check.
    assert_eq!(stack.post(CHAT, &[], CHAT.ask(QUESTION, false).to_string()).await.status, 200);
    assert_eq!(stack.post(CHAT, &[], "").await.status, 200);
    assert_eq!(stack.count("sentinel_requests_total", &[]), 1);
    assert_eq!(told(&stack), []);
}
