//! Decides whether the mark at the end of a sentence may be left out.

use super::{
    changes,
    places::{is_counted, is_plain_matter},
    text::{is_plain, is_word},
    words::is_in,
};

/// Whether a sentence says the same without its last mark. The mark must not belong to the last word ("the difference between int and int?"), and
/// the sentence must be a question or an order without it: "what is done is done" and "delete the file" are not.
pub(super) fn says_nothing(words: &[String], mark: char) -> bool {
    let Some((last, before)) = words.split_last() else { return false };
    // The full stop may belong to the last word: "Explain approx."
    let is_short = before.len() < 3 || last.chars().count() < 5;
    let is_order = match before {
        // "Write dogs bark loudly." and "give the code of hello." may name a text, and the mark may be part of it.
        [first, second, ..] if first == "write" => second == "a" || second == "an",
        [give, me, number, ..] if give == "give" && me == "me" => is_counted(number),
        [first, ..] => first != "give" && is_in("orders", first),
        [] => false,
    };
    let matter =
        if words.get(1).is_some_and(|second| second == "me") { words.get(2..) } else { words.get(1..) };
    is_word(last)
        && !is_in("questions", last)
        && !before.contains(last)
        && match mark {
            // "How do I change my passcode to hunter?" gives a value.
            '?' => {
                let gives_value = before.last().is_some_and(|word| word == "to" || word == "as")
                    && !is_in("countries", last);
                changes::is_question(words) && !gives_value
            }
            // "Suggest a continuation of the door opened." gives a text.
            '.' => is_order && is_whole_word(last) && !is_short && matter.is_some_and(is_plain_matter),
            _ => false,
        }
}

/// Whether a word is no abbreviation: in lower case, or a name of five letters or more.
fn is_whole_word(word: &str) -> bool {
    let mut letters = word.chars();
    let has_capital = letters.next().is_some_and(char::is_uppercase);
    is_plain(word) || has_capital && word.chars().count() > 4 && letters.all(char::is_lowercase)
}
