//! Shapes of words that differ from time to time: ids, addresses, times, durations, temporary paths, numbers of processes.

use super::known::{Known, is_one_of};
use crate::{
    context::is_calendar,
    words::{english, programs},
};

/// At least this many hexadecimal letters and digits in a row are an id ("deadbeef").
pub(super) const HEX_WORD: usize = 8;

/// `call_9`: a short name with a number.
pub(super) fn is_counter(word: &str) -> bool {
    word.len() <= HEX_WORD
        && word.rsplit(['_', '-']).next().is_some_and(|end| end.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `deadbeef`, `550e8400-e29b-41d4-a716-446655440000`.
pub(super) fn is_hex_word(word: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    let is_uuid = word.len() == 36 && word.split('-').count() == 5 && word.split('-').all(is_hex);
    is_uuid || (word.len() >= HEX_WORD && !is_number && is_hex(word))
}

/// `0x7fff12a0`, `10.0.0.17`, `10.0.0.17:4711`.
pub(super) fn is_address(word: &str) -> bool {
    let host = word.split(':').next().unwrap_or(word);
    let is_octet = |part: &str| part.parse::<u8>().is_ok();
    word.starts_with("0x") || (host.split('.').count() == 4 && host.split('.').all(is_octet))
}

/// `10:02:11`, `2026-01-31`, `2026-01-31T10:00:00.123Z`, `31.01.2026`.
pub(super) fn is_time(word: &str) -> bool {
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
pub(super) fn behind_time(word: &str) -> Option<&str> {
    let is_of_time = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | '_' | 'T' | 'Z');
    let (time, rest) = word.split_at_checked(word.find(|c: char| !is_of_time(c))?)?;
    let (day, hour) = time.split_once('T')?;
    let is_time = is_time(day) && hour.starts_with(|c: char| c.is_ascii_digit());
    is_time.then(|| rest.trim_start_matches(['-', '.', '_']))
}

/// `[41772]` before the level of a line in a log.
pub(super) fn is_process_of_log(text: &str, word: &str, next: &str) -> bool {
    programs::FAILURE_LEVELS.contains(&next)
        && word.bytes().all(|byte| byte.is_ascii_digit())
        && text.get(..super::place(text, word)).is_some_and(|before| before.ends_with('['))
}

/// The number of `ssh[907]: denied`, at the beginning of a line.
pub(super) fn is_process_of_program(text: &str, word: &str) -> bool {
    /// At least this many digits: an index is shorter.
    const LEAST: usize = 3;
    if word.len() < LEAST || !word.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let (before, after) = text.split_at_checked(super::place(text, word)).unwrap_or((text, ""));
    let is_followed = after.get(word.len()..).is_some_and(|rest| rest.starts_with("]: "));
    let Some(line) = before.strip_suffix('[').filter(|_| is_followed) else { return false };
    let rest = line.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '-');
    rest.len() < line.len() && (rest.is_empty() || rest.ends_with('\n'))
}

/// A word of a date beside a number ("03 Mar", "10:01 PM"), or a number beside such a word.
pub(super) fn is_part_of_date(word: &str, before: &str, next: &str) -> bool {
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
pub(super) fn duration(word: &str, before: &str, next: &str) -> Option<u32> {
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

pub(super) fn is_unit_of_number(word: &str, before: &str) -> bool {
    UNITS.has(word)
        && (NUMBERS.has(before)
            || (!before.is_empty() && before.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')))
}

/// `0.48`: a measure and no counter.
pub(super) fn is_decimal(word: &str) -> bool {
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

/// `bash: line 11376`: the number of lines that an open shell has read.
pub(super) fn is_line_of_shell(program: &str, name: &str) -> bool {
    static SHELLS: Known = Known::of(programs::SHELLS);
    name == "line" && SHELLS.has(program.trim_end_matches(':'))
}

/// `id`, `request_id`, `RequestId`.
pub(super) fn ends_with_id(word: &str) -> bool {
    let last = word.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    last.eq_ignore_ascii_case("id")
        || last
            .strip_suffix("Id")
            .or_else(|| last.strip_suffix("ID"))
            .is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_lowercase()))
}

/// `Chunk ID: f2ac31`: the only value of a line, and too long for a count.
pub(super) fn is_field(text: &str, word: &str) -> bool {
    /// Characters.
    const LONG: usize = 6;
    let (before, after) = text.split_at_checked(super::place(text, word)).unwrap_or((text, ""));
    let after = after.get(word.len()..).unwrap_or_default();
    word.len() >= LONG
        && before.trim_end_matches([' ', '\t']).ends_with(':')
        && after.trim_start_matches([' ', '\t', '\r']).starts_with('\n')
}

/// A temporary name: of something directly below `/tmp/`, or `tmpab12cd.py`.
pub(super) fn is_temporary(text: &str, word: &str, before: &str) -> bool {
    /// Bytes of a path before a number that are looked at. This is done for each number.
    const REACH: usize = 256;
    let start = super::place(text, word);
    let is_below = is_one_of(before, programs::TEMPORARY)
        && text.get(..start).is_some_and(|text| text.ends_with(['/', '\\']));
    let is_number = |stem: &str| stem.bytes().all(|byte| byte.is_ascii_digit());
    let is_in_temporary = || {
        let near = text.get(text.floor_char_boundary(start.saturating_sub(REACH))..start);
        let path = near.and_then(|near| near.rsplit([' ', '"', '\'', '\n']).next());
        path.is_some_and(|path| path.contains("/tmp/"))
    };
    (word.split('.').next().is_some_and(is_number) && is_in_temporary())
        || is_below
            && ((word.len() >= HEX_WORD && !word.contains('.'))
                || (word.starts_with("tmp") && word.len() > 6))
}
