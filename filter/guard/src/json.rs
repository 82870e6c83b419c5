//! The text in the strings of a JSON value, which may be cut anywhere.

/// Writes the strings of `json` to `out`, each followed by the end of a line.
pub fn strings_into(json: &str, out: &mut String) {
    let mut rest = json;
    while let Some(start) = memchr::memchr(b'"', rest.as_bytes()) {
        rest = rest.get(start.saturating_add(1)..).unwrap_or_default();
        loop {
            let end = memchr::memchr2(b'"', b'\\', rest.as_bytes()).unwrap_or(rest.len());
            let (plain, after) = rest.split_at_checked(end).unwrap_or_default();
            out.push_str(plain);
            match after.strip_prefix('\\') {
                Some(escaped) => rest = escape(escaped, out),
                None => {
                    rest = after.get(1..).unwrap_or_default();
                    break;
                }
            }
        }
        out.push('\n');
    }
}

/// Writes what stands behind a backslash; what follows it.
fn escape<'a>(text: &'a str, out: &mut String) -> &'a str {
    let mut chars = text.chars();
    let Some(kind) = chars.next() else { return "" };
    out.push(match kind {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' | 'f' => ' ',
        'u' => {
            let Some(unit) = hex(chars.as_str()) else { return "" };
            let rest = chars.as_str().get(4..).unwrap_or_default();
            let low = rest.strip_prefix("\\u").and_then(hex).filter(|low| (0xDC00..0xE000).contains(low));
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

fn hex(text: &str) -> Option<u32> {
    u32::from_str_radix(text.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strings_of_json_are_read_with_their_escapes() {
        let read = |json: &str| {
            let mut out = String::new();
            strings_into(json, &mut out);
            out
        };
        assert_eq!(read(r#""a\n\"b\u0041\ud83d\ude00""#), "a\n\"bA😀\n");
        assert_eq!(read(r#"{"k":["v",7,"\ud800x"]}"#), "k\nv\n\u{fffd}x\n");
        assert_eq!(read(r#""cut \u00"#), "cut \n");
        assert_eq!(read("7"), "");
    }
}
