//! Decodes the escapes in JSON strings.

use super::scan::{CHUNK, after_escape, special};

/// How half of a surrogate pair is read, which stands for no character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halves {
    /// The string is unreadable.
    Refused,
    /// It reads as U+FFFD.
    Replaced,
}

/// Decodes the content of a JSON string. Returns `None` when it is not valid.
#[inline(never)]
pub(crate) fn unescaped(inside: &str, halves: Halves) -> Option<String> {
    let bytes = inside.as_bytes();
    // Chunks are copied whole and then truncated at their first special byte. Stretches between escapes are short, and
    // copying each with a call of its own would cost more.
    let mut said: Vec<u8> = Vec::with_capacity(inside.len().saturating_add(CHUNK));
    let mut at = 0_usize;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<CHUNK>()) {
        let found = special(chunk);
        let plain = said.len().wrapping_add(found);
        said.extend_from_slice(chunk);
        said.truncate(plain);
        at = at.wrapping_add(found);
        if found < CHUNK {
            at = unescape(bytes, at, &mut said, halves)?;
        }
    }
    while let Some(byte) = bytes.get(at) {
        if matches!(byte, b'"' | b'\\' | ..=0x1F) {
            at = unescape(bytes, at, &mut said, halves)?;
        } else {
            said.push(*byte);
            at = at.wrapping_add(1);
        }
    }
    String::from_utf8(said).ok()
}

/// Appends the character of the escape at `at`. Returns where the escape ends.
#[inline]
fn unescape(bytes: &[u8], at: usize, said: &mut Vec<u8>, halves: Halves) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let (c, length) = match escape(rest) {
        Some(read) => read,
        None if halves == Halves::Replaced && rest.starts_with(b"\\u") => {
            (char::REPLACEMENT_CHARACTER, after_escape(rest, 0)?)
        }
        None => return None,
    };
    if c.is_ascii() {
        said.push(u8::try_from(c).ok()?);
    } else {
        said.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Some(at.wrapping_add(length))
}

/// The character of the escape at the start of `bytes`, and the length of the escape.
pub(crate) fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let [b'\\', kind, rest @ ..] = bytes else { return None };
    let c = match kind {
        b'"' | b'\\' | b'/' => char::from(*kind),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode_escape(rest),
        _ => return None,
    };
    Some((c, 2))
}

fn unicode_escape(digits: &[u8]) -> Option<(char, usize)> {
    let (first, rest) = digits.split_first_chunk::<4>()?;
    let first = hex(first)?;
    if !(0xD800..=0xDBFF).contains(&first) {
        return Some((char::from_u32(first)?, 6));
    }
    let second = hex(rest.strip_prefix(b"\\u")?.first_chunk::<4>()?)?;
    if !(0xDC00..=0xDFFF).contains(&second) {
        return None;
    }
    let pair = ((first & 0x3FF) << 10) | (second & 0x3FF);
    Some((char::from_u32(pair.wrapping_add(0x1_0000))?, 12))
}

fn hex(digits: &[u8; 4]) -> Option<u32> {
    digits.iter().try_fold(0, |sum: u32, digit| Some((sum << 4) | char::from(*digit).to_digit(16)?))
}
