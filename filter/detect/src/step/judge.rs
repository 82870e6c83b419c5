//! The order in which a result is judged, and the digest by which it is compared.

use std::{borrow::Cow, cell::OnceCell};

use sentinel_text::digest;
use serde_json::Value;

use super::{
    Kind, Purpose,
    errors::{has_exit_code, is_explicit_error},
    first_words::{
        ACKNOWLEDGEMENT_WORDS, FirstWords, SHORT_WORDS, has_specific_number, is_acknowledgement,
        is_nothing_new, says_no_output,
    },
    plain,
    structure::Structure,
    volatile, waiting,
};
use crate::arguments::canonical;

/// Results are looked into up to this size (bytes); beyond it their digest and their ends must do.
pub(crate) const MAX_RESULT: usize = 4_096;

/// A result, and what is known of its call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judged<'a> {
    pub said: &'a str,
    pub purpose: Purpose,
    /// The call says what is meant: "No order found" is a failure then.
    pub names_something: bool,
    /// The client says that it is an error. That it does not say so proves nothing.
    pub is_error: bool,
}

/// Whether a user's text that answers an agent proves nothing when it comes again: "yes", "still running".
pub(crate) fn is_weak_answer(text: &str) -> bool {
    let judged = Judged { said: text, purpose: Purpose::Ask, names_something: true, is_error: false };
    matches!(judged.kind(), Kind::Acknowledgement | Kind::Empty | Kind::Waiting)
}

/// A failure without what differs from time to time; any other text as it stands.
pub(crate) fn without_volatile(text: &str) -> Cow<'_, str> {
    let judged = Judged { said: text, purpose: Purpose::Ask, names_something: true, is_error: false };
    let is_failure = text.len() <= MAX_RESULT && judged.kind() == Kind::Failure;
    if is_failure { Cow::Owned(volatile::without(text)) } else { Cow::Borrowed(text) }
}

impl Judged<'_> {
    /// What it is compared by. Failures are compared without what differs from time to time; of what a send returns the id does not
    /// count.
    pub fn outcome(self, kind: Kind) -> u64 {
        if self.said.len() <= MAX_RESULT {
            if kind == Kind::Failure {
                return volatile::digest_without(self.said);
            }
            if self.purpose == Purpose::Send
                && self.said.trim_start().starts_with(['{', '['])
                && let Ok(mut value) = serde_json::from_str::<Value>(self.said)
            {
                volatile::remove_ids(&mut value);
                return canonical(&value.to_string()).digest;
            }
        }
        digest(self.said.trim().as_bytes())
    }

    /// Whether it may be a failure, by what can be seen quickly; where not, it is none.
    pub fn may_be_failure(self) -> bool {
        let Self { said, purpose, is_error, .. } = self;
        if purpose == Purpose::Wait {
            return false;
        }
        let text = said.trim();
        is_error
            || text.starts_with('{')
            || has_exit_code(said)
            || is_explicit_error(text)
            || (text.len() <= MAX_RESULT && FirstWords::may_say_failure(&plain::of(text)))
    }

    pub fn kind(self) -> Kind {
        let Self { said, purpose, is_error, .. } = self;
        if purpose == Purpose::Wait {
            return Kind::Waiting;
        }
        let plain = if said.len() <= MAX_RESULT { plain::of(said) } else { Cow::Borrowed(said) };
        let words = FirstWords::of(&plain);
        // Each text is read as JSON once, where anybody asks.
        let (as_said, as_plain) = (OnceCell::new(), OnceCell::new());
        let trimmed = said.trim();
        let structure_of_said = || as_said.get_or_init(|| Structure::of(trimmed)).as_ref();
        let is_as_said = plain.len() == trimmed.len();
        let structure = || match is_as_said {
            true => structure_of_said(),
            false => as_plain.get_or_init(|| Structure::of(plain.trim())).as_ref(),
        };
        let is_error = is_error || has_exit_code(said);
        // What is sent may stand in a queue: that is its receipt.
        let may_wait = !is_error && purpose != Purpose::Send;
        if may_wait
            && (waiting::is_waiting(&plain, words.count, structure)
                || (!is_as_said && waiting::is_waiting(said, words.count, structure_of_said)))
        {
            return Kind::Waiting;
        }
        let says_error =
            || trimmed.starts_with('{') && structure_of_said().is_some_and(Structure::says_error);
        if is_error || is_explicit_error(trimmed) || says_error() {
            return Kind::Failure;
        }
        let by_structure = || structure().and_then(Structure::kind);
        let kind = Judged { said: &plain, ..self }.by_text(&words, by_structure);
        match (purpose, kind) {
            (Purpose::Advance, Kind::Content | Kind::Empty) => Kind::Acknowledgement,
            (Purpose::AskState, Kind::Content | Kind::Empty | Kind::Acknowledgement) => Kind::Waiting,
            // "false", "none": that is how things stand.
            (Purpose::AskState, Kind::Failure) if !words.is_failure => Kind::Waiting,
            _ => kind,
        }
    }

    /// What a short text says; a long text tells something whatever it says.
    fn by_text(self, first: &FirstWords, by_structure: impl FnOnce() -> Option<Kind>) -> Kind {
        let Self { said, purpose, .. } = self;
        if said.len() > MAX_RESULT {
            return Kind::Content;
        }
        let trimmed = said.trim();
        if trimmed.is_empty() {
            return Kind::Acknowledgement;
        }
        if let Some(kind) = by_structure() {
            return kind;
        }
        let acts = matches!(purpose, Purpose::Act | Purpose::Send | Purpose::Advance);
        match first.count {
            0 => Kind::Empty,
            1..=ACKNOWLEDGEMENT_WORDS if says_no_output(trimmed) => Kind::Acknowledgement,
            1..=SHORT_WORDS if first.is_failure => Kind::Failure,
            1..=SHORT_WORDS if first.is_none => {
                let is_empty = is_nothing_new(trimmed) || (first.begins_with_none && !self.names_something);
                if is_empty { Kind::Empty } else { Kind::Failure }
            }
            1..=ACKNOWLEDGEMENT_WORDS if is_nothing_new(trimmed) && first.is_short_empty => Kind::Empty,
            1..=ACKNOWLEDGEMENT_WORDS if is_acknowledgement(trimmed, first.count) => Kind::Acknowledgement,
            1..=ACKNOWLEDGEMENT_WORDS if acts && !has_specific_number(trimmed) => Kind::Acknowledgement,
            _ => Kind::Content,
        }
    }
}

/// A result as it is kept until its call is known: nothing of it is needed beyond its beginning and its digest.
pub(crate) fn keep(said: &str) -> Cow<'_, str> {
    if said.len() <= MAX_RESULT {
        return Cow::Borrowed(said);
    }
    let beginning = said.get(..said.floor_char_boundary(MAX_RESULT)).unwrap_or_default();
    Cow::Owned(format!("{beginning} {:016x}", digest(said.as_bytes())))
}

#[cfg(test)]
mod tests;
