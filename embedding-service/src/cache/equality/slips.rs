//! Slips of the typist: which word is meant. Whether a slip stands where it can be one is in `spelling`.
//!
//! `tools/slips/make.py` writes the lists, in order, so that a word is found without reading the others: the first request must not wait.

use std::cmp::Ordering;

/// Slips that people make, each with its word. "?" behind it marks those of which texts speak ("seperate").
const SLIPS: &str = include_str!("slips.txt");
/// Words of every day. Only of these a slip is read that `SLIPS` does not have.
const COMMON: &str = include_str!("common_words.txt");
/// What looks like a slip of one of them, and is a word or a name.
const NEAR: &str = include_str!("near_words.txt");
/// Shorter words are names too often.
const SHORTEST: usize = 5;
const VOWELS: &str = "aeiou";
/// No common word is longer.
const LONGEST: usize = 20;

/// A slip of the typist.
pub(super) struct Slip {
    pub meant: String,
    /// It is made so often that texts speak of it.
    pub is_famous: bool,
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

/// What stands behind `word` in a file of lines that are in order: "" where nothing does.
fn line_of(file: &'static str, word: &str) -> Option<&'static str> {
    // A comment begins with another sign, and stands first.
    let (mut low, mut high) = (0, if is_plain(word) { file.len() } else { 0 });
    while low < high {
        let middle = low.midpoint(high);
        let start = file.get(..middle)?.rfind('\n').map_or(0, |end| end.saturating_add(1)).max(low);
        let line = file.get(start..high)?.lines().next()?;
        let (first, behind) = line.split_once(' ').unwrap_or((line, ""));
        match first.cmp(word) {
            Ordering::Equal => return Some(behind),
            Ordering::Less => low = start.saturating_add(line.len()).saturating_add(1),
            Ordering::Greater => high = start,
        }
    }
    None
}

/// Whether `word` may be a slip: it is no word. `is_known`: whether a vocabulary has one.
pub(super) fn may_be_slip(word: &str, is_known: &dyn Fn(&str) -> bool) -> bool {
    (SHORTEST..=LONGEST).contains(&word.len())
        && is_plain(word)
        && line_of(NEAR, word).is_none()
        && line_of(COMMON, word).is_none()
        && !is_known(word)
}

/// The one word of which `word` is a slip, if it may be one. No second word is so near.
pub(super) fn meant(word: &str, is_known: &dyn Fn(&str) -> bool) -> Option<Slip> {
    if !may_be_slip(word, is_known) {
        return None;
    }
    let slip = match line_of(SLIPS, word) {
        Some(line) => {
            let famous = line.strip_suffix(" ?");
            Slip { meant: famous.unwrap_or(line).to_owned(), is_famous: famous.is_some() }
        }
        None => Slip { meant: common_word(word)?, is_famous: false },
    };
    neighbours(word).iter().all(|other| *other == slip.meant || !is_known(other)).then_some(slip)
}

/// The one common word that `word` may be.
fn common_word(word: &str) -> Option<String> {
    let mut words = before_the_slip(word).into_iter().filter(|one| line_of(COMMON, one).is_some());
    let first = words.next()?;
    words.all(|other| other == first).then_some(first)
}

/// The words of which `word` may be a slip: a letter was left out, doubled or exchanged with the next. The first and the
/// last letter stay, and so does the vowel before the last: names are made so ("ccleaner", "tensin", "flickr").
fn before_the_slip(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for at in 1..word.len() {
        let Some((before, after)) = word.split_at_checked(at) else { continue };
        let is_before_last = after.len() == 1;
        found.extend(
            ('a'..='z')
                .filter(|letter| !(is_before_last && VOWELS.contains(*letter)))
                .map(|letter| format!("{before}{letter}{after}")),
        );
        let mut rest = after.chars();
        let Some(first) = rest.next() else { continue };
        let behind = rest.as_str();
        if behind.is_empty() {
            continue;
        }
        if before.ends_with(first) && at > 1 {
            found.push(format!("{before}{behind}"));
        }
        if let Some(second) = rest.next() {
            found.push(format!("{before}{second}{first}{}", rest.as_str()));
        }
    }
    found
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

    fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
        file.lines().filter(|line| !line.starts_with('#'))
    }

    #[test]
    fn every_line_is_found_and_nothing_else() {
        for (file, least) in [(SLIPS, 13_000), (COMMON, 13_000), (NEAR, 8_000)] {
            let lines: Vec<&str> = lines(file).collect();
            assert!(lines.is_sorted() && lines.len() > least, "{} lines", lines.len());
            for line in lines.iter().step_by(97).chain(lines.first()).chain(lines.last()) {
                let (word, behind) = line.split_once(' ').unwrap_or((line, ""));
                assert_eq!(line_of(file, word), Some(behind));
                assert_eq!(line_of(file, &format!("{word}~")), None, "{word}~");
            }
            for other in ["", "#", "~"] {
                assert_eq!(line_of(file, other), None, "{other}");
            }
        }
        assert!(lines(COMMON).all(|word| word.len() < LONGEST));
    }

    #[test]
    fn a_slip_has_one_word_and_is_none() {
        let is_known = |word: &str| word == "ambience";
        let of = |word| meant(word, &is_known).map(|slip| slip.meant);
        for (slip, word) in [
            ("populaton", "population"),
            ("chruches", "churches"),
            ("vegetabels", "vegetables"),
            ("exmaple", "example"),
            ("emergancy", "emergency"),
            ("resturant", "restaurant"),
        ] {
            assert_eq!(of(slip).as_deref(), Some(word), "{slip}");
        }
        // Not a slip: a word, names, a missing first letter, a slip in a short word, another word of the vocabulary, and letters that are no word.
        for other in [
            "population",
            "inflaton",
            "ambien",
            "causal",
            "asorption",
            "opulation",
            "mcuh",
            "ambiance",
            "xqzkw",
            "",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
        assert_eq!(of(&"a".repeat(10_000)), None);
    }

    /// Programs, brands, drugs, substances, animals of games: no vocabulary is at hand, so the lists alone know them.
    #[test]
    fn names_are_no_slips() {
        let names = include_str!("../../../tests/pairs/names.txt").split_ascii_whitespace();
        let taken = names.filter_map(|name| Some(format!("{name}: {}", meant(name, &|_| false)?.meant)));
        assert_eq!(taken.collect::<Vec<_>>(), Vec::<String>::new());
    }
}
