//! What a quotation mark begins by what stands around it: a value of data, a literal of a program, or a quotation. Programs put values
//! in quotation marks, and nobody quotes anything there; who writes a program about such sentences does.

use crate::tokens::{COLON, COMMA, QUOTE, Token, UNQUOTE};

/// Of a longer line, this much is looked at on each side (bytes).
const LONGEST_LINE: usize = 1_000;

/// What stands before the quotation mark in front of a word.
pub fn ahead(text: &str, word: Token) -> &str {
    text.get(..word.offset).unwrap_or_default().trim_end_matches(['"', '\'']).trim_end_matches('\\')
}

/// Whether a word begins a value behind its name or behind another value: `"note":"`, `note="`, `"a", "`.
pub fn is_named(text: &str, word: Token) -> bool {
    let before = || ahead(text, word);
    word.follows(QUOTE)
        && (word.follows(UNQUOTE) && word.follows(COLON | COMMA)
            || before().ends_with('=') && !before().ends_with("==")
            || before().trim_end_matches(' ').ends_with("=>"))
}

/// Whether a word behind a quotation mark begins a value of JSON, HTML, CSV, a configuration or what a program prints: `"note":"`, `alt="`,
/// `2,"`, `note = "`, `{ id: 1, note: "`, `["a", "`, all of a line. In a sentence a space stands behind the comma, and no bracket before it.
pub fn begins_value(text: &str, word: Token) -> bool {
    let before = ahead(text, word);
    let key = before.trim_end_matches(' ');
    if before.ends_with([',', ';', '|', '\t'])
        || is_named(text, word) && !word.follows(COMMA)
        || key.ends_with('=')
    {
        return !key.ends_with("==");
    }
    if let Some(key) = key.strip_suffix(':') {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | '\t');
        let ahead = key.trim_end_matches(is_part);
        let name = key.get(ahead.len()..).unwrap_or_default().trim_start_matches([' ', '-', '\t']);
        let begins = ahead.is_empty() || ahead.ends_with(['\n', '{', ',', '(']);
        return begins && !name.is_empty() && !name.contains(' ');
    }
    let line = line_before(key).trim_start();
    let is_element = || line.starts_with(['[', '{', '(']) && Line::of(line).open == Some(false);
    let is_whole = || line_behind(text, word).trim_end_matches(',').ends_with(['"', '\'']);
    if line.is_empty() { is_whole() } else { is_element() }
}

/// Whether a word behind a quotation mark begins a literal of a program: an argument of a call, or what a variable is set to. `note = "` may
/// be a line of a configuration, unless the line beside it calls something or says `$note`.
pub fn is_literal(text: &str, word: Token) -> bool {
    let head = ahead(text, word).trim_end_matches(['f', 'r', 'b', 'u', ' ']);
    let mark = text.get(..word.offset).and_then(|head| head.chars().next_back());
    let (line, rest) = (line_before(head), line_behind(text, word));
    let Some((_, behind)) = mark.and_then(|mark| rest.split_once(mark)) else { return false };
    if Line::of(line).open == Some(true) || line.ends_with(":=") {
        return true;
    }
    let Some(left) = line.strip_suffix('=') else { return false };
    // The number of a line, a mark of a list or of a change.
    let names = left.trim_start_matches(|c: char| !c.is_ascii_alphabetic() && !matches!(c, '$' | '@' | '_'));
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.:$@*&<>[]? ".contains(c);
    if names.is_empty() || !names.chars().all(is_part) {
        return false;
    }
    let is_spaced = names.ends_with(' ');
    if names.trim_end().contains(' ') {
        return is_spaced;
    }
    let above = head.get(..head.len().saturating_sub(line.len())).unwrap_or_default();
    let below = text.get(word.offset.saturating_add(rest.len())..).unwrap_or_default();
    let below = below.trim_start_matches('\n');
    let below = below.get(..below.floor_char_boundary(LONGEST_LINE)).unwrap_or_default();
    let beside = [line_before(above.trim_end_matches('\n')), below.lines().next().unwrap_or_default()];
    let used = format!("${names}");
    let is_code = |line: &&str| if is_spaced { Line::of(line).calls } else { line.contains(&used) };
    matches!(behind.trim(), "" | ";") && beside.iter().any(is_code)
}

fn line_before(head: &str) -> &str {
    let start = head.ceil_char_boundary(head.len().saturating_sub(LONGEST_LINE));
    head.get(start..).and_then(|head| head.rsplit('\n').next()).unwrap_or_default()
}

fn line_behind(text: &str, word: Token) -> &str {
    let rest = text.get(word.offset..).unwrap_or_default();
    rest.get(..rest.floor_char_boundary(LONGEST_LINE))
        .and_then(|rest| rest.split('\n').next())
        .unwrap_or_default()
}

/// The brackets of a line outside of quotation marks.
struct Line {
    /// It calls a function, which has a name in small letters.
    calls: bool,
    /// Whether the last bracket that is open at its end is that of a call. Nothing where it stands behind another name: `InlineData("`.
    open: Option<bool>,
}

impl Line {
    fn of(line: &str) -> Self {
        let (mut quote, mut open, mut calls) = (None, Vec::new(), false);
        for (at, c) in line.char_indices() {
            match (quote, c) {
                (Some(mark), _) => quote = Some(mark).filter(|mark| *mark != c),
                (None, '"' | '\'' | '`') => quote = Some(c),
                (None, '(' | '[' | '{') => {
                    let head = line.get(..at).unwrap_or_default();
                    let name = head.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
                    let first = name.and_then(|name| name.chars().next()).filter(|_| c == '(');
                    let is_call = first.is_some_and(|c| c.is_ascii_lowercase());
                    calls |= is_call;
                    open.push(Some(is_call).filter(|is_call| *is_call || first.is_none()));
                }
                (None, ')' | ']' | '}') => drop(open.pop()),
                (None, _) => {}
            }
        }
        Self { calls, open: open.pop().flatten() }
    }
}
