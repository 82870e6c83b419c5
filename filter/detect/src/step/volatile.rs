//! What differs in one and the same failure from time to time: ids, numbers, times, addresses, counters.

use sentinel_llm_api::json;
use sentinel_text::digest;
use serde_json::Value;

use super::known::Known;
use crate::context::is_calendar;

/// Letters that look like hexadecimal digits, so many in a row without another, are an id ("deadbeef").
const HEX_WORD: usize = 8;

/// Digest of a failure without what is volatile in it.
pub(crate) fn digest_without(said: &str) -> u64 {
    let text = said.trim();
    if text.starts_with(['{', '['])
        && let Ok(mut value) = json::read::<Value>(text)
    {
        settle(&mut value);
        // Sorted keys and no numbers: written in one way only.
        return digest(value.to_string().as_bytes());
    }
    digest(without(text).as_bytes())
}

/// Whether a text could be what is left of a failure: it has no sign that is taken out.
pub(crate) fn may_be_settled(text: &str) -> bool {
    let stays = |byte: u8| {
        byte.is_ascii_lowercase()
            || byte.is_ascii_digit()
            || matches!(byte, b' ' | b'_' | b'-' | b'.' | b':' | b'+' | b'#')
    };
    text.bytes().all(|byte| !byte.is_ascii() || stays(byte))
}

/// Takes the ids out of a value.
pub(crate) fn remove_ids(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|key, _| !is_id_key(key));
            members.values_mut().for_each(remove_ids);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_ids),
        _ => {}
    }
}

fn is_id_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key == "id" || key == "ts" || key.ends_with("_id") || key.ends_with("uuid") || key == "messageid"
}

/// Whether what stands under the key differs from time to time: `request_id`, `timestamp`, `took_ms`, `attempt`.
pub(crate) fn is_volatile_key(key: &str) -> bool {
    static PARTS: Known = Known::of(&[
        "id",
        "ids",
        "uuid",
        "guid",
        "ts",
        "time",
        "timestamp",
        "date",
        "datetime",
        "at",
        "ms",
        "seconds",
        "secs",
        "took",
        "elapsed",
        "duration",
        "latency",
        "attempt",
        "attempts",
        "retry",
        "trace",
        "nonce",
    ]);
    let mut rest = key;
    // The words of `request_id`, `requestId` and `x-request-id`.
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        rest = rest.get(start..).unwrap_or_default();
        let bytes = rest.as_bytes();
        let hump = bytes.windows(2).position(
            |pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && !b.is_ascii_lowercase() || a.is_ascii_alphabetic() && !b.is_ascii_alphabetic()),
        );
        let end = hump.map_or(rest.len(), |at| at.saturating_add(1));
        let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if PARTS.has(word) {
            return true;
        }
        rest = after;
    }
    false
}

/// Takes out what is volatile: under its keys whole, in texts and numbers where it stands.
fn settle(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|key, _| !is_volatile_key(key));
            members.values_mut().for_each(settle);
        }
        Value::Array(items) => items.iter_mut().for_each(settle),
        Value::String(text) => *text = without(text),
        Value::Number(_) => *value = Value::Null,
        Value::Null | Value::Bool(_) => {}
    }
}

/// The words of `text` in lower case; words with a digit in them, and ids, as one sign. How much went wrong stays: a
/// test that fails otherwise each time is progress.
pub(super) fn without(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let is_in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '+');
    let mut words = text
        .split(|c: char| !is_in_word(c))
        .map(|word| (word, word.trim_matches(|c: char| !c.is_alphanumeric())))
        .filter(|(_, word)| !word.is_empty())
        .peekable();
    let (mut follows_id, mut before) = (false, ("", ""));
    while let Some((whole, word)) = words.next() {
        let is_hex = word.len() >= HEX_WORD && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_id = (follows_id && (word.len() >= HEX_WORD || word.contains(['_', '-'])))
            || is_temporary(text, word, before.1);
        follows_id = ends_with_id(word);
        let next = words.peek().map_or("", |(_, next)| *next);
        let is_volatile = is_hex
            || is_id
            || word.bytes().any(|byte| byte.is_ascii_digit())
            || belongs_to_number(word, before.1, next);
        if !out.is_empty() {
            out.push(' ');
        }
        if !is_volatile || (!is_id && is_extent(text, word, before, next)) {
            out.extend(word.chars().flat_map(char::to_lowercase));
        } else if out.ends_with("# ") {
            out.pop();
        } else {
            out.push('#');
        }
        before = (whole, word);
    }
    out
}

fn is_one_of(word: &str, known: &[&str]) -> bool {
    known.iter().any(|one| word.eq_ignore_ascii_case(one))
}

/// `id`, `request_id`, `RequestId`.
fn ends_with_id(word: &str) -> bool {
    let last = word.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    last.eq_ignore_ascii_case("id")
        || last
            .strip_suffix("Id")
            .or_else(|| last.strip_suffix("ID"))
            .is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_lowercase()))
}

/// A name that was made for one time: what stands directly below `/tmp/`.
fn is_temporary(text: &str, word: &str, before: &str) -> bool {
    let start = (word.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    word.len() >= HEX_WORD
        && !word.contains('.')
        && is_one_of(before, &["tmp", "temp"])
        && text.get(..start).is_some_and(|text| text.ends_with(['/', '\\']))
}

/// A word of a date beside a number ("03 Mar", "10:01 PM"), the unit behind one ("30 s"), and numbers in words ("two
/// seconds", "third attempt").
fn belongs_to_number(word: &str, before: &str, next: &str) -> bool {
    static UNITS: Known = Known::of(&[
        "ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes", "h", "hour",
        "hours", "us", "ns",
    ]);
    static NUMBERS: Known = Known::of(&[
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    ]);
    static COUNTED: Known = Known::of(&["attempt", "attempts", "try", "tries", "retry", "retries", "times"]);
    // No such word is longer.
    if word.len() > 9 {
        return false;
    }
    let has_digit = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    let is_counted = COUNTED.has(next) || UNITS.has(next);
    (has_digit(before) && UNITS.has(word))
        || (NUMBERS.has(before) && UNITS.has(word))
        || (is_counted && NUMBERS.has(word))
        || ((has_digit(before) || has_digit(next)) && is_calendar(word.as_bytes()))
}

/// Whether a number says how much went wrong: "12 errors", "3 failed, 7 passed", "failures=2"; not "attempt 3 failed".
fn is_extent(text: &str, number: &str, before: (&str, &str), next: &str) -> bool {
    static WRONGS: Known = Known::of(&[
        "failures",
        "errors",
        "tests",
        "test",
        "problems",
        "warnings",
        "issues",
        "conflicts",
        "mismatches",
        "failing",
        "passed",
        "passing",
        "checks",
    ]);
    if number.len() > 6 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let start = (number.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let sign = text.get(..start).and_then(|text| text.trim_end_matches(' ').chars().next_back());
    let opens = sign.is_none_or(|sign| !sign.is_alphanumeric());
    let (whole, word) = before;
    let is_value = WRONGS.has(word) && (whole.ends_with(':') || sign == Some('='));
    WRONGS.has(next) || is_value || (opens && next.eq_ignore_ascii_case("failed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_has_one_digest() {
        for (one, other) in [
            (
                "Error: timeout after 30.2s (request id req_8Hs7a)",
                "Error: timeout after 12s (request id req_91x)",
            ),
            ("2026-01-31T10:00:00Z connection refused", "2026-01-31T10:05:09Z connection refused"),
            ("segfault at 0x7fff12a0 in main", "segfault at 0x55d0e3b0 in main"),
            ("Attempt 3 of 10 failed: locked", "Attempt 4 of 10 failed: locked"),
            ("Call id: call_abcdefgh failed", "Call id: call_hgfedcba failed"),
            ("Error in deadbeef", "Error in cafebabe"),
            (
                r#"{"error":"locked","request_id":"a","took_ms":12,"at":"now"}"#,
                r#"{"took_ms":15,"error":"locked","request_id":"b","at":"then"}"#,
            ),
            (
                r#"{"error":{"message":"no room (try 1)","code":7}}"#,
                r#"{"error":{"message":"no room (try 2)","code":9}}"#,
            ),
            ("10:02:11 WARN disk full", "10:02:15 WARN disk full"),
            ("Job 4711 failed", "Job 4712 failed"),
            ("2 failed in 0.12s", "2 failed in 0.34s"),
            (
                "Error at Tue, 03 Mar 2026 10:01:11 GMT: reset",
                "Error at Fri, 04 Apr 2026 11:09:12 GMT: reset",
            ),
            ("locked until 10:01 AM", "locked until 11:02 PM"),
            ("failed after two seconds", "failed after five seconds"),
            ("First attempt failed", "Third attempt failed"),
            ("no answer within 950ms", "no answer within 2 min"),
            ("cannot open /tmp/tmpqwertyui/a.json", "cannot open /tmp/tmpasdfghjk/a.json"),
            ("<RequestId>ABCDEFGHIJ</RequestId>", "<RequestId>KLMNOPQRST</RequestId>"),
        ] {
            assert_eq!(digest_without(one), digest_without(other), "{one} | {other}");
        }
    }

    #[test]
    fn another_failure_has_another() {
        for (one, other) in [
            ("Error: connection refused", "Error: permission denied"),
            (r#"{"error":"locked"}"#, r#"{"error":"gone"}"#),
            ("file a.txt is missing", "file b.txt is missing"),
            ("cannot open /tmp/a.json", "cannot open /tmp/b.json"),
            ("the second page may be wrong", "the first page may be wrong"),
            ("", "error"),
            ("error: 20 tests failed", "error: 19 tests failed"),
            ("3 failed, 7 passed in 0.12s", "2 failed, 8 passed in 0.11s"),
            ("FAILED (failures=2)", "FAILED (failures=1)"),
            ("Build failed with errors: 12", "Build failed with errors: 3"),
        ] {
            assert_ne!(digest_without(one), digest_without(other), "{one} | {other}");
        }
    }

    #[test]
    fn keys_that_carry_accidents() {
        for key in [
            "id",
            "request_id",
            "requestId",
            "X-Request-ID",
            "timestamp",
            "took_ms",
            "elapsedSeconds",
            "attempt",
        ] {
            assert!(is_volatile_key(key), "{key}");
        }
        for key in ["error", "message", "name", "idle", "status", "data", "format"] {
            assert!(!is_volatile_key(key), "{key}");
        }
    }
}
