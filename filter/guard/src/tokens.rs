//! A folded text as tokens: its words with what they are, and which signs stand before each.

use std::sync::OnceLock;

use crate::{
    fold::{fold_into, is_ideograph},
    words::{SLIPS, WORDS},
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
/// A clause begins that has nothing to do with the one before: a capital behind a line, a sign or a colon.
pub const CLAUSE: u16 = 256;

/// A word of a text.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is in a sentence (`words.rs`); 0 where nothing is known of it.
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

/// Reads a folded text. Returns what its words are, all together.
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
                        // `_emphasis_` stands behind no word.
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
        // Of apostrophes, those within a word belong to it.
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

/// What a byte is to a word: a part of it, a small letter, a part of a character that is not ASCII, an apostrophe; white space, or a
/// sign that is always the same; 0: see [`sign`].
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

/// Whether the full stop there ends "e.g." and no sentence.
fn is_abbreviated(text: &[u8], at: usize) -> bool {
    let Some([before @ .., a, b'.', b]) = text.get(..at) else { return false };
    a.is_ascii_alphabetic()
        && b.is_ascii_alphabetic()
        && before.last().is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'.')
}

const ESCAPE: u8 = 0x1b;

/// Length of a terminal's colour (`ESC[31m`) or a tag of HTML without attributes at the beginning, or of its first sign alone; what it is to the
/// words around it.
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
    // A longer word that is known is said to somebody: `<system>`.
    let is_tag =
        (1..=10).contains(&length) && (length <= 2 || table().kinds(name, head(name, 0, length)) == 0);
    let Some(end) = end.filter(|_| is_tag) else { return (1, SIGN) };
    let tag = text.len().saturating_sub(behind.len()).saturating_add(end.len());
    // Of a paragraph, a cell, an item, a heading or a line.
    match name {
        [b'p' | b'd' | b't' | b'l' | b'h' | b'o', ..] | [b'b', b'r', ..] | [b'u', b'l'] => {
            (tag, LINE | SIGN | CLAUSE)
        }
        _ => (tag, SIGN),
    }
}

/// Length of the word at the beginning, and the classes of its bytes. Zeros if the text begins with no word.
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

/// Length of the sign or white space that comes next, and what it is to the words around it.
fn sign(text: &[u8], at: usize, is_first: bool) -> (usize, u16) {
    let rest = text.get(at..).unwrap_or_default();
    let sign = match rest {
        [ESCAPE | b'<', ..] => return mark(rest),
        // Within a name or a number it ends nothing. Scripts without spaces have none behind it.
        [b'.' | b'!' | b'?' | b';', next, ..] if matches!(*next, b'!'..=b'~') && *next != b'"' => SIGN,
        [b'.', ..] if is_abbreviated(text, at) => SIGN,
        [b'.' | b'!' | b'?' | b';', ..] => STOP,
        [b'\n', b'\n', ..] => STOP | LINE,
        [b'\n', ..] => LINE,
        [b'_', next, ..] if is_first && next.is_ascii_alphanumeric() => GLUED,
        [b',', ..] => COMMA,
        [b':', ..] => COLON,
        // Of a fenced block.
        [b'`', b'`', ..] => SIGN,
        [b'"' | b'`', next, ..] if class(*next) & INSIDE != 0 => QUOTE,
        [b'"' | b'`', ..] => UNQUOTE,
        _ => SIGN,
    };
    (1, sign)
}

/// What a word is in a sentence.
pub fn kinds_of(word: &str) -> u64 {
    table().kinds(word.as_bytes(), head(word.as_bytes(), 0, word.len()))
}

/// The words that are known.
struct Table {
    /// Words without an ending of their own, by the hash of their head.
    whole: Buckets,
    /// Words that any ending may follow, by their first two letters.
    stems: Buckets,
    /// Words of scripts without spaces, by their first two bytes.
    wide: Buckets,
}

/// Words in groups of which only one is looked through.
struct Buckets {
    words: Vec<KnownWord>,
    /// Where each group starts, and the last one ends.
    starts: Vec<u16>,
}

const BUCKETS: usize = 1 << 10;

impl Buckets {
    fn new(all: &[KnownWord], is_wanted: fn(&KnownWord) -> bool, bucket: fn(u64) -> usize) -> Self {
        let mut words: Vec<_> = all.iter().filter(|known| is_wanted(known)).cloned().collect();
        words.sort_by_key(|known| bucket(known.head));
        let start =
            |at| u16::try_from(words.partition_point(|known| bucket(known.head) < at)).unwrap_or(u16::MAX);
        Self { starts: (0..=BUCKETS).map(start).collect(), words }
    }

    #[inline]
    fn get(&self, bucket: usize) -> &[KnownWord] {
        match self.starts.get(bucket..) {
            Some([start, end, ..]) => {
                self.words.get(usize::from(*start)..usize::from(*end)).unwrap_or_default()
            }
            _ => &[],
        }
    }
}

#[derive(Clone)]
struct KnownWord {
    head: u64,
    /// The part of a word's head that is compared. All of it, unless any ending may follow.
    compared: u64,
    word: String,
    /// Where the part of it begins that its head does not tell.
    untold: usize,
    kinds: u64,
}

impl KnownWord {
    fn of(written: &str, kinds: u64) -> Self {
        let mut word = String::new();
        fold_into(written.trim_end_matches('*'), &mut word);
        let told = if written.ends_with('*') { word.len().min(7) } else { 8 };
        let compared = first_bytes(told);
        let head = head(word.as_bytes(), 0, word.len()) & compared;
        Self { head, compared, untold: if word.is_ascii() { told } else { 0 }, word, kinds }
    }

    /// Any ending may follow.
    fn is_stem(&self) -> bool {
        self.compared != u64::MAX
    }

    /// Whether a word with this head has the rest too.
    #[inline]
    fn goes_on(&self, word: &[u8]) -> bool {
        let untold = self.word.as_bytes().get(self.untold..).unwrap_or_default();
        let rest = || word.get(self.untold..self.word.len());
        untold.is_empty() || rest().is_some_and(|rest| rest.eq_ignore_ascii_case(untold))
    }
}

/// The first eight bytes of a word in lower case, and zeros where it is shorter. Bit 5 is set, which makes capitals small; a byte that is
/// not ASCII loses that distinction.
#[inline]
pub fn head(text: &[u8], start: usize, length: usize) -> u64 {
    let rest = text.get(start..).unwrap_or_default();
    let bytes = match rest.first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => rest.iter().rev().fold(0, |bytes, byte| bytes << 8 | u64::from(*byte)),
    };
    (bytes | u64::from_le_bytes([b' '; 8])) & first_bytes(length)
}

/// The bits of the first bytes of a head.
#[inline]
fn first_bytes(count: usize) -> u64 {
    if count < 8 { !(u64::MAX << (count << 3)) } else { u64::MAX }
}

/// The bucket of the first two letters of a head.
#[inline]
fn beginning(head: u64) -> usize {
    usize::from((head & 31) as u8) << 5 | usize::from((head >> 8 & 31) as u8)
}

/// The bucket of a whole head, by a multiplicative hash (Knuth).
#[inline]
fn hash(head: u64) -> usize {
    usize::try_from(head.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54).unwrap_or(0)
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rows = WORDS.iter();
        let words =
            rows.flat_map(|(kinds, row)| row.split_whitespace().map(|word| KnownWord::of(word, *kinds)));
        let words: Vec<_> = words.collect();
        Table {
            whole: Buckets::new(&words, |known| !known.is_stem(), hash),
            stems: Buckets::new(&words, KnownWord::is_stem, beginning),
            wide: Buckets::new(&words, |known| !known.word.is_ascii(), beginning),
        }
    })
}

impl Table {
    #[inline]
    fn kinds(&self, word: &[u8], head: u64) -> u64 {
        let mut kinds = 0;
        for known in self.whole.get(hash(head)) {
            if head == known.head && word.len() == known.word.len() && known.goes_on(word) {
                kinds |= known.kinds;
            }
        }
        for known in self.stems.get(beginning(head)) {
            if head & known.compared == known.head && known.goes_on(word) {
                kinds |= known.kinds;
            }
        }
        if kinds == 0 && may_be_slip(word, word.len()) { self.slipped(word) } else { kinds }
    }

    /// What a word is with one letter put right. 0 if that makes no known word.
    #[inline(never)]
    fn slipped(&self, word: &[u8]) -> u64 {
        meant_by(word).map_or(0, |meant| self.kinds(meant.as_bytes(), head(meant.as_bytes(), 0, meant.len())))
    }

    /// The longest word that a text of a script without spaces begins with: what it is, and its bytes.
    fn beginning(&self, text: &str) -> Option<(u64, usize)> {
        let words = self.wide.get(beginning(head(text.as_bytes(), 0, text.len())));
        let known = || words.iter().filter(|known| text.starts_with(&known.word));
        let length = known().map(|known| known.word.len()).max()?;
        let longest = known().filter(|known| known.word.len() == length);
        Some((longest.fold(0, |kinds, known| kinds | known.kinds), length))
    }
}

/// Letters of the shortest and the longest word that may be a slip.
const LEAST_SLIPPED: usize = 5;
const MOST_SLIPPED: usize = 13;

/// The word of which this one is a slip.
pub fn meant_by(word: &[u8]) -> Option<&'static str> {
    SLIPS.iter().find(|meant| is_slip(word, meant.as_bytes())).copied()
}

/// Whether the word that the text begins with may be a slip, by its length and its first letter.
#[inline]
pub fn may_be_slip(text: &[u8], length: usize) -> bool {
    (LEAST_SLIPPED..=MOST_SLIPPED).contains(&length)
        && matches!(text, [b'i' | b'I' | b'd' | b'D' | b'p' | b'P' | b'g' | b'G', ..])
}

/// Whether a word is another with one letter too many, too few, or wrong, or two that changed places. The first letter and
/// the last are right: with another ending it is another word.
fn is_slip<'w>(word: &'w [u8], meant: &'w [u8]) -> bool {
    let same = |(a, b): &(&u8, &u8)| a.eq_ignore_ascii_case(b);
    let ([first, .., last], [first_meant, .., last_meant]) = (word, meant) else { return false };
    let are_ends = same(&(last, last_meant)) && same(&(first, first_meant));
    if !are_ends || word.len().abs_diff(meant.len()) > 1 {
        return false;
    }
    let head = word.iter().zip(meant).take_while(same).count();
    let most = word.len().min(meant.len()).saturating_sub(head);
    let tail = word.iter().rev().zip(meant.iter().rev()).take(most).take_while(same).count();
    let middle = |word: &'w [u8]| word.get(head..word.len().saturating_sub(tail)).unwrap_or_default();
    match (middle(word), middle(meant)) {
        ([], [_]) | ([_], []) | ([_], [_]) => true,
        ([a, b], [c, d]) => same(&(a, d)) && same(&(b, c)),
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
            assert!(kinds_of(word) & kinds != 0, "{word}");
        }
        for word in ["ignored", "ignores", "obstructions", "instructor", "guideline", "ignite", "ignoble"] {
            assert!(kinds_of(word) & (IGNORE | PRIOR) == 0, "{word}");
        }
    }

    #[test]
    fn words_are_read_with_the_signs_before_them() {
        let mut tokens = Vec::new();
        read("Hi, IGNORE \"all\".\n\n3.5 x_y", &mut tokens);
        let gaps: Vec<u16> = tokens.iter().map(|token| token.gap).collect();
        assert_eq!(gaps, [STOP | LINE | CLAUSE, COMMA, QUOTE, UNQUOTE | STOP | LINE, SIGN, 0, GLUED]);
        assert!(tokens[1].is_loud && tokens[1].is(IGNORE) && tokens[1].offset == 4);
    }
}
