//! Injection: texts that try to instruct the model in its operator's place. A text is read once, character by character;
//! what is known of words is looked up by their digests, and the rules look at so many words around a place, no further.
//! So the time is linear in the text and nothing of it is kept. The rules are about the shape of a sentence (who is told
//! what to do with which instructions), not about single words, which security documents have too.
//!
//! Here is only what one text says. Which texts are new, and what follows, is the pipeline's.

mod addressed;
mod fold;
mod marks;
mod mention;
mod orders;
mod overrides;
mod roles;
mod source;
mod speech;
mod tags;
mod token;
mod tokens;
mod view;
mod vocabulary;
mod voided;
mod word;
mod words;

use source::{JsonChars, Source};
use token::Token;
use tokens::Tokens;
use view::View;

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
/// Tokens around a place that a rule may look at.
const REACH: usize = 48;

/// What a text holds.
pub fn scan(text: &str, place: Place) -> Found {
    Scanner::default().scan(text, place)
}

/// What a JSON value holds: the text in its strings.
pub fn scan_json(json: &str, place: Place) -> Found {
    Scanner::default().scan_json(json, place)
}

/// Scans texts one after another: of many short ones it is quicker than a scan of each alone.
#[derive(Debug, Default)]
pub struct Scanner {
    /// Room for tokens.
    batch: Vec<Token>,
}

impl Scanner {
    /// What a text holds.
    pub fn scan(&mut self, text: &str, place: Place) -> Found {
        self.scan_chars(Source::Plain(text.chars()), place)
    }

    /// What a JSON value holds: the text in its strings.
    pub fn scan_json(&mut self, json: &str, place: Place) -> Found {
        self.scan_chars(Source::Json(JsonChars::new(json)), place)
    }

    #[inline(never)]
    fn scan_chars(&mut self, chars: Source<'_>, place: Place) -> Found {
        let mut tokens = Tokens::new(chars);
        let batch = &mut self.batch;
        batch.clear();
        let is_last = !tokens.fill(batch, BATCH);
        let anchors = anchors(place);
        // Most texts are short, and no rule begins in them.
        let mut found = match is_last && !batch.iter().any(|token| begins_rule(token, anchors)) {
            true => Found::default(),
            false => judge(&mut tokens, batch, is_last, place),
        };
        if tokens.nulls.are_suspicious(place) {
            found.add(Pattern::NullBytes, tokens.nulls.first);
        }
        found.0.sort_unstable();
        found
    }
}

/// Whether a rule may begin with a token.
#[inline]
fn begins_rule(token: &Token, anchors: u64) -> bool {
    token.is(anchors) || matches!(token.sign, '<' | '[')
}

/// What the rules find: `batch` are the first tokens, `is_last` where they are all.
#[inline(never)]
fn judge(tokens: &mut Tokens<'_>, batch: &mut Vec<Token>, mut is_last: bool, place: Place) -> Found {
    let (mut found, mut opened) = (Found::default(), tags::Opened::default());
    let mut marks = marks::Marks::default();
    let (mut from, anchors) = (0, anchors(place));
    loop {
        let to = if is_last { batch.len() } else { batch.len().saturating_sub(REACH) };
        for at in from..to {
            if !batch.get(at).is_some_and(|token| begins_rule(token, anchors)) {
                continue;
            }
            let view = View { tokens: batch, at, place };
            overrides::judge(view, &mut found);
            roles::judge(view, &mut found);
            orders::judge(view, &mut found);
            tags::judge(view, &mut opened, &mut found);
            match place {
                Place::User => marks::judge(view, &mut marks, &mut found),
                Place::Tool => addressed::judge(view, &mut found),
            }
        }
        if is_last {
            return found;
        }
        let done = to.saturating_sub(REACH);
        batch.drain(..done);
        tokens.forget_places();
        from = to.saturating_sub(done);
        is_last = !tokens.fill(batch, BATCH);
    }
}

/// The words that a rule begins with, in a place.
fn anchors(place: Place) -> u64 {
    let of_place = match place {
        Place::User => marks::ANCHORS,
        Place::Tool => addressed::ANCHORS,
    };
    overrides::ANCHORS | roles::ANCHORS | orders::ANCHORS | tags::ANCHORS | of_place
}

#[cfg(test)]
mod tests;
