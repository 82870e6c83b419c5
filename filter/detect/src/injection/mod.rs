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
/// Tokens of a text that is short.
const FEW: usize = 256;
/// Tokens around a place that a rule may look at.
const REACH: usize = 48;

/// What a text holds.
pub fn scan(text: &str, place: Place) -> Found {
    scan_chars(Source::Plain(text.chars()), text.len(), place)
}

/// What a JSON value holds: the text in its strings.
pub fn scan_json(json: &str, place: Place) -> Found {
    scan_chars(Source::Json(JsonChars::new(json)), json.len(), place)
}

fn scan_chars(chars: Source<'_>, length: usize, place: Place) -> Found {
    let mut found = Found::default();
    let mut tokens = Tokens::new(chars);
    let (mut batch, mut opened) = (Vec::with_capacity(FEW.min(length)), tags::Opened::default());
    let mut marks = marks::Marks::default();
    let (mut from, anchors) = (0, anchors(place));
    loop {
        let is_last = !tokens.fill(&mut batch, BATCH);
        let to = if is_last { batch.len() } else { batch.len().saturating_sub(REACH) };
        for at in from..to {
            if !batch.get(at).is_some_and(|token| token.is(anchors) || matches!(token.sign, '<' | '[')) {
                continue;
            }
            let view = View { tokens: &batch, at, place };
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
