//! The mark at the end of a sentence, where it says nothing.

use super::{
    changes,
    text::{is_plain, is_word},
    words::is_in,
};

/// Whether a sentence says the same without its last mark. The mark must not belong to the last word ("the difference between int and int?"), and
/// the sentence must be a question or an order without it: "what is done is done" and "delete the file" are not.
pub(super) fn says_nothing(words: &[String], mark: char) -> bool {
    let Some((last, before)) = words.split_last() else { return false };
    // "Explain approx."
    let is_short = before.len() < 3 || last.chars().count() < 5;
    let is_order = match before {
        // "Write dogs bark loudly." has its text behind it, and "give the code of hello." names it.
        [first, second, ..] if first == "write" => second == "a" || second == "an",
        [first, ..] => first != "give" && is_in("orders", first),
        [] => false,
    };
    is_word(last)
        && !is_in("questions", last)
        && !before.contains(last)
        && match mark {
            '?' => changes::is_question(words),
            '.' => is_order && is_plain(last) && !is_short,
            _ => false,
        }
}
