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

/// The word of a list that a typing error stands for: a letter is doubled, or two have changed places. A missing letter makes other words
/// ("relace"). `None` for a word of the list, and for what may stand for two.
pub(super) fn near(list: &str, slip: &str) -> Option<&'static str> {
    /// Shorter words are near to too many others.
    const SHORTEST: usize = 6;
    let comes_from = |word: &&'static str| {
        let same = word.bytes().zip(slip.bytes()).take_while(|(one, other)| one == other).count();
        let rests = word.get(same..).zip(slip.get(same..));
        word.len() >= SHORTEST
            && rests.is_some_and(|(right, wrong)| {
                let is_doubled = wrong.get(1..) == Some(right)
                    && same.checked_sub(1).is_some_and(|last| slip.get(last..same) == wrong.get(..1));
                let is_swapped = right.get(2..) == wrong.get(2..)
                    && right.get(..1) == wrong.get(1..2)
                    && right.get(1..2) == wrong.get(..1);
                is_doubled || is_swapped
            })
    };
    let mut words = all(list).filter(comes_from);
    let word = words.next().filter(|_| !is_in(list, slip) && slip.is_ascii())?;
    words.next().is_none().then_some(word)
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
