//! Loops that hide behind a format, a word between steps, or something volatile in a failure.

use sentinel_harness::provider::reply::text_for;
use sentinel_harness::provider::{Reply, speak};
use sentinel_harness::stack::in_run;
use sentinel_harness::{Dialect, Stack};
use serde_json::{Value, json};

use super::{Way, verdicts};
use crate::support::QUESTION;
use sentinel_wire::Run;

/// The request after `n` rounds.
type Loop = fn(Way, usize) -> String;

fn failure(n: usize) -> String {
    format!(
        r#"{{"error":"upstream connect error","request_id":"req_{:08x}","timestamp":"2026-03-04T10:{n:02}:{:02}Z","took_ms":{}}}"#,
        n * 7_919 + 13,
        n * 11 % 60,
        n * 37 + 5
    )
}

/// Each is hinted at the third round and stopped at the fifth, without any header that names an agent.
#[tokio::test]
async fn what_is_read_from_a_history() {
    let cases: [(&str, Loop); 8] = [
        ("a failure with ids and times", |way, n| {
            let mut run = Run::new(way.dialect, QUESTION);
            (0..n).for_each(|n| run.step("fetch", r#"{"url":"https://example.com/a"}"#, &failure(n)));
            run.body(way.stream)
        }),
        ("a failure with addresses and attempts", |way, n| {
            let mut run = Run::new(way.dialect, QUESTION);
            for n in 0..n {
                let error = format!(
                    "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nRuntimeError: \
                     <Session object at 0x7f{:08x}> is closed (attempt {} of 9, call id: call_{n})",
                    n * 4_096 + 17,
                    n + 1
                );
                run.step("python", r#"{"file":"a.py"}"#, &error);
            }
            run.body(way.stream)
        }),
        ("an exchange of fenced code and observation", |way, n| {
            let mut run = Run::new(way.dialect, QUESTION);
            for n in 0..n {
                run.assistant(&format!(
                    "{}\n\n```bash\npytest tests/test_a.py\n```",
                    text_for(&n.to_string())
                ));
                run.user("<returncode>1</returncode>\n<output>\nE   ModuleNotFoundError: No module named 'yaml'\n</output>");
            }
            run.body(way.stream)
        }),
        ("a scratchpad in one user text", |way, n| {
            let mut text = format!("Answer the question.\nQuestion: {QUESTION}\n");
            for _ in 0..n {
                text.push_str(
                    "Thought: I need to look it up.\nAction: search\nAction Input: longest river\n\
                     Observation: The archive has three volumes on rivers, and all of them are lent out.\n",
                );
            }
            way.dialect.ask(&(text + "Thought:"), way.stream).to_string()
        }),
        ("numbered sections", |way, n| {
            let mut text = format!("Task: {QUESTION}\n\nWhat you did so far:\n");
            for n in 0..n {
                text.push_str(&format!(
                    "thought_{n}: I look it up.\ntool_name_{n}: search\ntool_args_{n}: {{\"for\": \"rivers\"}}\n\
                     observation_{n}: The archive has three volumes on rivers, and all of them are lent out.\n"
                ));
            }
            way.dialect.ask(&text, way.stream).to_string()
        }),
        ("action and observation in the assistant's own text", |way, n| {
            let mut run = Run::new(way.dialect, QUESTION);
            for _ in 0..n {
                run.assistant(
                    "Thought: I need to look it up.\nAction: search\nAction Input: longest river\n\
                     Observation: The archive has three volumes on rivers, and all of them are lent out.",
                );
                run.user("Go on.");
            }
            run.body(way.stream)
        }),
        ("continue between the steps", |way, n| {
            let mut run = Run::new(way.dialect, QUESTION);
            for n in 0..n {
                run.step("deploy", r#"{"to":"prod"}"#, "error: permission denied");
                if n % 2 == 0 {
                    run.user("continue");
                }
            }
            // The last word is the tool's.
            run.step("deploy", r#"{"to":"prod"}"#, "error: permission denied");
            run.body(way.stream)
        }),
        ("a reminder with a count between the steps", |way, n| {
            let mut run = Run::new(way.dialect, QUESTION);
            for n in 0..n {
                run.step("deploy", r#"{"to":"prod"}"#, "error: permission denied");
                run.user(&format!(
                    "Reminder: you have {} tokens left, go on with the task.",
                    9_000 - n * 731
                ));
            }
            run.step("deploy", r#"{"to":"prod"}"#, "error: permission denied");
            run.body(way.stream)
        }),
    ];
    let mut stack = Stack::builder().start();
    for way in Way::all() {
        for (what, body) in cases {
            let seen = verdicts(&stack, way, &[], 7, |n| body(way, n)).await;
            let first = |wanted: &str| seen.iter().position(|verdict| verdict == wanted);
            assert!(matches!(first("hint"), Some(2..=4)), "{what}, {way:?}: {seen:?}");
            assert!(matches!(first("kill"), Some(4..=6)), "{what}, {way:?}: {seen:?}");
        }
    }
    stack.assert_sound();
}

/// Text beside the results of a turn is no new task.
#[tokio::test]
async fn words_beside_results_do_not_hide_a_loop() {
    let mut stack = Stack::builder().start();
    for way in [false, true].map(|stream| Way { dialect: Dialect::Anthropic, stream }) {
        let body = |rounds: usize| {
            let mut messages = vec![json!({"role": "user", "content": QUESTION})];
            for n in 0..rounds {
                let id = format!("toolu_{n}");
                let call = json!({"type": "tool_use", "id": id, "name": "deploy", "input": {"to": "prod"}});
                messages.push(json!({"role": "assistant", "content": [call]}));
                let result =
                    json!({"type": "tool_result", "tool_use_id": id, "content": "error: permission denied"});
                let words =
                    json!({"type": "text", "text": format!("Tokens used: {} of 200000", 1_811 * (n + 1))});
                messages.push(json!({"role": "user", "content": [result, words]}));
            }
            let mut body = json!({"model": "claude-sonnet-4-5", "max_tokens": 256, "messages": messages});
            if way.stream {
                body["stream"] = Value::Bool(true);
            }
            body.to_string()
        };
        let seen = verdicts(&stack, way, &[], 6, body).await;
        assert_eq!(seen, ["allow", "allow", "allow", "hint", "hint", "kill"], "{way:?}");
    }
    stack.assert_sound();
}

/// A planner and a summariser under the same name speak in between, and the history is cut: what the window has seen of
/// prompts and answers stays.
#[tokio::test]
async fn calls_in_between_do_not_reset_the_window() {
    let mut stack = Stack::builder().start();
    for way in Way::all() {
        let agent = way.agent("planned");
        let mut seen = Vec::new();
        for n in 0..8 {
            let ask = way.dialect.ask(QUESTION, way.stream).to_string();
            seen.push(way.send(&stack, &in_run(&agent), ask).await.verdict().to_owned());
            let plan = way.dialect.ask(&format!("Plan {}", text_for(&n.to_string())), way.stream).to_string();
            let between = way.send(&stack, &in_run(&agent), plan).await;
            assert_ne!(between.verdict(), "kill", "{way:?}, plan {n}");
        }
        assert!(seen.contains(&"hint".to_owned()), "{way:?}: {seen:?}");
        assert!(seen.contains(&"kill".to_owned()), "{way:?}: {seen:?}");
    }
    stack.assert_sound();
}

/// Rewordings with one answer get a hint. Prompts that only exchange a name are a batch and get none.
#[tokio::test]
async fn rewordings_are_hinted_and_batches_are_not() {
    const REWORDED: [&str; 6] = [
        "Why does the nightly build fail on the second machine?",
        "Why is the nightly build failing on the second machine?",
        "Why did the nightly build fail on the second machine?",
        "Why does the nightly build fail at the second machine?",
        "Why has the nightly build failed on the second machine?",
        "Why would the nightly build fail on the second machine?",
    ];
    const NAMES: [&str; 8] = ["Aalto", "Brandt", "Castro", "Duarte", "Eriksen", "Farkas", "Greco", "Horvat"];
    let mut stack = Stack::builder().service().start();
    stack.provider.script(|request| {
        speak(request, &Reply::Text("The log says that the disk of this machine is full.".into()))
    });
    for way in Way::all() {
        let agent = way.agent("reworded");
        let seen = verdicts(&stack, way, &in_run(&agent), REWORDED.len(), |n| {
            way.dialect.ask(REWORDED[n], way.stream).to_string()
        })
        .await;
        assert!(seen.contains(&"hint".to_owned()), "{way:?}: {seen:?}");

        let agent = way.agent("names");
        let seen = verdicts(&stack, way, &in_run(&agent), NAMES.len(), |n| {
            let text = format!("Look up the address of the customer {} in the directory", NAMES[n]);
            way.dialect.ask(&text, way.stream).to_string()
        })
        .await;
        assert!(seen.iter().all(|verdict| verdict == "allow"), "a batch, {way:?}: {seen:?}");
    }
    stack.assert_sound();
}

/// A client marks every request as a retry. None counts as one, because the earlier requests were answered.
#[tokio::test]
async fn a_retry_header_alone_is_no_retry() {
    let mut stack = Stack::builder().start();
    for way in Way::all() {
        let agent = way.agent("retrying");
        let (name, value) = way.dialect.attempt(1);
        let [id, run] = in_run(&agent);
        let ask = |_| way.dialect.ask(QUESTION, way.stream).to_string();
        let seen = verdicts(&stack, way, &[id, run, (name, value.as_str())], 6, ask).await;
        assert!(seen.contains(&"hint".to_owned()), "{way:?}: {seen:?}");
        assert_eq!(seen.last().map(String::as_str), Some("kill"), "{way:?}: {seen:?}");
    }
    stack.assert_sound();
}
