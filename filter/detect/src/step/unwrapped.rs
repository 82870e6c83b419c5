//! What a result says, out of what dialects and frameworks wrap it in: JSON in strings at any depth, objects with one member,
//! lists of text blocks, the Python form of an MCP result, a label. Two results are equal where this is equal.

use std::borrow::Cow;

use memchr::memmem::Finder;
use sentinel_llm_api::json::{self, Raw};

use super::explicit;
use crate::Sought;

/// Results are taken out of what they are wrapped in up to this size (bytes).
const MAX_WRAPPED: usize = 65_536;
/// Wrappers in one another.
const DEPTH: usize = 6;

/// What a result says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said<'a> {
    pub text: Cow<'a, str>,
    /// A wrapper says that it is an error.
    pub is_error: bool,
}

/// A result as it stands in a body. Nothing where there is none.
pub(super) fn read(result: Option<Raw<'_>>) -> Said<'_> {
    let Some(raw) = result else { return Said { text: Cow::Borrowed(""), is_error: false } };
    let mut said = match raw.is_string() {
        true => Said { text: json::text(raw).unwrap_or(Cow::Borrowed(raw.get())), is_error: false },
        false => Said { text: Cow::Borrowed(raw.get()), is_error: false },
    };
    unwrap(&mut said);
    said
}

/// Digest of a text without what is volatile in it by its shape.
pub(crate) fn alike(text: &str) -> u64 {
    super::volatile::settled(text).exact
}

/// The same with one sign for every number.
pub(crate) fn frame(text: &str) -> u64 {
    super::volatile::settled(text).digest
}

/// A result that is text.
pub(super) fn of_text(text: &str) -> Said<'_> {
    let mut said = Said { text: Cow::Borrowed(text), is_error: false };
    unwrap(&mut said);
    said
}

fn unwrap(said: &mut Said<'_>) {
    for _ in 0..DEPTH {
        let inner = match &said.text {
            Cow::Borrowed(text) => inner(text),
            Cow::Owned(text) => inner(text)
                .map(|Said { text, is_error }| Said { text: Cow::Owned(text.into_owned()), is_error }),
        };
        let Some(inner) = inner else { return };
        *said = Said { text: inner.text, is_error: said.is_error || inner.is_error };
    }
}

/// What is in the outermost wrapper; nothing where there is none.
fn inner(text: &str) -> Option<Said<'_>> {
    let trimmed = text.trim();
    let plain = |text: Cow<'static, str>, is_error| Said { text, is_error };
    match trimmed.bytes().next()? {
        _ if trimmed.len() > MAX_WRAPPED => None,
        b'"' => {
            let raw = Raw::read(trimmed).ok().filter(|raw| raw.is_string())?;
            Some(Said { text: json::string(raw)?, is_error: false })
        }
        b'[' => texts(Raw::read(trimmed).ok()?).map(|text| plain(text.into(), false)),
        b'{' => member(Raw::read(trimmed).ok().filter(|raw| raw.is_object())?),
        _ => in_python(trimmed).or_else(|| {
            without_label(trimmed).map(|text| Said { text: Cow::Borrowed(text), is_error: false })
        }),
    }
}

/// The only member of an object; the texts of an MCP result or of a content block.
fn member(object: Raw<'_>) -> Option<Said<'_>> {
    let is_error = explicit::members_say_failure(object);
    let mut members = object.members();
    let (_, only) = members.next()?;
    if members.next().is_none() {
        let text = if only.is_string() { json::string(only)? } else { Cow::Borrowed(only.get()) };
        return Some(Said { text, is_error });
    }
    let [content, kind, text] = object.pick(["content", "type", "text"]).ok()?;
    if let Some(said) = content.filter(|content| content.is_list()).and_then(texts) {
        return Some(Said { text: said.into(), is_error });
    }
    let is_text = kind.and_then(json::string).is_some_and(|kind| kind == "text");
    Some(Said { text: json::string(text.filter(|text| is_text && text.is_string())?)?, is_error })
}

/// The texts of a list of blocks that all have a text, or JSON. The first block that has neither ends the look.
fn texts(list: Raw<'_>) -> Option<String> {
    let said = |block: Raw<'_>| {
        let [text, json] = block.is_object().then(|| block.pick(["text", "json"]).ok())??;
        let text = text.xor(json)?;
        Some(json::string(text).unwrap_or(Cow::Borrowed(text.get())).into_owned())
    };
    let blocks = list.elements().map(said).collect::<Option<Vec<_>>>()?;
    (!blocks.is_empty()).then(|| blocks.join("\n"))
}

/// `meta=None content=[TextContent(type='text', text='..', annotations=None)] isError=False`.
fn in_python(text: &str) -> Option<Said<'_>> {
    static BLOCK: Sought = Sought::new(|| Finder::new("TextContent(type='text', text="));
    let mut places = BLOCK.places(text).peekable();
    let begins = places.peek().and_then(|at| text.get(..*at))?;
    // What stands before is the repr's own, not a page that talks of one.
    if begins.len() > 64 || !begins.trim_end().ends_with(['[', '(', '=']) {
        return None;
    }
    let said: Vec<String> = places
        .filter_map(|at| {
            let quoted = text.get(at..)?.split_once("text=")?.1;
            let quote = quoted.chars().next()?;
            python_string(quoted.get(quote.len_utf8()..)?, quote)
        })
        .collect();
    Some(Said { text: said.join("\n").into(), is_error: text.trim_end().ends_with("isError=True") })
}

/// What a literal of Python says whose opening quote has been read.
fn python_string(literal: &str, quote: char) -> Option<String> {
    let mut out = String::new();
    let mut chars = literal.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                other if matches!(other, '\\' | '\'' | '"') => out.push(other),
                other => out.extend(['\\', other]),
            },
            c if c == quote => return Some(out),
            c => out.push(c),
        }
    }
    None
}

/// `Observation 3: it rains`, `Output: it rains`.
fn without_label(text: &str) -> Option<&str> {
    const LABELS: [&str; 5] = ["observation", "output", "result", "response", "stdout"];
    let (label, rest) = text.split_at_checked(text.bytes().take(40).position(|byte| byte == b':')?)?;
    let label =
        label.trim_matches(['*', '#', ' ']).trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
    let rest = rest.get(1..)?.trim_start_matches('*').trim();
    (!rest.is_empty() && LABELS.iter().any(|known| label.eq_ignore_ascii_case(known))).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrapped_is_what_stands_alone() {
        for (text, plain) in [
            ("running", "running"),
            (r#""running""#, "running"),
            (r#"{"return_value": "{\"items\":[]}"}"#, "[]"),
            (r#"{"output":"{\"result\":\"\\\"x\\\"\"}"}"#, "x"),
            (r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#, "a\nb"),
            (r#"{"content":[{"type":"text","text":"[]"}],"isError":false}"#, "[]"),
            (r#"{"type":"text","text":"running","annotations":null}"#, "running"),
            ("Observation 3: it rains", "it rains"),
            (
                "meta=None content=[TextContent(type='text', text='it\\'s\\nwet', annotations=None)] isError=False",
                "it's\nwet",
            ),
            (r#"{"a":1,"b":2}"#, r#"{"a":1,"b":2}"#),
            ("[1,2]", "[1,2]"),
            ("[[1]]", "[[1]]"),
            ("Error: it rains", "Error: it rains"),
            (r#"{"type":"image","text":"x"}"#, r#"{"type":"image","text":"x"}"#),
        ] {
            assert_eq!(of_text(text).text, plain, "{text}");
        }
    }

    #[test]
    fn a_wrapper_may_say_that_it_is_an_error() {
        for (text, is_error) in [
            (r#"{"error":"locked"}"#, true),
            (r#"{"output":"{\"error\":\"locked\"}"}"#, true),
            (r#"{"content":[{"type":"text","text":"x"}],"isError":true}"#, true),
            ("meta=None content=[TextContent(type='text', text='x')] isError=True", true),
            (r#"{"error":null}"#, false),
            (r#"{"errors":3}"#, false),
            (r#"{"errors":[]}"#, false),
        ] {
            assert_eq!(of_text(text).is_error, is_error, "{text}");
        }
    }

    #[test]
    fn odd_texts_do_no_harm() {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
        for text in [
            "",
            "\"",
            "{",
            "[",
            "{}",
            "[]",
            "é:",
            "TextContent(type='text', text=",
            "[TextContent(type='text', text='\\",
            &deep,
        ] {
            let _ = of_text(text);
        }
    }
}
