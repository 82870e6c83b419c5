//! Each part of the bounds by example, in each dialect: `golden/bounds/<dialect>.json` is a request, `<dialect>.<part>` what
//! the provider gets. `UPDATE_GOLDEN=1 cargo test -p sentinel-pipeline --test bounds_golden` writes them anew; look at the
//! difference before committing it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

use std::{fs, path::Path};

use sentinel_config::Config;
use sentinel_pipeline::in_memory::{ClientRequest, Exchange, InMemory, ProviderResponse};
use sentinel_wire::{Dialect, pairing};
use serde_json::{Value, json};

/// The window of the models in the examples, so small that a short run fills it.
const WINDOW: usize = 1_000;

fn parts() -> [(&'static str, Value); 6] {
    let pruning = |hard: f64| {
        json!({"pruning": {"enabled": true, "soft_trim_chars": 100, "soft_trim_head": 30, "soft_trim_tail": 20,
            "hard_clear_ratio": hard, "min_prunable_tool_chars": 100}})
    };
    [
        (
            "truncation",
            json!({"truncation": {"enabled": true, "max_message_chars": 69, "max_tool_result_chars": 45}}),
        ),
        ("repair", json!({"repair": true})),
        ("history", json!({"history_limit": 1})),
        ("pruning_soft", pruning(1.0)),
        ("pruning_hard", pruning(0.31)),
        ("memory_flush", json!({"memory_flush": {"enabled": true}})),
    ]
}

fn sent(path: &str, body: &str, bounds: &Value, window: usize) -> Exchange {
    let windows: Vec<Value> = ["gpt", "claude", "us.anthropic.", "gemini"]
        .iter()
        .map(|prefix| json!({"prefix": prefix, "tokens": window}))
        .collect();
    let config = json!({"bounds": bounds, "context_windows": windows, "semantic": {"enabled": false}});
    let mut host = InMemory::new(Config::from_json(config.to_string().as_bytes()).unwrap());
    host.exchange(&ClientRequest::post(path, body), &ProviderResponse::json("{}"))
}

fn check(file: &Path, actual: &[u8]) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(file, actual).unwrap();
        return;
    }
    let expected = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let (expected, actual) = (String::from_utf8_lossy(&expected), String::from_utf8_lossy(actual));
    assert_eq!(expected, actual, "{}", file.display());
}

#[test]
fn each_part_in_each_dialect() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/bounds");
    for dialect in Dialect::ALL {
        let path = dialect.path(false);
        let body = fs::read_to_string(folder.join(format!("{dialect}.json"))).unwrap();
        assert!(pairing::complaint(dialect, &serde_json::from_str(&body).unwrap()).is_some(), "{dialect}");
        for (part, bounds) in parts() {
            let window = match part {
                // The newest turn crosses the mark.
                "memory_flush" => 24_000 + body.len() / 4 - 45,
                "pruning_hard" => WINDOW / 2,
                _ => WINDOW,
            };
            let passed = sent(path, &body, &bounds, window);
            let sent = passed.sent.as_ref().unwrap();
            assert!(sent != body.as_bytes(), "{dialect} {part}");
            let read: Value = serde_json::from_slice(sent).unwrap();
            check(&folder.join(format!("{dialect}.{part}")), sent);
            if ["repair", "history"].contains(&part) {
                assert_eq!(pairing::complaint(dialect, &read), None, "{dialect} {part}");
            }
            assert_eq!(
                passed.verdict(),
                Some(if part == "memory_flush" { "hint" } else { "allow" }),
                "{dialect}"
            );
        }
        assert_eq!(sent(path, &body, &json!({}), 9).sent.unwrap(), body.as_bytes(), "{dialect}: off");
    }
}

/// Everything at once: what is cut, dropped, moved and said lies beside each other.
#[test]
fn all_parts_together_fit() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/bounds");
    let mut all = json!({});
    for (_, bounds) in parts() {
        all.as_object_mut().unwrap().extend(bounds.as_object().unwrap().clone());
    }
    all["history_limit"] = json!(2);
    for dialect in Dialect::ALL {
        let path = dialect.path(false);
        let body = fs::read_to_string(folder.join(format!("{dialect}.json"))).unwrap();
        let passed = sent(path, &body, &all, WINDOW);
        let sent = passed.sent.unwrap();
        let read: Value = serde_json::from_slice(&sent).unwrap();
        assert_eq!(pairing::complaint(dialect, &read), None, "{dialect}");
        check(&folder.join(format!("{dialect}.all")), &sent);
    }
}
