//! The normal form of a prompt: lower case, white space folded, numbers as `<NUM>`, UUIDs as `<ID>`, ISO-8601 dates and times as
//! `<TS>`. Two prompts from one template with different values have the same normal form.

/// Normal form of `text`. Digits inside a word ("HSR97W") stay: they are part of a name.
pub fn normalise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut previous = ' ';
    while let Some(c) = rest.chars().next() {
        let at_word_start = !is_word(previous);
        let token = if at_word_start { token_at(rest) } else { None };
        let taken = match token {
            Some((placeholder, len)) => {
                out.push_str(placeholder);
                previous = '0';
                len
            }
            None if c.is_whitespace() => {
                if !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
                previous = ' ';
                c.len_utf8()
            }
            None => {
                if c.is_ascii() {
                    out.push(c.to_ascii_lowercase());
                } else {
                    out.extend(c.to_lowercase());
                }
                previous = c;
                c.len_utf8()
            }
        };
        rest = rest.get(taken..).unwrap_or("");
    }
    if out.ends_with(' ') {
        out.pop();
    }
    out
}

/// The placeholder for what starts here, and how many bytes it stands for.
fn token_at(text: &str) -> Option<(&'static str, usize)> {
    let bytes = text.as_bytes();
    // Everything that is replaced starts with a hexadecimal digit.
    if !bytes.first()?.is_ascii_hexdigit() {
        return None;
    }
    let found = uuid(bytes)
        .map(|len| ("<ID>", len))
        .or_else(|| timestamp(bytes).map(|len| ("<TS>", len)))
        .or_else(|| number(bytes).map(|len| ("<NUM>", len)))?;
    let next = text.get(found.1..)?.chars().next();
    (!next.is_some_and(is_word)).then_some(found)
}

fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || c == '_' } else { c.is_alphanumeric() }
}

/// `shape` holds a byte for each byte of the text: `x` a hexadecimal digit, `0` a digit, anything else itself.
fn fits(bytes: &[u8], shape: &[u8]) -> bool {
    bytes.len() >= shape.len()
        && shape.iter().zip(bytes).all(|(shape, byte)| match shape {
            b'x' => byte.is_ascii_hexdigit(),
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        })
}

fn uuid(bytes: &[u8]) -> Option<usize> {
    const SHAPE: &[u8] = b"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    fits(bytes, SHAPE).then_some(SHAPE.len())
}

/// `2026-01-31`, with an optional time (`T` or a space before it), fraction and zone.
fn timestamp(bytes: &[u8]) -> Option<usize> {
    const DATE: &[u8] = b"0000-00-00";
    if !fits(bytes, DATE) {
        return None;
    }
    let mut len = DATE.len();
    let at = |len: usize| bytes.get(len..).unwrap_or_default();
    for (first, time) in [(b"T00:00", b"t00:00"), (b" 00:00", b" 00:00")] {
        if fits(at(len), first) || fits(at(len), time) {
            len = len.saturating_add(first.len());
            if fits(at(len), b":00") {
                len = len.saturating_add(3);
                if let Some(fraction) = at(len).strip_prefix(b".") {
                    let digits = leading_digits(fraction);
                    if digits > 0 {
                        len = len.saturating_add(digits).saturating_add(1);
                    }
                }
            }
            if matches!(at(len).first(), Some(b'Z' | b'z')) {
                len = len.saturating_add(1);
            } else if fits(at(len), b"+00:00") || fits(at(len), b"-00:00") {
                len = len.saturating_add(6);
            }
            break;
        }
    }
    Some(len)
}

/// Digits, with single dots or commas between them (`1,000.50`).
fn number(bytes: &[u8]) -> Option<usize> {
    let mut len = leading_digits(bytes);
    if len == 0 {
        return None;
    }
    loop {
        let after = bytes.get(len..).unwrap_or_default();
        let more = match after {
            [b'.' | b',', digits @ ..] => leading_digits(digits),
            _ => 0,
        };
        if more == 0 {
            return Some(len);
        }
        len = len.saturating_add(more).saturating_add(1);
    }
}

fn leading_digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| b.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accidents_become_placeholders() {
        for (text, normal) in [
            ("  Process   ORDER 17 \n", "process order <NUM>"),
            ("costs 1,000.50, or 7.", "costs <NUM>, or <NUM>."),
            ("id 123E4567-e89b-12d3-a456-426614174000!", "id <ID>!"),
            ("at 2026-01-31T10:00:00.123Z ok", "at <TS> ok"),
            ("at 2026-01-31 10:00:00+01:00 ok", "at <TS> ok"),
            ("on 2026-01-31, 3 times", "on <TS>, <NUM> times"),
            ("flight HSR97W, abc123", "flight hsr97w, abc123"),
            ("Ünïcode\u{a0}SPACE", "ünïcode space"),
            ("", ""),
            ("3", "<NUM>"),
            ("cafe bad face", "cafe bad face"),
        ] {
            assert_eq!(normalise(text), normal, "{text:?}");
        }
    }

    #[test]
    fn a_normal_form_is_stable() {
        for text in ["Hello  World", "İstanbul", "a-b_c", "日本 語"] {
            let once = normalise(text);
            assert_eq!(normalise(&once), once);
        }
    }
}
