//! A token and what stands around it: how the rules look at a text. Nothing here says what is an attack.

use super::{Place, token::Token, vocabulary::WORD};

/// Whether one of the first tokens is of one of these kinds.
#[inline(never)]
pub fn has(tokens: &[Token], most: usize, kinds: u64) -> bool {
    tokens.iter().take(most).any(|token| token.is(kinds))
}

/// Where the first token of one of these kinds is.
#[inline(never)]
pub fn find(tokens: &[Token], most: usize, kinds: u64) -> Option<usize> {
    tokens.iter().take(most).position(|token| token.is(kinds))
}

/// The same where the token is none of the other kinds.
#[inline(never)]
pub fn find_but(tokens: &[Token], most: usize, kinds: u64, others: u64) -> Option<usize> {
    tokens.iter().take(most).position(|token| token.is(kinds) && !token.is(others))
}

/// How many tokens are of one of these kinds.
#[inline(never)]
pub fn count(tokens: &[Token], kinds: u64) -> usize {
    tokens.iter().filter(|token| token.is(kinds)).count()
}

/// Whether the token at a place is of one of these kinds.
#[inline(never)]
pub fn is_at(tokens: &[Token], at: usize, kinds: u64) -> bool {
    tokens.get(at).is_some_and(|token| token.is(kinds))
}

/// Whether the last token is of one of these kinds.
#[inline(never)]
pub fn ends_with(tokens: &[Token], kinds: u64) -> bool {
    tokens.last().is_some_and(|token| token.is(kinds))
}

/// Whether a token of the first kinds stands right before one of the others.
#[inline(never)]
pub fn has_pair(tokens: &[Token], first: u64, second: u64) -> bool {
    tokens.windows(2).any(|pair| matches!(pair, [one, other] if one.is(first) && other.is(second)))
}

/// A token and those around it.
#[derive(Clone, Copy)]
pub struct View<'t> {
    pub tokens: &'t [Token],
    pub at: usize,
    pub place: Place,
}

impl<'t> View<'t> {
    /// The token so many places on; nothing beyond the text.
    // Asked for in many places, like much that follows: what is copied into each makes the module large.
    #[inline(never)]
    pub fn token(self, by: isize) -> Option<&'t Token> {
        self.tokens.get(self.at.checked_add_signed(by)?)
    }

    /// The sign so many places on; a space where there is none.
    #[inline(never)]
    pub fn sign(self, by: isize) -> char {
        self.token(by).map_or(' ', |token| token.sign)
    }

    /// Whether the token so many places on is of one of these kinds.
    #[inline(never)]
    pub fn is(self, by: isize, kinds: u64) -> bool {
        self.token(by).is_some_and(|token| token.is(kinds))
    }

    /// The same view from another token.
    pub fn moved(self, by: isize) -> Option<Self> {
        Some(Self { at: self.at.checked_add_signed(by)?, ..self })
    }

    /// Whether nothing stands before it in its sentence but signs.
    pub fn begins_sentence(self) -> bool {
        !self.behind(3).any(|token| token.is(WORD))
    }

    pub fn offset(self) -> usize {
        self.token(0).map_or(0, |token| token.offset)
    }

    /// The tokens behind this one, nearest first, up to the end of the sentence.
    pub fn ahead(self, most: usize) -> std::slice::Iter<'t, Token> {
        self.sentence(most).iter()
    }

    /// The same as a slice.
    #[inline(never)]
    pub fn sentence(self, most: usize) -> &'t [Token] {
        self.following(most, |token| !token.ends_sentence())
    }

    /// The tokens so many places on and behind, whatever sentence they are of.
    #[inline(never)]
    pub fn onward(self, from: usize, most: usize) -> &'t [Token] {
        let next = self.tokens.get(self.at.saturating_add(from)..).unwrap_or_default();
        next.get(..most).unwrap_or(next)
    }

    /// The words of them that follow each other.
    #[inline(never)]
    pub fn words(self, most: usize) -> &'t [Token] {
        self.following(most, |token| token.is(WORD) && !token.ends_sentence())
    }

    /// Whether one of the tokens ahead is of one of these kinds.
    #[inline(never)]
    pub fn has_ahead(self, most: usize, kinds: u64) -> bool {
        has(self.sentence(most), most, kinds)
    }

    /// The same of those behind.
    #[inline(never)]
    pub fn has_behind(self, most: usize, kinds: u64) -> bool {
        self.behind(most).any(|token| token.is(kinds))
    }

    /// The words right behind this one, in the order of the text.
    #[inline(never)]
    pub fn words_behind(self, most: usize) -> &'t [Token] {
        let before = self.tokens.get(..self.at).unwrap_or_default();
        let is_part = |token: &&Token| token.is(WORD) && !token.ends_sentence();
        let words = before.iter().rev().take(most).take_while(is_part).count();
        before.get(before.len().saturating_sub(words)..).unwrap_or_default()
    }

    #[inline]
    pub fn following(self, most: usize, is_part: impl Fn(&Token) -> bool) -> &'t [Token] {
        let start = self.at.saturating_add(1);
        let next = self.tokens.get(start..).unwrap_or_default();
        let next = next.get(..most).unwrap_or(next);
        let end = next.iter().position(|token| !is_part(token)).unwrap_or(next.len());
        next.get(..end).unwrap_or_default()
    }

    /// The tokens in front of this one, nearest first, down to the beginning of the sentence.
    pub fn behind(self, most: usize) -> impl Iterator<Item = &'t Token> {
        let before = self.tokens.get(..self.at).unwrap_or_default();
        before.iter().rev().take(most).take_while(|token| !token.ends_sentence())
    }
}
