//! The input guard on the texts beside this file, attacks and healthy ones: as many are caught, and as few flagged, as the
//! documents say. `make eval-guard` shows which.
#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a test may fail")]

use sentinel_detect::injection::{Place, scan, scan_json};
use serde_json::Value;

/// How many texts of a file there are, and in how many something is found.
fn found(texts: &str) -> (usize, usize) {
    let lines: Vec<Value> = texts.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_found = |line: &&Value| {
        let place = if line["place"] == "tool" { Place::Tool } else { Place::User };
        !scan(line["text"].as_str().unwrap(), place).is_empty()
    };
    (lines.len(), lines.iter().filter(is_found).count())
}

#[test]
fn attacks_are_caught_and_healthy_texts_left_alone() {
    let (attacks, caught) = found(include_str!("injection/attacks.jsonl"));
    let (healthy, flagged) = found(include_str!("injection/healthy.jsonl"));
    assert!(attacks >= 200 && healthy >= 500, "{attacks} {healthy}");
    assert!(caught * 100 >= attacks * 95, "{caught} of {attacks}");
    assert!(flagged * 200 <= healthy, "{flagged} of {healthy}");
}

/// Words that stand in a text as they are take a shorter way than those with escapes: both lead to the same.
#[test]
fn escapes_change_nothing() {
    let texts = concat!(include_str!("injection/attacks.jsonl"), include_str!("injection/healthy.jsonl"));
    for line in texts.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = line["text"].as_str().unwrap();
        let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let (plain, escaped) = (line["text"].to_string(), format!("\"{escaped}\""));
        for place in [Place::User, Place::Tool] {
            assert_eq!(scan_json(&plain, place), scan_json(&escaped, place), "{text}");
        }
    }
}
