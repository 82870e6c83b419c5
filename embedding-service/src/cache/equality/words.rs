//! The lists of `words.txt`.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

const WORDS: &str = include_str!("words.txt");

/// Whether `word` stands in the list called `list`.
pub(super) fn is_in(list: &str, word: &str) -> bool {
    static LISTS: LazyLock<HashMap<&'static str, HashSet<&'static str>>> = LazyLock::new(|| {
        let lines = WORDS.lines().filter(|line| !line.starts_with('#'));
        lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, words)| (name, words.split_ascii_whitespace().collect()))
            .collect()
    });
    LISTS.get(list).is_some_and(|words| words.contains(word))
}
