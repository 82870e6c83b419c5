//! The audit record of each hint, kill and denial: as a stream that a program can follow, on envoy/production.yaml.

use std::process::Command;

use sentinel_harness::gateway::{ADMIN, ALICE, BOB, Gateway, path};
use sentinel_harness::otlp::Collector;
use sentinel_harness::parts;
use sentinel_harness::process::eventually;
use serde_json::{Value, json};

use crate::support::{CHAT, QUESTION};

/// The records on Envoy's standard output: lines of JSON among those of the access log.
fn records(gateway: &Gateway) -> Vec<Value> {
    let log = gateway.envoy.log();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line.get("event").is_some()).collect()
}

/// Envoy writes its access logs every ten seconds.
async fn wait_for_records(gateway: &Gateway, wanted: usize) -> Vec<Value> {
    eventually("the records are written", async || records(gateway).len() >= wanted).await;
    records(gateway)
}

/// Nothing that belongs to a user.
fn assert_private(text: &str) {
    for word in ["rivers", "secret-agent", "secret-run", ALICE.key, BOB.key] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

/// What the service's command says that this name is called in the records.
fn hash_of(name: &str) -> String {
    let output = Command::new(parts::service()).args(["hash", name]).output().expect("the service's program");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let digest = said.strip_suffix(&format!("  {name}\n"));
    digest.unwrap_or_else(|| panic!("{said}{}", String::from_utf8_lossy(&output.stderr))).to_owned()
}

#[tokio::test]
async fn each_hint_and_each_kill_is_one_record() {
    let gateway = Gateway::builder().start();
    let headers = [("x-agent-id", "secret-agent"), ("x-run-id", "secret-run")];
    let mut verdicts = Vec::new();
    for _ in 0..5 {
        verdicts.push(gateway.ask(CHAT, ALICE, &headers, QUESTION).await.verdict().to_owned());
    }
    assert_eq!(verdicts, ["allow", "allow", "allow", "hint", "kill"]);
    // A line of another writer, which is not an event.
    gateway.ask(CHAT, BOB, &headers, QUESTION).await;

    let records = wait_for_records(&gateway, 2).await;
    let [hint, kill] = records.as_slice() else { panic!("not two records: {records:?}") };
    for (record, verdict) in [(hint, "hint"), (kill, "kill")] {
        assert_eq!(record["event"], "verdict");
        assert_eq!(record["verdict"], verdict);
        assert_eq!(record["signal"], "score");
        assert_eq!(record["dialect"], "openai_chat");
        assert_eq!(record["enforced"], true);
        assert_eq!(record["scope"].as_str().unwrap().len(), 16, "{record}");
        assert_eq!(record["request_id"].as_str().unwrap().len(), 36, "{record}");
        assert_private(&record.to_string());
    }
    assert_eq!(hint["scope"], kill["scope"]);
    assert_eq!(kill["agent"].as_str(), Some(hash_of("secret-agent").as_str()), "{kill}");
    assert_ne!(hint["request_id"], kill["request_id"]);
    assert_eq!((&kill["prompts"], &kill["responses"]), (&json!(4), &json!(3)), "the evidence: {kill}");
    assert!(kill["score"].as_f64().unwrap() >= 10.0, "{kill}");

    // The access log has the same id, so that the two can be joined; and the filter's own lines say the same.
    let log = gateway.envoy.log();
    let id = kill["request_id"].as_str().unwrap();
    let line = log.lines().find(|line| line.contains(id) && line.contains(r#""status":400"#));
    assert!(line.is_some(), "no line of the access log has {id}:\n{log}");
    let own = log.lines().filter(|line| line.contains("wasm log") && line.contains(r#""event":"verdict""#));
    assert_eq!(own.count(), 2, "{log}");
    assert_private(&log);
}

#[tokio::test]
async fn a_denial_of_the_breaker_is_one_record() {
    let config = r#""mode": "enforce", "mcp": {"paths": [{"suffix": "/mcp"}], "window": "10m"}"#;
    let gateway = Gateway::builder().edit(r#""mode": "enforce""#, config).passing("/openai/mcp").start();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "lookup", "arguments": {"of": "rivers"}}});
    let bearer = format!("Bearer {}", ALICE.key);
    let headers = [("authorization", bearer.as_str()), ("mcp-session-id", "secret-run")];
    for _ in 0..21 {
        gateway.post("/openai/mcp", &headers, call.to_string()).await;
    }
    let records = wait_for_records(&gateway, 1).await;
    let [denial] = records.as_slice() else { panic!("not one record: {records:?}") };
    assert_eq!((&denial["verdict"], &denial["signal"]), (&json!("kill"), &json!("mcp_breaker")));
    assert_eq!((&denial["count"], &denial["tool"]), (&json!(21), &json!("lookup")));
    assert_eq!(denial["scope"].as_str().unwrap().len(), 16, "{denial}");
    assert_eq!(denial["request_id"].as_str().unwrap().len(), 36, "{denial}");
    assert_private(&denial.to_string());
}

#[tokio::test]
async fn the_collector_gets_the_records_in_their_traces() {
    let collector = Collector::start();
    let gateway = Gateway::builder().collector(collector.port()).start();
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let parent = format!("00-{trace}-b7ad6b7169203331-01");
    let headers = [("x-run-id", "secret-run"), ("traceparent", parent.as_str())];
    for _ in 0..5 {
        gateway.ask(CHAT, ALICE, &headers, QUESTION).await;
    }
    // What makes no record: a refused key, the statistics, health.
    let wrong = [("authorization", "Bearer nobody's")];
    gateway.post(path(CHAT), &wrong, CHAT.ask(QUESTION, false).to_string()).await;
    gateway.get("/v1/metrics", &[("authorization", &format!("Bearer {}", ADMIN.key))]).await;
    gateway.get("/health", &[]).await;
    eventually("two records", async || collector.records().len() >= 2).await;
    let records = collector.records();
    assert_eq!(records.len(), 2, "{records:?}");
    let mut verdicts = Vec::new();
    for record in records {
        let body: Value = serde_json::from_str(&record.body).unwrap();
        verdicts.push(body["verdict"].as_str().unwrap().to_owned());
        assert_eq!(record.trace, trace);
        assert_private(&record.body);
    }
    // Each worker of Envoy sends its own.
    verdicts.sort();
    assert_eq!(verdicts, ["hint", "kill"]);
}
