//! Whether short outcomes of one call move towards an end: a number that falls, or one that rises towards another ("3 of 10", "45 %").

use super::volatile;
use crate::words::english;

/// Longer outcomes are not looked at (bytes).
const MOST: usize = 1_024;
/// An outcome with more numbers is not looked at.
const NUMBERS: usize = 16;

/// Whether the texts, the last one first, differ only in their numbers, and one of these moves towards an end.
pub(crate) fn nears_an_end(texts: &[String]) -> bool {
    let Some(read) = texts.iter().map(|text| read(text)).collect::<Option<Vec<_>>>() else { return false };
    if texts.len() < 3 {
        return false;
    }
    let Some(((frame, numbers, has_percent), earlier)) = read.split_first() else { return false };
    if earlier.iter().any(|(other, values, _)| other != frame || values.len() != numbers.len()) {
        return false;
    }
    let values = |place: usize| {
        read.iter().rev().filter_map(move |(_, numbers, _)| numbers.get(place).copied()).collect::<Vec<f64>>()
    };
    let all: Vec<Vec<f64>> = (0..numbers.len()).map(values).collect();
    all.iter()
        .any(|row| falls(row) || (rises(row) && (*has_percent || all.iter().any(|end| is_end_of(row, end)))))
}

/// Whether a number never rises, and falls at least every second time.
fn falls(row: &[f64]) -> bool {
    let pairs = || row.iter().zip(row.iter().skip(1));
    let (falls, all) = (pairs().filter(|(now, next)| next < now).count(), pairs().count());
    pairs().all(|(now, next)| next <= now) && falls.saturating_mul(2) >= all && falls > 0
}

/// Whether a whole number never falls, and rises at least every second time. A fraction is a measure, such as the time that something took.
fn rises(row: &[f64]) -> bool {
    row.iter().all(|value| value.fract() == 0.0) && falls(&row.iter().map(|value| -value).collect::<Vec<_>>())
}

/// Whether a number stays the same, and no number of the row is above it.
fn is_end_of(row: &[f64], end: &[f64]) -> bool {
    let Some(first) = end.first() else { return false };
    end.iter().all(|value| value == first) && row.iter().all(|value| value <= first)
}

/// A text without its numbers, its numbers, and whether one of them is a percentage. Dates and words of letters and digits
/// (`R88120`) are left out.
fn read(text: &str) -> Option<(String, Vec<f64>, bool)> {
    if text.len() > MOST {
        return None;
    }
    let (mut frame, mut numbers) = (String::new(), Vec::new());
    let plain = volatile::without_colours(text);
    let mut rest = plain.as_ref();
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at_checked(at)?;
        frame.push_str(before);
        if let Some(length) = name_or_date(before, from) {
            frame.push('#');
            rest = from.get(length..)?;
            continue;
        }
        let end = from.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(from.len());
        let (number, after) = from.split_at_checked(end)?;
        // A part of a time gets a fraction, so that a running clock is no progress.
        let goes_on =
            after.strip_prefix(':').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let part = if goes_on || frame.ends_with("0:") { 0.5 } else { 0.0 };
        frame.push('0');
        numbers.push(number.trim_end_matches('.').parse::<f64>().ok()? + part);
        rest = after;
        if numbers.len() > NUMBERS {
            return None;
        }
    }
    frame.push_str(rest);
    let has_percent = english::PART_OF.iter().any(|sign| frame.contains(sign));
    Some((frame, numbers, has_percent))
}

/// Length of a name or a date at this place (bytes): a word in which letters come before digits, or a date that begins with its year.
fn name_or_date(before: &str, from: &str) -> Option<usize> {
    let bytes = from.as_bytes();
    let word = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let has_letters = before.ends_with(|c: char| c.is_ascii_alphabetic());
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    // A unit may stand behind a number.
    let mut letters = bytes.get(..word)?.iter().skip_while(|byte| is_digit(byte));
    if has_letters || letters.any(is_digit) {
        return Some(word);
    }
    let [year @ .., b'-', m, n, b'-', d, e] = bytes.first_chunk::<10>()? else { return None };
    let is_date = year.iter().chain([m, n, d, e]).all(is_digit);
    is_date.then_some(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_towards_an_end() {
        let moves = |of: fn(u32) -> String| nears_an_end(&(0..6).rev().map(of).collect::<Vec<_>>());
        assert!(moves(|n| format!("you are number {} in the line", 14 - n)));
        assert!(moves(|n| format!("validation error 0.{}", 48 - 2 * n)));
        assert!(moves(|n| format!("{} of 40 pages printed", 3 * n)));
        assert!(moves(|n| format!("{} %", 3 * n)));
        assert!(moves(|n| format!("{{\"done\":{n},\"total\":90}}")));
        assert!(!moves(|n| format!("the file has {} lines now", 100 + n)), "it grows towards nothing");
        assert!(!moves(|n| format!("10:{:02}:31 no answer", n)), "a clock goes on");
        assert!(!moves(|n| format!("2026-02-{:02} no answer", 10 + n)), "so does a calendar");
        assert!(
            !moves(|n| format!("rejected, reference R{}, 90210 at most", 8_812 + 113 * n)),
            "a reference is no count"
        );
        assert!(!moves(|n| format!("no route (7f{n}c200a), try 9")), "nor is an id");
        assert!(
            moves(|n| format!("order R{n}81 is number {} in the line", 14 - n)),
            "a number beside one is"
        );
        assert!(moves(|n| format!("{}s left", 60 - n)), "so is one with a unit");
        assert!(moves(|n| format!("00:{:02}:31 left", 9 - n)), "a time that is left");
        assert!(!moves(|n| format!("took {} ms", [3, 9, 2, 7, 1, 8][n as usize])));
        assert!(!moves(|n| format!("page {}", "x".repeat(n as usize))));
        assert!(!moves(|_| "the same 3".into()));
    }
}
