//! What differs in one and the same failure from time to time, known by its shape: times, durations with a unit, UUIDs and long hex,
//! addresses, temporary paths, colours of a terminal, the number behind pid, port, process or thread.

use std::fmt::Write;

use sentinel_text::{digest, digest_pair};

use super::{
    numbers::{Number, Numbers},
    shapes::{
        HEX_WORD, behind_time, duration, ends_with_id, is_address, is_counter, is_decimal, is_field,
        is_hex_word, is_line_of_shell, is_name_of_process, is_part_of_date, is_process_of_log,
        is_process_of_program, is_temporary, is_time, is_unit_of_number,
    },
};

/// A text without what is volatile in it.
pub(super) struct StableText {
    /// Digest of the words, with one sign for every number.
    pub digest: u64,
    /// The numbers that are not volatile.
    pub numbers: Numbers,
    /// Digest of the words and numbers.
    pub exact: u64,
}

/// Takes out of a text what is volatile.
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
    // One word more, because the last one may be incomplete.
    let mut settler = Settler { most: LENGTH.saturating_add(1), ..Settler::default() };
    settler.read(&plain);
    let mut all = settler.exact.splitn(LENGTH.saturating_add(1), ' ');
    all.by_ref().take(LENGTH).fold(0, |sum, word| digest_pair(sum, digest(word.as_bytes())))
}

/// The text with one sign for all that is volatile. Other numbers stay.
pub(super) fn without(text: &str) -> String {
    let plain = without_colours(text.trim());
    let mut settler = Settler::default();
    settler.read(&plain);
    settler.exact
}

/// Whether a text may be what is left of a failure: it has only characters that are never taken out.
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
    /// Words in lower case, with one sign for every number.
    frame: String,
    /// The same with the numbers as they stand.
    exact: String,
    numbers: Vec<Number>,
    /// The last word, and the one before it.
    before: &'t str,
    earlier: &'t str,
    follows_id: bool,
    /// It ends after this many words; 0: it reads all.
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

    /// Adds a word with digits: ids in it are volatile, and its numbers are noted.
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
                // Of a long number, the last digits count.
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
