//! The lists of `words.txt` and `spellings.txt`.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::token::Token;

const WORDS: &str = include_str!("words.txt");
const SPELLINGS: &str = include_str!("spellings.txt");

fn entries(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty())
}

/// Whether `word` stands in the list called `list`.
pub(super) fn is_in(list: &str, word: &str) -> bool {
    static LISTS: LazyLock<HashMap<&'static str, HashSet<&'static str>>> = LazyLock::new(|| {
        let list = |line: &'static str| {
            line.split_once(':').map(|(name, words)| (name, words.split_ascii_whitespace().collect()))
        };
        entries(WORDS).filter_map(list).collect()
    });
    LISTS.get(list).is_some_and(|words| words.contains(word))
}

/// Whether `word` stands in one of these lists.
pub(super) fn is_in_any(lists: &[&str], word: &str) -> bool {
    lists.iter().any(|list| is_in(list, word))
}

pub(super) fn are_about_words(word: &str) -> bool {
    let word = word.to_lowercase();
    // "Which country spells it colour?"
    let bare = word.strip_suffix('s').unwrap_or(&word);
    is_in("about_words", &word) || is_in("about_words", bare)
}

/// Whether a text that begins so is a question or an order, with or without a question mark.
pub(super) fn begins_a_question(token: &Token) -> bool {
    is_in_any(&["questions", "questions_elsewhere", "orders", "orders_with_object"], &token.text)
}

/// Whether a text may begin with this word in either case.
pub(super) fn is_start(word: &str) -> bool {
    is_in_any(&["questions", "questions_elsewhere", "orders", "orders_with_object", "starts"], word)
}

/// The American spelling of a word that has a British one.
pub(super) fn american(word: &str) -> Option<&'static str> {
    static AMERICAN: LazyLock<HashMap<&'static str, &'static str>> =
        LazyLock::new(|| entries(SPELLINGS).filter_map(|line| line.split_once(' ')).collect());
    AMERICAN.get(word).copied()
}

/// Whether a word tells somebody to do something, with an object or without one: "explain", "write".
pub(super) fn is_order_word(word: &str) -> bool {
    is_in("orders", word) || is_in("orders_with_object", word)
}
