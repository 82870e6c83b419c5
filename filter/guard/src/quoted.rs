//! What a quotation mark begins, judged by what stands around it: a value in data, a literal in a program, or a quotation.
//! Programs put values in quotation marks without quoting anybody. Somebody who writes a program about such sentences does quote
//! them.

use crate::tokens::{COLON, COMMA, QUOTE, Token, UNQUOTE};

/// Of a longer line, only this much is looked at on each side (bytes).
const LONGEST_LINE: usize = 1_000;

/// A text without these signs at its end.
#[inline(never)]
pub fn trim_end<'t>(mut text: &'t [u8], signs: &[u8]) -> &'t [u8] {
    while let [rest @ .., last] = text
        && signs.contains(last)
    {
        text = rest;
    }
    text
}

#[inline(never)]
fn ends_in(text: &[u8], signs: &[u8]) -> bool {
    text.last().is_some_and(|last| signs.contains(last))
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The text before the quotation mark in front of a word.
#[inline(never)]
pub fn ahead(text: &str, word: Token) -> &[u8] {
    trim_end(trim_end(text.as_bytes().get(..word.offset).unwrap_or_default(), b"\"'"), b"\\")
}

/// Whether a word begins a value, behind its name or behind another value: `"note":"`, `note="`, `"a", "`.
#[inline(never)]
pub fn is_named(text: &str, word: Token) -> bool {
    if !word.follows(QUOTE) {
        return false;
    }
    let before = ahead(text, word);
    word.follows(UNQUOTE) && word.follows(COLON | COMMA)
        || before.ends_with(b"=") && !before.ends_with(b"==")
        || trim_end(before, b" ").ends_with(b"=>")
}

/// Whether a word behind a quotation mark begins a value of JSON, HTML, CSV, a configuration, or what a program prints:
/// `"note":"`, `alt="`, `2,"`, `note = "`, `{ id: 1, note: "`, `["a", "`, or a whole line. In a sentence, a space stands behind a
/// comma, and no bracket before it.
#[inline(never)]
pub fn begins_value(text: &str, word: Token) -> bool {
    let before = ahead(text, word);
    let key = trim_end(before, b" ");
    if ends_in(before, b",;|\t") || is_named(text, word) && !word.follows(COMMA) || key.ends_with(b"=") {
        return !key.ends_with(b"==");
    }
    if let Some(key) = key.strip_suffix(b":") {
        let name = key.iter().rev().take_while(|byte| is_of_name(**byte) || **byte == b'-').count();
        let ahead = key.get(..key.len().saturating_sub(name)).unwrap_or_default();
        let ahead = trim_end(ahead, b" -\t");
        return name > 0 && (ahead.is_empty() || ends_in(ahead, b"\n{,("));
    }
    match line_before(key).trim_ascii_start() {
        [] => ends_in(trim_end(line_behind(text, word), b","), b"\"'"),
        line @ [b'[' | b'{' | b'(', ..] => LineBrackets::of(line).open == Some(false),
        _ => false,
    }
}

/// Whether a word behind a quotation mark begins a literal in a program: an argument of a call, or the value of a variable.
/// `note = "` may also stand in a configuration, unless the line beside it calls something or says `$note`.
#[inline(never)]
pub fn is_literal(text: &str, word: Token) -> bool {
    let head = trim_end(ahead(text, word), b"frbu ");
    let mark = text.as_bytes().get(..word.offset).and_then(<[u8]>::last);
    let (line, rest) = (line_before(head), line_behind(text, word));
    let close = mark.and_then(|mark| memchr::memchr(*mark, rest));
    let Some(behind) = close.and_then(|close| rest.get(close.saturating_add(1)..)) else { return false };
    if LineBrackets::of(line).open == Some(true) || line.ends_with(b":=") {
        return true;
    }
    // Skips a line number, or the mark of a list or a diff.
    let left = line.strip_suffix(b"=").unwrap_or_default();
    let start = left.iter().position(|byte| !b" \t0123456789+-:>|\x7f".contains(byte));
    let names = start.and_then(|start| left.get(start..)).unwrap_or_default();
    let (name, is_spaced) = (trim_end(names, b" "), names.ends_with(b" "));
    let begins = name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || b"$@_".contains(byte));
    if !begins || !name.iter().all(|byte| is_of_name(*byte) || b".:$@*&<>[]? ".contains(byte)) {
        return false;
    }
    if name.contains(&b' ') {
        return is_spaced;
    }
    let is_code = |line: &[u8]| {
        let mut parts = line.windows(name.len().saturating_add(1));
        if is_spaced {
            LineBrackets::of(line).calls
        } else {
            parts.any(|part| part.strip_prefix(b"$") == Some(name))
        }
    };
    let above = head.get(..head.len().saturating_sub(line.len())).unwrap_or_default();
    let below = text.as_bytes().get(word.offset.saturating_add(rest.len())..).unwrap_or_default();
    matches!(behind.trim_ascii(), b"" | b";")
        && (is_code(line_before(trim_end(above, b"\n"))) || is_code(first_line(below.trim_ascii_start())))
}

#[inline(never)]
fn line_before(head: &[u8]) -> &[u8] {
    let head = head.get(head.len().saturating_sub(LONGEST_LINE)..).unwrap_or_default();
    head.rsplit(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// The rest of the line from a word on.
fn line_behind(text: &str, word: Token) -> &[u8] {
    first_line(text.as_bytes().get(word.offset..).unwrap_or_default())
}

#[inline(never)]
pub fn first_line(text: &[u8]) -> &[u8] {
    let text = text.get(..LONGEST_LINE).unwrap_or(text);
    memchr::memchr(b'\n', text).and_then(|end| text.get(..end)).unwrap_or(text)
}

/// The brackets of a line outside of quotation marks.
struct LineBrackets {
    /// It calls a function, which has a name in small letters.
    calls: bool,
    /// Whether the last bracket that is still open belongs to a call. `None` if it stands behind another name: `InlineData("`.
    open: Option<bool>,
}

impl LineBrackets {
    #[inline(never)]
    fn of(line: &[u8]) -> Self {
        let (mut quote, mut open, mut calls) = (None, Vec::new(), false);
        for (at, byte) in line.iter().enumerate() {
            match (quote, byte) {
                (Some(mark), _) => quote = Some(mark).filter(|mark| *mark != byte),
                (None, b'"' | b'\'' | b'`') => quote = Some(byte),
                (None, b'(' | b'[' | b'{') => {
                    let head = line.get(..at).unwrap_or_default().iter().rev();
                    let first = head.take_while(|byte| is_of_name(**byte)).last().filter(|_| *byte == b'(');
                    let is_call = first.is_some_and(u8::is_ascii_lowercase);
                    calls |= is_call;
                    open.push(Some(is_call).filter(|is_call| *is_call || first.is_none()));
                }
                (None, b')' | b']' | b'}') => drop(open.pop()),
                (None, _) => {}
            }
        }
        // If a value has begun and not ended, the mark quotes something within it.
        Self { calls, open: open.pop().flatten().filter(|_| quote.is_none()) }
    }
}
