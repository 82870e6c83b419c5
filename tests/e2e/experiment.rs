//! tools/experiment: the ten tasks with and without the real gateway, by a model of ours that repeats its call until it reads a hint,
//! or goes on for ever.

use std::process::Command;

use sentinel_harness::provider::{Received, Reply, speak};
use sentinel_harness::{Stack, parts};
use serde_json::{Value, json};

const TURNS: u64 = 12;

/// The only tool that the request offers, called in the same way each time.
fn call(request: &Received) -> Reply {
    let body: Value = serde_json::from_slice(&request.body).expect("JSON");
    let tool = &body["tools"][0]["function"];
    let names = tool["parameters"]["properties"].as_object().expect("parameters");
    let arguments = names.keys().map(|name| (name.clone(), json!("the same"))).collect();
    let name = tool["name"].as_str().expect("a name").to_owned();
    Reply::Tool { name, arguments: Value::Object(arguments) }
}

/// Plays it once for each task and gives the report.
fn play(stack: &Stack) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("python3")
        .arg(parts::root().join("tools/experiment/run.py"))
        .args(["--gateway", &format!("http://{}", stack.address())])
        .args(["--direct", &format!("http://127.0.0.1:{}", stack.provider.port())])
        .args(["--model", "m", "--runs", "1", "--turns", &TURNS.to_string(), "--out"])
        .arg(folder.path())
        .env_remove("OPENAI_API_KEY")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("Python starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("ended by itself after a hint"), "{table}");
    serde_json::from_slice(&std::fs::read(folder.path().join("report.json")).unwrap()).expect("a report")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_heeds_hints_ends_by_itself_and_spends_less() {
    let stack = Stack::builder().start();
    stack.provider.script(|request| {
        let is_told = String::from_utf8_lossy(&request.body).contains("Do not try it again");
        speak(
            request,
            &if is_told { Reply::Text("The tool does not work.".to_owned()) } else { call(request) },
        )
    });
    let report = tokio::task::block_in_place(|| play(&stack));
    let (with, without) = (&report["summary"]["with"], &report["summary"]["without"]);
    assert_eq!(with["runs"], 10);
    assert_eq!((&with["ended_by_itself_after_a_hint"], &with["killed"]), (&json!(10), &json!(0)), "{with}");
    assert_eq!((&without["cut_at_the_last_turn"], &without["hinted"]), (&json!(10), &json!(0)), "{without}");
    assert_eq!(without["calls_per_run"].as_f64(), Some(TURNS as f64));
    assert_eq!(with["calls_per_run"].as_f64(), Some(3.0));
    let tokens = |figures: &Value| figures["input_tokens_per_run"].as_f64().unwrap();
    assert!(tokens(with) > 0.0 && tokens(with) < tokens(without), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_heeds_nothing_is_stopped() {
    let stack = Stack::builder().start();
    stack.provider.script(|request| speak(request, &call(request)));
    let report = tokio::task::block_in_place(|| play(&stack));
    let with = &report["summary"]["with"];
    assert_eq!(
        (&with["killed"], &with["hinted"], &with["ended_by_itself"]),
        (&json!(10), &json!(10), &json!(0)),
        "{with}"
    );
    // Five of each, and ten of the one whose failure may pass: "Connection refused".
    assert_eq!(with["calls_per_run"].as_f64(), Some(5.5));
}
