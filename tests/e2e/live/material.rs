//! One question about other material each time: another picture, file, page, or system text. The answers are alike.

use sentinel_harness::provider::{Reply, speak};
use sentinel_harness::stack::in_run;
use sentinel_harness::{Dialect, Stack};
use serde_json::Value;

use super::{REQUESTS, Way, verdicts};

const QUESTION: &str = "Is there a person in the material that I have given to you?";

/// A kind of material, and the request about piece `n` of it.
type Material = (&'static str, fn(Dialect, bool, usize) -> Value);

const MATERIALS: [Material; 5] = [
    ("picture", |dialect, stream, n| about(dialect, stream, picture(dialect, n))),
    ("file", |dialect, stream, n| about(dialect, stream, dialect.file_part(n))),
    ("instructions", |dialect, stream, n| {
        let body = dialect.ask(QUESTION, stream);
        dialect.with_instructions(body, &format!("The page says: {}", page(n)))
    }),
    ("page before", |dialect, stream, n| {
        let page = page(n);
        dialect.conversation(&[("user", &page), ("assistant", "I have read it."), ("user", QUESTION)], stream)
    }),
    ("page in a text of its own", |dialect, stream, n| {
        let page = page(n);
        match dialect {
            // Its roles alternate.
            Dialect::Bedrock => about(dialect, stream, dialect.text_part(&page)),
            _ => dialect.conversation(&[("user", &page), ("user", QUESTION)], stream),
        }
    }),
];

/// Three letters are all that differs.
fn page(n: usize) -> String {
    let word = ["alder", "birch", "cedar", "dogwood", "elm", "fir"][n % 6];
    let other = ["north", "east", "south", "west"][n / 6 % 4];
    format!("A {word} stands in the {other} of the garden, and nobody is seen beside it at this hour.")
}

/// As base64; digits are part of it, and only they differ.
fn picture(dialect: Dialect, n: usize) -> Value {
    let data = format!("iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB{n:04}CAYAAAAfFcSJAAAADUlEQVR42mNk");
    dialect.picture_part(&data)
}

/// One message: the material, and the question.
fn about(dialect: Dialect, stream: bool, material: Value) -> Value {
    dialect.with_turns(vec![dialect.message_of(&[material, dialect.text_part(QUESTION)])], stream)
}

/// Line by line the same answer.
fn always_no(stack: &Stack) {
    stack.provider.script(|request| speak(request, &Reply::Text("No, there is none.".into())));
}

#[tokio::test]
async fn another_piece_each_time_is_other_work() {
    let mut stack = Stack::builder().service().start();
    always_no(&stack);
    for way in Way::all() {
        for (kind, request) in MATERIALS {
            let agent = way.agent(kind);
            let body = |n| request(way.dialect, way.stream, n).to_string();
            let seen = verdicts(&stack, way, &in_run(&agent), REQUESTS, body).await;
            assert!(seen.iter().all(|verdict| verdict == "allow"), "{kind}, {way:?}: {seen:?}");
        }
    }
    stack.assert_sound();
}

/// The other side: the same piece again and again is a loop, and neither a clock nor a counter in the instructions hides it.
#[tokio::test]
async fn the_same_piece_again_is_a_loop() {
    let mut stack = Stack::builder().start();
    always_no(&stack);
    for way in Way::all() {
        for (kind, request) in MATERIALS {
            let agent = way.agent(kind);
            let body = |n: usize| {
                let body = request(way.dialect, way.stream, 7);
                if kind == "instructions" {
                    return body.to_string();
                }
                let clock = format!("Be brief. It is 2026-03-04T10:{n:02}:07Z, request {n}.");
                way.dialect.with_instructions(body, &clock).to_string()
            };
            let seen = verdicts(&stack, way, &in_run(&agent), 6, body).await;
            assert!(seen.contains(&"hint".to_owned()), "{kind}, {way:?}: {seen:?}");
            assert_eq!(seen.last().map(String::as_str), Some("kill"), "{kind}, {way:?}: {seen:?}");
        }
    }
    stack.assert_sound();
}
