//! Counts the characters of JSON strings as they stand in a body, and finds their places. An escape is one character.
//! Two escaped surrogates that form a pair are one character; one that stands alone is one too.

use crate::json::{escape_length, scan::plain_end};

/// The number of characters.
pub fn count(inside: &str) -> usize {
    walk(inside, usize::MAX).1
}

/// The place where this character begins, or the end if there are fewer.
pub fn offset(inside: &str, characters: usize) -> usize {
    walk(inside, characters).0
}

/// Skips at most this number of characters. Returns where they end, and how many there were.
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

/// Whether this byte begins a character (UTF-8).
fn is_first(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

/// Where this character ends in a text without escapes.
fn after(plain: &[u8], characters: usize) -> usize {
    let mut firsts = plain.iter().enumerate().filter(|(_, byte)| is_first(**byte));
    firsts.nth(characters).map_or(plain.len(), |(at, _)| at)
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
