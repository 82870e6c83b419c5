//! The text of a result without what dialects and frameworks wrap it in: JSON in strings at any depth, objects with one member,
//! lists of text blocks, the Python form of an MCP result, a label. Results are compared by this text.

use std::borrow::Cow;

use memchr::memmem::Finder;
use sentinel_llm_api::json::{self, Raw};

use super::{explicit, known::is_one_of, shapes, states, volatile};
use crate::{Sought, words::formats};

/// Wrappers are removed from results up to this size (bytes).
const MAX_WRAPPED: usize = 65_536;
/// Deepest nesting of wrappers.
const DEPTH: usize = 6;

/// What a result says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResultText<'a> {
    pub text: Cow<'a, str>,
    /// A wrapper says that it is an error.
    pub is_error: bool,
}

/// A result as it stands in a body. Empty if there is none.
pub(super) fn read(result: Option<Raw<'_>>) -> ResultText<'_> {
    let Some(raw) = result else { return ResultText { text: Cow::Borrowed(""), is_error: false } };
    let mut said = match raw.is_string() {
        true => ResultText { text: json::text(raw).unwrap_or(Cow::Borrowed(raw.get())), is_error: false },
        false => ResultText { text: Cow::Borrowed(raw.get()), is_error: false },
    };
    unwrap(&mut said);
    said
}

/// The text with which a user answers an agent, and whether a wrapper says that it is an error.
pub(crate) fn said(text: &str) -> (Cow<'_, str>, bool) {
    let ResultText { text, is_error } = of_text(text);
    (text, is_error)
}

/// Digest of a text without what is volatile in it by its shape.
pub(crate) fn alike(text: &str) -> u64 {
    volatile::settled(text).exact
}

/// The same, with one sign for every number.
pub(crate) fn frame(text: &str) -> u64 {
    volatile::settled(text).digest
}

/// A result that is text.
pub(super) fn of_text(text: &str) -> ResultText<'_> {
    let mut said = ResultText { text: Cow::Borrowed(text), is_error: false };
    unwrap(&mut said);
    said
}

fn unwrap(said: &mut ResultText<'_>) {
    for _ in 0..DEPTH {
        let inner = match &said.text {
            Cow::Borrowed(text) => inner(text),
            Cow::Owned(text) => inner(text).map(|ResultText { text, is_error }| ResultText {
                text: Cow::Owned(text.into_owned()),
                is_error,
            }),
        };
        let Some(inner) = inner else { return };
        *said = ResultText { text: inner.text, is_error: said.is_error || inner.is_error };
    }
}

/// What is in the outermost wrapper. Returns `None` when there is no wrapper.
fn inner(text: &str) -> Option<ResultText<'_>> {
    /// A list of blocks has one of these names.
    static NAMES: [Sought; 2] =
        [Sought::new(|| Finder::new("\"text\"")), Sought::new(|| Finder::new("\"json\""))];
    let trimmed = text.trim();
    let plain = |text: Cow<'static, str>, is_error| ResultText { text, is_error };
    match trimmed.bytes().next()? {
        _ if trimmed.len() > MAX_WRAPPED => None,
        b'"' => {
            let raw = Raw::read(trimmed).ok().filter(|raw| raw.is_string())?;
            Some(ResultText { text: json::string(raw)?, is_error: false })
        }
        b'[' if !NAMES.iter().any(|name| name.is_in(trimmed)) => None,
        b'[' => texts(Raw::read(trimmed).ok()?).map(|text| plain(text.into(), false)),
        b'{' => member(Raw::read(trimmed).ok().filter(|raw| raw.is_object())?),
        _ => in_python(trimmed).or_else(|| without_fields(trimmed)).or_else(|| {
            let text = without_prompt(trimmed).or_else(|| without_label(trimmed))?;
            Some(ResultText { text: Cow::Borrowed(text), is_error: false })
        }),
    }
}

/// The only member of an object; the texts of an MCP result or of a content block.
fn member(object: Raw<'_>) -> Option<ResultText<'_>> {
    let is_error = explicit::members_say_failure(object);
    let mut members = object.members();
    let (name, only) = members.next()?;
    if members.next().is_none() {
        // A number or a state says little without its name: `{"heads": 1}`, `{"affected_rows": 100}`, `{"state": "OPEN"}`.
        if states::is_state_key(&name.text())
            || only.get().starts_with(|c: char| c.is_ascii_digit() || c == '-')
        {
            return None;
        }
        let text = if only.is_string() { json::string(only)? } else { Cow::Borrowed(only.get()) };
        return Some(ResultText { text, is_error });
    }
    if let Some(said) = with_exit_code(object) {
        return Some(said);
    }
    let [content, kind, text] = object.pick(["content", "type", "text"]).ok()?;
    if let Some(said) = content.filter(|content| content.is_list()).and_then(texts) {
        return Some(ResultText { text: said.into(), is_error });
    }
    let is_text = kind.and_then(json::string).is_some_and(|kind| kind == "text");
    Some(ResultText { text: json::string(text.filter(|text| is_text && text.is_string())?)?, is_error })
}

/// The texts of a list of blocks. Each block must have a text or JSON. Returns `None` when one has neither.
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
fn in_python(text: &str) -> Option<ResultText<'_>> {
    static BLOCK: Sought = Sought::new(|| Finder::new("TextContent(type='text', text="));
    let mut places = BLOCK.places(text).peekable();
    let begins = places.peek().and_then(|at| text.get(..*at))?;
    // The block must stand at the beginning of a Python repr. A page may talk of one.
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
    Some(ResultText { text: said.join("\n").into(), is_error: text.trim_end().ends_with("isError=True") })
}

/// Decodes a literal of Python whose opening quote has been read.
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

/// What a program has printed, by the exit code: 0 adds nothing, and any other code says that the program failed.
fn printed<'a>(text: Cow<'a, str>, code: &str) -> Option<ResultText<'a>> {
    let is_error = explicit::failed_by_exit_code(code)?;
    // If the program went well but its lines look like a failure, the code must stay with them: only the code tells.
    let is_whole = is_error || !explicit::is_failure(&text);
    is_whole.then_some(ResultText { text, is_error })
}

/// `{"output": "a.rs", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}`.
fn with_exit_code(object: Raw<'_>) -> Option<ResultText<'_>> {
    let mut members = object.members();
    let ((_, output), (_, beside)) = (members.next()?, members.next()?);
    if members.next().is_some() || !output.is_string() || !beside.is_object() {
        return None;
    }
    let mut values = beside.members();
    if !values.all(|(_, value)| value.get().starts_with(|c: char| c.is_ascii_digit() || c == '-')) {
        return None;
    }
    printed(json::string(output)?, beside.get())
}

/// The output without the prompt of a shell or an interpreter behind it: a last line of signs alone, such as `>>>` or `$`.
fn without_prompt(text: &str) -> Option<&str> {
    /// Signs in a prompt, at most.
    const PROMPT: usize = 3;
    let (output, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let is_prompt = (1..=PROMPT).contains(&last.len())
        && last.bytes().all(|byte| matches!(byte, b'>' | b'$' | b'#' | b'%'));
    is_prompt.then_some(output)
}

/// The output without the fields that a tool writes around it. The fields differ each time.
fn without_fields(text: &str) -> Option<ResultText<'_>> {
    let (output, fields) = output_behind_fields(text).or_else(|| output_before_fields(text))?;
    printed(Cow::Borrowed(output), fields)
}

/// Fields before or behind an output that are looked at.
const MOST_FIELDS: usize = 8;

/// What stands behind a line `Output:`, and the fields before that line.
fn output_behind_fields(text: &str) -> Option<(&str, &str)> {
    let is_field = |line: &str| line.len() <= 80 && (line.contains(": ") || line.ends_with(char::is_numeric));
    let mut begin = 0_usize;
    for line in text.split_inclusive('\n').take(MOST_FIELDS) {
        let (fields, rest) = text.split_at_checked(begin)?;
        begin = begin.saturating_add(line.len());
        let line = line.trim();
        if line.eq_ignore_ascii_case("output:") {
            return Some((rest.split_once('\n').map_or("", |(_, output)| output), fields));
        }
        if !is_field(line) {
            return None;
        }
    }
    None
}

/// What stands before an exit code, and the line with the code. Behind the code may be fields that are empty or hold process numbers.
fn output_before_fields(text: &str) -> Option<(&str, &str)> {
    let mut end = text.len();
    for line in text.rsplit('\n').take(MOST_FIELDS) {
        let is_last = end == text.len();
        end = end.saturating_sub(line.len().saturating_add(1));
        if explicit::failed_by_exit_code(line).is_some() {
            return (!is_last).then_some((without_empty_fields(text.get(..end)?), line));
        }
        let (label, value) = line.split_once(':')?;
        if !explicit::is_nothing(value) && !shapes::is_name_of_process(label.rsplit(' ').next()?) {
            return None;
        }
    }
    None
}

/// Removes `Stderr: (empty)` and the like at the end.
fn without_empty_fields(mut text: &str) -> &str {
    /// Most fields.
    const MOST: usize = 4;
    for _ in 0..MOST {
        let (before, line) = text.rsplit_once('\n').unwrap_or(("", text));
        let is_empty = line.split_once(':').is_some_and(|(_, value)| explicit::is_nothing(value));
        if !is_empty {
            break;
        }
        text = before;
    }
    text
}

/// `Observation 3: it rains`, `Output: it rains`.
fn without_label(text: &str) -> Option<&str> {
    let (label, rest) = text.split_at_checked(text.bytes().take(40).position(|byte| byte == b':')?)?;
    let label =
        label.trim_matches(['*', '#', ' ']).trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
    let rest = rest.get(1..)?.trim_start_matches('*').trim();
    (!rest.is_empty() && is_one_of(label, formats::RESULT_LABELS)).then_some(rest)
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
            (">>>", ""),
            ("None\n>>>", "None"),
            ("a.rs\nb.rs\n$", "a.rs\nb.rs"),
            ("a.rs\n--->", "a.rs\n--->"),
            ("42 %", "42 %"),
            (
                "meta=None content=[TextContent(type='text', text='it\\'s\\nwet', annotations=None)] isError=False",
                "it's\nwet",
            ),
            (
                "Chunk ID: f2ac31\nWall time: 0.01 seconds\nProcess exited with code 0\nOutput:\na.rs\n",
                "a.rs",
            ),
            ("Output: a.rs\nExit Code: 0\nProcess Group PGID: 4242", "a.rs"),
            ("Stdout: a.rs\nError: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)", "a.rs"),
            (r#"{"output":"a.rs","metadata":{"exit_code":0,"duration_seconds":0.1}}"#, "a.rs"),
            ("exit code: 0", "exit code: 0"),
            ("Rows: 17\nOutput:\na.rs", "Rows: 17\nOutput:\na.rs"),
            ("a.rs\nExit Code: 0\nRows: 17", "a.rs\nExit Code: 0\nRows: 17"),
            ("error: in the log\nExit Code: 0\nPGID: 17", "error: in the log\nExit Code: 0\nPGID: 17"),
            (r#"{"output":"x","rows":{"exit_code":"0"}}"#, r#"{"output":"x","rows":{"exit_code":"0"}}"#),
            (r#"{"a":1,"b":2}"#, r#"{"a":1,"b":2}"#),
            (r#"{"heads":1}"#, r#"{"heads":1}"#),
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
            ("Chunk ID: f2ac31\nProcess exited with code 1\nOutput:\nx", true),
            ("Output: x\nExit Code: 1\nProcess Group PGID: 4242", true),
            (r#"{"output":"x","metadata":{"exit_code":1}}"#, true),
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
