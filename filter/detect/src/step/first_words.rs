//! What a text says by its first words: that something failed, is not there, or was done.

use sentinel_text::words;

use super::{judge::MAX_RESULT, known::Known};

/// Acknowledgements ("3 lines written to notes.txt") are not longer than this (words).
pub(super) const ACKNOWLEDGEMENT_WORDS: usize = 12;
/// Nor are reports that nothing came of a call (words).
pub(super) const SHORT_WORDS: usize = 60;

/// What the first words of a text say.
pub(super) struct FirstWords {
    /// At most one more than `SHORT_WORDS`.
    pub count: usize,
    /// Something went wrong.
    pub is_failure: bool,
    /// Something is not there.
    pub is_none: bool,
    /// That is the first thing that it says.
    pub begins_with_none: bool,
    /// Something is empty, or up to date.
    pub is_short_empty: bool,
}

impl FirstWords {
    /// `said` without what frameworks put around it.
    pub fn of(said: &str) -> Self {
        Self::of_some(said, SHORT_WORDS.saturating_add(1))
    }

    /// Whether a text can say by its words that something failed or is not there.
    pub fn may_say_failure(said: &str) -> bool {
        let first = Self::of_some(said, ACKNOWLEDGEMENT_WORDS);
        first.is_failure || first.is_none
    }

    fn of_some(said: &str, most: usize) -> Self {
        static FAILURES: Known = Known::of(&[
            "error",
            "errors",
            "fail",
            "failed",
            "failure",
            "exception",
            "invalid",
            "unknown",
            "unable",
            "cannot",
            "can't",
            "denied",
            "refused",
            "forbidden",
            "missing",
            "not",
            "timeout",
            "unavailable",
            "couldn't",
            "traceback",
            "unauthorized",
            "unauthorised",
            "rejected",
            "declined",
            "aborted",
            "expired",
            "blocked",
            "crashed",
            "exceeded",
            "unsupported",
            "unrecognized",
            "unrecognised",
            "undefined",
            "unresolved",
            "malformed",
            "illegal",
            "disallowed",
            "overloaded",
            "panicked",
            "fatal",
            "wrong",
        ]);
        static NONE: Known = Known::of(&["no", "none", "nothing", "null"]);
        static EMPTY: Known = Known::of(&["empty", "date", "unchanged"]);
        let beginning = said.get(..said.floor_char_boundary(MAX_RESULT)).unwrap_or(said);
        let mut first = Self {
            count: 0,
            is_failure: false,
            is_none: false,
            begins_with_none: false,
            is_short_empty: false,
        };
        for word in words(beginning).take(most) {
            first.count = first.count.saturating_add(1);
            if first.count <= ACKNOWLEDGEMENT_WORDS {
                first.is_failure |= FAILURES.has(word);
                // "0 results", not the number 0.
                let is_zero = word == "0" && first.count == 1 && beginning.trim() != "0";
                first.is_none |= is_zero || NONE.has(word);
                first.begins_with_none |= first.is_none && first.count == 1;
                first.is_short_empty |= EMPTY.has(word);
            }
        }
        first
    }
}

/// "No new messages", "The inbox is empty", "Already up to date": of what comes by itself nothing has come.
pub(super) fn is_nothing_new(text: &str) -> bool {
    static NEW: Known = Known::of(&[
        "new",
        "unread",
        "more",
        "further",
        "pending",
        "changes",
        "updates",
        "empty",
        "left",
        "date",
        "remaining",
        "unchanged",
    ]);
    words(text).any(|word| NEW.has(word))
}

/// "(no output)", "The command ran and did not produce any output": in other words, nothing at all.
pub(super) fn says_no_output(text: &str) -> bool {
    let has = |known: &[&str]| words(text).any(|word| known.iter().any(|one| word.eq_ignore_ascii_case(one)));
    has(&["output"]) && has(&["no", "not", "without", "empty", "none"])
}
