//! Digests of 16 bytes as 32 lower-case hex digits, and back.

use std::fmt;

/// Writes the digits.
pub fn write(bytes: &[u8; 16], f: &mut impl fmt::Write) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Reads them, in either case; `None` for anything else.
#[must_use]
pub fn read(digits: &str) -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    if digits.len() != 32 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}
