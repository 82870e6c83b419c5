//! Traps of the project's own sets through the real Envoy, the real service and the real model: one question is answered and
//! stored, then the other is asked. Each pair has a tenant of its own, so that nothing else could answer. All traps of all sets are judged in
//! the service (`cache/equality/tests.rs`). This test takes a part of them, and one pair of each kind in every dialect. It shows that a text
//! reaches the service as it was sent.

use std::fs;

use sentinel_harness::client::{self, Response};
use sentinel_harness::process::eventually;
use sentinel_harness::provider::reply::text_for;
use sentinel_harness::{Dialect, Stack, parts};
use serde::Deserialize;
use serde_json::json;

#[derive(Clone, Deserialize)]
struct Pair {
    a: String,
    b: String,
    same_answer: bool,
}

/// One pair in this many is taken from each set. It has no divisor in common with the number of dialects, so each dialect gets pairs of all kinds.
const ONE_OF: usize = 8;

/// Instructions with which the user's text stays a question. `TRANSLATE`: instructions that make it material to be worked on.
const BRIEF: &str = "Be brief.";
const TRANSLATE: &str = "Translate the user's text into French.";

/// Each way in which two texts look alike and ask for something else, as a pair.
const DIFFERENT: [(&str, &str); 36] = [
    ("How much is 5 MW?", "How much is 5 mW?"),
    ("What does git branch -d do?", "What does git branch -D do?"),
    ("What is Co?", "What is CO?"),
    ("What does true mean in Python?", "What does True mean in Python?"),
    ("How hot is mercury?", "How hot is Mercury?"),
    ("Explain: if x:\n    y = 1", "Explain: if x:\ny = 1"),
    ("Is this YAML right?\na:\n  b: 1", "Is this YAML right?\na:\nb: 1"),
    (
        "How many lines are here?\nroses are red\nviolets are blue",
        "How many lines are here?\nroses are red violets are blue",
    ),
    ("Who is older?\n| Ann | 31 |\n| Bob | 29 |", "Who is older?\n| Ann | 31 | | Bob | 29 |"),
    ("Who is older?\nAnn\t31\nBob\t29", "Who is older?\nAnn 31\nBob 29"),
    ("What does this say?\nSGVsbG8g\nd29ybGQ=", "What does this say?\nSGVsbG8gd29ybGQ="),
    ("What does this say?\nSGVsbG8=", "What does this say?\nsgvSBG8="),
    ("What is (8 - 3) * 2?", "What is 8 - (3 * 2)?"),
    ("What is a*b?", "What is a/b?"),
    ("What is []?", "What is ()?"),
    ("What is .5 of it?", "What is 5 of it?"),
    ("How do I save water?", "How do I store water?"),
    ("How deep is the sea?", "How deep is the ocean?"),
    ("How do I invert a matrix?", "How do I reverse a matrix?"),
    ("What is a drug?", "What is a medicine?"),
    ("How do I upgrade Windows 11?", "How do I upgrade to Windows 11?"),
    ("Where do I live?", "Where do you live?"),
    ("Where is here?", "Where is there?"),
    ("Has the library closed?", "Is the library closing?"),
    ("Has the library closed?", "Is it closing?"),
    ("Is he ingenuous?", "Is he ingenious?"),
    ("What is the prostate?", "What is the prostrate?"),
    ("What is the prostate?", "What is prostrate?"),
    ("Hello, who sang it?", "Who sang it?"),
    ("So what?", "What?"),
    ("How do I not reset my password?", "How do I reset my password?"),
    ("How far is it from Rome to Paris?", "How far is it from Paris to Rome?"),
    ("What is 15 % of 80?", "What is 18 % of 80?"),
    ("What is the emergancy app?", "What is the emergency app?"),
    ("Which file is oldest? Delete the file", "Which file is oldest? Delete the file?"),
    ("Compare tea and coffee for a fan of the former", "Compare coffee and tea for a fan of the former"),
];

/// Changes that keep the meaning.
const THE_SAME: [(&str, &str); 11] = [
    ("What is the definiton of entropy?", "What is the definition of entropy?"),
    ("Hi, what is the capital of Peru?", "What is the capital of Peru?"),
    ("Um, what is a mortgage?", "What is a mortgage?"),
    ("So, how does a heat pump work?", "How does a heat pump work?"),
    ("How do I peel a mango? Thanks a lot!", "How do I peel a mango?"),
    ("In Excel, how do I merge cells?", "How do I merge cells in Excel?"),
    ("What's the capital of Peru?", "What is the capital of Peru?"),
    ("Why isn't it working?", "Why is it not working?"),
    ("Could you tell me why cats purr?", "Why do cats purr?"),
    ("How can I remove a stain from a shirt?", "How do I remove a stain from a shirt?"),
    ("what is the capital of Laos", "What is the capital of Laos?"),
];

fn pairs(name: &str) -> Vec<Pair> {
    let file = parts::root().join("embedding-service/tests/pairs").join(name);
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines().step_by(ONE_OF).map(|line| serde_json::from_str(line).expect("a pair")).collect()
}

/// A pair, asked in one dialect.
struct Case {
    pair: Pair,
    dialect: Dialect,
    /// What the model is told beside it.
    instructions: &'static str,
}

/// The pairs take turns in the dialects.
fn cases(name: &str) -> Vec<Case> {
    let dialects = Dialect::ALL.into_iter().cycle();
    pairs(name)
        .into_iter()
        .zip(dialects)
        .map(|(pair, dialect)| Case { pair, dialect, instructions: BRIEF })
        .collect()
}

async fn ask(stack: &Stack, set: &str, number: usize, case: &Case, text: &str) -> Response {
    let Case { dialect, instructions, .. } = *case;
    let body = dialect.with_instructions(dialect.ask(text, false), instructions);
    let tenant = format!("{set}-{number}");
    // The lowest threshold that may be asked for, so that the words alone decide.
    let headers = [("x-tenant-id", tenant.as_str()), ("x-sentinel-cache-threshold", "0.8")];
    client::post(stack.address(), dialect.path(false), &headers, body.to_string()).await
}

fn stack() -> Stack {
    let config = json!({"cache": {"enabled": true, "min_threshold": 0.8}});
    Stack::builder().config(&config).service_with(&[("LOOP_CACHE", "true")]).start()
}

/// Starts a gateway and asks it the pairs of these sets. At least this many true pairs of each set must be answered from the cache.
async fn served(sets: &[(&str, usize)]) {
    let mut stack = stack();
    for (set, least_true) in sets {
        served_by(&stack, set, &cases(set), *least_true).await;
    }
    stack.assert_sound();
}

async fn served_by(stack: &Stack, set: &str, cases: &[Case], least_true: usize) {
    let mut kept = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let response = ask(stack, set, number, case, &case.pair.a).await;
        assert_eq!(response.status, 200, "{}", case.pair.a);
        // A question that asks for now is not stored.
        kept.push(response.header("x-sentinel-cache") == Some("miss"));
    }
    // Answers are stored after their responses, one after another.
    let last = kept.iter().rposition(|kept| *kept).expect("something is kept");
    eventually("the last answer is stored", async || {
        ask(stack, set, last, &cases[last], &cases[last].pair.a).await.header("x-sentinel-cache")
            == Some("exact")
    })
    .await;
    let (mut wrong, mut missed, mut right) = (Vec::new(), Vec::new(), 0);
    for (number, case) in cases.iter().enumerate() {
        let Case { pair, dialect, .. } = case;
        let response = ask(stack, set, number, case, &pair.b).await;
        let is_served = dialect.answer_text(&response.body) == text_for(&pair.a);
        assert_eq!(
            is_served,
            matches!(response.header("x-sentinel-cache"), Some("exact" | "semantic")),
            "{}",
            pair.b
        );
        right += usize::from(is_served && pair.same_answer);
        if is_served != pair.same_answer {
            let list = if is_served { &mut wrong } else { &mut missed };
            list.push(format!("{} | {}", pair.a, pair.b));
        }
    }
    println!(
        "{set}: {right} of {} served rightly, {} wrongly",
        cases.iter().filter(|case| case.pair.same_answer).count(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{set}: wrong answers:\n{}", wrong.join("\n"));
    let missed = missed.join("\n");
    assert!(right >= least_true, "{set}: only {right} true pairs were answered, not:\n{missed}");
}

#[tokio::test]
async fn each_kind_of_change_is_judged_alike_in_every_dialect() {
    let pair = |a: &str, b: &str, same_answer| Pair { a: a.to_owned(), b: b.to_owned(), same_answer };
    // A text of over 300 bytes equals only itself. In a short one, a greeting would make no difference.
    let long = format!("How do I boil rice? {}", "I have a pot and a stove. ".repeat(12));
    let mut pairs = vec![pair(&format!("Hi, {long}"), &long, false)];
    pairs.extend(DIFFERENT.map(|(a, b)| pair(a, b, false)));
    pairs.extend(THE_SAME.map(|(a, b)| pair(a, b, true)));
    let mut stack = stack();
    for dialect in Dialect::ALL {
        let case = |pair: &Pair| Case { pair: pair.clone(), dialect, instructions: BRIEF };
        let cases: Vec<_> = pairs.iter().map(case).collect();
        served_by(&stack, dialect.label(), &cases, THE_SAME.len()).await;
        // Two texts that ask the same have two translations.
        let case = |(a, b): (&str, &str)| Case { pair: pair(a, b, false), dialect, instructions: TRANSLATE };
        served_by(&stack, &format!("{}-translated", dialect.label()), &THE_SAME.map(case), 0).await;
    }
    stack.assert_sound();
}

#[tokio::test]
async fn no_trap_gets_the_answer_of_another_question() {
    served(&[
        ("traps.jsonl", 2),
        ("fresh_traps.jsonl", 1),
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
        ("thirteenth_traps.jsonl", 0),
        ("fourteenth_traps.jsonl", 0),
        ("fifteenth_traps.jsonl", 0),
        ("sixteenth_traps.jsonl", 2),
    ])
    .await;
}
