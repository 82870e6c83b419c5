//! A word that is being read. Most are plain: ASCII letters and digits that stand in the text as they are. Their digests
//! are made only where the vocabulary may have such a word. Any other word is digested character by character.

use super::{
    tokens::Start,
    vocabulary::{EMPTY, Vocabulary, step},
};

/// Longer words are none that anybody knows.
const MAX_WORD: usize = 24;

/// What a byte is to a word.
const INSIDE: u8 = 1;
const LETTER: u8 = 2;
const LOWER: u8 = 4;
/// A digit that stands for a letter where it is in a word.
const DISGUISE: u8 = 8;
/// A word may go on behind it: a null byte or a mark within a word, or a part of a character that is not ASCII.
const UNSURE: u8 = 16;
const BACKSLASH: u8 = 32;
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [UNSURE; 256];
    let (ascii, _) = classes.split_at_mut(128);
    let mut rest = ascii;
    let mut byte = 0_u8;
    while let [class, after @ ..] = rest {
        *class = match byte {
            b'a'..=b'z' => INSIDE | LETTER | LOWER,
            b'A'..=b'Z' => INSIDE | LETTER,
            b'0'..=b'9' if meant(byte) != byte => INSIDE | DISGUISE,
            b'0'..=b'9' | b'_' => INSIDE,
            b'\0' | b'\'' | b'@' | b'$' => UNSURE,
            b'\\' => BACKSLASH,
            _ => 0,
        };
        byte = byte.wrapping_add(1);
        rest = after;
    }
    classes
}

/// The letter that a digit or a sign stands for within a word.
const fn meant(byte: u8) -> u8 {
    match byte {
        b'0' => b'o',
        b'1' => b'i',
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        b'7' => b't',
        other => other.to_ascii_lowercase(),
    }
}

/// A word at the beginning of a text that is plain and ends for certain: its length (0 where there is none) and what its
/// bytes are.
pub fn plain(text: &str, is_json: bool) -> (usize, u8) {
    let (bytes, mut classes) = (text.as_bytes(), 0);
    let class = |byte: &u8| CLASSES.get(usize::from(*byte)).copied().unwrap_or(UNSURE);
    let end = bytes.iter().position(|byte| {
        let class = class(byte);
        classes |= class;
        class & INSIDE == 0
    });
    let length = end.unwrap_or(bytes.len());
    let is_sure = match bytes.get(length..) {
        // An escaped character may belong to the word.
        Some([b'\\', next, ..]) if is_json => {
            matches!(next, b'"' | b'\\' | b'/' | b'n' | b't' | b'r' | b'b' | b'f')
        }
        Some([next, ..]) => class(next) & UNSURE == 0 && !(is_json && *next == b'\\'),
        _ => true,
    };
    if is_sure { (length, classes) } else { (0, 0) }
}

/// A word, or what has come of it.
#[derive(Debug)]
pub struct Word<'a> {
    /// A plain word as it stands; empty where it is read by characters.
    plain: &'a str,
    digest: u64,
    /// With digits and signs read as the letters that they stand for, where there are such.
    disguised: u64,
    has_disguise: bool,
    pub has_letter: bool,
    /// The word before, which may have been cut in two.
    before: Option<Part<'a>>,
    /// With what the word before began with.
    continued: Option<u64>,
    pub last: char,
    pub length: usize,
    pub is_loud: bool,
    /// White space before it (characters).
    pub gap: usize,
    pub start: Start,
}

/// The word that a line ended with, which may go on in the next.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    plain: &'a str,
    digest: u64,
}

impl Part<'_> {
    fn digest(self) -> u64 {
        if self.plain.is_empty() { self.digest } else { digest(EMPTY, self.plain, u8_lower) }
    }
}

fn u8_lower(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

fn digest(from: u64, plain: &str, read: impl Fn(u8) -> u8) -> u64 {
    plain.bytes().fold(from, |digest, byte| step(digest, char::from(read(byte))))
}

/// The first byte of a text, and the last.
fn ends(text: &str) -> (u8, u8) {
    let bytes = text.as_bytes();
    (bytes.first().copied().unwrap_or(0), bytes.last().copied().unwrap_or(0))
}

impl<'a> Word<'a> {
    pub fn new(before: Option<Part<'a>>, gap: usize, start: Start) -> Self {
        Self {
            plain: "",
            digest: EMPTY,
            disguised: EMPTY,
            has_disguise: false,
            has_letter: false,
            before: None,
            continued: before.map(Part::digest),
            last: ' ',
            length: 0,
            is_loud: true,
            gap,
            start,
        }
    }

    /// A plain word whose bytes are of these classes.
    pub fn of_plain(plain: &'a str, classes: u8, before: Option<Part<'a>>, gap: usize, start: Start) -> Self {
        let (_, last) = ends(plain);
        Self {
            plain,
            has_disguise: classes & DISGUISE != 0,
            has_letter: classes & LETTER != 0,
            before,
            last: char::from(last.to_ascii_lowercase()),
            length: plain.len(),
            is_loud: classes & LOWER == 0,
            ..Self::new(None, gap, start)
        }
    }

    /// Adds a character to a word that is read by characters.
    pub fn add(&mut self, c: char, is_lower: bool) {
        let meant = if c.is_ascii() { char::from(meant(u8::try_from(c).unwrap_or(0))) } else { c };
        if meant != c && !self.has_disguise {
            (self.has_disguise, self.disguised) = (true, self.digest);
        }
        if self.has_disguise {
            self.disguised = step(self.disguised, meant);
        }
        self.digest = step(self.digest, c);
        self.continued = self.continued.map(|digest| step(digest, c));
        self.length = self.length.saturating_add(1);
        self.last = c;
        self.has_letter |= c.is_ascii_lowercase() || c.is_alphabetic();
        self.is_loud &= !is_lower;
    }

    /// What it is; 0 where nothing is known of it.
    pub fn kinds(&self, known: &Vocabulary) -> u64 {
        let (first, last) = ends(self.plain);
        let is_plain = !self.plain.is_empty();
        let may_be = |first, last| !is_plain || known.may_have(first, last, self.length);
        let mut kinds = 0;
        if self.length <= MAX_WORD && may_be(first, last) {
            kinds = known.kinds(if is_plain { digest(EMPTY, self.plain, u8_lower) } else { self.digest });
        }
        if kinds == 0 && self.has_disguise && self.has_letter && may_be(meant(first), meant(last)) {
            kinds = known.kinds(if is_plain { digest(EMPTY, self.plain, meant) } else { self.disguised });
        }
        kinds
    }

    /// What it is together with the word before; 0 where nothing is known of it.
    pub fn kinds_with_before(&self, known: &Vocabulary) -> u64 {
        let Some(before) = self.before else {
            return self.continued.map_or(0, |digest| known.kinds(digest));
        };
        let ((first, _), (_, last)) = (ends(before.plain), ends(self.plain));
        let length = before.plain.len().saturating_add(self.length);
        if !before.plain.is_empty() && !known.may_have(first, last, length) {
            return 0;
        }
        known.kinds(digest(before.digest(), self.plain, u8_lower))
    }

    /// What may go on in the next word.
    pub fn part(&self) -> Part<'a> {
        Part { plain: self.plain, digest: self.digest }
    }
}
