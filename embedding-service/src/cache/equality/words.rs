//! The lists of `words.txt`, `spellings.txt`, `slips.txt` and `real_words.txt`.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::token::Token;

const WORDS: &str = include_str!("words.txt");
const SPELLINGS: &str = include_str!("spellings.txt");
const SLIPS: &str = include_str!("slips.txt");
/// Words that a list of typing slips has, and that are words all the same.
const REAL_WORDS: &str = include_str!("real_words.txt");

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

pub(super) fn are_about_words(word: &str) -> bool {
    is_in("about_words", &word.to_lowercase())
}

/// Whether a text that begins so is a question or an order, with or without a question mark.
pub(super) fn begins_a_question(token: &Token) -> bool {
    ["questions", "questions_elsewhere", "orders", "orders_with_object"]
        .iter()
        .any(|list| is_in(list, &token.text))
}

/// Whether a text may begin with this word in either case.
pub(super) fn is_start(word: &str) -> bool {
    ["questions", "questions_elsewhere", "orders", "orders_with_object", "starts"]
        .iter()
        .any(|list| is_in(list, word))
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

/// The question word of which `word` is a slip, where a text begins with it.
pub(super) fn meant_at_start(word: &str) -> Option<&'static str> {
    const SLIPS: [(&str, &str); 8] = [
        ("waht", "what"),
        ("wath", "what"),
        ("whta", "what"),
        ("hwat", "what"),
        ("hwo", "how"),
        ("whcih", "which"),
        ("wehn", "when"),
        ("wyh", "why"),
    ];
    SLIPS.iter().find(|(slip, _)| *slip == word).map(|(_, meant)| *meant)
}

/// The word that `word` means by the list of slips. Its lines are in order, so that one is found without reading the others: the first
/// request must not wait until all are read.
fn listed_slip(word: &str) -> Option<&'static str> {
    // A comment begins with another sign.
    let (mut low, mut high) = (0, if is_plain(word) { SLIPS.len() } else { 0 });
    while low < high {
        let middle = low.midpoint(high);
        let start = SLIPS.get(..middle)?.rfind('\n').map_or(0, |end| end.saturating_add(1)).max(low);
        let line = SLIPS.get(start..high)?.lines().next()?;
        let (slip, meant) = line.split_once(' ')?;
        match slip.cmp(word) {
            Ordering::Equal => return Some(meant),
            Ordering::Less => low = start.saturating_add(line.len()).saturating_add(1),
            Ordering::Greater => high = start,
        }
    }
    None
}

/// The one word of which `word` is a slip of the typist: a vowel for another inside it, one letter for two or two for one, "ie" for "ei". It
/// must stand in a list of such slips, be no word itself, and have no second word so near (`is_known`: whether a vocabulary has a word).
pub(super) fn meant(word: &str, is_known: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    if is_real(word) || is_known(word) {
        return None;
    }
    listed_slip(word).filter(|meant| neighbours(word).iter().all(|other| other == meant || !is_known(other)))
}

fn is_real(word: &str) -> bool {
    static REAL: LazyLock<HashSet<&'static str>> =
        LazyLock::new(|| entries(REAL_WORDS).flat_map(str::split_ascii_whitespace).collect());
    REAL.contains(word)
}

fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// All that is one slip away from `word`.
fn neighbours(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in word.char_indices().chain([(word.len(), ' ')]) {
        let (before, after) = word.split_at_checked(at).unwrap_or_default();
        let mut chars = after.chars();
        let first = chars.next();
        let rest = chars.as_str();
        if let Some(second) = chars.next() {
            found.extend(first.map(|first| format!("{before}{second}{first}{}", chars.as_str())));
        }
        if first.is_some() {
            found.push(format!("{before}{rest}"));
        }
        for letter in 'a'..='z' {
            found.push(format!("{before}{letter}{after}"));
            if first.is_some() {
                found.push(format!("{before}{letter}{rest}"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slip_of_the_list_is_found_and_nothing_else() {
        let lines: Vec<&str> = entries(SLIPS).collect();
        assert!(lines.is_sorted() && lines.len() > 13_000);
        for line in lines.iter().step_by(97).chain(lines.first()).chain(lines.last()) {
            let (slip, meant) = line.split_once(' ').unwrap();
            assert_eq!(listed_slip(slip), Some(meant));
            for other in [&format!("{slip}~"), meant] {
                assert_eq!(listed_slip(other), None, "{other}");
            }
        }
        assert!(listed_slip("").is_none() && listed_slip("#").is_none() && listed_slip("~").is_none());
    }
}
