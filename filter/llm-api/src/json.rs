//! Reading JSON without copying it: borrowed values, and where they lie in the text. Knows no dialect.

use std::{borrow::Cow, ops::Range};

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use crate::json_escape::{escape, unescaped};
pub(crate) use crate::json_reader::read_raw;
pub use crate::json_reader::{read, read_with};
use crate::json_scan::plain_end;

/// Why a body could not be read. The request then passes unchanged; the cause is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Unreadable {
    #[error("the body is not UTF-8")]
    InvalidUtf8,
    #[error("the body is not JSON, or is cut off")]
    NotJson,
    #[error("the body is JSON of another shape than the dialect's")]
    Shape,
}

impl From<serde_json::Error> for Unreadable {
    fn from(error: serde_json::Error) -> Self {
        if error.is_data() { Self::Shape } else { Self::NotJson }
    }
}

/// A struct can be read from a list of its fields too: what must be an object is looked at first.
pub fn must_be_object(text: &str) -> Result<(), Unreadable> {
    if text.trim_start().starts_with('{') { Ok(()) } else { Err(Unreadable::Shape) }
}

/// An object read into a struct.
pub fn object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, Unreadable> {
    must_be_object(raw.get())?;
    read_raw(raw)
}

/// `raw` as a string; nothing where it is anything else or holds half a surrogate pair.
pub fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    // Most ids and names have no escapes: what lies between the quotes is the string.
    let inside = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if plain_end(inside.as_bytes(), 0) == inside.len() {
        return Some(Cow::Borrowed(inside));
    }
    unescaped(inside).map(Cow::Owned)
}

/// The characters of a string, decoded one by one; `None` where one is half a surrogate pair. Nothing where `raw` is no
/// string.
pub fn chars(raw: &RawValue) -> Option<impl Iterator<Item = Option<char>>> {
    let mut rest = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    Some(std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let read = if first == '\\' { escape(rest.as_bytes()) } else { Some((first, first.len_utf8())) };
        rest = read.and_then(|(_, length)| rest.get(length..)).unwrap_or_default();
        Some(read.map(|(c, _)| c))
    }))
}

/// Bytes of a text that are decoded. What comes after them stands for itself, escapes and all: two long texts are the same
/// or not either way.
const MAX_DECODED: usize = 65_536;

/// `raw` as a text to compare: a string of which only the beginning is decoded where it is long. Nothing where `string`
/// gives nothing for that beginning.
pub fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inside = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inside.len() <= MAX_DECODED {
        return string(raw);
    }
    let (beginning, rest) = inside.split_at_checked(end_of_beginning(inside))?;
    Some(Cow::Owned(unescaped(beginning)? + rest))
}

/// Where the beginning of a long string ends: not within a character, an escape, or a pair of escaped surrogates.
fn end_of_beginning(inside: &str) -> usize {
    let bytes = inside.as_bytes();
    let mut at = 0_usize;
    while at < MAX_DECODED {
        let length = match bytes.get(at..) {
            Some([b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..]) => 12,
            Some([b'\\', b'u', ..]) => 6,
            Some([b'\\', ..]) => 2,
            _ => 1,
        };
        at = at.saturating_add(length);
    }
    inside.ceil_char_boundary(at.min(inside.len()))
}

/// `raw` as any value; nothing where it is nested too deep or of another type.
pub fn parsed<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    read_raw(raw).ok()
}

/// For a field that may be absent, where `null` is not the same as absence.
pub fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Whether an optional field is `true`.
pub fn is_true(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// `text` as a JSON string, in its quotes.
#[inline(never)]
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Where `part`, borrowed from `whole`, lies in it; nothing where it is borrowed from elsewhere.
#[inline(never)]
pub fn span(whole: &str, part: &RawValue) -> Option<Range<usize>> {
    let part = part.get();
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = start.checked_add(part.len())?;
    (whole.get(start..end)?.as_ptr() == part.as_ptr()).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        a: &'a RawValue,
    }

    #[test]
    fn of_a_long_text_the_beginning_is_decoded() {
        for unit in
            ["a", "é", "\\n", "\\u00e9", "\\ud83d\\ude00", "\\\"", "\\\\", "a\\n\\u00e9日\\ud83d\\ude00"]
        {
            let inside = unit.repeat(MAX_DECODED / unit.len() + 300);
            let raw = RawValue::from_string(format!("\"{inside}\"")).unwrap();
            let (text, whole) = (text(&raw).unwrap(), string(&raw).unwrap());
            let beginning = end_of_beginning(&inside);
            let decoded = text.strip_suffix(inside.get(beginning..).unwrap()).unwrap();
            assert!(whole.starts_with(decoded) && beginning >= MAX_DECODED, "{unit}");
        }
    }

    #[test]
    fn a_lone_surrogate_is_no_string() {
        let body = r#"{"a":"x\ud800y"}"#;
        let parsed: Body = serde_json::from_str(body).unwrap();
        assert_eq!(string(parsed.a), None);
        assert_eq!(chars(parsed.a).unwrap().collect::<Vec<_>>(), [Some('x'), None]);
    }

    #[test]
    fn characters_one_by_one_are_those_of_the_string() {
        let raw = RawValue::from_string(r#""a\n\u00e9日\ud83d\ude00\\\" z""#.to_owned()).unwrap();
        let read: Option<String> = chars(&raw).unwrap().collect();
        assert_eq!(read.as_deref(), string(&raw).as_deref());
        assert!(chars(&RawValue::from_string("[1]".to_owned()).unwrap()).is_none());
    }
}
