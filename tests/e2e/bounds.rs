//! Bounds on the real Envoy: each dialect's golden request, byte for byte, before a provider that refuses what does not
//! pair. The providers' packages are in `sdk`.

use std::fs;

use sentinel_harness::{Dialect, Stack, parts};
use serde_json::{Value, json};

/// The settings of the golden files, by the part that they show.
fn settings(part: &str) -> Value {
    match part {
        "truncation" => {
            json!({"truncation": {"enabled": true, "max_message_chars": 69, "max_tool_result_chars": 45}})
        }
        "repair" => json!({"repair": true}),
        "history" => json!({"history_limit": 1}),
        _ => {
            json!({"pruning": {"enabled": true, "soft_trim_chars": 100, "soft_trim_head": 30, "soft_trim_tail": 20,
            "hard_clear_ratio": 1.0, "min_prunable_tool_chars": 100}})
        }
    }
}

const PARTS: [&str; 4] = ["truncation", "repair", "history", "pruning_soft"];

fn config(mode: &str) -> Value {
    let window = |prefix: &str| json!({"prefix": prefix, "tokens": 1_000});
    let agent = |part: &&str| json!({"name": part, "settings": {"bounds": settings(part)}});
    let windows: Vec<Value> = ["gpt", "claude", "anthropic.", "us.", "gemini"].map(window).into();
    json!({
        "mode": mode,
        "semantic": {"enabled": false},
        "context_windows": windows,
        "agents": PARTS.iter().map(agent).collect::<Vec<_>>(),
    })
}

fn golden(dialect: Dialect, what: &str) -> String {
    let name = format!("filter/pipeline/tests/golden/bounds/{}.{what}", dialect.label());
    fs::read_to_string(parts::root().join(name)).expect("a golden file")
}

#[tokio::test]
async fn every_part_in_every_dialect() {
    let mut stack = Stack::builder().config(&config("enforce")).start();
    for dialect in Dialect::ALL {
        for part in PARTS {
            let response = stack.post(dialect, &[("x-agent-id", part)], golden(dialect, "json")).await;
            let got = stack.provider.last();
            assert_eq!(String::from_utf8_lossy(&got.body), golden(dialect, part), "{dialect:?} {part}");
            assert_eq!(response.verdict(), "allow");
            let is_mended = matches!(part, "repair" | "history");
            assert_eq!(response.status, if is_mended { 200 } else { 400 }, "{dialect:?} {part}");
        }
        for kind in ["truncation", "history", "pruning"] {
            let labels = [("kind", kind), ("dialect", dialect.label())];
            assert!(stack.count("sentinel_bounds_tokens_total", &labels) > 0, "{dialect:?} {kind}");
        }
    }
    stack.assert_sound();
}

#[tokio::test]
async fn observe_counts_and_touches_nothing() {
    let mut stack = Stack::builder().config(&config("observe")).start();
    for part in PARTS {
        stack.post(Dialect::Anthropic, &[("x-agent-id", part)], golden(Dialect::Anthropic, "json")).await;
        let got = stack.provider.last();
        assert_eq!(String::from_utf8_lossy(&got.body), golden(Dialect::Anthropic, "json"), "{part}");
    }
    let labels = [("kind", "result_made"), ("dialect", "anthropic")];
    assert!(stack.count("sentinel_bounds_total", &labels) > 0);
    stack.assert_sound();
}

/// Where results may stand anywhere behind their call, the model still reads one of them.
#[tokio::test]
async fn a_second_result_of_one_call_is_dropped() {
    let mut stack = Stack::builder().config(&config("enforce")).start();
    let said = json!({"role": "user", "content": "Look it up, please."});
    for (dialect, call, result) in [
        (
            Dialect::OpenaiResponses,
            json!({"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": "call_1", "output": "first"}),
        ),
        (
            Dialect::GeminiInteractions,
            json!({"type": "function_call", "id": "call_1", "name": "look", "arguments": {}}),
            json!({"type": "function_result", "call_id": "call_1", "name": "look", "result": "first"}),
        ),
    ] {
        let second =
            serde_json::from_str::<Value>(&result.to_string().replace("first", "second")).expect("JSON");
        let asked = if dialect == Dialect::OpenaiResponses {
            said.clone()
        } else {
            json!({"type": "user_input", "content": "Look it up, please."})
        };
        let body = json!({"model": "m", "input": [asked, call, result, second], "store": false});
        stack.post(dialect, &[("x-agent-id", "repair")], body.to_string()).await;
        let expected = json!({"model": "m", "input": [asked, call, result], "store": false});
        assert_eq!(stack.provider.last().json(), expected, "{dialect:?}");
    }
    stack.assert_sound();
}
