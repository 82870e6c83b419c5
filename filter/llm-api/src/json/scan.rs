//! Scans the text of JSON for the end of a string, many bytes at a time, because bodies are mostly long strings.

/// Number of bytes that are scanned together.
pub(crate) const CHUNK: usize = 16;

/// The first position from `at` on that holds a quote, a backslash or a control character, or the length of the text.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<CHUNK>()) {
        let found = special(chunk);
        at = at.wrapping_add(found);
        if found < CHUNK {
            return at;
        }
    }
    let tail = bytes.get(at..).unwrap_or_default();
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..=0x1F);
    at.wrapping_add(tail.iter().position(is_special).unwrap_or(tail.len()))
}

/// The index of the first special byte of a chunk, or `CHUNK` if there is none.
#[inline]
pub(crate) fn special(chunk: &[u8; CHUNK]) -> usize {
    (specials(chunk) | 1 << CHUNK).trailing_zeros() as usize
}

/// A chunk as one vector.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline]
fn vector(chunk: &[u8; CHUNK]) -> std::arch::wasm32::v128 {
    let (words, _) = chunk.as_chunks::<8>();
    let [low, high] = words else { return std::arch::wasm32::u64x2(0, 0) };
    std::arch::wasm32::u64x2(u64::from_le_bytes(*low), u64::from_le_bytes(*high))
}

/// The special bytes of a chunk, as a bit mask. The first byte is the lowest bit.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline]
fn specials(chunk: &[u8; CHUNK]) -> u32 {
    use std::arch::wasm32::{u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, v128_or};
    let bytes = vector(chunk);
    let ends = v128_or(u8x16_eq(bytes, u8x16_splat(b'"')), u8x16_eq(bytes, u8x16_splat(b'\\')));
    u32::from(u8x16_bitmask(v128_or(ends, u8x16_lt(bytes, u8x16_splat(0x20)))))
}

/// The same without vector instructions.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
#[inline]
fn specials(chunk: &[u8; CHUNK]) -> u32 {
    let (words, _) = chunk.as_chunks::<8>();
    let [low, high] = words else { return 0 };
    specials_in(u64::from_le_bytes(*low)) | (specials_in(u64::from_le_bytes(*high)) << 8)
}

/// The special bytes of a word, as a bit mask. The first byte is the lowest bit.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
#[inline]
fn specials_in(word: u64) -> u32 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW: u64 = ONES.wrapping_mul(0x7F);
    // The top bit of each byte that is zero.
    let zeros = |word: u64| !((word & LOW).wrapping_add(LOW) | word | LOW);
    let quotes = zeros(word ^ ONES.wrapping_mul(u64::from(b'"')));
    let backslashes = zeros(word ^ ONES.wrapping_mul(u64::from(b'\\')));
    let controls = zeros(word & ONES.wrapping_mul(0xE0));
    // Gathers the top bits of all bytes.
    let tops = (quotes | backslashes | controls) >> 7;
    u32::try_from(tops.wrapping_mul(0x0102_0408_1020_4080) >> 56).unwrap_or(0)
}

/// The backslashes of a chunk, as a bit mask. The first byte is the lowest bit.
#[inline]
fn backslashes(chunk: &[u8; CHUNK]) -> u32 {
    equal(chunk, b'\\')
}

/// The quotes of a chunk, likewise.
#[inline]
fn quotes(chunk: &[u8; CHUNK]) -> u32 {
    equal(chunk, b'"')
}

/// The bytes of a chunk that equal `wanted`, as a bit mask. The first byte is the lowest bit.
#[inline]
fn equal(chunk: &[u8; CHUNK], wanted: u8) -> u32 {
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    {
        use std::arch::wasm32::{u8x16_bitmask, u8x16_eq, u8x16_splat};
        u32::from(u8x16_bitmask(u8x16_eq(vector(chunk), u8x16_splat(wanted))))
    }
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    {
        are(chunk, |byte| *byte == wanted)
    }
}

/// The bytes of a chunk for which `is` is true, as a bit mask. The first byte is the lowest bit.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
#[inline]
fn are(chunk: &[u8; CHUNK], is: impl Fn(&u8) -> bool) -> u32 {
    chunk.iter().rev().fold(0_u32, |marks, byte| (marks << 1) | u32::from(is(byte)))
}

/// Bit masks of a chunk of a string. The first byte is the lowest bit.
struct CharBits {
    quotes: u32,
    backslashes: u32,
    controls: u32,
    /// Bytes that may follow a backslash, except `u`.
    escapable: u32,
}

impl CharBits {
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    #[inline]
    fn of(chunk: &[u8; CHUNK]) -> Self {
        use std::arch::wasm32::{u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, v128, v128_or};
        let bytes = vector(chunk);
        let are = |wanted: u8| u8x16_eq(bytes, u8x16_splat(wanted));
        let bits = |marks: v128| u32::from(u8x16_bitmask(marks));
        let (quotes, backslashes) = (are(b'"'), are(b'\\'));
        let letters = v128_or(v128_or(are(b'n'), are(b't')), v128_or(are(b'r'), are(b'b')));
        let others = v128_or(v128_or(are(b'f'), are(b'/')), v128_or(quotes, backslashes));
        Self {
            quotes: bits(quotes),
            backslashes: bits(backslashes),
            controls: bits(u8x16_lt(bytes, u8x16_splat(0x20))),
            escapable: bits(v128_or(letters, others)),
        }
    }

    /// The same without vector instructions.
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    #[inline]
    fn of(chunk: &[u8; CHUNK]) -> Self {
        Self {
            quotes: quotes(chunk),
            backslashes: backslashes(chunk),
            controls: are(chunk, |byte| *byte < 0x20),
            escapable: are(chunk, |byte| {
                matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')
            }),
        }
    }

    /// The same where nothing but quotes and backslashes counts as escapable. `found`: the special bytes of the chunk.
    #[inline]
    fn of_common(chunk: &[u8; CHUNK], found: u32) -> Self {
        let backslashes = backslashes(chunk);
        let quotes = quotes(chunk);
        let escapable = quotes | backslashes;
        Self { quotes, backslashes, controls: found & !escapable, escapable }
    }

    /// How far the string goes in this chunk, and whether it has escapes there. The chunk begins inside the string and
    /// not behind a backslash. Returns `None` when the escapes must be checked one by one.
    #[inline]
    fn passed(&self) -> Option<(Passed, bool)> {
        let Self { quotes, backslashes, controls, escapable } = *self;
        let escaped = escaped(backslashes);
        let ends = quotes & !escaped;
        // All bytes before the first end.
        let inside = if ends == 0 { ALL } else { ends.wrapping_sub(1) & !ends };
        if (controls | (escaped & !escapable)) & inside & ALL != 0 {
            return None;
        }
        let passed = match ends {
            // The last byte is a backslash; the byte that it escapes is in the next chunk.
            0 if escaped & !ALL != 0 => Passed::On(CHUNK.wrapping_sub(1)),
            0 => Passed::On(CHUNK),
            _ => Passed::End(ends.trailing_zeros() as usize),
        };
        Some((passed, backslashes & inside != 0))
    }
}

/// All bits of a chunk.
const ALL: u32 = 0xFFFF;

/// The bytes that follow a backslash which is not escaped itself. As in simdjson, the carry of a subtraction runs
/// through each run of backslashes. The lowest byte is not escaped.
#[inline]
fn escaped(backslashes: u32) -> u32 {
    const ODD: u32 = 0xAAAA_AAAA;
    (((backslashes << 1) | ODD).wrapping_sub(backslashes) ^ ODD) ^ backslashes
}

/// Up to this number of escapes in a chunk, checking them one by one is faster.
const FEW: u32 = 5;

/// The result of scanning a chunk of a string.
enum Passed {
    /// The string goes on after this number of bytes.
    On(usize),
    /// The closing quote is at this index.
    End(usize),
}

/// The position behind the closing quote of the string whose content begins at `at`. Returns `None` when it is longer
/// than a chunk or has escapes.
#[inline]
pub(crate) fn short_string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let chunk = bytes.get(at..)?.first_chunk::<CHUNK>()?;
    let end = special(chunk);
    (chunk.get(end) == Some(&b'"')).then(|| at.wrapping_add(end).wrapping_add(1))
}

/// The position behind the closing quote of the string whose content begins at `at`, and whether it has escapes.
/// Returns `None` when it is not a valid string. Escapes often stand near each other, so those of a chunk are checked
/// together.
#[inline(never)]
pub(crate) fn string_end(bytes: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut has_escapes = false;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<CHUNK>()) {
        let mut found = specials(chunk);
        if found == 0 {
            at = at.wrapping_add(CHUNK);
            continue;
        }
        // JSON within a string escapes little but quotes and backslashes.
        let together = match CharBits::of_common(chunk, found).passed() {
            None if found.count_ones() > FEW => CharBits::of(chunk).passed(),
            together => together,
        };
        if let Some((passed, more)) = together {
            has_escapes |= more;
            match passed {
                Passed::On(length) => at = at.wrapping_add(length),
                Passed::End(place) => return Some((at.wrapping_add(place).wrapping_add(1), has_escapes)),
            }
            continue;
        }
        // Continue behind the escapes of this chunk.
        let mut next = at.wrapping_add(CHUNK);
        while found != 0 {
            let place = at.wrapping_add(found.trailing_zeros() as usize);
            match bytes.get(place) {
                Some(b'"') => return Some((place.wrapping_add(1), has_escapes)),
                Some(b'\\') => {
                    has_escapes = true;
                    let end = after_escape(bytes, place)?;
                    let passed = end.wrapping_sub(at);
                    if passed >= CHUNK {
                        next = end;
                        break;
                    }
                    found = (found >> passed) << passed;
                }
                _ => return None,
            }
        }
        at = next;
    }
    loop {
        match bytes.get(at)? {
            b'"' => return Some((at.wrapping_add(1), has_escapes)),
            b'\\' => {
                has_escapes = true;
                at = after_escape(bytes, at)?;
            }
            ..=0x1F => return None,
            _ => at = at.wrapping_add(1),
        }
    }
}

/// The same in a text that was checked before, so escapes need no check.
#[inline(never)]
pub(crate) fn sound_string_end(bytes: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut has_escapes = false;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<CHUNK>()) {
        let found = specials(chunk);
        if found == 0 {
            at = at.wrapping_add(CHUNK);
            continue;
        }
        let backslashes = backslashes(chunk);
        let escaped = escaped(backslashes);
        let ends = found & !backslashes & !escaped;
        if ends != 0 {
            let before = ends.wrapping_sub(1) & !ends;
            let end = at.wrapping_add(ends.trailing_zeros() as usize).wrapping_add(1);
            return Some((end, has_escapes || backslashes & before != 0));
        }
        has_escapes = true;
        // The byte that the last byte escapes is in the next chunk.
        let passed = if escaped & !ALL == 0 { CHUNK } else { CHUNK.wrapping_sub(1) };
        at = at.wrapping_add(passed);
    }
    let (end, more) = string_end(bytes, at)?;
    Some((end, has_escapes || more))
}

/// The end of the escape whose backslash is at `at`. Returns `None` when it is not a valid escape. Half of a surrogate
/// pair is valid here.
#[inline]
pub(crate) fn after_escape(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at.wrapping_add(1)..)? {
        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => Some(at.wrapping_add(2)),
        [b'u', a, b, c, d, ..] => {
            let are_digits = [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit());
            are_digits.then_some(at.wrapping_add(6))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_sound_text_a_string_ends_where_it_does_in_any() {
        let units = ["a", "\\n", "\\\\", "\\\"", "\\u00e9", "\\\\\\\"", "é", "plain words", "\\/\\t"];
        for first in units {
            for second in units {
                for times in 0..40 {
                    let inside = "x".repeat(times % 19) + &first.repeat(times) + &second.repeat(times % 5);
                    let text = format!("\"{inside}\",\"{first}\\\\\" and so on, for more than a chunk");
                    let ends = string_end(text.as_bytes(), 1);
                    assert_eq!(sound_string_end(text.as_bytes(), 1), ends, "{text}");
                    assert_eq!(ends, Some((inside.len() + 2, inside.contains('\\'))), "{text}");
                }
            }
        }
        for text in ["", "a", "\\", "no end of it, and more than one chunk \\\""] {
            assert_eq!(sound_string_end(text.as_bytes(), 0), None, "{text}");
        }
    }
}
