//! What a text says by its first words: that something is not there, is empty, or that nothing came.

use sentinel_text::words;

use super::{
    MAX_RESULT,
    known::{Known, is_one_of},
};
use crate::words::english;

/// Acknowledgements ("3 lines written to notes.txt") are not longer than this (words).
pub(super) const ACKNOWLEDGEMENT_WORDS: usize = 12;
/// Reports that nothing came of a call are not longer than this (words).
pub(super) const SHORT_WORDS: usize = 60;

/// What the first words of a text say.
pub(super) struct FirstWords {
    /// At most one more than `SHORT_WORDS`.
    pub count: usize,
    /// Something is not there.
    pub is_none: bool,
    /// Something is empty, or up to date.
    pub is_short_empty: bool,
}

impl FirstWords {
    /// `said` without what frameworks put around it.
    pub fn of(said: &str) -> Self {
        static NONE: Known = Known::of(english::NONE);
        static EMPTY: Known = Known::of(english::EMPTY);
        let beginning = said.get(..said.floor_char_boundary(MAX_RESULT)).unwrap_or(said);
        let mut first = Self { count: 0, is_none: false, is_short_empty: false };
        for word in words(beginning).take(SHORT_WORDS.saturating_add(1)) {
            first.count = first.count.saturating_add(1);
            if first.count <= ACKNOWLEDGEMENT_WORDS {
                // "0 results" says that nothing is there. The number 0 alone does not.
                let is_zero = word == "0" && first.count == 1 && beginning.trim() != "0";
                first.is_none |= is_zero || NONE.has(word);
                first.is_short_empty |= EMPTY.has(word);
            }
        }
        let is_up_to_date = first.count <= ACKNOWLEDGEMENT_WORDS
            && english::UP_TO_DATE.iter().any(|phrase| beginning.to_ascii_lowercase().contains(phrase));
        first.is_short_empty |= is_up_to_date;
        first.is_none |= is_up_to_date;
        first
    }
}

/// "No new messages", "The inbox is empty", "Already up to date": nothing new has come by itself.
pub(super) fn is_nothing_new(text: &str) -> bool {
    static NEW: Known = Known::of(english::NEW);
    words(text).any(|word| NEW.has(word)) || text.to_ascii_lowercase().contains("to date")
}

/// "(no output)", "The command ran and did not produce any output", "Output: (empty)": the text says that there is no output.
/// "Your output could not be parsed" is another matter.
pub(super) fn says_no_output(text: &str) -> bool {
    /// Words from the denial to what it denies.
    const NEAR: usize = 4;
    let (mut denied, mut output) = (None, None);
    words(text).enumerate().any(|(at, word)| {
        let is_near =
            |last: Option<usize>, most: usize| last.is_some_and(|last| at.saturating_sub(last) <= most);
        let is_output = word.eq_ignore_ascii_case("output");
        let is_it = is_output && is_near(denied, NEAR)
            || is_one_of(word, english::NOTHING_THERE) && is_near(output, 2);
        if is_output {
            output = Some(at);
        } else if is_one_of(word, english::NO_OUTPUT) {
            denied = Some(at);
        }
        is_it
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_denies_the_output() {
        for text in [
            "(no output)",
            "The command ran and did not produce any output",
            "Tool ran without output or errors",
            "Output: (empty)",
            "Output is none.",
            "Empty output",
        ] {
            assert!(says_no_output(text), "{text}");
        }
        for text in [
            "Your output could not be parsed. Respond with JSON.",
            "Output does not match the schema.",
            "The output was not saved",
            "No file was found. See the log for output",
        ] {
            assert!(!says_no_output(text), "{text}");
        }
    }
}
