//! The text in the strings of a JSON value, which may be cut anywhere.

/// Writes the strings of `json` to `out`, each followed by `end`.
pub fn strings_into(json: &str, end: &str, out: &mut String) {
    let mut rest = json;
    while let Some(start) = memchr::memchr(b'"', rest.as_bytes()) {
        rest = rest.get(start.saturating_add(1)..).unwrap_or_default();
        loop {
            let length = plain_end(rest.as_bytes());
            let (plain, after) = rest.split_at_checked(length).unwrap_or_default();
            out.push_str(plain);
            match after.strip_prefix('\\') {
                Some(escaped) => rest = escape(escaped, out),
                None => {
                    rest = after.get(1..).unwrap_or_default();
                    break;
                }
            }
        }
        out.push_str(end);
    }
}

/// The place of the next quote or backslash. In JSON that stands in a string, they are near each other.
fn plain_end(bytes: &[u8]) -> usize {
    const NEAR: usize = 12;
    let is_end = |byte: &u8| matches!(byte, b'"' | b'\\');
    let (near, far) = bytes.split_at_checked(NEAR).unwrap_or((bytes, &[]));
    match near.iter().position(is_end) {
        Some(end) => end,
        None => memchr::memchr2(b'"', b'\\', far).map_or(bytes.len(), |end| end.saturating_add(NEAR)),
    }
}

/// Writes `text` to `out` with its escapes decoded. Tools give JSON in a text, in which more such texts may stand.
pub fn unescape_into(text: &str, out: &mut String) {
    let mut parts = text.split('\\');
    out.push_str(parts.next().unwrap_or_default());
    // Of several backslashes in a row, only the last one counts.
    for part in parts.filter(|part| !part.is_empty()) {
        let is_escape = match part.as_bytes() {
            [b'n' | b'r' | b't', ..] => true,
            // A null byte that a program only names in an escape hides nothing.
            [b'u', digits @ ..] => hex(digits).is_some_and(|unit| unit != 0),
            _ => false,
        };
        if !is_escape {
            out.push('\\');
        }
        let rest = if is_escape { escape(part, out) } else { part };
        out.push_str(rest);
    }
}

/// Writes the character that an escape stands for. Returns the text behind it.
fn escape<'a>(text: &'a str, out: &mut String) -> &'a str {
    let mut chars = text.chars();
    let Some(kind) = chars.next() else { return "" };
    out.push(match kind {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' | 'f' => ' ',
        'u' => {
            let Some(unit) = hex(chars.as_str().as_bytes()) else { return "" };
            let rest = chars.as_str().get(4..).unwrap_or_default();
            let low = rest
                .strip_prefix("\\u")
                .and_then(|low| hex(low.as_bytes()))
                .filter(|low| (0xDC00..0xE000).contains(low));
            if let (0xD800..0xDC00, Some(low)) = (unit, low) {
                let code = ((unit & 0x3FF) << 10 | (low & 0x3FF)).wrapping_add(0x1_0000);
                out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                return rest.get(6..).unwrap_or_default();
            }
            out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
            return rest;
        }
        other => other,
    });
    chars.as_str()
}

#[inline(never)]
fn hex(text: &[u8]) -> Option<u32> {
    let digits = text.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strings_of_json_are_read_with_their_escapes() {
        let read = |json: &str| {
            let mut out = String::new();
            strings_into(json, "\n", &mut out);
            out
        };
        assert_eq!(read(r#""a\n\"b\u0041\ud83d\ude00""#), "a\n\"bA😀\n");
        assert_eq!(read(r#"{"k":["v",7,"\ud800x"]}"#), "k\nv\n\u{fffd}x\n");
        assert_eq!(read(r#""cut \u00"#), "cut \n");
        assert_eq!(read("7"), "");
    }

    #[test]
    fn escapes_of_json_within_a_text_are_read_however_deep_they_are() {
        for (text, read) in [
            (r#"{"a":"b\nc\td"}"#, "{\"a\":\"b\nc\td\"}"),
            (r"a\\nb\\\\nc", "a\nb\nc"),
            (r"\u0049gnore \u5ffd", "Ignore 忽"),
            // These are no escapes.
            (r"C:\\users\x \d+", r"C:\users\x \d+"),
            (r"\u12", r"\u12"),
            (r"a\u0000b", r"a\u0000b"),
            ("", ""),
        ] {
            let mut out = String::new();
            unescape_into(text, &mut out);
            assert_eq!(out, read, "{text}");
        }
    }
}
