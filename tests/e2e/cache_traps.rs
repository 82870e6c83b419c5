//! Traps of the project's own sets through the real Envoy, the real service and the real model: one question is answered and
//! stored, then the other is asked. Each pair has a tenant of its own, so that nothing else could answer. All traps of all sets are judged in
//! the service (`cache/equality/tests.rs`); a part of them shows here that a text comes there as it was sent, in each dialect.

use std::fs;

use sentinel_harness::client::{self, Response};
use sentinel_harness::process::eventually;
use sentinel_harness::provider::reply::text_for;
use sentinel_harness::{Dialect, Stack, parts};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Pair {
    a: String,
    b: String,
    same_answer: bool,
}

/// One of so many pairs of each set. It has no divisor in common with the number of dialects, so each dialect gets pairs of all kinds.
const ONE_OF: usize = 8;

fn pairs(name: &str) -> Vec<Pair> {
    let file = parts::root().join("embedding-service/tests/pairs").join(name);
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines().step_by(ONE_OF).map(|line| serde_json::from_str(line).expect("a pair")).collect()
}

/// The pairs take turns in the dialects.
fn dialect_of(number: usize) -> Dialect {
    Dialect::ALL[number % Dialect::ALL.len()]
}

async fn ask(stack: &Stack, set: &str, number: usize, text: &str) -> Response {
    let dialect = dialect_of(number);
    let tenant = format!("{set}-{number}");
    // The lowest similarity that may be asked for: the words alone decide.
    let headers = [("x-tenant-id", tenant.as_str()), ("x-sentinel-cache-threshold", "0.8")];
    client::post(stack.address(), dialect.path(false), &headers, dialect.ask(text, false).to_string()).await
}

/// Starts a gateway, and asks it the pairs of these sets. At least so many true ones are answered.
async fn served(sets: &[(&str, usize)]) {
    let config = json!({"cache": {"enabled": true, "min_threshold": 0.8}});
    let mut stack = Stack::builder().config(&config).service_with(&[("LOOP_CACHE", "true")]).start();
    for (set, least_true) in sets {
        served_by(&stack, set, *least_true).await;
    }
    stack.assert_sound();
}

async fn served_by(stack: &Stack, set: &str, least_true: usize) {
    let pairs = pairs(set);
    let mut kept = Vec::new();
    for (number, pair) in pairs.iter().enumerate() {
        let response = ask(stack, set, number, &pair.a).await;
        assert_eq!(response.status, 200, "{}", pair.a);
        // What asks for now is not kept.
        kept.push(response.header("x-sentinel-cache") == Some("miss"));
    }
    // An answer is stored behind the response, one after another.
    let last = kept.iter().rposition(|kept| *kept).expect("something is kept");
    eventually("the last answer is stored", async || {
        ask(stack, set, last, &pairs[last].a).await.header("x-sentinel-cache") == Some("exact")
    })
    .await;
    let (mut wrong, mut right) = (Vec::new(), 0);
    for (number, pair) in pairs.iter().enumerate() {
        let response = ask(stack, set, number, &pair.b).await;
        let is_served = dialect_of(number).answer_text(&response.body) == text_for(&pair.a);
        assert_eq!(
            is_served,
            matches!(response.header("x-sentinel-cache"), Some("exact" | "semantic")),
            "{}",
            pair.b
        );
        right += usize::from(is_served && pair.same_answer);
        if is_served && !pair.same_answer {
            wrong.push(format!("{} | {}", pair.a, pair.b));
        }
    }
    println!(
        "{set}: {right} of {} served rightly, {} wrongly",
        pairs.iter().filter(|pair| pair.same_answer).count(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{set}: wrong answers:\n{}", wrong.join("\n"));
    assert!(right >= least_true, "{set}: only {right} true pairs were answered");
}

#[tokio::test]
async fn no_trap_gets_the_answer_of_another_question() {
    served(&[
        ("traps.jsonl", 2),
        ("fresh_traps.jsonl", 2),
        ("hard_traps.jsonl", 0),
        ("later_traps.jsonl", 3),
    ])
    .await;
}

#[tokio::test]
async fn no_trap_of_the_later_rounds_does() {
    served(&[
        ("fourth_traps.jsonl", 2),
        ("fifth_traps.jsonl", 1),
        ("sixth_traps.jsonl", 3),
        ("seventh_traps.jsonl", 1),
        ("eighth_traps.jsonl", 0),
        ("ninth_traps.jsonl", 4),
        ("tenth_traps.jsonl", 2),
        ("eleventh_traps.jsonl", 1),
        ("twelfth_traps.jsonl", 0),
    ])
    .await;
}

#[tokio::test]
async fn rewordings_of_the_own_and_of_the_hidden_fields_are_answered() {
    served(&[("own.jsonl", 1), ("held_out.jsonl", 0)]).await;
}
