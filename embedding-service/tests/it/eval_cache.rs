//! `eval-cache` as a user runs it: on the project's own pairs with the real model, and on files that are none.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

use crate::support::{library, model};

fn evaluate(pairs: &Path, out: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_eval-cache"))
        .arg(pairs)
        .arg("--out")
        .arg(out)
        .env("ORT_DYLIB_PATH", library())
        .env("LOOP_EMBEDDING_MODEL_PATH", model())
        .output()
        .unwrap()
}

fn of_repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pairs").join(name)
}

fn number(report: &Value, path: &str) -> u64 {
    report.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {path} in the report"))
}

#[test]
fn few_traps_and_most_rewordings_are_served() {
    for (name, pairs) in [("own.jsonl", 300), ("held_out.jsonl", 150)] {
        let folder = tempfile::tempdir().unwrap();
        let output = evaluate(&of_repository(name), folder.path());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
        let report: Value = serde_json::from_str(&text).unwrap();
        let figure = |name: &str| number(&report, &format!("/default/{name}"));
        assert!(figure("true_total") + figure("traps_total") >= pairs);
        assert!(figure("traps_served") * 100 <= figure("traps_total"), "{name}: {}", report["served_traps"]);
        // Free rewordings are left out where no rule proves them equal, so a twelfth is much.
        assert!(figure("true_served") * 12 >= figure("true_total"), "{name}: {}", report["missed"]);
        // Without the check the same threshold would serve most of the traps.
        assert!(number(&report, "/without_verification/traps_served") * 2 > figure("traps_total"));
        let categories = report["categories"].as_object().unwrap();
        let sum: u64 = categories.values().map(|counts| counts["traps_total"].as_u64().unwrap()).sum();
        assert_eq!(sum, figure("traps_total"));
        let curve = report["curve"].as_array().unwrap();
        let served = |at: usize| number(&curve[at], "/without_verification/true_served");
        assert!((1..curve.len()).all(|at| served(at) <= served(at - 1)), "a higher threshold serves less");
        let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
        assert_eq!(page.matches("<polyline").count(), 4);
    }
}

/// Mostly the same words, in other roles or with one small word changed. The other sets are judged without thresholds where the rules are.
#[test]
fn hard_traps_are_served_at_no_threshold() {
    for (name, traps) in [
        ("hard_traps.jsonl", 45),
        ("traps.jsonl", 350),
        ("eighth_traps.jsonl", 200),
        ("ninth_traps.jsonl", 400),
        ("tenth_traps.jsonl", 400),
        ("eleventh_traps.jsonl", 300),
        ("twelfth_traps.jsonl", 300),
        ("thirteenth_traps.jsonl", 300),
        ("fourteenth_traps.jsonl", 300),
        ("fifteenth_traps.jsonl", 300),
        ("sixteenth_traps.jsonl", 400),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = evaluate(&of_repository(name), folder.path());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
        let report: Value = serde_json::from_str(&text).unwrap();
        let lowest = &report["curve"][0];
        let served = |how: &str| number(lowest, &format!("/{how}/traps_served"));
        assert_eq!(served("with_verification"), 0, "{}", report["served_traps"]);
        assert!(served("without_verification") > traps, "{name}");
    }
}

/// GPTCache's benchmark (`mock_data.json`, `similiar_qqp.json`) and Quora's own file.
#[test]
fn pairs_of_other_benchmarks_are_read_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pairs.json");
    let gptcache = r#"[
        {"id": 1, "origin": "What's the capital of Laos?", "similar": "What is the capital of Laos?"},
        {"id": 2, "origin": "How do planes fly?", "similar": "Why is the sky blue?"}
    ]"#;
    let quora = concat!(
        r#"{"id": "0", "qid1": "1", "qid2": "2", "question1": "What is the capital of Laos?", "question2": "What's the capital of Laos?", "is_duplicate": "1"}"#,
        "\n",
        r#"{"question1": "What is the capital of Laos?", "question2": "What is the capital of Cuba?", "is_duplicate": 0}"#,
    );
    for (text, counts) in [(gptcache, [1, 2, 0, 0]), (quora, [1, 1, 0, 1])] {
        std::fs::write(&file, text).unwrap();
        let output = evaluate(&file, folder.path());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
        let report: Value = serde_json::from_str(&text).unwrap();
        let names = ["true_served", "true_total", "traps_served", "traps_total"];
        assert_eq!(names.map(|name| number(&report, &format!("/default/{name}"))), counts, "{text}");
    }
    for wrong in [r#"[{"origin": "x"}]"#, r#"{"question1": "x", "question2": "y", "is_duplicate": 2}"#] {
        std::fs::write(&file, wrong).unwrap();
        assert_eq!(evaluate(&file, folder.path()).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn a_file_that_holds_no_pairs_is_named_with_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pairs.jsonl");
    for (text, said) in [
        ("", "holds no pair"),
        ("{\"a\": \"x\", \"b\": \"y\", \"same_answer\": true, \"category\": \"c\"}\n{\"a\": 1}", "line 2"),
    ] {
        std::fs::write(&file, text).unwrap();
        let output = evaluate(&file, folder.path());
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(said));
    }
}

#[test]
fn served_traps_are_a_failure_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pairs.jsonl");
    let pair =
        "{\"a\": \"What is gold?\", \"b\": \"What is gold?\", \"same_answer\": false, \"category\": \"odd\"}";
    std::fs::write(&file, pair).unwrap();
    let output = evaluate(&file, folder.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("traps are served"));
}
