//! A folded text as tokens: its words with their kinds, and the signs before each word.

use crate::{
    fold::is_ideograph,
    word_table::{head, table},
};

/// A sentence ends.
pub const STOP: u16 = 1;
pub const COMMA: u16 = 2;
pub const COLON: u16 = 4;
/// A quotation begins.
pub const QUOTE: u16 = 8;
pub const LINE: u16 = 16;
/// Any other sign.
pub const SIGN: u16 = 32;
/// Both words are parts of one name.
pub const GLUED: u16 = 64;
/// A quotation ends.
pub const UNQUOTE: u16 = 128;
/// A new clause begins: a word with a capital behind a line end, a sign or a colon.
pub const CLAUSE: u16 = 256;

/// A word of a text.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What the word is in a sentence (`words.rs`); 0 if it is not known.
    kinds: u64,
    /// Where it begins in the folded text (bytes).
    pub offset: usize,
    /// The signs between it and the word before.
    pub gap: u16,
    /// All of it is in capitals.
    pub is_loud: bool,
}

impl Token {
    #[inline]
    pub fn is(&self, kinds: u64) -> bool {
        self.kinds & kinds != 0
    }

    pub fn is_unknown(&self) -> bool {
        self.kinds == 0
    }

    pub fn follows(&self, signs: u16) -> bool {
        self.gap & signs != 0
    }
}

/// Reads a folded text. Returns the kinds of all its words together.
pub fn read(text: &str, tokens: &mut Vec<Token>) -> u64 {
    let bytes = text.as_bytes();
    let (mut at, mut gap, mut all) = (0_usize, STOP | LINE, 0);
    let table = table();
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let mut start = at;
        let (length, classes) = word(rest);
        at = at.wrapping_add(length);
        if classes == 0 {
            for byte in rest {
                match class(*byte) {
                    SPACE => {}
                    MARK => gap |= SIGN,
                    0 => {
                        // The mark of `_emphasis_` does not glue words.
                        let (length, signs) = sign(bytes, at, gap == 0 && at == start);
                        gap |= signs;
                        at = at.wrapping_add(length);
                        if length > 1 {
                            break;
                        }
                        continue;
                    }
                    _ => break,
                }
                at = at.wrapping_add(1);
            }
            continue;
        }
        // Apostrophes within a word belong to it. Others are quotation marks.
        let mut end = at;
        let is_apostrophe = |at: usize| bytes.get(at) == Some(&b'\'');
        if classes & APOSTROPHE != 0 {
            while start < end && is_apostrophe(start) {
                gap |= QUOTE;
                start = start.wrapping_add(1);
            }
            if start == end {
                continue;
            }
            while is_apostrophe(end.wrapping_sub(1)) {
                end = end.wrapping_sub(1);
            }
        }
        let wide = if classes & WIDE == 0 { None } else { text.get(start..end) };
        if let Some(word) = wide.filter(|word| word.chars().next().is_some_and(is_ideograph)) {
            all |= ideographs(word, start, &mut gap, tokens);
        } else {
            let word = bytes.get(start..end).unwrap_or_default();
            let kinds = table.kinds(word, head(bytes, start, word.len()));
            all |= kinds;
            let is_loud = classes & LOWER == 0;
            if gap & (LINE | SIGN | COLON) != 0 && word.first().is_some_and(u8::is_ascii_uppercase) {
                gap |= CLAUSE;
            }
            tokens.push(Token { kinds, offset: start, gap: std::mem::take(&mut gap), is_loud });
        }
        if end < at {
            gap |= UNQUOTE;
        }
    }
    all
}

/// Reads a word of a script without spaces, which is many words.
#[inline(never)]
fn ideographs(word: &str, start: usize, gap: &mut u16, tokens: &mut Vec<Token>) -> u64 {
    let (mut at, mut all) = (0_usize, 0);
    while let Some(next) = word.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = word.get(at..).unwrap_or_default();
        let (kinds, length) = table().beginning(rest).unwrap_or((0, next.len_utf8()));
        // An unknown word also becomes a token, if it comes behind a sign or, in Korean, behind a space.
        if kinds != 0 || *gap != 0 || at == 0 && matches!(next, '가'..='힣') {
            let offset = start.saturating_add(at);
            tokens.push(Token { kinds, offset, gap: std::mem::take(gap), is_loud: false });
            all |= kinds;
        }
        at = at.saturating_add(length);
    }
    all
}

/// The classes of a byte: part of a word, small letter, part of a character beyond ASCII, apostrophe, white space, or a sign that
/// always means the same. 0: see [`sign`].
const INSIDE: u8 = 1;
const LOWER: u8 = 2;
pub const WIDE: u8 = 4;
pub const APOSTROPHE: u8 = 8;
const SPACE: u8 = 16;
const MARK: u8 = 32;
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [INSIDE | WIDE; 256];
    let (mut rest, _) = classes.split_at_mut(128);
    let mut byte = 0_u8;
    while let [class, after @ ..] = rest {
        *class = match byte {
            b'a'..=b'z' => INSIDE | LOWER,
            b'A'..=b'Z' | b'0'..=b'9' => INSIDE,
            b'\'' => INSIDE | APOSTROPHE,
            b' ' | b'\t' | b'\r' => SPACE,
            b'.' | b'!' | b'?' | b';' | b'\n' | b'_' | b',' | b':' | b'"' | b'`' | b'<' | ESCAPE => 0,
            _ => MARK,
        };
        byte = byte.wrapping_add(1);
        rest = after;
    }
    classes
}

/// Whether this full stop ends an abbreviation such as "e.g." and no sentence.
fn is_abbreviated(text: &[u8], at: usize) -> bool {
    let Some([before @ .., a, b'.', b]) = text.get(..at) else { return false };
    a.is_ascii_alphabetic()
        && b.is_ascii_alphabetic()
        && before.last().is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'.')
}

const ESCAPE: u8 = 0x1b;

/// Length of a terminal colour (`ESC[31m`) or of an HTML tag without attributes at the beginning, or of the first sign alone, and
/// what it means for the words around it.
fn mark(text: &[u8]) -> (usize, u16) {
    if let Some(inside) = text.strip_prefix(&[ESCAPE, b'[']) {
        let length = inside.iter().take_while(|byte| matches!(byte, b'0'..=b'?')).count();
        let is_whole = inside.get(length).is_some_and(u8::is_ascii_alphabetic);
        return (if is_whole { length.saturating_add(3) } else { 1 }, SIGN);
    }
    let name = text.get(1..).unwrap_or_default();
    let name = name.strip_prefix(b"/").unwrap_or(name);
    let (length, _) = word(name);
    let (name, behind) = name.split_at_checked(length).unwrap_or_default();
    let end = [">", "/>", " />"].into_iter().find(|end| behind.starts_with(end.as_bytes()));
    // A longer name that is a known word is meant for somebody: `<system>`.
    let is_tag =
        (1..=10).contains(&length) && (length <= 2 || table().kinds(name, head(name, 0, length)) == 0);
    let Some(end) = end.filter(|_| is_tag) else { return (1, SIGN) };
    let tag = text.len().saturating_sub(behind.len()).saturating_add(end.len());
    // Tags of a paragraph, a cell, an item, a heading or a line.
    match name {
        [b'p' | b'd' | b't' | b'l' | b'h' | b'o', ..] | [b'b', b'r', ..] | [b'u', b'l'] => {
            (tag, LINE | SIGN | CLAUSE)
        }
        _ => (tag, SIGN),
    }
}

/// Length of the first word, and the classes of its bytes. Zeros if the text does not begin with a word.
#[inline]
pub fn word(text: &[u8]) -> (usize, u8) {
    let (mut length, mut classes) = (0_usize, 0);
    for byte in text {
        let class = class(*byte);
        if class & INSIDE == 0 {
            break;
        }
        classes |= class;
        length = length.wrapping_add(1);
    }
    (length, classes)
}

#[inline]
fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(0)
}

/// Length of the sign or white space that comes next, and what it means for the words around it.
fn sign(text: &[u8], at: usize, is_first: bool) -> (usize, u16) {
    let rest = text.get(at..).unwrap_or_default();
    let sign = match rest {
        [ESCAPE | b'<', ..] => return mark(rest),
        // Within a name or a number, it ends no sentence. Scripts without spaces have no space behind it.
        [b'.' | b'!' | b'?' | b';', next, ..] if matches!(*next, b'!'..=b'~') && *next != b'"' => SIGN,
        [b'.', ..] if is_abbreviated(text, at) => SIGN,
        [b'.' | b'!' | b'?' | b';', ..] => STOP,
        [b'\n', b'\n', ..] => STOP | LINE,
        [b'\n', ..] => LINE,
        [b'_', next, ..] if is_first && next.is_ascii_alphanumeric() => GLUED,
        [b',', ..] => COMMA,
        [b':', ..] => COLON,
        // A fence of a code block.
        [b'`', b'`', ..] => SIGN,
        [b'"' | b'`', next, ..] if class(*next) & INSIDE != 0 => QUOTE,
        [b'"' | b'`', ..] => UNQUOTE,
        _ => SIGN,
    };
    (1, sign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::IGNORE;

    #[test]
    fn words_are_read_with_the_signs_before_them() {
        let mut tokens = Vec::new();
        read("Hi, IGNORE \"all\".\n\n3.5 x_y", &mut tokens);
        let gaps: Vec<u16> = tokens.iter().map(|token| token.gap).collect();
        assert_eq!(gaps, [STOP | LINE | CLAUSE, COMMA, QUOTE, UNQUOTE | STOP | LINE, SIGN, 0, GLUED]);
        assert!(tokens[1].is_loud && tokens[1].is(IGNORE) && tokens[1].offset == 4);
    }
}
