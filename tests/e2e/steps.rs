//! An agent that repeats an action is hinted, then killed, by what its requests' own history says: in each dialect,
//! with an identity and without.

use sentinel_harness::client::{self, Response};
use sentinel_harness::provider::{Reply, speak};
use sentinel_harness::{Dialect, Stack};
use serde_json::{Value, json};

use crate::support::assert_valid;
use crate::support::{QUESTION, assert_allowed, inserted, signal_of};
use sentinel_wire::{Call, Run, told_after_the_last_result};

/// Arguments that are nobody else's business.
const ARGUMENTS: &str = r#"{"query": "zanzibarine ledger", "limit": 5}"#;
const RESULT: &str = "[]  no entry of that marmalade name";

fn stack(config: &Value) -> Stack {
    let stack = Stack::builder().config(config).start();
    stack.provider.script(|request| {
        speak(
            request,
            &Reply::Tool { name: "search".into(), arguments: json!({"query": "zanzibarine ledger"}) },
        )
    });
    stack
}

async fn send(stack: &Stack, run: &Run, agent: Option<&str>, stream: bool) -> Response {
    let headers: Vec<(&str, &str)> = agent.into_iter().map(|agent| ("x-agent-id", agent)).collect();
    client::post(stack.address(), run.dialect.path(stream), &headers, run.body(stream)).await
}

/// The provider got the request as it was sent.
fn assert_untouched(stack: &Stack, run: &Run, response: &Response, what: &str) {
    assert_allowed(response, what);
    assert_eq!(stack.provider.last().body, run.body(false), "{what}");
}

/// The provider got the request with one insertion, which is valid and stands after the last result. Returns the hint.
fn hint_in(stack: &Stack, run: &Run, stream: bool, result: &str) -> String {
    let got = stack.provider.last();
    let extra = inserted(run.body(stream).as_bytes(), &got.body).expect("nothing but one insertion");
    assert!(!extra.is_empty(), "{:?}: nothing was put in", run.dialect);
    assert_eq!(got.header("content-length").expect("a length"), got.body.len().to_string());
    assert_valid(run.dialect, &got.json());
    told_after_the_last_result(run.dialect, &got.json(), result)
}

#[tokio::test]
async fn the_third_repetition_is_hinted_and_the_fifth_killed() {
    let mut stack = stack(&json!({}));
    for dialect in Dialect::ALL {
        for (stream, agent) in [(false, None), (true, None), (false, Some("json")), (true, Some("stream"))] {
            let what = format!("{dialect:?}, stream {stream}, agent {agent:?}");
            let agent = agent.map(|name| format!("repeater {dialect:?} {name}"));
            let mut run = Run::new(dialect, QUESTION);
            let mut verdicts = Vec::new();
            for steps in 0..=6 {
                assert_valid(dialect, &serde_json::from_str(&run.body(stream)).expect("JSON"));
                let before = stack.provider.count();
                let response = send(&stack, &run, agent.as_deref(), stream).await;
                verdicts.push(response.verdict().to_owned());
                match response.verdict() {
                    "allow" => assert_eq!(stack.provider.last().body, run.body(stream), "{what}"),
                    "hint" => {
                        assert_eq!(
                            response.reason(),
                            format!("repeated_step; count={steps}; tool=search"),
                            "{what}"
                        );
                        let hint = hint_in(&stack, &run, stream, RESULT);
                        assert!(hint.contains("`search`"), "{what}: {hint}");
                        assert!(hint.contains(&format!("{steps} times")), "{what}: {hint}");
                    }
                    _ => {
                        assert_eq!(response.status, 400, "{what}");
                        let no = dialect.tells_its_retries().then_some("false");
                        assert_eq!(response.header("x-should-retry"), no, "{what}");
                        assert_eq!(
                            response.reason(),
                            format!("repeated_step; count={steps}; tool=search"),
                            "{what}"
                        );
                        let told = dialect.error_message(&response.json());
                        assert!(told.contains(&format!("`search` {steps} times")), "{what}: {told}");
                        assert_eq!(stack.provider.count(), before, "{what}: it reached the provider");
                    }
                }
                if response.verdict() != "kill" {
                    assert_eq!(response.status, 200, "{what}");
                    let said = String::from_utf8_lossy(&response.body).into_owned();
                    assert!(said.contains("search"), "{what}: the provider's answer is not whole: {said}");
                }
                run.step("search", ARGUMENTS, RESULT);
            }
            let expected = ["allow", "allow", "allow", "hint", "hint", "kill", "kill"];
            assert_eq!(verdicts, expected, "{what}");
        }
        for (verdict, times) in [("hint", 2 * 4), ("kill", 2 * 4)] {
            let labels = [("verdict", verdict), ("signal", "repeated_step"), ("dialect", dialect.label())];
            assert_eq!(stack.count("sentinel_verdicts_total", &labels), times, "{labels:?}");
        }
    }
    stack.assert_sound();
}

/// "Stop, summarise" must get through, and the run may go on from there.
#[tokio::test]
async fn a_new_user_message_gets_through_after_the_kill() {
    let mut stack = stack(&json!({}));
    for dialect in Dialect::ALL {
        for agent in [None, Some(format!("stopped {dialect:?}"))] {
            let what = format!("{dialect:?}, agent {agent:?}");
            let mut run = Run::new(dialect, QUESTION);
            for _ in 0..5 {
                run.step("search", ARGUMENTS, RESULT);
            }
            assert_eq!(send(&stack, &run, agent.as_deref(), false).await.verdict(), "kill", "{what}");
            assert_eq!(send(&stack, &run, agent.as_deref(), false).await.verdict(), "kill", "{what}: again");
            // The filter's own message at the end of a run does not count as an answer of the assistant.
            run.assistant("This agent was stopped because it called `search` 5 times. Send a new user message to go on.");
            run.user("Stop that now and summarise what you know so far");
            let response = send(&stack, &run, agent.as_deref(), false).await;
            assert_untouched(&stack, &run, &response, &format!("{what}: a new user message"));
            // After a kill the same loop is stopped at its second step.
            let mut verdicts = Vec::new();
            for _ in 0..5 {
                run.step("search", ARGUMENTS, RESULT);
                verdicts.push(send(&stack, &run, agent.as_deref(), false).await.verdict().to_owned());
            }
            assert_eq!(verdicts, ["allow", "kill", "kill", "kill", "kill"], "{what}: the same loop again");
        }
    }
    stack.assert_sound();
}

/// Same call, another result: that is how one waits for something.
#[tokio::test]
async fn polling_is_untouched_while_its_results_change() {
    let mut stack = stack(&json!({}));
    for dialect in Dialect::ALL {
        for agent in [None, Some(dialect.label())] {
            let run = Run::new(dialect, QUESTION);
            let mut run = if agent.is_some() { run.in_blocks() } else { run };
            for turn in 0..15 {
                let response = send(&stack, &run, agent, false).await;
                assert_untouched(&stack, &run, &response, &format!("{dialect:?}, {agent:?}, turn {turn}"));
                run.step("job_state", r#"{"job": 7}"#, &format!("{turn} of 40 pages printed"));
            }
        }
    }
    stack.assert_sound();
}

/// Ids, key order, spaces and the order within a turn are no difference; a fan-out is one step.
#[tokio::test]
async fn calls_are_compared_by_what_they_mean() {
    let mut stack = stack(&json!({}));
    for dialect in Dialect::ALL {
        let mut run = Run::new(dialect, QUESTION);
        let list = Call { tool: "list", arguments: "{}", result: "file is locked" };
        let first =
            Call { tool: "read", arguments: r#"{"path": "notes/a", "from": 1}"#, result: "no such page" };
        let second = Call { arguments: r#"{"from":1,"path":"notes/a"}"#, ..first };
        run.turn(&[list, first]);
        run.turn(&[second, list]);
        let response = send(&stack, &run, None, false).await;
        assert_untouched(&stack, &run, &response, &format!("{dialect:?}, twice"));
        run.turn(&[list, second]);
        let response = send(&stack, &run, None, false).await;
        assert_eq!(response.verdict(), "hint", "{dialect:?}");
        assert_eq!(response.reason(), "repeated_step; count=3; tool=list", "{dialect:?}");
        assert!(hint_in(&stack, &run, false, "no such page").contains("`list`"), "{dialect:?}");
        // Six equal calls in one turn are one step.
        let mut run = Run::new(dialect, QUESTION);
        run.turn(&[first; 6]);
        let response = send(&stack, &run, None, false).await;
        assert_untouched(&stack, &run, &response, &format!("{dialect:?}, six at once"));
    }
    stack.assert_sound();
}

/// A cycle of two steps, and one of five. Five rounds of five steps do not fit into the window of `repeated_step`.
#[tokio::test]
async fn cycles() {
    let mut stack = stack(&json!({}));
    for dialect in Dialect::ALL {
        for doors in [2, 5] {
            let mut run = Run::new(dialect, QUESTION);
            let mut seen = Vec::new();
            for _ in 0..5 {
                for door in 0..doors {
                    let behind =
                        format!("There is room number {door} behind it, and one more door at its other end.");
                    run.step("open", &json!({"door": door}).to_string(), &behind);
                }
                let response = send(&stack, &run, None, false).await;
                seen.push(format!("{} {}", response.verdict(), signal_of(&response)));
            }
            assert_eq!(seen[..2], ["allow ", "allow "], "{dialect:?}, {doors} doors");
            assert!(seen[2].starts_with("hint "), "{dialect:?}, {doors} doors: {seen:?}");
            let stopped = if doors == 5 { "kill cycle" } else { "kill repeated_step" };
            assert_eq!(seen[4], stopped, "{dialect:?}, {doors} doors");
        }
    }
    stack.assert_sound();
}

const GUESSES: [&str; 12] =
    ["oslo", "lima", "quito", "accra", "turin", "perth", "delhi", "cairo", "kyoto", "tunis", "paris", "rome"];

/// Weak evidence gets a hint and never a kill, however the result is wrapped.
#[tokio::test]
async fn one_outcome_whatever_the_arguments() {
    let mut stack = stack(&json!({}));
    for dialect in Dialect::ALL {
        for mut run in [Run::new(dialect, QUESTION), Run::new(dialect, QUESTION).in_blocks()] {
            let mut seen = Vec::new();
            for guess in GUESSES {
                run.step("find", &json!({"name": guess}).to_string(), "[]");
                let response = send(&stack, &run, None, false).await;
                seen.push(format!("{} {}", response.verdict(), signal_of(&response)));
            }
            assert_eq!(seen[..4], ["allow "; 4], "{dialect:?}");
            assert_eq!(seen[4], "hint stuck", "{dialect:?}");
            assert_eq!(seen[5..], ["hint same_outcome"; 7], "{dialect:?}");
        }
    }
    stack.assert_sound();
}

/// Calls that differ only in numbers are a batch, which may bring nothing for longer before there is a hint.
#[tokio::test]
async fn a_batch_that_finds_nothing() {
    let mut stack = stack(&json!({}));
    for dialect in Dialect::ALL {
        let mut run = Run::new(dialect, QUESTION);
        let mut seen = Vec::new();
        for page in 1..=12 {
            run.step("find", &json!({"page": page}).to_string(), "[]");
            let response = send(&stack, &run, None, false).await;
            seen.push(format!("{} {}", response.verdict(), signal_of(&response)));
        }
        assert_eq!(seen[..5], ["allow "; 5], "{dialect:?}");
        assert_eq!(seen[5..], ["hint same_outcome"; 7], "{dialect:?}");
    }
    stack.assert_sound();
}

/// Each receipt has another id. A receipt is no proof of a loop, but sending the same text six times gets a hint.
#[tokio::test]
async fn receipts_of_a_repeated_send() {
    let mut stack = stack(&json!({}));
    for dialect in Dialect::ALL {
        for mut run in [Run::new(dialect, QUESTION), Run::new(dialect, QUESTION).in_blocks()] {
            let mut verdicts = Vec::new();
            for n in 1..=12 {
                let receipt = json!({"message_id": format!("m-{n}"), "status": "sent"}).to_string();
                run.step("send_mail", r#"{"to": "a", "text": "Are you there?"}"#, &receipt);
                verdicts.push(send(&stack, &run, None, false).await.verdict().to_owned());
            }
            assert_eq!(
                (&verdicts[..5], &verdicts[5..]),
                (&["allow"; 5].map(str::to_owned)[..], &["hint"; 7].map(str::to_owned)[..]),
                "{dialect:?}"
            );
        }
    }
    stack.assert_sound();
}

/// No argument, no result and no question in any log or metric; one line for each hint and kill.
#[tokio::test]
async fn the_log_tells_the_signal_and_nothing_that_the_agent_said() {
    let mut stack = stack(&json!({}));
    for dialect in Dialect::ALL {
        let mut run = Run::new(dialect, "Where did the quixotic chancellor go?");
        for _ in 0..5 {
            run.step("search", ARGUMENTS, RESULT);
            send(&stack, &run, Some(&format!("quixotic {dialect:?}")), false).await;
        }
    }
    let log = stack.envoy.log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("wasm log")).collect();
    let dialects = Dialect::ALL.len();
    for (verdict, times) in [("hint", 2 * dialects), ("kill", dialects)] {
        let wanted = format!(r#""verdict":"{verdict}""#);
        let of = lines
            .iter()
            .filter(|line| line.contains(&wanted) && line.contains(r#""signal":"repeated_step""#));
        assert_eq!(of.count(), times, "{verdict}: {lines:#?}");
    }
    let admin = sentinel_harness::raw::get(stack.envoy.admin(), "/stats/prometheus").expect("the metrics");
    let metrics = String::from_utf8_lossy(&admin.body).into_owned();
    for secret in ["zanzibarine", "marmalade", "quixotic"] {
        assert!(!log.contains(secret), "the log contains {secret:?}: {lines:#?}");
        assert!(!metrics.contains(secret), "the metrics contain {secret:?}");
    }
    stack.assert_sound();
}
