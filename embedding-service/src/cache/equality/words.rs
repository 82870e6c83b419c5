//! The lists of `words.txt`.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

const WORDS: &str = include_str!("words.txt");

/// Whether `word` stands in the list called `list`.
pub(super) fn is_in(list: &str, word: &str) -> bool {
    lists().get(list).is_some_and(|words| words.contains(word))
}

/// The words of the list called `list`.
pub(super) fn all(list: &str) -> impl Iterator<Item = &'static str> {
    lists().get(list).into_iter().flatten().copied()
}

/// The noun that a typing error stands for. `None` for any other word.
pub(super) fn meant(slip: &str) -> Option<&'static str> {
    static MEANT: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
        let line = WORDS.lines().find_map(|line| line.strip_prefix("slips:")).unwrap_or_default();
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        words.chunks_exact(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?))).collect()
    });
    MEANT.get(slip).copied()
}

fn lists() -> &'static HashMap<&'static str, HashSet<&'static str>> {
    static LISTS: LazyLock<HashMap<&'static str, HashSet<&'static str>>> = LazyLock::new(|| {
        let lines = WORDS.lines().filter(|line| !line.starts_with('#'));
        lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, words)| (name, words.split_ascii_whitespace().collect()))
            .collect()
    });
    &LISTS
}
