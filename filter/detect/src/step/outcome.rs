//! What came of a call: the digest of its result, and whether that says that it went well, that nothing came of it, or
//! more. Results are read here and nowhere else.

use std::borrow::Cow;

use sentinel_llm_api::json;
use sentinel_text::{digest, words};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::Deed;
use crate::arguments::canonical;

/// Results are looked into up to this size (bytes); beyond it their digest must do.
const MAX_RESULT: usize = 4_096;
/// Results are taken out of what they are wrapped in up to this size (bytes).
const MAX_WRAPPED: usize = 65_536;
/// Receipts ("3 lines written to notes.txt") are not longer than this (words).
const RECEIPT_WORDS: usize = 12;
/// Nor are reports that nothing came of a call (words).
const SHORT_WORDS: usize = 60;
/// A number with so many digits names one thing.
const SPECIFIC_DIGITS: usize = 5;

/// What a result amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Kind {
    /// A tool that changes something merely says that it did ("OK.", "3 lines written"): different changes end alike.
    Receipt,
    /// It says that nothing came of it: an error, nothing found, nothing at all.
    Failure,
    Substance,
}

/// What a result says.
pub fn read(result: Option<&RawValue>) -> Cow<'_, str> {
    result.map_or(Cow::Borrowed(""), said)
}

/// Digest and kind of what a tool that does `deed` said.
pub fn judge(said: &str, deed: Deed) -> (u64, Kind) {
    (outcome(said, deed), kind(said, deed))
}

/// The id that a send returns does not count.
fn outcome(said: &str, deed: Deed) -> u64 {
    if deed == Deed::Send
        && said.len() <= MAX_RESULT
        && let Ok(mut value) = serde_json::from_str::<Value>(said)
        && (value.is_object() || value.is_array())
    {
        remove_ids(&mut value);
        return canonical(&value.to_string()).digest;
    }
    digest(said.trim().as_bytes())
}

/// What a result says, out of what it is wrapped in: a string, a list of texts, or an object with one member that
/// dialects and frameworks call `output` or `result`. Anything else stands for itself.
fn said(result: &RawValue) -> Cow<'_, str> {
    let raw = result.get();
    let unwrapped = match raw.bytes().next() {
        Some(b'"') => json::text(result),
        Some(b'[') if raw.len() <= MAX_WRAPPED => texts(result).map(Cow::Owned),
        Some(b'{') if raw.len() <= MAX_WRAPPED => only_member(result),
        _ => None,
    };
    unwrapped.unwrap_or(Cow::Borrowed(raw))
}

/// The texts of a list of blocks that all have a text, or JSON. The first block that has neither ends the look.
fn texts(result: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(borrow, alias = "json")]
        text: &'a RawValue,
    }
    let blocks: Vec<Block> = serde_json::from_str(result.get()).ok()?;
    let said =
        |block: &Block<'_>| json::string(block.text).unwrap_or(Cow::Borrowed(block.text.get())).into_owned();
    (!blocks.is_empty()).then(|| blocks.iter().map(said).collect::<Vec<_>>().join("\n"))
}

/// The only member of an object, where it is a wrapper's. Any other key ends the look.
fn only_member(result: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wrapped<'a> {
        #[serde(borrow, alias = "result")]
        output: &'a RawValue,
    }
    let Wrapped { output } = serde_json::from_str(result.get()).ok()?;
    if output.get().starts_with('"') { json::string(output) } else { Some(Cow::Borrowed(output.get())) }
}

fn remove_ids(value: &mut Value) {
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

/// What a short text says, by the words that it begins with; a long text is substance whatever it says.
fn kind(said: &str, deed: Deed) -> Kind {
    const FAILURES: [&str; 23] = [
        "error",
        "errors",
        "fail",
        "failed",
        "failure",
        "exception",
        "invalid",
        "unknown",
        "unable",
        "cannot",
        "can't",
        "denied",
        "refused",
        "forbidden",
        "missing",
        "not",
        "no",
        "none",
        "nothing",
        "null",
        "timeout",
        "unavailable",
        "couldn't",
    ];
    if said.len() > MAX_RESULT {
        return Kind::Substance;
    }
    let mut words = words(said);
    let mut count = 0_usize;
    let mut is_failure = false;
    for word in words.by_ref().take(RECEIPT_WORDS) {
        count = count.saturating_add(1);
        is_failure |= FAILURES.iter().any(|failure| word.eq_ignore_ascii_case(failure));
    }
    // What nothing failed in and no structure begins is told by its first words.
    if count == RECEIPT_WORDS && (is_failure || said.trim_start().starts_with('{') || deed != Deed::Ask) {
        count = count.saturating_add(words.take(SHORT_WORDS).count());
    }
    match count {
        0 if deed == Deed::Ask || !said.trim().is_empty() => Kind::Failure,
        1..=SHORT_WORDS if is_failure || is_empty_list(said) => Kind::Failure,
        0..=RECEIPT_WORDS if deed != Deed::Ask && !has_number(said) => Kind::Receipt,
        _ => Kind::Substance,
    }
}

/// `{"results": [], "total": 0}`: a list with nothing in it, and nothing else said.
fn is_empty_list(text: &str) -> bool {
    fn lists(value: &Value) -> Option<usize> {
        match value {
            Value::Array(items) => items.is_empty().then_some(1),
            Value::Object(members) => {
                members.values().try_fold(0_usize, |sum, member| Some(sum.saturating_add(lists(member)?)))
            }
            Value::Number(number) => (number.as_u64() == Some(0)).then_some(0),
            Value::String(text) => text.is_empty().then_some(0),
            Value::Null => Some(0),
            Value::Bool(_) => None,
        }
    }
    text.trim_start().starts_with('{')
        && serde_json::from_str(text).is_ok_and(|value| lists(&value).is_some_and(|lists| lists > 0))
}

/// Whether it has a number that no two changes are likely to share: "order 3221322 added", not "201 Created".
fn has_number(text: &str) -> bool {
    text.as_bytes().split(|byte| !byte.is_ascii_digit()).any(|digits| digits.len() >= SPECIFIC_DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_told_apart_by_what_they_say() {
        let kind = |tool: &str, said: &str| kind(said, Deed::of(tool));
        for text in ["OK.", "FinishedCall", "3 lines written to notes.txt", "true", "201 Created"] {
            assert_eq!(kind("write_file", text), Kind::Receipt, "{text}");
            assert_eq!(kind("look_up", text), Kind::Substance, "{text}");
        }
        let nothing = [
            "[]",
            "{}",
            "No results found",
            "error: file is locked",
            "null",
            r#"{"results": [], "total": 0}"#,
        ];
        for text in nothing {
            assert_eq!(kind("write_file", text), Kind::Failure, "{text}");
            assert_eq!(kind("look_up", text), Kind::Failure, "{text}");
        }
        assert_eq!(kind("look_up", ""), Kind::Failure);
        assert_eq!(kind("bash", ""), Kind::Receipt, "what goes well says nothing");
        assert_eq!(kind("bash", r#"{"exit_code": 0, "stdout": ""}"#), Kind::Receipt);
        assert_eq!(kind("add_voucher", "Voucher 3221322 added"), Kind::Substance, "it names one thing");
        assert_eq!(kind("write_file", &"word ".repeat(30)), Kind::Substance);
        assert_eq!(kind("write_file", &format!("No {}", "word ".repeat(100))), Kind::Substance);
    }

    #[test]
    fn what_a_result_is_wrapped_in_does_not_count() {
        let read = |raw: &str, deed| judge(&read(Some(serde_json::from_str(raw).unwrap())), deed);
        for text in ["[]", "No results found", "OK.", "{\"a\": 1}"] {
            let quoted = serde_json::to_string(text).unwrap();
            for wrapped in [
                format!(r#"[{{"type":"text","text":{quoted}}}]"#),
                format!(r#"[{{"type":"text","text":{quoted},"cache_control":{{"type":"ephemeral"}}}}]"#),
                format!(r#"[{{"json":{quoted}}}]"#),
                format!(r#"{{"output":{quoted}}}"#),
                format!(r#"{{ "result" : {quoted} }}"#),
            ] {
                assert_eq!(read(&wrapped, Deed::Act), read(&quoted, Deed::Act), "{wrapped}");
            }
        }
        let outcome = |raw: &str, deed| read(raw, deed).0;
        assert_ne!(
            outcome(r#"{"output":"a","more":1}"#, Deed::Ask),
            outcome(r#"{"output":"a","more":2}"#, Deed::Ask)
        );
        assert_ne!(outcome(r#"[{"type":"image","data":"a"}]"#, Deed::Ask), outcome("\"\"", Deed::Ask));
        assert_eq!(read(r#"[{"json":[]}]"#, Deed::Ask), read("[]", Deed::Ask));
        let receipt = |id: &str| format!(r#"{{"output":{{"message_id":"{id}","status":"sent"}}}}"#);
        assert_eq!(outcome(&receipt("a"), Deed::Send), outcome(&receipt("b"), Deed::Send));
    }
}
