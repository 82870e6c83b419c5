//! A word that is being read. Most are plain: ASCII letters and digits that stand in the text as they are. Their digests
//! are made only where the vocabulary may have such a word. Any other word is digested character by character.

use super::{
    token::Start,
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

fn meant_char(c: char) -> char {
    if c.is_ascii() { char::from(meant(u8::try_from(c).unwrap_or(0))) } else { c }
}

/// A word that stands in a text as it is.
#[derive(Clone, Copy)]
pub struct Plain<'a> {
    pub text: &'a str,
    classes: u8,
}

impl<'a> Plain<'a> {
    /// The word at the beginning of a text, where it is plain and ends for certain.
    #[inline]
    pub fn of(text: &'a str, is_json: bool) -> Option<Self> {
        let (bytes, mut classes) = (text.as_bytes(), 0);
        let class = |byte: &u8| CLASSES.get(usize::from(*byte)).copied().unwrap_or(UNSURE);
        let end = bytes.iter().position(|byte| {
            let class = class(byte);
            let is_inside = class & INSIDE != 0;
            classes |= if is_inside { class } else { 0 };
            !is_inside
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
        let text = text.get(..length).filter(|text| is_sure && !text.is_empty())?;
        Some(Self { text, classes })
    }

    /// Its only letter, in lower case.
    pub fn letter(self) -> Option<char> {
        match self.text.as_bytes() {
            [letter] if self.classes & LETTER != 0 => Some(char::from(letter.to_ascii_lowercase())),
            _ => None,
        }
    }

    pub fn is_loud(self) -> bool {
        self.classes & LOWER == 0
    }

    /// What it is; 0 where nothing is known of it.
    #[inline]
    pub fn kinds(self, known: &Vocabulary) -> u64 {
        let (first, last) = ends(self.text);
        let length = self.text.len();
        let mut kinds = 0;
        if length <= MAX_WORD && known.may_have(first, last, length) {
            kinds = known.kinds(digest(EMPTY, self.text, u8_lower));
        }
        let is_disguised = self.classes & (DISGUISE | LETTER) == DISGUISE | LETTER;
        if kinds == 0 && is_disguised && known.may_have(meant_char(first), meant_char(last), length) {
            kinds = known.kinds(digest(EMPTY, self.text, meant));
        }
        kinds
    }

    /// What it is as the rest of a word; 0 where nothing is known of it.
    #[inline]
    pub fn kinds_behind(self, begun: Part<'_>, known: &Vocabulary) -> u64 {
        if let Part::Plain(plain) = begun {
            let ((first, _), (_, last)) = (ends(plain), ends(self.text));
            if !known.may_have(first, last, plain.len().saturating_add(self.text.len())) {
                return 0;
            }
        }
        known.kinds(digest(begun.digest(), self.text, u8_lower))
    }
}

/// The word that came last, which may go on in the next.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    Plain(&'a str),
    Digest(u64),
}

impl Part<'_> {
    fn digest(self) -> u64 {
        match self {
            Self::Plain(text) => digest(EMPTY, text, u8_lower),
            Self::Digest(digest) => digest,
        }
    }
}

fn u8_lower(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

fn digest(from: u64, plain: &str, read: impl Fn(u8) -> u8) -> u64 {
    plain.bytes().fold(from, |digest, byte| step(digest, char::from(read(byte))))
}

/// The first byte of a text, and the last.
fn ends(text: &str) -> (char, char) {
    let bytes = text.as_bytes();
    let char = |byte: Option<&u8>| byte.map_or(' ', |byte| char::from(*byte));
    (char(bytes.first()), char(bytes.last()))
}

/// A word that is read by characters.
#[derive(Debug)]
pub struct Word {
    digest: u64,
    /// With digits and signs read as the letters that they stand for, where there are such.
    disguised: u64,
    has_disguise: bool,
    has_letter: bool,
    /// With what the word before began with.
    continued: Option<u64>,
    last: char,
    length: usize,
    pub is_loud: bool,
    /// White space before it (characters).
    pub gap: usize,
    pub start: Start,
}

impl Word {
    pub fn new(before: Option<Part<'_>>, gap: usize, start: Start) -> Self {
        Self {
            digest: EMPTY,
            disguised: EMPTY,
            has_disguise: false,
            has_letter: false,
            continued: before.map(Part::digest),
            last: ' ',
            length: 0,
            is_loud: true,
            gap,
            start,
        }
    }

    /// Adds a character.
    pub fn add(&mut self, c: char, is_lower: bool) {
        let meant = meant_char(c);
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

    /// Its only letter.
    pub fn letter(&self) -> Option<char> {
        (self.length == 1 && self.has_letter).then_some(self.last)
    }

    /// What it is; 0 where nothing is known of it.
    pub fn kinds(&self, known: &Vocabulary) -> u64 {
        let mut kinds = if self.length <= MAX_WORD { known.kinds(self.digest) } else { 0 };
        if kinds == 0 && self.has_disguise && self.has_letter {
            kinds = known.kinds(self.disguised);
        }
        kinds
    }

    /// What it is as the rest of the word before; 0 where nothing is known of it.
    pub fn kinds_as_rest(&self, known: &Vocabulary) -> u64 {
        self.continued.map_or(0, |digest| known.kinds(digest))
    }

    /// What may go on in the next word.
    pub fn part(&self) -> Part<'static> {
        Part::Digest(self.digest)
    }
}
