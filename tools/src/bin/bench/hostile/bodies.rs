//! Bodies of one size: a plain conversation, and bodies that are meant to make the filter slow.

use sentinel_wire::Dialect;
use sentinel_wire::text::{
    answering, body, call, calling, content, least_call, least_message, part, result, said, stray_result,
};

use crate::conversation::Dice;

/// Makes the messages of a body with at most this many bytes.
type Shape = fn(Dialect, usize) -> String;

/// The name of each shape, and its function.
pub const SHAPES: [(&str, Shape); 23] = [
    ("shortest calls, then results of none of them", minimal),
    ("calls and results that share one id", same_id),
    ("calls with ids of their own, results in reverse order", reversed),
    ("one turn of calls without a result", unanswered),
    ("arguments nested 120 deep", nested),
    ("arguments nested as deep as there is room", deepest),
    ("arguments with very many keys", keys),
    ("arguments that are JSON inside JSON inside JSON", wrapped),
    ("arguments of very many short words", words),
    ("one message of very many empty parts", parts),
    ("very many shortest messages", messages),
    ("very many turns of the assistant without a word", silent_turns),
    ("texts beside results, each another one", asides),
    ("one text of one letter", letters),
    ("one text of words of one letter", short_words),
    ("one text of one word", one_word),
    ("one text of prose", prose),
    ("one text of escapes", escapes),
    ("one text of other scripts, escaped", scripts),
    ("one result of escapes", escaped_result),
    ("one failure of numbers, ids and times", failure),
    ("one result of JSON with very many rows", rows),
    ("one text of very many ReAct actions", actions),
];

/// Precedes the 16 digits of each result in the plain conversation.
pub const RESULT: &str = "Order ";

pub fn plain(dialect: Dialect, bytes: usize) -> String {
    let mut dice = Dice::new(7);
    let first = said(dialect, "user", "Please work through the open orders of this week, one by one.");
    let rest = listed(bytes - first.len() - 1, |n| {
        let (id, tool) = (format!("call_{n}"), ["order_lookup", "stock_check", "send_quote"][n % 3]);
        let arguments = format!(r#"{{"order":"{}","limit":{n}}}"#, dice.text(20));
        [
            said(dialect, "assistant", &dice.text(400)),
            calling(dialect, &call(dialect, &id, tool, &arguments)),
            answering(
                dialect,
                &result(dialect, &id, tool, &format!("{RESULT}{n:016x}: {}", dice.text(1_480))),
            ),
        ]
        .join(",")
    });
    format!("{first},{rest}")
}

/// A body of this shape that has at most `bytes` bytes, and nearly as many.
pub fn of(shape: Shape, dialect: Dialect, bytes: usize) -> String {
    let room = bytes - body(dialect, "").len();
    let made = body(dialect, &shape(dialect, room));
    assert!(
        made.len() <= bytes && made.len() * 10 > bytes * 9,
        "a body of {} bytes is not one of {bytes}",
        made.len()
    );
    made
}

/// As many items as fit, separated by commas.
fn listed(bytes: usize, mut item: impl FnMut(usize) -> String) -> String {
    let mut text = String::with_capacity(bytes);
    for n in 0.. {
        let next = item(n);
        if text.len() + next.len() + 1 > bytes {
            break;
        }
        if n > 0 {
            text.push(',');
        }
        text.push_str(&next);
    }
    text
}

/// An item that does not depend on its number.
fn repeated(bytes: usize, item: &str) -> String {
    listed(bytes, |_| item.to_owned())
}

/// One call whose arguments fill the body.
fn one_call(dialect: Dialect, bytes: usize, arguments: impl Fn(usize) -> String) -> String {
    let around = called_once(dialect, "{}", "done").len();
    // Quoting makes the text longer, so less of it fits.
    let mut room = bytes - around;
    loop {
        let text = called_once(dialect, &arguments(room), "done");
        if text.len() <= bytes {
            return text;
        }
        room -= (text.len() - bytes).min(room / 2);
    }
}

fn called_once(dialect: Dialect, arguments: &str, answer: &str) -> String {
    let call = calling(dialect, &call(dialect, "c1", "look_up", arguments));
    format!("{call},{}", answering(dialect, &result(dialect, "c1", "look_up", answer)))
}

/// One result that fills the body.
fn one_result(dialect: Dialect, bytes: usize, text: impl Fn(usize) -> String) -> String {
    called_once(dialect, "{}", &text(bytes - called_once(dialect, "{}", "").len()))
}

/// One user text that fills the body.
fn one_text(dialect: Dialect, role: &str, bytes: usize, item: &str) -> String {
    let room = bytes - said(dialect, role, "").len();
    said(dialect, role, &item.repeat(room / item.len()))
}

fn minimal(dialect: Dialect, bytes: usize) -> String {
    let calls = calling(dialect, &repeated(bytes / 2 - 64, least_call(dialect)));
    let room = bytes - calls.len() - 64;
    format!("{calls},{}", answering(dialect, &repeated(room, stray_result(dialect))))
}

fn paired(dialect: Dialect, bytes: usize, order: impl Fn(usize, usize) -> (String, String)) -> String {
    let each = call(dialect, "000000", "f", "{}").len() + result(dialect, "000000", "f", "").len() + 2;
    let count = (bytes - 128) / each;
    let calls: Vec<String> = (0..count).map(|n| call(dialect, &order(n, count).0, "f", "{}")).collect();
    let results: Vec<String> = (0..count).map(|n| result(dialect, &order(n, count).1, "f", "")).collect();
    format!("{},{}", calling(dialect, &calls.join(",")), answering(dialect, &results.join(",")))
}

fn same_id(dialect: Dialect, bytes: usize) -> String {
    paired(dialect, bytes, |_, _| ("000000".to_owned(), "000000".to_owned()))
}

fn reversed(dialect: Dialect, bytes: usize) -> String {
    paired(dialect, bytes, |n, count| (format!("{n:06}"), format!("{:06}", count - 1 - n)))
}

fn unanswered(dialect: Dialect, bytes: usize) -> String {
    calling(dialect, &repeated(bytes - 64, least_call(dialect)))
}

fn nested(dialect: Dialect, bytes: usize) -> String {
    let arguments = format!(r#"{{"a":{}1{}}}"#, "[".repeat(119), "]".repeat(119));
    calling(dialect, &listed(bytes - 64, |n| call(dialect, &n.to_string(), "f", &arguments)))
}

fn deepest(dialect: Dialect, bytes: usize) -> String {
    one_call(dialect, bytes, |room| format!("{}1{}", "[".repeat(room / 2), "]".repeat(room / 2)))
}

fn keys(dialect: Dialect, bytes: usize) -> String {
    // In reverse order, to make sorting expensive.
    one_call(dialect, bytes, |room| {
        format!("{{{}}}", listed(room - 2, |n| format!(r#""k{:06}":{n}"#, 999_999 - n)))
    })
}

fn wrapped(dialect: Dialect, bytes: usize) -> String {
    one_call(dialect, bytes, |room| {
        let inner = format!(r#"{{"a":"{}"}}"#, "x".repeat(room - 64));
        let twice = serde_json::to_string(&inner).expect("a string");
        serde_json::to_string(&format!("{{\"b\":{twice}}}")).expect("a string")
    })
}

fn words(dialect: Dialect, bytes: usize) -> String {
    one_call(dialect, bytes, |room| {
        let mut text = String::new();
        for n in 0.. {
            let word = format!("{n:x} ");
            if text.len() + word.len() + 16 > room {
                break;
            }
            text.push_str(&word);
        }
        format!(r#"{{"a":"{text}"}}"#)
    })
}

fn parts(dialect: Dialect, bytes: usize) -> String {
    content(dialect, "user", &repeated(bytes - 64, &part(dialect, "user", "")))
}

fn messages(dialect: Dialect, bytes: usize) -> String {
    repeated(bytes, least_message(dialect))
}

fn silent_turns(dialect: Dialect, bytes: usize) -> String {
    repeated(bytes, &content(dialect, "assistant", ""))
}

/// If results have no message of their own, the text stands in the next one.
fn asides(dialect: Dialect, bytes: usize) -> String {
    let turns = |n: usize| {
        let text = n.to_string();
        let results_are_messages = answering(dialect, "").is_empty();
        if results_are_messages {
            return format!("{},{}", stray_result(dialect), said(dialect, "user", &text));
        }
        let parts = format!("{},{}", result(dialect, "x", "f", ""), part(dialect, "user", &text));
        content(dialect, "user", &parts)
    };
    listed(bytes, turns)
}

fn letters(dialect: Dialect, bytes: usize) -> String {
    one_text(dialect, "user", bytes, "a")
}

fn short_words(dialect: Dialect, bytes: usize) -> String {
    one_text(dialect, "user", bytes, "a ")
}

/// A word that starts one of the guard's patterns.
fn one_word(dialect: Dialect, bytes: usize) -> String {
    one_text(dialect, "user", bytes, "you ")
}

fn prose(dialect: Dialect, bytes: usize) -> String {
    let room = bytes - said(dialect, "user", "").len();
    said(dialect, "user", &Dice::new(11).text(room))
}

fn escapes(dialect: Dialect, bytes: usize) -> String {
    one_text(dialect, "user", bytes, r"\n\t\\")
}

fn scripts(dialect: Dialect, bytes: usize) -> String {
    one_text(dialect, "user", bytes, r"\ud83d\ude00\u0130 \ufdfa")
}

fn escaped_result(dialect: Dialect, bytes: usize) -> String {
    one_result(dialect, bytes, |room| r"\n\t\\\u00e9 ".repeat(room / 13))
}

fn failure(dialect: Dialect, bytes: usize) -> String {
    one_result(dialect, bytes, |room| {
        let item = " 2026-03-14T09:26:53Z request 7f3a-11bd at 0x7ffdeadbeef, attempt 3 of 5:";
        format!("Error:{}", item.repeat((room - 6) / item.len()))
    })
}

fn rows(dialect: Dialect, bytes: usize) -> String {
    one_result(dialect, bytes, |room| {
        let row = r#",{\"id\":1,\"request_id\":\"a\"}"#;
        format!("[0{}]", row.repeat((room - 3) / row.len()))
    })
}

fn actions(dialect: Dialect, bytes: usize) -> String {
    one_text(dialect, "assistant", bytes, r"Action: look[x\nAction Input: \n")
}
