//! What a member of a JSON value says, by its name and its value: that something was done, is an error, or tells nothing.

use sentinel_text::words;

use super::{acknowledging, first_words::SHORT_WORDS, purpose::name_words, volatile};

/// Members of an object that merely acknowledges.
const ACKNOWLEDGEMENT_MEMBERS: usize = 4;

/// `{"success": true}`, `{"status": "ok", "message": "Key pressed"}`, `{"exit_code": 0, "stdout": ""}`.
#[derive(Debug, Default)]
pub(super) struct Acknowledgement {
    /// The value is one.
    pub is_object: bool,
    members: usize,
    /// One of the members tells something.
    tells: bool,
    /// One is a number that is not large.
    has_numbers: bool,
    is_done: bool,
    is_exit: bool,
    /// One of the members is more than an exit code and nothing.
    is_more_than_exit: bool,
}

impl Acknowledgement {
    pub fn is_one(&self, acts: bool) -> bool {
        self.is_object
            && self.members <= ACKNOWLEDGEMENT_MEMBERS
            && !self.tells
            && (acts || !self.has_numbers)
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
            Leaf::Unsigned(number) if *number < 10_000 => {
                self.has_numbers |= !is_zero && !volatile::is_volatile_key(key);
                false
            }
            Leaf::Unsigned(_) | Leaf::Number => !volatile::is_volatile_key(key),
            Leaf::Text(text) => {
                !text.is_empty() && !volatile::is_volatile_key(key) && words(text).nth(7).is_some()
            }
            Leaf::Bool(false) | Leaf::List { .. } | Leaf::Object { .. } => true,
        };
        self.is_done |= match value {
            Leaf::Bool(is) => *is,
            Leaf::Text(text) => acknowledging::says_so(text, words(text).take(SHORT_WORDS).count()),
            _ => false,
        };
        let is_exit = matches!(key, "exit_code" | "exitCode" | "returncode" | "code");
        self.is_exit |= is_exit && is_zero;
        self.is_more_than_exit |= !is_exit
            && match value {
                Leaf::Null => false,
                Leaf::Text(text) => !text.trim().is_empty(),
                _ => true,
            };
    }
}

/// A member's value, as far as it matters.
pub(super) enum Leaf<'v> {
    Null,
    Bool(bool),
    Unsigned(u64),
    /// Any other.
    Number,
    Text(&'v str),
    List {
        is_empty: bool,
    },
    Object {
        is_empty: bool,
    },
}

/// A status or an error that is no success.
pub(super) fn says_error(key: &str, value: &Leaf<'_>) -> bool {
    let is = |known: &[&str]| known.iter().any(|one| key.eq_ignore_ascii_case(one));
    match value {
        Leaf::Text(text) => {
            (is(&["error", "errors", "exception", "traceback"]) && !text.trim().is_empty())
                || (is(&["status", "state", "result", "outcome"])
                    && ["error", "failed", "failure", "fail"]
                        .iter()
                        .any(|word| text.eq_ignore_ascii_case(word)))
        }
        Leaf::Object { is_empty } => !is_empty && is(&["error", "errors", "exception"]),
        Leaf::List { is_empty } => !is_empty && is(&["error", "errors"]),
        Leaf::Bool(true) => is(&["error", "is_error", "iserror", "failed"]),
        Leaf::Bool(false) => is(&["success", "succeeded", "ok"]),
        Leaf::Unsigned(number) => {
            ((400..600).contains(number)
                && is(&["status", "statuscode", "status_code", "http_status", "code"]))
                || (*number != 0 && is_exit_code(key))
        }
        Leaf::Number => is_exit_code(key),
        Leaf::Null => false,
    }
}

fn is_exit_code(key: &str) -> bool {
    ["exit_code", "exitcode", "returncode", "exit_status"].iter().any(|one| key.eq_ignore_ascii_case(one))
}

/// What goes round a list: how it was asked for, how to go on, that all is well.
pub(super) fn tells_nothing(key: &str, value: &Leaf<'_>) -> bool {
    const ROUND: [&str; 14] = [
        "cursor", "token", "next", "page", "offset", "limit", "query", "q", "more", "etag", "ok", "success",
        "object", "kind",
    ];
    let is_round = || {
        name_words(key).any(|word| ROUND.iter().any(|known| word.eq_ignore_ascii_case(known)))
            || volatile::is_volatile_key(key)
    };
    let is_ok =
        matches!(value, Leaf::Text(text) if ["ok", "success"].iter().any(|ok| text.eq_ignore_ascii_case(ok)));
    is_ok || is_round()
}
