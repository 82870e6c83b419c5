//! What a text is made of: words and signs; and what is counted beside them.

use super::{
    Place,
    vocabulary::{AI, FILLER, NEWLINE, STOP, Vocabulary, WORD, step},
};

/// Something that stands in a text.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is: bits of `vocabulary`.
    pub kinds: u64,
    /// Bytes of the text before it.
    pub offset: usize,
    /// The sign; a space for a word.
    pub sign: char,
    /// White space stands before it.
    pub is_apart: bool,
    /// Nothing but white space and signs of lists stand before it in its line.
    pub begins_line: bool,
    /// All of its letters are capitals.
    pub is_loud: bool,
    /// A sign that stands there several times.
    pub repeats: bool,
}

impl Token {
    pub fn is(&self, kinds: u64) -> bool {
        self.kinds & kinds != 0
    }

    /// The name of a model. "Language" is a part of one.
    pub fn is_ai(&self) -> bool {
        self.is(AI) && !self.is(FILLER)
    }

    pub fn is_quote(&self) -> bool {
        matches!(self.sign, '"' | '`' | '\'')
    }

    pub fn ends_sentence(&self) -> bool {
        self.is(STOP)
    }
}

/// Where a token begins.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub offset: usize,
    pub is_apart: bool,
    pub begins_line: bool,
}

/// Null bytes of a text.
#[derive(Debug, Default)]
pub struct Nulls {
    pub first: usize,
    groups: usize,
    last: Option<usize>,
}

/// So many null bytes apart from each other are the separators of a list, or every second byte of UTF-16.
const DATA: usize = 4;

impl Nulls {
    pub fn add(&mut self, offset: usize) {
        if self.groups == 0 {
            self.first = offset;
        }
        if self.last.is_none() || self.last != offset.checked_sub(1) {
            self.groups = self.groups.saturating_add(1);
        }
        self.last = Some(offset);
    }

    pub fn are_suspicious(&self, place: Place) -> bool {
        self.groups > 0 && (place == Place::User || self.groups < DATA)
    }
}

/// Letters from which a word that is spelled is one.
const LEAST_SPELLED: usize = 3;

/// A word that is spelled letter by letter.
#[derive(Clone, Copy, Debug)]
pub struct Spelled {
    pub digest: u64,
    pub letters: usize,
    pub begins: char,
    pub ends: char,
    /// Place of the first letter's token.
    pub first: usize,
}

impl Spelled {
    pub fn with(self, letter: char) -> Self {
        Self {
            digest: step(self.digest, letter),
            letters: self.letters.saturating_add(1),
            begins: if self.letters == 0 { letter } else { self.begins },
            ends: letter,
            ..self
        }
    }

    pub fn is_word(self, known: &Vocabulary) -> bool {
        self.letters >= LEAST_SPELLED
            && known.may_have(self.begins, self.ends, self.letters)
            && known.kinds(self.digest) != 0
    }

    /// Puts the word in the letters' place.
    pub fn put(self, known: &Vocabulary, tokens: &mut Vec<Token>) -> bool {
        let Some(begun) = tokens.get(self.first).copied() else { return false };
        tokens.truncate(self.first);
        tokens.push(Token { kinds: known.kinds(self.digest) | WORD | begun.kinds & NEWLINE, ..begun });
        true
    }
}
