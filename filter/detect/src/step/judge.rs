//! The order in which a result is judged, and the digest by which it is compared.

use std::{borrow::Cow, cell::OnceCell};

use sentinel_text::{digest, words};
use serde_json::Value;

use super::{
    Kind, Purpose, acknowledging,
    errors::{has_exit_code, is_explicit_error},
    failing,
    first_words::{ACKNOWLEDGEMENT_WORDS, FirstWords, SHORT_WORDS, is_nothing_new, says_no_output},
    phrases::{self, Says},
    plain,
    structure::Structure,
    volatile, waiting,
};
use crate::arguments::canonical;

/// Results are looked into up to this size (bytes); beyond it their digest and their ends must do.
pub(crate) const MAX_RESULT: usize = 4_096;

/// Failures are compared without accidents up to this size (bytes): a traceback, the output of a test run.
pub(super) const MAX_FAILURE: usize = 16_384;

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
    // A long text is a failure or tells something: it proves as much as it says.
    if text.trim().len() > MAX_RESULT {
        return false;
    }
    let judged = Judged { said: text, purpose: Purpose::Ask, names_something: true, is_error: false };
    matches!(judged.kind(), Kind::Acknowledgement | Kind::Empty | Kind::Waiting)
}

/// Whether a result may be a failure, by what can be seen quickly; where not, it is none, whatever its call was for.
pub(super) fn may_be_failure(said: &str, is_error: bool) -> bool {
    let text = said.trim();
    is_error
        || text.starts_with('{')
        || has_exit_code(said)
        || is_explicit_error(text)
        || failing::says_so(text)
        || phrases::says(text, Says::Fails)
        || (text.len() <= MAX_RESULT && FirstWords::may_say_failure(&plain::of(text)))
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
        if kind == Kind::Failure && self.said.len() <= MAX_FAILURE {
            return volatile::digest_without(self.said);
        }
        if self.said.len() <= MAX_RESULT
            && self.purpose == Purpose::Send
            && self.said.trim_start().starts_with(['{', '['])
            && let Ok(mut value) = serde_json::from_str::<Value>(self.said)
        {
            volatile::remove_ids(&mut value);
            return canonical(&value.to_string()).digest;
        }
        digest(self.said.trim().as_bytes())
    }

    /// Kind and digest of what a person says, which is compared as it stands unless it is plainly an error: "frame 3: not a
    /// bird" is no failure of a call.
    pub fn judge_words(self) -> (u64, Kind) {
        let kind = self.kind();
        let is_error = is_explicit_error(self.said.trim()) || failing::says_so(self.said);
        let outcome = if is_error { self.outcome(kind) } else { digest(self.said.trim().as_bytes()) };
        (outcome, kind)
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
        // What was waited for has not come in time, and may come yet.
        if purpose == Purpose::AskState && plain.contains("timed out waiting") {
            return Kind::Waiting;
        }
        if is_error || is_explicit_error(trimmed) || failing::says_so(said) || says_error() {
            return Kind::Failure;
        }
        let acts = matches!(purpose, Purpose::Act | Purpose::Send | Purpose::Advance);
        let by_structure = || structure().and_then(|structure| structure.kind(acts));
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
        let is_json = trimmed.starts_with(['{', '[']);
        match first.count {
            0 if trimmed.contains(['✅', '✓', '✔', '👍', '👌']) => Kind::Acknowledgement,
            0 => Kind::Empty,
            // What code gave that ran without a value.
            // How something stands, which may stay so for long.
            1 if ["false", "offline"].iter().any(|state| trimmed.eq_ignore_ascii_case(state)) => Kind::Empty,
            // "[silence]", "(no answer)": nobody said anything.
            1..=3 if is_stage_direction(trimmed) => Kind::Acknowledgement,
            1 if acts && ["None", "null", "undefined", "nil"].contains(&trimmed) => Kind::Acknowledgement,
            1..=ACKNOWLEDGEMENT_WORDS if says_no_output(trimmed) => Kind::Acknowledgement,
            1..=SHORT_WORDS if first.is_failure || phrases::says(trimmed, Says::Fails) => Kind::Failure,
            1..=SHORT_WORDS if first.is_none => {
                let is_empty = is_nothing_new(trimmed)
                    || trimmed.starts_with("You have no ")
                    || (first.begins_with_none && !self.names_something);
                if is_empty { Kind::Empty } else { Kind::Failure }
            }
            1..=ACKNOWLEDGEMENT_WORDS if is_nothing_new(trimmed) && first.is_short_empty => Kind::Empty,
            1..=SHORT_WORDS if phrases::says(trimmed, Says::NothingNew) => Kind::Empty,
            1..=ACKNOWLEDGEMENT_WORDS if !is_json && acknowledging::says_so(trimmed, first.count) => {
                Kind::Acknowledgement
            }
            1..=SHORT_WORDS if acts && !is_json && acknowledging::begins_so(trimmed) => Kind::Acknowledgement,
            1..=ACKNOWLEDGEMENT_WORDS if acts && !acknowledging::has_specific_number(trimmed) => {
                Kind::Acknowledgement
            }
            _ => Kind::Content,
        }
    }
}

/// A few words in brackets, which no one has said: "[silence]".
fn is_stage_direction(text: &str) -> bool {
    const WORDS: [&str; 7] = ["silence", "inaudible", "noise", "answer", "response", "reply", "speech"];
    let is_in = |open: char, close: char| text.starts_with(open) && text.ends_with(close);
    (is_in('[', ']') || is_in('(', ')') || is_in('<', '>') || is_in('*', '*'))
        && words(text).any(|word| WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)))
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
