//! A folded text as tokens: its words with what they are, and which signs stand before each.

use std::sync::OnceLock;

use crate::{
    fold::{fold_into, is_ideograph},
    words::{SLIPS, WORDS},
};

/// A sentence ends.
pub const STOP: u8 = 1;
pub const COMMA: u8 = 2;
pub const COLON: u8 = 4;
/// A quotation begins.
pub const QUOTE: u8 = 8;
pub const LINE: u8 = 16;
/// Any other sign.
pub const SIGN: u8 = 32;
/// Both words are parts of one name.
pub const GLUED: u8 = 64;
/// A quotation ends.
pub const UNQUOTE: u8 = 128;

/// A word of a text.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is in a sentence (`words.rs`); 0 where nothing is known of it.
    kinds: u64,
    /// Where it begins in the folded text (bytes).
    pub offset: usize,
    /// The signs between it and the word before.
    pub gap: u8,
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

    pub fn follows(&self, signs: u8) -> bool {
        self.gap & signs != 0
    }
}

/// Reads a folded text. Returns what its words are, all together.
pub fn read(text: &str, tokens: &mut Vec<Token>) -> u64 {
    let bytes = text.as_bytes();
    let (mut at, mut gap, mut all) = (0_usize, STOP | LINE, 0);
    let table = table();
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let mut classes = 0;
        let inside = |byte: &&u8| {
            let class = class(**byte);
            classes |= class;
            class & INSIDE != 0
        };
        let length = rest.iter().take_while(inside).count();
        let Some(word) = text.get(at..at.saturating_add(length)).filter(|word| !word.is_empty()) else {
            gap |= sign(rest, gap == 0);
            at = at.saturating_add(1);
            continue;
        };
        // Of apostrophes, those within a word belong to it.
        let inside = word.trim_start_matches('\'');
        if inside.len() < word.len() {
            gap |= QUOTE;
            at = at.saturating_add(word.len().saturating_sub(inside.len()));
            if inside.is_empty() {
                continue;
            }
        }
        let length = inside.len();
        let word = inside.trim_end_matches('\'');
        if classes & WIDE != 0 && word.chars().next().is_some_and(is_ideograph) {
            all |= ideographs(word, at, &mut gap, tokens);
        } else {
            let kinds = table.kinds(word);
            all |= kinds;
            let is_loud = classes & LOWER == 0;
            tokens.push(Token { kinds, offset: at, gap: std::mem::take(&mut gap), is_loud });
        }
        if word.len() < length {
            gap |= UNQUOTE;
        }
        at = at.saturating_add(length);
    }
    all
}

/// Reads a word of a script without spaces, which is many words.
#[inline(never)]
fn ideographs(word: &str, start: usize, gap: &mut u8, tokens: &mut Vec<Token>) -> u64 {
    let (mut at, mut all) = (0_usize, 0);
    while let Some(next) = word.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = word.get(at..).unwrap_or_default();
        let (kinds, length) = table().beginning(rest).unwrap_or((0, next.len_utf8()));
        // What nothing is known of is a word too, where it comes behind a sign or, in Korean, a space.
        if kinds != 0 || *gap != 0 || at == 0 && matches!(next, '가'..='힣') {
            let offset = start.saturating_add(at);
            tokens.push(Token { kinds, offset, gap: std::mem::take(gap), is_loud: false });
            all |= kinds;
        }
        at = at.saturating_add(length);
    }
    all
}

/// What a byte is to a word: a part of it, a small letter, a part of a character that is not ASCII.
const INSIDE: u8 = 1;
const LOWER: u8 = 2;
const WIDE: u8 = 4;
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [INSIDE | WIDE; 256];
    let (mut rest, _) = classes.split_at_mut(128);
    let mut byte = 0_u8;
    while let [class, after @ ..] = rest {
        *class = match byte {
            b'a'..=b'z' => INSIDE | LOWER,
            b'A'..=b'Z' | b'0'..=b'9' | b'\'' => INSIDE,
            _ => 0,
        };
        byte = byte.wrapping_add(1);
        rest = after;
    }
    classes
}

#[inline]
fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(0)
}

/// What the sign or white space is that comes next.
fn sign(rest: &[u8], is_first: bool) -> u8 {
    match rest {
        // Within a name or a number it ends nothing. Scripts without spaces have none behind it.
        [b'.' | b'!' | b'?' | b';', next, ..] if matches!(*next, b'!'..=b'~') && *next != b'"' => SIGN,
        [b'.' | b'!' | b'?' | b';', ..] => STOP,
        [b'\n', b'\n', ..] => STOP | LINE,
        [b'\n', ..] => LINE,
        [b' ' | b'\t' | b'\r', ..] => 0,
        [b'_', next, ..] if is_first && next.is_ascii_alphanumeric() => GLUED,
        [b',', ..] => COMMA,
        [b':', ..] => COLON,
        // Of a fenced block.
        [b'`', b'`', ..] => SIGN,
        [b'"' | b'`', next, ..] if class(*next) & INSIDE != 0 => QUOTE,
        [b'"' | b'`', ..] => UNQUOTE,
        _ => SIGN,
    }
}

/// What a word is in a sentence.
pub fn kinds_of(word: &str) -> u64 {
    table().kinds(word)
}

/// The words that are known, by their first two letters.
struct Table {
    words: Vec<Known>,
    /// Where the words of each beginning start.
    starts: Vec<usize>,
    /// How long words of each beginning may be: a bit for each length.
    lengths: Vec<u64>,
}

struct Known {
    key: usize,
    word: String,
    /// Any ending may follow.
    is_stem: bool,
    kinds: u64,
}

const KEYS: usize = 1 << 10;

/// The first two bytes of a word, in any case of ASCII.
#[inline]
fn key(word: &[u8]) -> usize {
    let bits = |at: usize| usize::from(word.get(at).copied().unwrap_or(0) & 31);
    bits(0) << 5 | bits(1)
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut words = Vec::new();
        for &(kinds, row) in WORDS {
            for written in row.split_whitespace() {
                let mut word = String::new();
                fold_into(written.trim_end_matches('*'), &mut word);
                words.push(Known { key: key(word.as_bytes()), word, is_stem: written.ends_with('*'), kinds });
            }
        }
        words.sort_by_key(|known| known.key);
        let starts = (0..=KEYS).map(|key| words.partition_point(|known| known.key < key)).collect();
        let mut lengths = vec![0_u64; KEYS];
        for known in &words {
            if let Some(lengths) = lengths.get_mut(known.key) {
                *lengths |= if known.is_stem { u64::MAX << known.word.len() } else { 1 << known.word.len() };
            }
        }
        Table { words, starts, lengths }
    })
}

impl Table {
    #[inline]
    fn of(&self, word: &[u8]) -> &[Known] {
        let key = key(word);
        let start = self.starts.get(key).copied().unwrap_or(0);
        let end = self.starts.get(key.saturating_add(1)).copied().unwrap_or(0);
        self.words.get(start..end).unwrap_or_default()
    }

    #[inline]
    fn kinds(&self, word: &str) -> u64 {
        let lengths = self.lengths.get(key(word.as_bytes())).copied().unwrap_or(0);
        let may_be = lengths >> word.len().min(63) & 1 == 1;
        let mut kinds = 0;
        for known in if may_be { self.of(word.as_bytes()) } else { &[] } {
            let stem =
                if known.is_stem { word.as_bytes().get(..known.word.len()) } else { Some(word.as_bytes()) };
            if stem.is_some_and(|stem| stem.eq_ignore_ascii_case(known.word.as_bytes())) {
                kinds |= known.kinds;
            }
        }
        let may_be_slip = kinds == 0
            && (LEAST_SLIPPED..=MOST_SLIPPED).contains(&word.len())
            && matches!(word.as_bytes(), [b'i' | b'I' | b'd' | b'D' | b'p' | b'P' | b'g' | b'G', ..]);
        if may_be_slip { self.slipped(word) } else { kinds }
    }

    /// What a word is with one letter put right; 0 where it is none.
    fn slipped(&self, word: &str) -> u64 {
        let meant = SLIPS.iter().find(|meant| is_slip(word.as_bytes(), meant.as_bytes()));
        meant.map_or(0, |meant| self.kinds(meant))
    }

    /// The longest word that a text of a script without spaces begins with: what it is, and its bytes.
    fn beginning(&self, text: &str) -> Option<(u64, usize)> {
        let known = || self.of(text.as_bytes()).iter().filter(|known| text.starts_with(&known.word));
        let length = known().map(|known| known.word.len()).max()?;
        let longest = known().filter(|known| known.word.len() == length);
        Some((longest.fold(0, |kinds, known| kinds | known.kinds), length))
    }
}

/// Letters of the shortest and the longest word that may be a slip.
const LEAST_SLIPPED: usize = 5;
const MOST_SLIPPED: usize = 13;

/// Whether a word is another with one letter too many, too few, or wrong, or two that changed places. The first letter and
/// the last are right: with another ending it is another word.
fn is_slip(word: &[u8], meant: &[u8]) -> bool {
    let ends =
        |word: &[u8]| (word.first().map(u8::to_ascii_lowercase), word.last().map(u8::to_ascii_lowercase));
    if ends(word) != ends(meant) || word.len().abs_diff(meant.len()) > 1 {
        return false;
    }
    let same = |(a, b): &(&u8, &u8)| a.eq_ignore_ascii_case(b);
    let head = word.iter().zip(meant).take_while(same).count();
    let most = word.len().min(meant.len()).saturating_sub(head);
    let tail = word.iter().rev().zip(meant.iter().rev()).take(most).take_while(same).count();
    let middle = |word: &[u8]| {
        word.get(head..word.len().saturating_sub(tail)).unwrap_or_default().to_ascii_lowercase()
    };
    match (middle(word).as_slice(), middle(meant).as_slice()) {
        ([], [_]) | ([_], []) | ([_], [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{IGNORE, INSTRUCTION, PRIOR};

    #[test]
    fn a_slip_of_one_letter_is_read_as_the_word_that_was_meant() {
        for (word, kinds) in [
            ("iunstructions", INSTRUCTION),
            ("instuctions", INSTRUCTION),
            ("Instrcutions", INSTRUCTION),
            ("prevoius", PRIOR),
            ("igonre", IGNORE),
            ("DISREGRAD", IGNORE),
        ] {
            assert!(table().kinds(word) & kinds != 0, "{word}");
        }
        for word in ["ignored", "ignores", "obstructions", "instructor", "guideline", "ignite", "ignoble"] {
            assert!(table().kinds(word) & (IGNORE | PRIOR) == 0, "{word}");
        }
    }

    #[test]
    fn words_are_read_with_the_signs_before_them() {
        let mut tokens = Vec::new();
        read("Hi, IGNORE \"all\".\n\n3.5 x_y", &mut tokens);
        let gaps: Vec<u8> = tokens.iter().map(|token| token.gap).collect();
        assert_eq!(gaps, [STOP | LINE, COMMA, QUOTE, UNQUOTE | STOP | LINE, SIGN, 0, GLUED]);
        assert!(tokens[1].is_loud && tokens[1].is(IGNORE) && tokens[1].offset == 4);
    }
}
