//! Injection: texts that try to instruct the model in its operator's place. A text is read once, character by character;
//! what is known of words is looked up by their digests, and the rules look at so many words around a place, no further.
//! So the time is linear in the text and nothing of it is kept. The rules are about the shape of a sentence (who is told
//! what to do with which instructions), not about single words, which security documents have too.
//!
//! Here is only what one text says. Which texts are new, and what follows, is the pipeline's.

mod fold;
mod orders;
mod overrides;
mod roles;
mod source;
mod tags;
mod tokens;
mod vocabulary;
mod word;

use source::{JsonChars, Source};
use tokens::{Token, Tokens};
use vocabulary::WORD;

/// What an attempt looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pattern {
    /// Earlier instructions are to be ignored.
    IgnoreInstructions,
    /// The agent is to be somebody else.
    RoleOverride,
    /// Tags that only the provider or the operator writes.
    SystemTags,
    /// New instructions from where none are to come.
    InstructionInjection,
    /// A null byte.
    NullBytes,
    /// A context is said to end.
    DelimiterEscape,
}

impl Pattern {
    pub const ALL: [Self; 6] = [
        Self::IgnoreInstructions,
        Self::RoleOverride,
        Self::SystemTags,
        Self::InstructionInjection,
        Self::NullBytes,
        Self::DelimiterEscape,
    ];

    pub fn label(self) -> &'static str {
        match self {
            Self::IgnoreInstructions => "ignore_instructions",
            Self::RoleOverride => "role_override",
            Self::SystemTags => "system_tags",
            Self::InstructionInjection => "instruction_injection",
            Self::NullBytes => "null_bytes",
            Self::DelimiterEscape => "delimiter_escape",
        }
    }
}

/// Where a text stands. A tool has no business to instruct anybody: there more is suspicious than in a user's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    User,
    Tool,
}

impl Place {
    pub fn label(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Tool => "tool",
        }
    }
}

/// The first place of each pattern in a text: bytes from its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found(Vec<(Pattern, usize)>);

impl Found {
    fn has(&self, pattern: Pattern) -> bool {
        self.0.iter().any(|(known, _)| *known == pattern)
    }

    fn add(&mut self, pattern: Pattern, offset: usize) {
        if !self.has(pattern) {
            self.0.push((pattern, offset));
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (Pattern, usize)> + '_ {
        self.0.iter().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Tokens that are looked at in one go.
const BATCH: usize = 2_048;
/// Tokens of a text that is short.
const FEW: usize = 256;
/// Tokens around a place that a rule may look at.
const REACH: usize = 48;

/// What a text holds.
pub fn scan(text: &str, place: Place) -> Found {
    scan_chars(Source::Plain(text.chars()), place)
}

/// What a JSON value holds: the text in its strings.
pub fn scan_json(json: &str, place: Place) -> Found {
    scan_chars(Source::Json(JsonChars::new(json)), place)
}

fn scan_chars(chars: Source<'_>, place: Place) -> Found {
    let mut found = Found::default();
    let mut tokens = Tokens::new(chars);
    let (mut batch, mut opened) = (Vec::with_capacity(FEW), tags::Opened::default());
    let mut from = 0;
    loop {
        let is_last = !tokens.fill(&mut batch, BATCH);
        let to = if is_last { batch.len() } else { batch.len().saturating_sub(REACH) };
        for at in from..to {
            if !batch.get(at).is_some_and(is_anchor) {
                continue;
            }
            let view = View { tokens: &batch, at, place };
            overrides::judge(view, &mut found);
            roles::judge(view, &mut found);
            orders::judge(view, &mut found);
            tags::judge(view, &mut opened, &mut found);
        }
        if is_last {
            break;
        }
        let done = to.saturating_sub(REACH);
        batch.drain(..done);
        tokens.forget_places();
        from = to.saturating_sub(done);
    }
    if tokens.nulls.are_suspicious(place) {
        found.add(Pattern::NullBytes, tokens.nulls.first);
    }
    found.0.sort_unstable();
    found
}

/// Whether a rule looks at what stands around such a token.
#[inline]
fn is_anchor(token: &Token) -> bool {
    token.is(overrides::ANCHORS | roles::ANCHORS | orders::ANCHORS | tags::ANCHORS)
        || matches!(token.sign, '<' | '[')
}

/// Whether one of the first tokens is of one of these kinds.
#[inline(never)]
fn has(tokens: &[Token], most: usize, kinds: u64) -> bool {
    tokens.iter().take(most).any(|token| token.is(kinds))
}

/// A token and those around it.
#[derive(Clone, Copy)]
struct View<'t> {
    tokens: &'t [Token],
    at: usize,
    place: Place,
}

impl<'t> View<'t> {
    /// The token so many places on; nothing beyond the text.
    fn token(self, by: isize) -> Option<&'t Token> {
        self.tokens.get(self.at.checked_add_signed(by)?)
    }

    /// Whether the token so many places on is of one of these kinds.
    fn is(self, by: isize, kinds: u64) -> bool {
        self.token(by).is_some_and(|token| token.is(kinds))
    }

    /// The same view from another token.
    fn moved(self, by: isize) -> Option<Self> {
        Some(Self { at: self.at.checked_add_signed(by)?, ..self })
    }

    fn offset(self) -> usize {
        self.token(0).map_or(0, |token| token.offset)
    }

    /// The tokens behind this one, nearest first, up to the end of the sentence.
    fn ahead(self, most: usize) -> std::slice::Iter<'t, Token> {
        self.sentence(most).iter()
    }

    /// The same as a slice.
    #[inline(never)]
    fn sentence(self, most: usize) -> &'t [Token] {
        self.following(most, |token| !token.ends_sentence())
    }

    /// The words of them that follow each other.
    #[inline(never)]
    fn words(self, most: usize) -> &'t [Token] {
        self.following(most, |token| token.is(WORD) && !token.ends_sentence())
    }

    /// Whether one of the tokens ahead is of one of these kinds.
    // Asked for in many places, like the next: what is copied into each makes the module large.
    #[inline(never)]
    fn has_ahead(self, most: usize, kinds: u64) -> bool {
        has(self.sentence(most), most, kinds)
    }

    /// The same of those behind.
    #[inline(never)]
    fn has_behind(self, most: usize, kinds: u64) -> bool {
        self.behind(most).any(|token| token.is(kinds))
    }

    /// The words right behind this one, in the order of the text.
    #[inline(never)]
    fn words_behind(self, most: usize) -> &'t [Token] {
        let before = self.tokens.get(..self.at).unwrap_or_default();
        let is_part = |token: &&Token| token.is(WORD) && !token.ends_sentence();
        let words = before.iter().rev().take(most).take_while(is_part).count();
        before.get(before.len().saturating_sub(words)..).unwrap_or_default()
    }

    #[inline]
    fn following(self, most: usize, is_part: impl Fn(&Token) -> bool) -> &'t [Token] {
        let start = self.at.saturating_add(1);
        let next = self.tokens.get(start..).unwrap_or_default();
        let next = next.get(..most).unwrap_or(next);
        let end = next.iter().position(|token| !is_part(token)).unwrap_or(next.len());
        next.get(..end).unwrap_or_default()
    }

    /// The tokens in front of this one, nearest first, down to the beginning of the sentence.
    fn behind(self, most: usize) -> impl Iterator<Item = &'t Token> {
        let before = self.tokens.get(..self.at).unwrap_or_default();
        before.iter().rev().take(most).take_while(|token| !token.ends_sentence())
    }
}

#[cfg(test)]
mod tests;
