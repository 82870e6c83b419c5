//! What a member of a JSON value says, by its name and its value: that something was done, or tells nothing.

use sentinel_text::words;

use super::{
    acknowledging,
    first_words::SHORT_WORDS,
    known::{Known, is_one_of},
    purpose::name_words,
};
use crate::words::formats;

/// Most members of an object that merely acknowledges.
const ACKNOWLEDGEMENT_MEMBERS: usize = 4;

/// `{"success": true}`, `{"status": "ok", "message": "Key pressed"}`, `{"exit_code": 0, "stdout": ""}`.
#[derive(Debug, Default)]
pub(super) struct Acknowledgement {
    /// The value is an object.
    pub is_object: bool,
    members: usize,
    /// One of the members tells something.
    tells: bool,
    is_done: bool,
    is_exit: bool,
    /// One of the members is more than an exit code or an empty value.
    is_more_than_exit: bool,
}

impl Acknowledgement {
    pub fn is_one(&self) -> bool {
        self.is_object
            && self.members <= ACKNOWLEDGEMENT_MEMBERS
            && !self.tells
            && (self.is_done || (self.is_exit && !self.is_more_than_exit))
    }

    pub fn member(&mut self, key: &str, value: &Leaf<'_>) {
        self.members = self.members.saturating_add(1);
        if self.tells || self.members > ACKNOWLEDGEMENT_MEMBERS {
            return;
        }
        let is_zero = matches!(value, Leaf::Unsigned(0));
        self.tells = match value {
            Leaf::Null | Leaf::Bool(true) => false,
            Leaf::Unsigned(number) if *number < 10_000 => false,
            Leaf::Unsigned(_) | Leaf::Number => !is_passing_key(key),
            Leaf::Text(text) => !text.is_empty() && !is_passing_key(key) && words(text).nth(7).is_some(),
            Leaf::Bool(false) | Leaf::List | Leaf::Object => true,
        };
        self.is_done |= match value {
            Leaf::Bool(is) => *is,
            Leaf::Unsigned(number) if formats::STATUS.contains(&key) => (200..300).contains(number),
            // `{"affected_rows": 100}`, `{"deletedCount": 5}`.
            Leaf::Unsigned(number) => *number > 0 && name_words(key).any(acknowledging::is_deed),
            Leaf::Text(text) => acknowledging::says_so(text, words(text).take(SHORT_WORDS).count()),
            _ => false,
        };
        let is_exit = formats::EXIT_CODE_OF_RECEIPT.contains(&key);
        self.is_exit |= is_exit && is_zero;
        self.is_more_than_exit |= !is_exit
            && match value {
                Leaf::Null => false,
                Leaf::Text(text) => !text.trim().is_empty(),
                _ => true,
            };
    }
}

/// Whether the value under the key differs each time and tells nothing: `request_id`, `timestamp`, `took_ms`, `attempt`.
fn is_passing_key(key: &str) -> bool {
    static PARTS: Known = Known::of(formats::PASSING);
    name_words(key).any(|word| PARTS.has(word))
}

/// A member's value, as far as it matters.
pub(super) enum Leaf<'v> {
    Null,
    Bool(bool),
    Unsigned(u64),
    /// Any other number.
    Number,
    Text(&'v str),
    List,
    Object,
}

/// Whether a member only comes with a list: the query, how to get more, that all is well.
pub(super) fn tells_nothing(key: &str, value: &Leaf<'_>) -> bool {
    let is_round = || name_words(key).any(|word| is_one_of(word, formats::ROUND_A_LIST));
    let is_ok = matches!(value, Leaf::Text(text) if is_one_of(text, formats::OK));
    is_ok || is_round() || is_passing_key(key)
}
