//! Steps under other circumstances: several workers and Envoys, retries, limits and thresholds of the configuration.

use sentinel_harness::client::Response;
use sentinel_harness::process::eventually;
use sentinel_harness::provider::{Reply, faithful, speak};
use sentinel_harness::{Dialect, Stack};
use serde_json::json;

use crate::support::assert_valid;
use crate::support::{CHAT, QUESTION, assert_allowed, inserted};
use sentinel_wire::Run;

const ARGUMENTS: &str = r#"{"query": "opening hours"}"#;
const RESULT: &str = "error: the index is locked";

/// A run that has made the same call this many times.
fn repeated(dialect: Dialect, times: usize) -> Run {
    let mut run = Run::new(dialect, QUESTION);
    for _ in 0..times {
        run.step("search", ARGUMENTS, RESULT);
    }
    run
}

/// An agent of that name; those that speak different dialects have nothing to do with each other.
fn of(dialect: Dialect, agent: &str) -> [(&'static str, &str); 2] {
    [("x-tenant-id", dialect.label()), ("x-agent-id", agent)]
}

async fn send(stack: &Stack, run: &Run, headers: &[(&str, &str)]) -> Response {
    stack.post(run.dialect, headers, run.body(false)).await
}

/// The verdict is a function of the request: whichever worker and whichever Envoy gets it.
#[tokio::test]
async fn every_worker_and_every_envoy_says_the_same() {
    let mut stacks = [Stack::builder().start(), Stack::builder().start()];
    for dialect in Dialect::ALL {
        for (times, verdict) in [(2, "allow"), (3, "hint"), (5, "kill")] {
            let run = repeated(dialect, times);
            let mut rewrites = Vec::new();
            for stack in &stacks {
                for _ in 0..6 {
                    let response = send(stack, &run, &[]).await;
                    assert_eq!(response.verdict(), verdict, "{dialect:?}, {times} times");
                    if verdict == "hint" {
                        rewrites.push(stack.provider.last().body);
                    }
                }
            }
            rewrites.dedup();
            assert!(rewrites.len() <= 1, "{dialect:?}: one request, several rewrites: {rewrites:?}");
        }
    }
    // Both workers of each were asked.
    let run = repeated(CHAT, 5);
    for stack in &mut stacks {
        for worker in ["0", "1"] {
            eventually("both workers are asked", async || {
                assert_eq!(send(stack, &run, &[]).await.verdict(), "kill");
                stack.count("envoy_listener_worker_downstream_cx_total", &[("envoy_worker_id", worker)]) > 0
            })
            .await;
        }
        stack.assert_sound();
    }
}

/// One run, each request of it to the other Envoy.
#[tokio::test]
async fn a_run_that_moves_from_envoy_to_envoy() {
    let mut stacks = [Stack::builder().start(), Stack::builder().start()];
    for dialect in Dialect::ALL {
        let mut verdicts = Vec::new();
        for times in 0..=5 {
            let run = repeated(dialect, times);
            let response = send(&stacks[times % 2], &run, &of(dialect, "wanderer")).await;
            verdicts.push(response.verdict().to_owned());
        }
        assert_eq!(verdicts, ["allow", "allow", "allow", "hint", "hint", "kill"], "{dialect:?}");
    }
    stacks.iter_mut().for_each(Stack::assert_sound);
}

/// A provider that fails and an SDK that tries again: no step has been made, so nothing counts.
#[tokio::test]
async fn retries_of_failed_requests_raise_nothing() {
    let mut stack = Stack::builder().start();
    for dialect in Dialect::ALL {
        for headers in [Vec::new(), of(dialect, "unlucky").to_vec()] {
            for times in [2, 3] {
                let run = repeated(dialect, times);
                let (verdict, before) = (if times == 3 { "hint" } else { "allow" }, stack.provider.count());
                for attempt in 0..4 {
                    let failing = attempt != 3;
                    stack.provider.script(move |request| {
                        if failing { speak(request, &Reply::Error(500)) } else { faithful(request) }
                    });
                    let mut headers = headers.clone();
                    let (name, value) = dialect.attempt(attempt);
                    headers.push((name, &value));
                    let response = send(&stack, &run, &headers).await;
                    assert_eq!(response.status, if failing { 500 } else { 200 }, "{dialect:?}");
                    assert_eq!(response.verdict(), verdict, "{dialect:?}, {headers:?}, attempt {attempt}");
                }
                let got: Vec<_> = stack.provider.received().split_off(before);
                assert_eq!(got.len(), 4, "{dialect:?}");
                assert!(
                    got.iter().all(|one| one.body == got[0].body),
                    "{dialect:?}: a retry looks different"
                );
                if times == 2 {
                    assert_eq!(got[0].body, run.body(false), "{dialect:?}");
                }
            }
        }
        // The run goes on, and what it had is no loop.
        let mut run = repeated(dialect, 2);
        run.step("search", ARGUMENTS, "The library opens at nine on weekdays.");
        assert_allowed(&send(&stack, &run, &of(dialect, "unlucky")).await, dialect.label());
    }
    stack.assert_sound();
}

/// With `run_limit` a run ends even if every step is new.
#[tokio::test]
async fn the_run_limit_of_the_configuration() {
    let mut stack = Stack::builder().config(&json!({"run_limit": 5})).start();
    for dialect in Dialect::ALL {
        let mut run = Run::new(dialect, QUESTION);
        for round in 0..2 {
            let mut verdicts = Vec::new();
            for turn in 1..=5 {
                let what = format!("round {round}, turn {turn}");
                run.step("read", &json!({"what": what}).to_string(), &format!("The text of {what}."));
                let response = send(&stack, &run, &[]).await;
                if response.verdict() != "allow" {
                    assert_eq!(response.reason(), format!("run_limit; count={turn}"), "{dialect:?}");
                }
                if response.verdict() == "hint" {
                    let got = stack.provider.last();
                    let extra = inserted(run.body(false).as_bytes(), &got.body).expect("one insertion");
                    assert!(String::from_utf8_lossy(&extra).contains("4 turns"), "{dialect:?}: {extra:?}");
                    assert_valid(dialect, &got.json());
                }
                verdicts.push(response.verdict().to_owned());
            }
            assert_eq!(verdicts, ["allow", "allow", "allow", "hint", "kill"], "{dialect:?}, round {round}");
            // A new user message starts a new count.
            run.assistant("I was told to stop.");
            run.user(["Please go on with the next chapter of it", "And now the last one"][round]);
            assert_allowed(&send(&stack, &run, &[]).await, &format!("{dialect:?}, after the user's word"));
        }
        let labels = [("signal", "run_limit"), ("verdict", "kill"), ("dialect", dialect.label())];
        assert_eq!(stack.count("sentinel_verdicts_total", &labels), 2);
    }
    stack.assert_sound();
}

#[tokio::test]
async fn thresholds_of_single_agents() {
    let config = json!({"agents": [
        {"name": "patient", "settings": {"steps": {"repeated_step": {"hint": 4, "kill": 7},
            "stagnation": {"hint": 0, "kill": 0}}}},
        {"prefix": "free-", "settings": {"steps": {"enabled": false}}},
        {"prefix": "watched-", "settings": {"mode": "observe"}},
        {"prefix": "polite-", "settings": {"kill": {"mode": "final_message", "message": "Stopped: {reason}."}}},
    ]});
    let mut stack = Stack::builder().config(&config).start();
    for dialect in Dialect::ALL {
        for (agent, hint, kill) in
            [("patient", Some(4), Some(7)), ("free-one", None, None), ("somebody", Some(3), Some(5))]
        {
            let mut verdicts = Vec::new();
            for times in 1..=8 {
                let run = repeated(dialect, times);
                verdicts.push(send(&stack, &run, &of(dialect, agent)).await.verdict().to_owned());
            }
            let first = |wanted: &str| verdicts.iter().position(|verdict| verdict == wanted).map(|at| at + 1);
            assert_eq!((first("hint"), first("kill")), (hint, kill), "{dialect:?}, {agent}: {verdicts:?}");
        }
        // Observed only: the request is as it was, and the verdict is counted.
        let run = repeated(dialect, 5);
        let labels = [("signal", "repeated_step"), ("verdict", "kill"), ("dialect", dialect.label())];
        let before = stack.count("sentinel_verdicts_total", &labels);
        let response = send(&stack, &run, &of(dialect, "watched-one")).await;
        assert_eq!((response.status, response.verdict()), (200, ""), "{dialect:?}");
        assert_eq!(stack.provider.last().body, run.body(false), "{dialect:?}");
        assert_eq!(stack.count("sentinel_verdicts_total", &labels), before + 1, "{dialect:?}");
        // Stopped by a message that names what went round.
        let response = send(&stack, &run, &of(dialect, "polite-one")).await;
        assert_eq!((response.status, response.verdict()), (200, "kill"), "{dialect:?}");
        let said = dialect.answer_text(&response.body);
        assert!(said.starts_with("Stopped: ") && said.contains("`search` 5 times"), "{dialect:?}: {said}");
    }
    stack.assert_sound();
}
