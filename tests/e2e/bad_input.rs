//! Bodies that no sound client sends: they pass byte for byte, and nothing breaks.

use std::time::Duration;

use sentinel_harness::fake_service::Behaviour;
use sentinel_harness::{Dialect, Stack};

use crate::support::nothing_similar;

/// Bodies that cannot be read, and the cause that is counted for each.
fn unreadable(dialect: Dialect) -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let whole = dialect.ask("A question that is cut off in the middle", false).to_string();
    let turns = dialect.turns();
    let mut invalid_utf8 = whole.clone().into_bytes();
    let at = whole.find("question").unwrap();
    invalid_utf8[at] = 0xff;
    let deep = format!("{{\"{turns}\": {}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let deep_and_open = format!("{{\"{turns}\": {}", "[{\"a\":".repeat(10_000));
    vec![
        ("not JSON", b"hello".to_vec(), "not_json"),
        ("a page", b"<html></html>".to_vec(), "not_json"),
        ("truncated", whole.as_bytes()[..whole.len() - 9].to_vec(), "not_json"),
        ("something after it", format!("{whole}{whole}").into_bytes(), "not_json"),
        ("a list", b"[1, 2]".to_vec(), "shape"),
        ("a string", b"\"text\"".to_vec(), "shape"),
        ("a number", b"42".to_vec(), "shape"),
        ("null", b"null".to_vec(), "shape"),
        ("white space", b" \n ".to_vec(), "not_json"),
        ("turns are a number", format!("{{\"{turns}\": 7}}").into_bytes(), "shape"),
        ("turns of numbers", format!("{{\"{turns}\": [1, 2, 3]}}").into_bytes(), "shape"),
        ("nested 10 000 deep", deep.into_bytes(), "shape"),
        ("nested and never closed", deep_and_open.into_bytes(), "not_json"),
        ("invalid UTF-8", invalid_utf8, "invalid_utf8"),
        ("a NUL byte", whole.replace("question", "quest\0ion").into_bytes(), "not_json"),
    ]
}

/// Bodies that are odd, yet say something.
fn odd(dialect: Dialect) -> Vec<(&'static str, Vec<u8>)> {
    let ask = |text: &str| dialect.ask(text, false).to_string();
    let plain = ask("What is odd about this one question");
    let texts: Vec<String> = (0..10_000).map(|n| format!("part {} of it", n / 2)).collect();
    let many: Vec<(&str, &str)> =
        texts.iter().enumerate().map(|(n, text)| (["user", "assistant"][n % 2], text.as_str())).collect();
    vec![
        ("no turns", dialect.conversation(&[], false).to_string().into_bytes()),
        ("empty object", b"{}".to_vec()),
        ("10 000 turns", dialect.conversation(&many, false).to_string().into_bytes()),
        ("empty text", ask("").into_bytes()),
        ("a NUL in the text", plain.replace("question", "quest\\u0000ion").into_bytes()),
        ("lone high surrogate", plain.replace("question", "quest\\ud800ion").into_bytes()),
        ("lone low surrogate", plain.replace("question", "quest\\udc00ion").into_bytes()),
        ("surrogates the wrong way round", plain.replace("question", "\\udc00\\ud800").into_bytes()),
        ("right to left, emoji, CJK", ask("שלום 👩‍👩‍👧 これは 質問 です 吗 何").into_bytes()),
        (
            "numbers beyond f64",
            plain
                .replacen('{', "{\"seed\": 1e999, \"big\": 123456789012345678901234567890, ", 1)
                .into_bytes(),
        ),
        (
            "a field twice",
            plain.replacen('{', "{\"metadata\": {}, \"metadata\": {\"user_id\": \"b\"}, ", 1).into_bytes(),
        ),
        ("white space everywhere", plain.replace(',', " ,\r\n\t ").replace('{', "{ ").into_bytes()),
        ("a byte order mark", [b"\xef\xbb\xbf".as_slice(), plain.as_bytes()].concat()),
        ("a text of 200 kB", ask(&"all the words of a very long text ".repeat(6_000)).into_bytes()),
        ("one word of 200 kB", ask(&"x".repeat(200_000)).into_bytes()),
    ]
}

#[tokio::test]
async fn what_cannot_be_read_passes_byte_for_byte_and_is_counted() {
    let mut stack = Stack::builder().fake(Behaviour::Answer(nothing_similar(), Duration::ZERO)).start();
    let mut wrong = Vec::new();
    for dialect in Dialect::ALL {
        for (what, body, cause) in unreadable(dialect) {
            let before = stack.metrics();
            let response = stack.post(dialect, &[("x-agent-id", what)], body.clone()).await;
            assert_eq!(response.status, 200, "{dialect:?}, {what}");
            assert!(
                stack.provider.last().body == body,
                "{dialect:?}, {what}: the provider got something else"
            );
            let after = stack.metrics();
            for (labels, times) in [(vec![], 1), (vec![("cause", cause)], 1)] {
                let counted = after.sum("sentinel_bypasses_total", &labels)
                    - before.sum("sentinel_bypasses_total", &labels);
                if counted != times {
                    wrong.push(format!("{dialect:?}, {what}: {labels:?} counted {counted} times"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(stack.fake.as_ref().unwrap().calls().is_empty(), "there was nothing to ask the service");
    stack.assert_sound();
}

#[tokio::test]
async fn what_is_odd_passes_byte_for_byte() {
    let mut stack = Stack::builder().fake(Behaviour::Answer(nothing_similar(), Duration::ZERO)).start();
    for dialect in Dialect::ALL {
        for (what, body) in odd(dialect) {
            let response =
                stack.post(dialect, &[("x-agent-id", &format!("{what} {dialect:?}"))], body.clone()).await;
            assert_eq!(response.status, 200, "{dialect:?}, {what}");
            assert!(
                stack.provider.last().body == body,
                "{dialect:?}, {what}: the provider got something else"
            );
        }
    }
    stack.assert_sound();
}

/// The same with the real service: its answer to odd texts must be as harmless.
#[tokio::test]
async fn odd_texts_pass_the_real_service() {
    let mut stack = Stack::builder().service().start();
    for (what, body) in odd(Dialect::OpenaiChat) {
        let response = stack.post(Dialect::OpenaiChat, &[("x-agent-id", what)], body.clone()).await;
        assert_eq!(response.status, 200, "{what}");
        assert_eq!(stack.provider.last().body, body, "{what}: the provider got something else");
    }
    assert!(stack.service.as_mut().unwrap().process().is_running(), "the service has ended");
    stack.assert_sound();
}

/// Rewriting an odd request must not lose what makes it odd.
#[tokio::test]
async fn odd_requests_are_hinted_by_insertion_alone() {
    let mut stack =
        Stack::builder().fake(Behaviour::Answer(crate::support::similar(), Duration::ZERO)).start();
    let mut hinted = 0;
    for dialect in Dialect::ALL {
        for (what, body) in odd(dialect) {
            let response =
                stack.post(dialect, &[("x-agent-id", &format!("{what} {dialect:?}"))], body.clone()).await;
            assert_eq!(response.status, 200, "{dialect:?}, {what}");
            let got = stack.provider.last();
            if response.verdict() == "hint" {
                hinted += 1;
                crate::support::assert_hinted(dialect, &body, &got);
            } else {
                assert_eq!(got.body, body, "{dialect:?}, {what}");
            }
        }
    }
    assert!(hinted >= 20, "only {hinted} of the odd requests were hinted");
    stack.assert_sound();
}
