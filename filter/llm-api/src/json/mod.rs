//! JSON that is read without copying: values as they stand in a text, and their places in it. There is one reader
//! (`reader`), one type to look into an object (`object`) and one way to write a string (`quoted`). It knows no
//! dialect.

use std::{borrow::Cow, ops::Range};

use serde_json::Value;

pub(crate) mod cut;
pub(crate) mod escape;
pub(crate) mod members;
pub(crate) mod object;
pub(crate) mod reader;
pub(crate) mod scan;
mod skip;

use escape::{Halves, escape, unescaped};
use members::{Elements, Members, Names};
use reader::Reader;

/// Why a body could not be read. The request then passes unchanged, and the cause is counted. It is as wide as a pointer in
/// WebAssembly. A result with a narrower error is copied byte by byte, and the processor waits for each such copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[repr(u32)]
pub enum Unreadable {
    #[error("the body is not UTF-8")]
    InvalidUtf8,
    #[error("the body is not JSON, or is cut off")]
    NotJson,
    #[error("the body is JSON of another shape than the dialect's")]
    Shape,
}

/// One JSON value as it stands in a text that was read before. It is valid JSON without white space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a> {
    text: &'a str,
    /// Whether a string has escapes.
    escapes: Escapes,
}

/// Whether a string has escapes. It is as wide as its neighbours in memory. Beside a `bool` there would be unused bytes, which
/// WebAssembly copies one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Escapes {
    None,
    Some,
}

impl Escapes {
    fn are_some(self) -> bool {
        self == Self::Some
    }
}

impl From<bool> for Escapes {
    fn from(are_some: bool) -> Self {
        if are_some { Self::Some } else { Self::None }
    }
}

impl<'a> Raw<'a> {
    /// Reads the whole of `text` as one value.
    #[inline(never)]
    pub fn read(text: &'a str) -> Result<Self, Unreadable> {
        let mut reader = Reader::new(text);
        let raw = reader.raw()?;
        reader.end()?;
        Ok(raw)
    }

    /// The value as it is written.
    pub fn get(self) -> &'a str {
        self.text
    }

    /// The first byte tells the kind of a value.
    pub fn is_object(self) -> bool {
        self.text.starts_with('{')
    }

    pub fn is_list(self) -> bool {
        self.text.starts_with('[')
    }

    pub fn is_string(self) -> bool {
        self.text.starts_with('"')
    }

    pub fn is_null(self) -> bool {
        self.text == "null"
    }

    pub fn is_true(self) -> bool {
        self.text == "true"
    }

    /// The text between the quotes of a string, not decoded. Returns `None` for any other value.
    pub fn inside(self) -> Option<&'a str> {
        self.text.strip_prefix('"')?.strip_suffix('"')
    }

    /// The members of an object in order, with duplicates. Empty for any other value.
    pub fn members(self) -> Members<'a> {
        Members::of(self)
    }

    /// The elements of a list in order. Empty for any other value.
    pub fn elements(self) -> Elements<'a> {
        Elements::of(self)
    }

    /// The members of these names. `None` stands for a member that is absent or null. Returns an error when this is not
    /// an object, or when one of the names occurs twice: some readers would take the first and others the last.
    pub fn pick<const N: usize>(self, names: [&str; N]) -> Result<[Option<Raw<'a>>; N], Unreadable> {
        let mut picked = [None; N];
        Reader::of_raw(self).pick(Names::of(&names), &mut picked)?;
        Ok(picked)
    }
}

/// Reads `text`, an object, and picks its members of these names as [`Raw::pick`] does.
pub fn pick<'a, const N: usize>(text: &'a str, names: [&str; N]) -> Result<[Option<Raw<'a>>; N], Unreadable> {
    let mut picked = [None; N];
    let mut reader = Reader::new(text);
    reader.pick(Names::of(&names), &mut picked)?;
    reader.end()?;
    Ok(picked)
}

/// Returns an error unless a text begins as an object does.
pub fn must_be_object(text: &str) -> Result<(), Unreadable> {
    if text.trim_start().starts_with('{') { Ok(()) } else { Err(Unreadable::Shape) }
}

/// Decodes a string. Returns `None` when `raw` is another value, or holds half of a surrogate pair.
pub fn string(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    decoded(raw, Halves::Refused)
}

fn decoded(raw: Raw<'_>, halves: Halves) -> Option<Cow<'_, str>> {
    let inside = raw.inside()?;
    // Most strings have no escapes and need not be copied.
    if raw.escapes.are_some() {
        unescaped(inside, halves).map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inside))
    }
}

/// Decodes a string. Half of a surrogate pair reads as U+FFFD. Returns `None` when `raw` is another value.
pub(crate) fn lossy(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    decoded(raw, Halves::Replaced)
}

/// The string of an optional member. Empty if it is absent or another value.
pub(crate) fn name(raw: Option<Raw<'_>>) -> Cow<'_, str> {
    raw.and_then(text).unwrap_or_default()
}

/// Decodes a string character by character, with `None` for half of a surrogate pair. Returns `None` when `raw` is not
/// a string.
pub fn chars(raw: Raw<'_>) -> Option<impl Iterator<Item = Option<char>>> {
    let mut rest = raw.inside()?;
    Some(std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let read = if first == '\\' { escape(rest.as_bytes()) } else { Some((first, first.len_utf8())) };
        rest = read.and_then(|(_, length)| rest.get(length..)).unwrap_or_default();
        Some(read.map(|(c, _)| c))
    }))
}

/// Most bytes of a text that are decoded. The rest keeps its escapes: whether two long texts are equal does not depend
/// on them.
const MAX_DECODED: usize = 65_536;

/// Decodes a text for comparison: half of a surrogate pair reads as U+FFFD, and only the beginning of a long text is
/// decoded. Returns `None` when `raw` is not a string.
pub fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    let inside = raw.inside()?;
    if inside.len() <= MAX_DECODED || !raw.escapes.are_some() {
        return decoded(raw, Halves::Replaced);
    }
    let (beginning, rest) = inside.split_at_checked(end_of_beginning(inside))?;
    Some(Cow::Owned(unescaped(beginning, Halves::Replaced)? + rest))
}

/// Where the beginning of a long string ends. It does not end within a character, an escape, or a pair of escaped
/// surrogates.
fn end_of_beginning(inside: &str) -> usize {
    let bytes = inside.as_bytes();
    let mut at = 0_usize;
    while at < MAX_DECODED {
        at = at.saturating_add(escape_length(bytes.get(at..).unwrap_or_default()));
    }
    inside.ceil_char_boundary(at.min(inside.len()))
}

/// Length of the escape at the start of `bytes`, or 1 if there is none. Two escaped surrogates that form a pair count
/// as one escape.
pub(crate) fn escape_length(bytes: &[u8]) -> usize {
    match bytes {
        [
            b'\\',
            b'u',
            b'd' | b'D',
            b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B',
            _,
            _,
            b'\\',
            b'u',
            b'd' | b'D',
            b'c'..=b'f' | b'C'..=b'F',
            ..,
        ] => 12,
        [b'\\', b'u', ..] => 6,
        [b'\\', ..] => 2,
        _ => 1,
    }
}

/// Writes `text` as a JSON string in quotes.
#[inline(never)]
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Writes `text` as a JSON string without quotes.
pub fn escaped(text: &str) -> String {
    let quoted = quoted(text);
    quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// The place of `part` in `whole`. Returns `None` when it is not borrowed from it.
#[inline(never)]
pub fn span(whole: &str, part: Raw<'_>) -> Option<Range<usize>> {
    let part = part.get();
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = start.checked_add(part.len())?;
    (whole.get(start..end)?.as_ptr() == part.as_ptr()).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        Raw::read(text).unwrap()
    }

    #[test]
    fn of_a_long_text_the_beginning_is_decoded() {
        for unit in
            ["a", "é", "\\n", "\\u00e9", "\\ud83d\\ude00", "\\\"", "\\\\", "a\\n\\u00e9日\\ud83d\\ude00"]
        {
            let inside = unit.repeat(MAX_DECODED / unit.len() + 300);
            let long = format!("\"{inside}\"");
            let (text, whole) = (text(raw(&long)).unwrap(), string(raw(&long)).unwrap());
            let beginning = end_of_beginning(&inside);
            let decoded = text.strip_suffix(inside.get(beginning..).unwrap()).unwrap();
            assert!(whole.starts_with(decoded) && beginning >= MAX_DECODED, "{unit}");
        }
    }

    #[test]
    fn a_lone_surrogate_is_no_string_but_a_text() {
        let lone = raw(r#""x\ud800y\udc00\n""#);
        assert_eq!(string(lone), None);
        assert_eq!(text(lone).as_deref(), Some("x\u{fffd}y\u{fffd}\n"));
        assert_eq!(chars(raw(r#""x\ud800y""#)).unwrap().collect::<Vec<_>>(), [Some('x'), None]);
    }

    #[test]
    fn characters_one_by_one_are_those_of_the_string() {
        let read: Option<String> = chars(raw(r#""a\n\u00e9日\ud83d\ude00\\\" z""#)).unwrap().collect();
        assert_eq!(read.as_deref(), string(raw(r#""a\n\u00e9日\ud83d\ude00\\\" z""#)).as_deref());
        assert!(chars(raw("[1]")).is_none());
    }

    #[test]
    fn members_are_picked_by_name_and_never_one_of_two() {
        let [a, b, c] = raw(r#"{"b":null,"\u0061":[1],"x":1,"x":2}"#).pick(["a", "b", "c"]).unwrap();
        assert_eq!((a.map(Raw::get), b, c), (Some("[1]"), None, None));
        for text in [r#"{"a":1,"a":2}"#, r#"{"a":"","\u0061":2}"#, "[1]", "7"] {
            assert_eq!(raw(text).pick(["a"]), Err(Unreadable::Shape), "{text}");
        }
    }
}
