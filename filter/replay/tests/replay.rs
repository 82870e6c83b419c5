//! The replay as a user runs it, on runs that are made here: what it prints, what it writes, how it ends.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use sentinel_harness::Dialect;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A run of `(arguments, result)` after a user's word; each call is of the tool `search`.
fn run(id: &str, label: &str, steps: &[(String, String)]) -> String {
    let mut messages = vec![
        json!({"role": "system", "content": "Use the tools."}),
        json!({"role": "user", "content": format!("Please find out about {id} & <its> parts.")}),
    ];
    for (number, (arguments, result)) in steps.iter().enumerate() {
        let id = format!("call_{number}");
        let function = json!({"name": "search", "arguments": arguments});
        messages.push(json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": id, "type": "function", "function": function}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
    }
    messages.push(json!({"role": "assistant", "content": format!("That is all about {id}.")}));
    json!({"id": id, "source": "made", "label": label, "messages": messages}).to_string()
}

/// Other things are found each time.
fn healthy(id: &str) -> String {
    let step = |number: usize| {
        let result = format!(
            "Page {number} of {id} tells of {} barns, {} fields and the weather of that year.",
            number * 7,
            number * 31
        );
        (json!({"query": format!("{id} {number}"), "limit": 5}).to_string(), result)
    };
    run(id, "healthy", &(1..9).map(step).collect::<Vec<_>>())
}

/// The same is sought, and not found, over and over.
fn stuck(id: &str) -> String {
    let spelt = |number: usize| {
        let spelling = if number.is_multiple_of(2) {
            r#"{"limit":5,"query":"the mill"}"#
        } else {
            r#"{ "query": "the mill", "limit": 5 }"#
        };
        (spelling.to_owned(), "The page cannot be shown.".to_owned())
    };
    run(id, "stuck", &(0_usize..8).map(spelt).collect::<Vec<_>>())
}

/// Six healthy runs and two that are stuck.
fn traces(folder: &TempDir) -> String {
    let mut lines: Vec<String> = (1..7).map(|number| healthy(&format!("barn-{number}"))).collect();
    lines.extend([stuck("mill-1"), stuck("mill-2")]);
    let path = folder.path().join("traces.jsonl");
    fs::write(&path, lines.join("\n")).expect("it is written");
    path.display().to_string()
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn eval(folder: &TempDir, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eval"));
    command.arg("--out").arg(folder.path().join("out")).args(args);
    command.output().expect("it starts")
}

/// Runs it, and gives the report.
fn report(folder: &TempDir, args: &[&str]) -> Value {
    let output = eval(folder, args);
    assert!(output.status.success(), "{}", said(&output));
    let text = fs::read_to_string(folder.path().join("out/report.json")).expect("a report");
    serde_json::from_str(&text).expect("JSON")
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).join("\n")
}

fn group<'a>(report: &'a Value, label: &str) -> &'a Value {
    let groups = report["groups"].as_array().expect("a list");
    groups.iter().find(|group| group["label"] == label).expect("the group is there")
}

/// Histories of agents that repeat themselves for a reason, and of agents that are stuck, by authors who had not read how it is
/// decided. Eight healthy ones cannot be told from a loop: their outcome says as much as that of a loop, and nobody has said that
/// it will repeat.
#[test]
fn of_written_histories_eight_healthy_ones_are_killed() {
    const KILLED: [&str; 8] = [
        "first-h-104-text-en-aider-repl",
        "fifth-h-repl-recv",
        "fifth-h-mainframe-pf8",
        "fifth-h-text-adventure-dig",
        "fifth-h-mock-server-429-test",
        "sixth-h-052-git-push-race",
        "sixth-h-078-text-ed-session",
        "sixth-h-081-irc-bot-ping",
    ];
    let folder = folder();
    let written = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/written.jsonl.gz");
    for dialect in ["openai_chat", "anthropic"] {
        let report = report(&folder, &[written, "--dialect", dialect]);
        let flagged = report["flagged_runs"].as_array().expect("a list");
        let killed: Vec<_> = flagged
            .iter()
            .filter(|run| run["label"] == "healthy" && !run["kill"].is_null())
            .map(|run| run["id"].as_str().expect("an id"))
            .collect();
        assert_eq!(killed, KILLED, "{dialect}");
        let count = |label: &str, field: &str| group(&report, label)[field].as_u64().expect("a number");
        assert_eq!([count("healthy", "runs"), count("stuck", "runs")], [1_017, 411]);
        assert!(count("healthy", "hinted") <= 199, "{dialect}: {}", count("healthy", "hinted"));
        assert!(count("stuck", "hinted") >= 309, "{dialect}: {}", count("stuck", "hinted"));
        assert!(count("stuck", "killed") >= 150, "{dialect}: {}", count("stuck", "killed"));
    }
}

#[test]
fn the_stuck_are_found_and_the_healthy_left_alone_in_every_dialect() {
    let folder = folder();
    let traces = traces(&folder);
    let mut flagged = Vec::new();
    for dialect in Dialect::ALL {
        let report = report(&folder, &[&traces, "--dialect", dialect.label()]);
        let healthy = group(&report, "healthy");
        assert_eq!(
            (&healthy["runs"], &healthy["hinted"], &healthy["killed"]),
            (&json!(6), &json!(0), &json!(0))
        );
        let stuck = group(&report, "stuck");
        assert_eq!((&stuck["runs"], &stuck["hinted"], &stuck["killed"]), (&json!(2), &json!(2), &json!(2)));
        assert_eq!(stuck["by_signal"], json!({"repeated_step": 2}));
        assert_eq!(stuck["after_user_message"], json!({"checked": 2, "flagged": 0}));
        assert_eq!(stuck["requests_not_inspected"], 0);
        assert_eq!(report["config"]["dialect"], dialect.label());
        flagged.push(report["flagged_runs"].clone());
    }
    assert!(flagged.iter().all(|runs| *runs == flagged[0]), "{flagged:#?}");
    let run = &flagged[0][0];
    assert_eq!(
        (&run["id"], &run["hint"]["at_step"], &run["kill"]["at_step"]),
        (&json!("mill-1"), &json!(3), &json!(5))
    );
    assert_eq!(run["hint"]["evidence_messages"], json!([2, 3, 4, 5, 6, 7]));
}

#[test]
fn the_table_and_the_page_tell_the_same() {
    let folder = folder();
    let output = eval(&folder, &[&traces(&folder)]);
    let table = String::from_utf8_lossy(&output.stdout);
    for part in ["source", "2 (100.0 %)", "repeated_step 2 (kills 2)", "a second", "untouched in 2 of 2"] {
        assert!(table.contains(part), "{part:?} is not in\n{table}");
    }
    let page = fs::read_to_string(folder.path().join("out/report.html")).expect("a page");
    for part in [
        "<svg",
        "<details class=\"run\">",
        "mill-2",
        "class=\"result evidence\"",
        "killed here: repeated_step; count=5",
        "&lt;its&gt;",
    ] {
        assert!(page.contains(part), "{part:?} is not in the page");
    }
    for part in ["<script", "http:", "https:", "<its>", "barn-1"] {
        assert!(!page.contains(part), "{part:?} is in the page");
    }
}

#[test]
fn injected_loops_are_found_at_the_third_round_and_killed_at_the_fifth() {
    let folder = folder();
    let traces = traces(&folder);
    for kind in ["repeat", "cycle"] {
        for seed in ["1", "2"] {
            let report = report(&folder, &[&traces, "--inject", kind, "--at", "random", "--seed", seed]);
            let healthy = group(&report, "healthy");
            assert_eq!(
                (&healthy["runs"], &healthy["found"], &healthy["killed"]),
                (&json!(6), &json!(6), &json!(6))
            );
            assert_eq!(
                healthy["delay"]["hint"]["rounds"],
                json!({"min": 3, "median": 3, "max": 3}),
                "{kind}"
            );
            assert_eq!(
                healthy["delay"]["kill"]["rounds"],
                json!({"min": 5, "median": 5, "max": 5}),
                "{kind}"
            );
            assert_eq!((&healthy["injected"], &healthy["flagged_before_onset"]), (&json!(kind), &json!(0)));
            assert_eq!(report["groups"].as_array().map(Vec::len), Some(1));
        }
    }
}

#[test]
fn the_seed_makes_the_loops() {
    let folder = folder();
    let traces = traces(&folder);
    let flagged =
        |seed: &str| report(&folder, &[&traces, "--inject", "cycle", "--seed", seed])["flagged_runs"].take();
    assert_eq!(flagged("3"), flagged("3"));
    assert_ne!(flagged("3"), flagged("4"));
}

#[test]
fn a_configuration_of_ones_own_counts() {
    let folder = folder();
    let config = folder.path().join("config.json");
    fs::write(
        &config,
        r#"{"steps": {"repeated_step": {"hint": 4, "kill": 0}, "stagnation": {"hint": 0, "kill": 0}}}"#,
    )
    .expect("it is written");
    let report =
        report(&folder, &[&traces(&folder), "--config", &config.display().to_string(), "--label", "stuck"]);
    let stuck = group(&report, "stuck");
    assert_eq!((&stuck["hinted"], &stuck["killed"]), (&json!(2), &json!(0)));
    assert_eq!(stuck["hint_at_step"]["min"], 4);
    let thresholds = &report["config"]["filter"]["thresholds"];
    assert_eq!(thresholds["steps"]["repeated_step"], json!({"hint": 4, "kill": 0}));
}

#[test]
fn envoy_comes_to_the_same_verdicts() {
    let folder = folder();
    // Each starts an Envoy. Every dialect is judged through Envoy in tests/e2e.
    for dialect in [Dialect::OpenaiChat, Dialect::Anthropic, Dialect::Bedrock] {
        let report =
            report(&folder, &[&traces(&folder), "--dialect", dialect.label(), "--through-envoy", "3"]);
        assert_eq!(report["through_envoy"], json!({"runs": 3, "differences": []}), "{dialect:?}");
    }
}

/// A question of a user, asked again in other words, is known by its meaning: natively and through Envoy.
#[test]
fn with_the_service_other_words_are_found() {
    let folder = folder();
    let traces = traces(&folder);
    let without = report(&folder, &[&traces, "--inject", "paraphrase"]);
    assert_eq!(
        (&group(&without, "healthy")["runs"], &group(&without, "healthy")["found"]),
        (&json!(6), &json!(0))
    );
    let config = folder.path().join("config.json");
    fs::write(&config, r#"{"similarity_threshold": 0.8}"#).expect("it is written");
    let args =
        [&traces, "--inject", "paraphrase", "--with-service", "--config", &config.display().to_string()];
    let args: Vec<&str> = args.into_iter().chain(["--through-envoy", "2"]).collect();
    let with = report(&folder, &args);
    let healthy = group(&with, "healthy");
    assert_eq!((&healthy["found"], &healthy["killed"]), (&json!(6), &json!(0)), "{healthy:#}");
    assert_eq!(healthy["by_signal"], json!({"semantic": 6}));
    // Two earlier ones must match: the third prompt is the first that can be told.
    assert_eq!(healthy["delay_steps"], 3);
    assert_eq!(with["through_envoy"], json!({"runs": 2, "differences": []}));
}

#[test]
fn wrong_input_ends_with_a_sentence_that_says_where() {
    let folder = folder();
    let good = traces(&folder);
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("it is written");
        path.display().to_string()
    };
    let broken = path("broken.jsonl", &format!("{}\n{{\"id\": \"x\"\n", healthy("barn-1")));
    let shapeless =
        path("shapeless.jsonl", "{\"id\":\"x\",\"source\":\"s\",\"label\":\"l\",\"messages\":{}}");
    let stuck_only = path("stuck.jsonl", &stuck("mill-1"));
    let config = path("config.json", "{\"step\": {}}");
    for (args, says) in [
        (vec![broken.as_str()], "broken.jsonl, line 2: not JSON"),
        (vec![shapeless.as_str()], "shapeless.jsonl, line 1: not a run"),
        (vec!["nowhere.jsonl"], "nowhere.jsonl: "),
        (vec![&good, "--config", &config], "`step`"),
        (vec![&good, "--dialect", "latin"], "openai_responses"),
        (vec![&good, "--at", "0"], "`random`"),
        (vec![&good, "--label", "odd"], "\"odd\""),
        (vec![&stuck_only, "--inject", "repeat"], "\"healthy\""),
    ] {
        let output = eval(&folder, &args);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(says), "{says:?} is not in\n{}", said(&output));
        assert!(!said(&output).contains("panicked"), "{}", said(&output));
    }
    assert!(!Path::new(&folder.path().join("out")).exists(), "a report was written all the same");
}
