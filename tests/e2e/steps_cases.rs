//! Runs that must be noticed, and runs that must not: in each dialect, at each of their requests. Other detectors missed
//! or misjudged some of them.

use sentinel_harness::client;
use sentinel_harness::{Dialect, Stack};
use serde_json::json;

use crate::support::QUESTION;
use sentinel_wire::{Call, Run};

/// What happens in a run: a turn with its calls, or a user's word.
enum Event {
    Turn(Vec<[String; 3]>),
    User(&'static str),
}

/// A name for people to read, and what happens.
type Case = (&'static str, fn() -> Vec<Event>);

fn step(tool: &str, arguments: impl Into<String>, result: impl Into<String>) -> Event {
    Event::Turn(vec![[tool.into(), arguments.into(), result.into()]])
}

fn page(n: usize) -> Event {
    step(
        "read_page",
        format!(r#"{{"page":{n}}}"#),
        format!("Page {n} tells of the {n} rivers in the north and their names."),
    )
}

fn failing() -> Event {
    step("deploy", r#"{"to":"prod"}"#, "error: permission denied")
}

/// The verdicts of a run's requests: one before each turn, and the last.
async fn verdicts(stack: &Stack, dialect: Dialect, events: Vec<Event>) -> Vec<String> {
    let mut run = Run::new(dialect, QUESTION);
    let mut seen = Vec::new();
    for event in events {
        match event {
            Event::User(text) => {
                run.assistant("I shall see.");
                run.user(text);
            }
            Event::Turn(calls) => {
                let calls: Vec<Call> =
                    calls.iter().map(|[tool, arguments, result]| Call { tool, arguments, result }).collect();
                run.turn(&calls);
            }
        }
        let response = client::post(stack.address(), dialect.path(false), &[], run.body(false)).await;
        seen.push(response.verdict().to_owned());
    }
    seen
}

#[tokio::test]
async fn they_are_noticed() {
    let cases: [Case; 9] = [
        ("a pair at the tail behind fifty other steps", || {
            (0..50).map(page).chain((0..3).map(|_| failing())).collect()
        }),
        ("one step between varied work", || (0..6).flat_map(|n| [page(n), failing()]).collect()),
        ("two in turns", || (0..5).map(|n| page(n % 2)).collect()),
        ("rounds of three", || (0..7).map(|n| page(n % 3)).collect()),
        ("rounds of five", || (0..11).map(|n| page(n % 5)).collect()),
        ("one output whatever is asked", || {
            (0..6)
                .map(|n| {
                    step(
                        "search",
                        format!(r#"{{"for":"thing {n}"}}"#),
                        "The index is being rebuilt at the moment.",
                    )
                })
                .collect()
        }),
        ("calls without arguments", || {
            (0..3)
                .map(|_| {
                    step(
                        "look",
                        "{}",
                        "The room has two windows, a door, a stove in the corner and nothing else at all.",
                    )
                })
                .collect()
        }),
        ("a round of several calls in any order", || {
            let calls = |order: [usize; 3]| {
                Event::Turn(
                    order
                        .map(|n| {
                            [
                                "look_up".into(),
                                format!(r#"{{"id":{n}}}"#),
                                format!("Entry {n} has three lines of text, and all of them tell of the rivers in the north."),
                            ]
                        })
                        .to_vec(),
                )
            };
            vec![calls([1, 2, 3]), calls([3, 1, 2]), calls([2, 3, 1])]
        }),
        ("one search in other words that finds nothing", || {
            ["the shallows", "The Shallows book", "the shallows (novel)"]
                .map(|words| {
                    step("search", json!({"query": words}).to_string(), format!("No results for {words}."))
                })
                .into()
        }),
    ];
    let mut stack = Stack::builder().start();
    for (what, events) in cases {
        for dialect in Dialect::ALL {
            let seen = verdicts(&stack, dialect, events()).await;
            let (last, before) = seen.split_last().expect("a request");
            assert_eq!(last, "hint", "{what}, {dialect:?}: {seen:?}");
            assert!(before.iter().all(|verdict| verdict == "allow"), "{what}, {dialect:?}: {seen:?}");
        }
    }
    stack.assert_sound();
}

#[tokio::test]
async fn they_are_left_alone() {
    let cases: [Case; 12] = [
        ("polling", || (0..20).map(|n| step("status", "{}", format!("{n} of 20 parts are done."))).collect()),
        ("two in turns, with news each time", || {
            (0..20)
                .map(|n| step(["left", "right"][n % 2], "{}", format!("There are {n} cars in the street.")))
                .collect()
        }),
        ("thirty writes", || {
            (0..30).map(|n| step("write_file", format!(r#"{{"path":"{n}.txt"}}"#), "OK.")).collect()
        }),
        ("silent commands", || {
            (0..12)
                .map(|n| {
                    step("bash", format!(r#"{{"command":"mkdir -p out/{n} && cp base.txt out/{n}/"}}"#), "")
                })
                .collect()
        }),
        ("two passes over fifteen files", || (0..30).map(|n| page(n % 15)).collect()),
        ("six calls alike in one turn", || {
            vec![Event::Turn(vec![["roll".into(), "{}".into(), "You have rolled a four.".into()]; 6])]
        }),
        ("slices of one file", || {
            (0..20)
                .map(|n| {
                    step(
                        "read_file",
                        format!(r#"{{"path":"a.rs","from":{n}}}"#),
                        format!("line {n} of the file, and more of it"),
                    )
                })
                .collect()
        }),
        ("a spacer beside a poll", || {
            (0..12)
                .flat_map(|n| {
                    [
                        step("sleep", r#"{"seconds":5}"#, "Slept for five seconds in all."),
                        step("status", "{}", format!("{n} of 12 are done.")),
                    ]
                })
                .collect()
        }),
        ("an old loop out of the window", || {
            [failing(), failing()].into_iter().chain((0..20).map(page)).chain([failing()]).collect()
        }),
        ("fixes and tests with fewer failures each time", || {
            (0..8)
                .flat_map(|n| {
                    [
                        step("edit_file", format!(r#"{{"line":{n}}}"#), "OK."),
                        step("run_tests", "{}", format!("{} tests failed", 20 - n)),
                    ]
                })
                .collect()
        }),
        ("orders that are not there", || {
            (0..4)
                .map(|n| {
                    step("get_order", format!(r#"{{"order":"W{}"}}"#, 4_711 + n * 13), "error: no such order")
                })
                .collect()
        }),
        ("a new user message", || {
            vec![
                failing(),
                failing(),
                Event::User("Try once more, the rights are mended"),
                failing(),
                failing(),
            ]
        }),
    ];
    let mut stack = Stack::builder().start();
    for (what, events) in cases {
        for dialect in Dialect::ALL {
            let seen = verdicts(&stack, dialect, events()).await;
            assert!(seen.iter().all(|verdict| verdict == "allow"), "{what}, {dialect:?}: {seen:?}");
        }
    }
    stack.assert_sound();
}

/// The same call in two runs of one agent is no repetition, and a file that is read again after a compaction none either.
#[tokio::test]
async fn runs_are_not_mixed_and_a_compacted_one_begins_anew() {
    let mut stack = Stack::builder().start();
    for dialect in Dialect::ALL {
        let agent = format!("reader {dialect:?}");
        let headers = [("x-agent-id", agent.as_str())];
        for question in
            ["What is in the first report?", "What is in the second report?", "And what in the third one?"]
        {
            let mut run = Run::new(dialect, question);
            for _ in 0..2 {
                run.step("deploy", r#"{"to":"prod"}"#, "error: permission denied");
                let response =
                    client::post(stack.address(), dialect.path(false), &headers, run.body(false)).await;
                assert_eq!(response.verdict(), "allow", "{dialect:?}, {question}");
            }
        }
        let mut run = Run::new(dialect, QUESTION);
        for n in 0..6 {
            // Twice the history is replaced by its summary, and the file is read again.
            if n % 2 == 0 {
                run = Run::new(dialect, &format!("{QUESTION} (So far {n} of the parts are done.)"));
            }
            run.step("read_file", r#"{"path":"notes.txt"}"#, "The notes of the last weeks, in full.");
            let response =
                client::post(stack.address(), dialect.path(false), &headers, run.body(false)).await;
            assert_eq!(response.verdict(), "allow", "{dialect:?}, step {n}");
        }
    }
    stack.assert_sound();
}
