//! Characters of JSON strings as they stand in a body: how many there are, and where one ends. An escape is one character
//! and so are two escaped surrogates that belong together; a surrogate that stands alone counts as one.

use serde_json::value::RawValue;

use crate::json_scan::plain_end;

/// What stands between the quotes; empty where `raw` is no string.
pub fn inside(raw: &RawValue) -> &str {
    raw.get().strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default()
}

/// Number of characters.
pub fn count(inside: &str) -> usize {
    walk(inside, usize::MAX).1
}

/// Where the character of this number begins; the end where there are no more.
pub fn offset(inside: &str, characters: usize) -> usize {
    walk(inside, characters).0
}

/// Goes on for so many characters: where that ends, and how many there were.
fn walk(inside: &str, characters: usize) -> (usize, usize) {
    let bytes = inside.as_bytes();
    let (mut at, mut left) = (0_usize, characters);
    while left > 0 && at < bytes.len() {
        let end = plain_end(bytes, at);
        let plain = bytes.get(at..end).unwrap_or_default();
        let there = plain.iter().filter(|byte| is_first(**byte)).count();
        if there >= left {
            return (at.saturating_add(after(plain, left)), characters);
        }
        left = left.saturating_sub(there);
        at = end;
        if at < bytes.len() {
            at = at.saturating_add(escape_length(bytes.get(at..).unwrap_or_default())).min(bytes.len());
            left = left.saturating_sub(1);
        }
    }
    (at, characters.saturating_sub(left))
}

/// Whether a character begins with this byte (UTF-8).
fn is_first(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

/// Where the character of this number ends in a text without escapes.
fn after(plain: &[u8], characters: usize) -> usize {
    let mut firsts = plain.iter().enumerate().filter(|(_, byte)| is_first(**byte));
    firsts.nth(characters).map_or(plain.len(), |(at, _)| at)
}

fn escape_length(bytes: &[u8]) -> usize {
    match bytes {
        [
            b'\\',
            b'u',
            b'd' | b'D',
            b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B',
            _,
            _,
            b'\\',
            b'u',
            b'd' | b'D',
            b'c'..=b'f' | b'C'..=b'F',
            ..,
        ] => 12,
        [b'\\', b'u', ..] => 6,
        [b'\\', ..] => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_pairs_of_surrogates_are_never_split() {
        let text = r#"a\n\u00e9é日\ud83d\ude00😀\ud83d x\"\ude00\\"#;
        let ends: Vec<usize> = (0..=13).map(|n| offset(text, n)).collect();
        assert_eq!(count(text), 13);
        let parts: Vec<&str> = ends.windows(2).map(|pair| text.get(pair[0]..pair[1]).unwrap()).collect();
        let expected = [
            "a",
            r"\n",
            r"\u00e9",
            "é",
            "日",
            r"\ud83d\ude00",
            "😀",
            r"\ud83d",
            " ",
            "x",
            r#"\""#,
            r"\ude00",
            r"\\",
        ];
        assert_eq!(parts, expected);
        assert_eq!(offset(text, 99), text.len());
        assert_eq!((count(""), offset("", 3)), (0, 0));
    }

    #[test]
    fn long_texts_are_counted_as_they_are_decoded() {
        for unit in ["a", "é", "\\n", "\\ud83d\\ude00", "😀", "word \\u00e9日"] {
            let text = unit.repeat(5_000);
            let decoded: String = serde_json::from_str(&format!("\"{text}\"")).unwrap();
            assert_eq!(count(&text), decoded.chars().count(), "{unit}");
            let half = offset(&text, 2_501);
            let kept: String = serde_json::from_str(&format!("\"{}\"", text.get(..half).unwrap())).unwrap();
            assert_eq!(kept, decoded.chars().take(2_501).collect::<String>(), "{unit}");
        }
    }
}
