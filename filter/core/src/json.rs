//! Reading JSON without copying it, and changing it without touching the rest: spans of borrowed values inside the
//! original text, and splices at those spans. Knows no dialect.

use std::{borrow::Cow, ops::Range};

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

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

/// A change of one place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// Bytes that are replaced; empty for an insertion.
    pub at: Range<usize>,
    pub with: String,
}

impl Splice {
    fn insert(at: usize, with: String) -> Self {
        Self { at: at..at, with }
    }

    /// `text` with the change made, or nothing where the place is not in it.
    pub fn apply(&self, text: &str) -> Option<Vec<u8>> {
        let before = text.get(..self.at.start)?;
        let after = text.get(self.at.end..)?;
        Some([before, &self.with, after].concat().into_bytes())
    }
}

/// A struct can be read from a list of its fields too: what must be an object is looked at first.
pub fn must_be_object(text: &str) -> Result<(), Unreadable> {
    if text.trim_start().starts_with('{') { Ok(()) } else { Err(Unreadable::Shape) }
}

/// An object read into a struct.
pub fn object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, Unreadable> {
    must_be_object(raw.get())?;
    Ok(serde_json::from_str(raw.get())?)
}

/// `raw` as a string; nothing where it is anything else or holds half a surrogate pair.
pub fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text>(raw.get()).ok().map(|text| text.0)
}

/// `raw` as any value; nothing where it is nested too deep or of another type.
pub fn parsed<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
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
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A key and its value put first into the object that is the whole of `body`.
pub fn insert_key(body: &str, key: &str, value: &str) -> Result<Splice, Unreadable> {
    let open = body.find('{').ok_or(Unreadable::Shape)?;
    Ok(insert_after_brace(body, open, &format!("{}:{value}", quoted(key))))
}

/// A key and its value put first into the object `object`, a part of `body`.
pub fn insert_key_into(body: &str, object: &RawValue, key: &str, value: &str) -> Result<Splice, Unreadable> {
    let span = span(body, object).filter(|_| object.get().starts_with('{')).ok_or(Unreadable::Shape)?;
    Ok(insert_after_brace(body, span.start, &format!("{}:{value}", quoted(key))))
}

/// An element put first into the array `array`, a part of `body`.
pub fn prepend(body: &str, array: &RawValue, element: &str) -> Result<Splice, Unreadable> {
    let span = span(body, array).filter(|_| array.get().starts_with('[')).ok_or(Unreadable::Shape)?;
    Ok(insert_after_brace(body, span.start, element))
}

/// An element put last into the array `array`, a part of `body`.
pub fn append(body: &str, array: &RawValue, element: &str) -> Result<Splice, Unreadable> {
    let span = span(body, array).filter(|_| array.get().ends_with(']')).ok_or(Unreadable::Shape)?;
    let at = span.end.saturating_sub(1);
    let inside = array.get().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let is_empty = inside.is_some_and(|text| text.trim().is_empty());
    Ok(Splice::insert(at, if is_empty { element.to_owned() } else { format!(",{element}") }))
}

/// `text` put at the end of the string `string`, a part of `body`, after an empty line.
pub fn extend_string(body: &str, string: &RawValue, text: &str) -> Result<Splice, Unreadable> {
    let span = span(body, string).filter(|_| string.get().starts_with('"')).ok_or(Unreadable::Shape)?;
    let text = if string.get() == "\"\"" { text.to_owned() } else { format!("\n\n{text}") };
    let quoted = quoted(&text);
    let inside = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
    Ok(Splice::insert(span.end.saturating_sub(1), inside.to_owned()))
}

/// `text` after what `content` says: at the end of a string, or as one more part of this type.
pub fn extend_text(body: &str, content: &RawValue, text: &str, kind: &str) -> Result<Splice, Unreadable> {
    if content.get().starts_with('[') {
        return append(body, content, &format!(r#"{{"type":{},"text":{}}}"#, quoted(kind), quoted(text)));
    }
    extend_string(body, content, text)
}

/// The value `old`, a part of `body`, replaced.
pub fn replace(body: &str, old: &RawValue, new: String) -> Result<Splice, Unreadable> {
    Ok(Splice { at: span(body, old).ok_or(Unreadable::Shape)?, with: new })
}

fn insert_after_brace(body: &str, brace: usize, element: &str) -> Splice {
    let at = brace.saturating_add(1);
    let next = body.get(at..).and_then(|rest| rest.trim_start().chars().next());
    let comma = if matches!(next, Some('}' | ']')) { "" } else { "," };
    Splice::insert(at, format!("{element}{comma}"))
}

/// Where `part`, borrowed from `whole`, lies in it.
fn span(whole: &str, part: &RawValue) -> Option<Range<usize>> {
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

    fn changed(body: &str, change: impl Fn(&str, &RawValue) -> Result<Splice, Unreadable>) -> String {
        let parsed: Body = serde_json::from_str(body).unwrap();
        let splice = change(body, parsed.a).unwrap();
        String::from_utf8(splice.apply(body).unwrap()).unwrap()
    }

    #[test]
    fn arrays_grow_at_both_ends() {
        for (before, first, last) in [
            (r#"{"a": [ ] }"#, r#"{"a": [9 ] }"#, r#"{"a": [ 9] }"#),
            (r#"{"a":[1, 2]}"#, r#"{"a":[9,1, 2]}"#, r#"{"a":[1, 2,9]}"#),
        ] {
            assert_eq!(changed(before, |body, a| prepend(body, a, "9")), first);
            assert_eq!(changed(before, |body, a| append(body, a, "9")), last);
        }
    }

    #[test]
    fn strings_are_extended_inside_their_quotes() {
        assert_eq!(
            changed(r#"{"a":"x\"" }"#, |body, a| extend_string(body, a, "é\"\n")),
            r#"{"a":"x\"\n\né\"\n" }"#
        );
        assert_eq!(changed(r#"{"a":""}"#, |body, a| extend_string(body, a, "y")), r#"{"a":"y"}"#);
    }

    #[test]
    fn keys_come_first() {
        assert_eq!(changed(r#" { "a":{}}"#, |body, _| insert_key(body, "k", "1")), r#" {"k":1, "a":{}}"#);
        assert_eq!(
            changed(r#"{"a":{ }}"#, |body, a| insert_key_into(body, a, "k", "1")),
            r#"{"a":{"k":1 }}"#
        );
    }

    #[test]
    fn another_type_is_another_shape() {
        let body = r#"{"a":7}"#;
        let parsed: Body = serde_json::from_str(body).unwrap();
        assert_eq!(append(body, parsed.a, "1"), Err(Unreadable::Shape));
        assert_eq!(prepend(body, parsed.a, "1"), Err(Unreadable::Shape));
        assert_eq!(extend_string(body, parsed.a, "1"), Err(Unreadable::Shape));
        assert_eq!(insert_key_into(body, parsed.a, "k", "1"), Err(Unreadable::Shape));
    }

    #[test]
    fn a_lone_surrogate_is_no_string() {
        let body = r#"{"a":"\ud800"}"#;
        let parsed: Body = serde_json::from_str(body).unwrap();
        assert_eq!(string(parsed.a), None);
    }
}
