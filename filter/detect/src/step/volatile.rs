//! What differs in one and the same failure from time to time, known by its shape: times, durations with a unit, UUIDs and long hex,
//! addresses, temporary paths, colours of a terminal, the number behind pid, port, process or thread.

use std::fmt::Write;

use sentinel_text::{digest, digest_pair};

use super::{
    known::{Known, is_one_of},
    numbers::{Number, Numbers},
};
use crate::{
    context::is_calendar,
    words::{english, programs},
};

/// Letters and digits that look like hexadecimal, so many in a row, are an id ("deadbeef").
const HEX_WORD: usize = 8;

/// A text without what is volatile in it.
pub(super) struct StableText {
    /// Digest of the words, a number as one sign.
    pub digest: u64,
    /// The numbers that are left.
    pub numbers: Numbers,
    /// Digest of the words and numbers.
    pub exact: u64,
}

/// Settles a text.
pub(super) fn settled(said: &str) -> StableText {
    let plain = without_colours(said.trim());
    let mut settler = Settler::default();
    settler.read(&plain);
    let Settler { mut frame, exact, numbers, .. } = settler;
    let (numbers, before) = Numbers::of(&numbers);
    for number in before {
        if let Number::Plain(value) = number {
            let _ = write!(frame, " {value}");
        }
    }
    StableText { digest: digest(frame.as_bytes()), numbers, exact: digest(exact.as_bytes()) }
}

/// Digest of the first words of a settled text. Texts that are equal once they are settled begin alike.
pub(super) fn beginning(said: &str) -> u64 {
    /// Words.
    const LENGTH: usize = 8;
    let plain = without_colours(said);
    // The last one may still grow.
    let mut settler = Settler { most: LENGTH.saturating_add(1), ..Settler::default() };
    settler.read(&plain);
    let mut all = settler.exact.splitn(LENGTH.saturating_add(1), ' ');
    all.by_ref().take(LENGTH).fold(0, |sum, word| digest_pair(sum, digest(word.as_bytes())))
}

/// The text with one sign for all that is volatile; its numbers stay.
pub(super) fn without(text: &str) -> String {
    let plain = without_colours(text.trim());
    let mut settler = Settler::default();
    settler.read(&plain);
    settler.exact
}

/// Whether a text could be what is left of a failure: it has no sign that is taken out.
pub(super) fn may_be_settled(text: &str) -> bool {
    text.bytes()
        .all(|byte| !byte.is_ascii() || byte.is_ascii_lowercase() || matches!(byte, b' ' | b'_' | b'-'))
}

/// Without the sequences by which terminals colour a text.
pub(super) fn without_colours(text: &str) -> std::borrow::Cow<'_, str> {
    const ESCAPE: char = '\u{1b}';
    if !text.contains(ESCAPE) {
        return text.into();
    }
    let mut parts = text.split(ESCAPE);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.strip_prefix('[').map_or(part, |part| {
            part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').get(1..).unwrap_or_default()
        });
        out.push_str(rest);
    }
    out.into()
}

#[derive(Default)]
struct Settler<'t> {
    /// Words in lower case; a number is one sign.
    frame: String,
    /// The same with the numbers as they stand.
    exact: String,
    numbers: Vec<Number>,
    /// The last word, and the one before it.
    before: &'t str,
    earlier: &'t str,
    follows_id: bool,
    /// It ends after so many words; 0: it reads all.
    most: usize,
    written: usize,
}

const VOLATILE: char = '#';

impl<'t> Settler<'t> {
    fn read(&mut self, text: &'t str) {
        let is_in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '+');
        let mut words = text
            .split(|c: char| !is_in_word(c))
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
            .filter(|word| !word.is_empty())
            .peekable();
        while let Some(word) = words.next() {
            let next = words.peek().copied().unwrap_or_default();
            if self.most > 0 && self.written >= self.most {
                return;
            }
            self.word(text, word, next);
            self.follows_id = ends_with_id(word);
            self.earlier = std::mem::replace(&mut self.before, word);
        }
    }

    fn word(&mut self, text: &str, word: &str, next: &str) {
        let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
        let is_id =
            self.follows_id && (word.len() >= HEX_WORD || word.contains(['_', '-'])) && !is_counter(word);
        if is_id
            || is_hex_word(word)
            || (self.follows_id && is_field(text, word))
            || is_temporary(text, word, self.before)
            || (has_digit && (is_address(word) || is_time(word)))
            || is_part_of_date(word, self.before, next)
            || is_process_of_log(text, word, next)
            || is_process_of_program(text, word)
            || (has_digit && (is_name_of_process(self.before) || is_line_of_shell(self.earlier, self.before)))
        {
            return self.push_volatile();
        }
        if let Some(rest) = behind_time(word) {
            self.push_volatile();
            return self.word(text, rest, next);
        }
        if let Some(duration) = duration(word, self.before, next) {
            self.numbers.push(Number::Duration(duration));
            return self.push_volatile();
        }
        if is_unit_of_number(word, self.before) {
            return;
        }
        if !has_digit || is_decimal(word) {
            let lower: String = word.chars().flat_map(char::to_lowercase).collect();
            return self.push(&lower, &lower);
        }
        self.with_numbers(word);
    }

    /// A word with digits in it: its parts that are ids go, its numbers are taken out.
    fn with_numbers(&mut self, word: &str) {
        let (mut frame, mut exact) = (String::new(), String::new());
        for part in word.split_inclusive(['_', '-', '.', ':', '+']) {
            let inner = part.trim_end_matches(['_', '-', '.', ':', '+']);
            if is_hex_word(inner) {
                frame.push(VOLATILE);
                exact.push(VOLATILE);
                continue;
            }
            let mut rest = inner;
            while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
                let (letters, digits) = rest.split_at_checked(at).unwrap_or((rest, ""));
                let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
                let (number, after) = digits.split_at_checked(end).unwrap_or((digits, ""));
                // Of a long number its last digits count.
                let value = number.bytes().fold(0_u32, |value, byte| {
                    value.wrapping_mul(10).wrapping_add(u32::from(byte.saturating_sub(b'0')))
                });
                self.numbers.push(Number::Plain(value));
                for out in [&mut frame, &mut exact] {
                    out.extend(letters.chars().flat_map(char::to_lowercase));
                }
                frame.push('0');
                exact.push_str(number);
                rest = after;
            }
            for out in [&mut frame, &mut exact] {
                out.extend(rest.chars().flat_map(char::to_lowercase));
                out.push_str(part.get(inner.len()..).unwrap_or_default());
            }
        }
        self.push(&frame, &exact);
    }

    fn push(&mut self, frame: &str, exact: &str) {
        self.written = self.written.saturating_add(1);
        for (out, word) in [(&mut self.frame, frame), (&mut self.exact, exact)] {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
    }

    /// One sign for several in a row.
    fn push_volatile(&mut self) {
        if !self.exact.ends_with(VOLATILE) {
            self.written = self.written.saturating_add(1);
        }
        for out in [&mut self.frame, &mut self.exact] {
            if !out.ends_with(VOLATILE) {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push(VOLATILE);
            }
        }
    }
}

/// `call_9`: a short name with a number.
fn is_counter(word: &str) -> bool {
    word.len() <= HEX_WORD
        && word.rsplit(['_', '-']).next().is_some_and(|end| end.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `deadbeef`, `550e8400-e29b-41d4-a716-446655440000`.
fn is_hex_word(word: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    let is_uuid = word.len() == 36 && word.split('-').count() == 5 && word.split('-').all(is_hex);
    is_uuid || (word.len() >= HEX_WORD && !is_number && is_hex(word))
}

/// `0x7fff12a0`, `10.0.0.17`, `10.0.0.17:4711`.
fn is_address(word: &str) -> bool {
    let host = word.split(':').next().unwrap_or(word);
    let is_octet = |part: &str| part.parse::<u8>().is_ok();
    word.starts_with("0x") || (host.split('.').count() == 4 && host.split('.').all(is_octet))
}

/// `10:02:11`, `2026-01-31`, `2026-01-31T10:00:00.123Z`, `31.01.2026`.
fn is_time(word: &str) -> bool {
    let is_made_of_time =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b':' | b'.' | b'+' | b'T' | b'Z');
    if !word.starts_with(|c: char| c.is_ascii_digit()) || !word.bytes().all(is_made_of_time) {
        return false;
    }
    let groups = |sign: char| word.split(sign).count();
    let is_year = |part: &str| part.len() == 4;
    groups(':') == 3
        || (groups(':') == 2 && word.split(':').all(|part| part.len() == 2))
        || (word.contains('T') && groups('-') >= 3)
        || (groups('-') == 3 && word.split('-').any(is_year))
        || (groups('.') == 3 && word.split('.').any(is_year))
}

/// What stands behind a time that a name begins with: `2026-11-25T10_05_11_123Z-debug-0.log`.
fn behind_time(word: &str) -> Option<&str> {
    let is_of_time = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | '_' | 'T' | 'Z');
    let (time, rest) = word.split_at_checked(word.find(|c: char| !is_of_time(c))?)?;
    let (day, hour) = time.split_once('T')?;
    let is_time = is_time(day) && hour.starts_with(|c: char| c.is_ascii_digit());
    is_time.then(|| rest.trim_start_matches(['-', '.', '_']))
}

/// `[41772]` before the level of a line in a log.
fn is_process_of_log(text: &str, word: &str, next: &str) -> bool {
    programs::FAILURE_LEVELS.contains(&next)
        && word.bytes().all(|byte| byte.is_ascii_digit())
        && text.get(..super::place(text, word)).is_some_and(|before| before.ends_with('['))
}

/// The number of `ssh[907]: denied`, at the beginning of a line.
fn is_process_of_program(text: &str, word: &str) -> bool {
    /// Digits: an index is shorter.
    const LEAST: usize = 3;
    if word.len() < LEAST || !word.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let (before, after) = text.split_at_checked(super::place(text, word)).unwrap_or((text, ""));
    let program = before.rsplit('\n').next().and_then(|line| line.strip_suffix('['));
    after.get(word.len()..).is_some_and(|rest| rest.starts_with("]: "))
        && program.is_some_and(|program| {
            !program.is_empty() && program.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
}

/// A word of a date beside a number ("03 Mar", "10:01 PM"), or a number beside such a word.
fn is_part_of_date(word: &str, before: &str, next: &str) -> bool {
    let has_digit = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    let is_word = |word: &str| word.len() <= 9 && is_calendar(word.as_bytes());
    if is_word(word) {
        return has_digit(before) || has_digit(next);
    }
    word.len() <= 4 && word.bytes().all(|byte| byte.is_ascii_digit()) && (is_word(before) || is_word(next))
}

static UNITS: Known = Known::of(english::UNITS_OF_TIME);
static NUMBERS: Known = Known::of(english::FROM_ONE);

/// A number with a unit of time: `950ms`, the number of "30.01 s", "two" in "two seconds", the number behind `took_ms` or
/// `"elapsed":`. In thousandths.
fn duration(word: &str, before: &str, next: &str) -> Option<u32> {
    let digits = word.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(word.len());
    let (number, unit) = word.split_at_checked(digits)?;
    if number.is_empty() {
        let is_number = NUMBERS.has(word) && UNITS.has(next);
        return is_number.then_some(0);
    }
    let is_duration =
        if unit.is_empty() { UNITS.has(next) || is_name_of_duration(before) } else { UNITS.has(unit) };
    if !is_duration {
        return None;
    }
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let thousandths = part.bytes().chain(*b"000").take(3);
    let value = whole.bytes().chain(thousandths).filter(u8::is_ascii_digit).fold(0_u32, |value, byte| {
        value.saturating_mul(10).saturating_add(u32::from(byte.saturating_sub(b'0')))
    });
    Some(value)
}

/// `took`, `elapsed`, `took_ms`: what stands behind it is how long something took.
fn is_name_of_duration(name: &str) -> bool {
    static NAMES: Known = Known::of(english::DURATIONS);
    let is_name = |part: &str| NAMES.has(part);
    name.trim_end_matches(':').rsplit(['_', '-', '.']).next().is_some_and(is_name)
}

fn is_unit_of_number(word: &str, before: &str) -> bool {
    UNITS.has(word)
        && (NUMBERS.has(before)
            || (!before.is_empty() && before.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')))
}

/// `0.48`: a measure, which is no counter.
fn is_decimal(word: &str) -> bool {
    let mut parts = word.split('.');
    let is_number = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_none()
}

pub(super) fn is_name_of_process(before: &str) -> bool {
    static NAMES: Known = Known::of(programs::PROCESSES);
    NAMES.has(before.trim_end_matches(':'))
}

/// `bash: line 11376`: how many lines a shell has read that stays open.
fn is_line_of_shell(program: &str, name: &str) -> bool {
    static SHELLS: Known = Known::of(programs::SHELLS);
    name == "line" && SHELLS.has(program.trim_end_matches(':'))
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

/// `Chunk ID: f2ac31`: the value of a line that has no other, and is too long for a count.
fn is_field(text: &str, word: &str) -> bool {
    /// Characters.
    const LONG: usize = 6;
    let (before, after) = text.split_at_checked(super::place(text, word)).unwrap_or((text, ""));
    let after = after.get(word.len()..).unwrap_or_default();
    word.len() >= LONG
        && before.trim_end_matches([' ', '\t']).ends_with(':')
        && after.trim_start_matches([' ', '\t', '\r']).starts_with('\n')
}

/// A name that was made for one time: what stands directly below `/tmp/`, and `tmpab12cd.py`.
fn is_temporary(text: &str, word: &str, before: &str) -> bool {
    let start = super::place(text, word);
    let is_below = is_one_of(before, programs::TEMPORARY)
        && text.get(..start).is_some_and(|text| text.ends_with(['/', '\\']));
    let is_numbered =
        word.split('.').next().is_some_and(|stem| stem.bytes().all(|byte| byte.is_ascii_digit()));
    let path = text.get(..start).and_then(|before| before.rsplit([' ', '"', '\'', '\n']).next());
    (is_numbered && path.is_some_and(|path| path.contains("/tmp/")))
        || is_below
            && ((word.len() >= HEX_WORD && !word.contains('.'))
                || (word.starts_with("tmp") && word.len() > 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the second may follow the first in one sequence of failures.
    fn follows(one: &str, other: &str) -> bool {
        let (one, other) = (settled(one), settled(other));
        one.digest == other.digest && other.numbers.follow(&one.numbers)
    }

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
            ("Call id: call_3 failed", "Call id: call_4 failed"),
            ("Error in deadbeef", "Error in cafebabe"),
            (
                "Error in 550e8400-e29b-41d4-a716-446655440000",
                "Error in 123e4567-e89b-12d3-a456-426614174000",
            ),
            (r#"{"error":"locked","took_ms":12}"#, r#"{"error":"locked","took_ms":15}"#),
            (
                r#"{"error":"reset","request_id":"req_00001ef9"}"#,
                r#"{"error":"reset","request_id":"req_0000abf2"}"#,
            ),
            ("10:02:11 WARN disk full", "10:02:15 WARN disk full"),
            (
                "Error at Tue, 03 Mar 2026 10:01:11 GMT: reset",
                "Error at Fri, 04 Apr 2026 11:09:12 GMT: reset",
            ),
            ("locked until 10:01 AM", "locked until 11:02 PM"),
            ("failed after two seconds", "failed after five seconds"),
            ("no answer within 950ms", "no answer within 2 min"),
            ("cannot open /tmp/tmpqwertyui/a.json", "cannot open /tmp/tmpasdfghjk/a.json"),
            ("cannot open /tmp/tmp1a2b3c.py", "cannot open /tmp/tmp9z8y7x.py"),
            ("Killed (pid 4100)", "Killed (pid 4107)"),
            ("ssh[907]: Permission denied", "ssh[914]: Permission denied"),
            ("panic: goroutine 7 [running]", "panic: goroutine 18 [running]"),
            ("cannot open /tmp/ipykernel_3013/18827.py", "cannot open /tmp/ipykernel_4471/99120.py"),
            ("09:10:34 UTC [41772] FATAL:  no entry", "09:11:24 UTC [30881] FATAL:  no entry"),
            (
                "error: see /logs/2026-11-25T10_05_11_123Z-debug-0.log",
                "error: see /logs/2026-11-25T10_06_59_007Z-debug-0.log",
            ),
            ("\u{1b}[31mFAIL\u{1b}[39m a.test.js (0.52 s)", "FAIL a.test.js (0.61 s)"),
            ("/bin/bash: line 11376: cd: a/: No such file", "/bin/bash: line 11388: cd: a/: No such file"),
            ("cannot reach 10.0.0.17:4711", "cannot reach 10.0.0.18:4712"),
            ("Chunk ID: f2ac31\nexit code 2", "Chunk ID: 482913\nexit code 2"),
            ("exit code 2\nProcess Group PGID: 4242", "exit code 2\nProcess Group PGID: 5001"),
        ] {
            assert!(follows(one, other), "{one} | {other}");
        }
    }

    #[test]
    fn another_failure_has_another() {
        for (one, other) in [
            ("Error: connection refused", "Error: permission denied"),
            ("file a.txt is missing", "file b.txt is missing"),
            ("no such file: 2026-11-25-a.log", "no such file: 2026-11-29-a.log"),
            ("cannot open /tmp/a.json", "cannot open /tmp/b.json"),
            ("", "error"),
            ("you are number 14", "you are number 12"),
            ("error: 20 tests failed", "error: 19 tests failed"),
            ("3 failed, 7 passed in 0.12s", "2 failed, 8 passed in 0.11s"),
            ("SyntaxError: bad, line 17", "SyntaxError: bad, line 23"),
            ("a.sh: line 17: x: not found", "a.sh: line 23: x: not found"),
            ("validation error 0.48", "validation error 0.49"),
            ("Error in v1.2.3", "Error in v1.2.9"),
            ("the order 4711 is gone", "the order 4713 is gone"),
            ("items[12]: required", "items[27]: required"),
            ("see row[907]: bad", "see row[914]: bad"),
            ("cannot open /data/18827.py", "cannot open /data/99120.py"),
            ("error: order id: 471112 is gone", "error: order id: 471399 is gone"),
        ] {
            assert!(!follows(one, other), "{one} | {other}");
        }
    }

    #[test]
    fn odd_texts_do_no_harm() {
        for text in
            ["", "\u{1b}", "\u{1b}[", "é\u{1b}[31mü", "___", "1.", ".1", "a_1_b_2", "99999999999999999999"]
        {
            let _ = settled(text);
        }
    }
}
