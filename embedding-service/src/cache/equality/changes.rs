//! Applies the rules of `changes.txt`: patterns over the whole sentence that are written as other patterns.

use std::sync::LazyLock;

use super::{
    places::{can_be, longest, written_as},
    talk::small,
    words::{all, is_in},
};

const CHANGES: &str = include_str!("changes.txt");

/// One place of a pattern.
#[derive(Debug)]
enum PatternPlace {
    /// One of these words; `is_optional`: or nothing.
    Words { words: Vec<&'static str>, is_optional: bool },
    /// A place that a capital stands for: see the head of `changes.txt`.
    Any(&'static str),
}

type Pattern = Vec<PatternPlace>;

struct Change {
    from: Pattern,
    to: Vec<&'static str>,
}

/// The words that each place of a pattern has matched, under the name that the right side uses for the place.
type Captures<'a> = Vec<(&'static str, &'a [String])>;

#[derive(Default)]
struct Rules {
    greetings: Vec<Pattern>,
    thanks: Vec<Pattern>,
    whole: Vec<Pattern>,
    questions: Vec<Pattern>,
    openings: Vec<Pattern>,
    embedded: Vec<Change>,
    changes: Vec<Change>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let mut rules = Rules::default();
    let mut part = "";
    for line in CHANGES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match part {
            _ if line.starts_with('[') => part = line,
            "[greetings]" => rules.greetings.push(pattern(line)),
            "[thanks]" => rules.thanks.push(pattern(line)),
            "[whole]" => rules.whole.push(pattern(line)),
            "[questions]" => rules.questions.push(pattern(line)),
            "[openings]" => rules.openings.push(pattern(line)),
            "[embedded]" => rules.embedded.extend(change(line)),
            _ => rules.changes.extend(change(line)),
        }
    }
    rules
});

fn pattern(text: &'static str) -> Pattern {
    let place = |word: &'static str| {
        let bare = word.strip_suffix('?');
        if word.len() == 1 && word.starts_with(|first: char| first.is_uppercase()) {
            PatternPlace::Any(word)
        } else {
            let list = word.strip_prefix('{').and_then(|word| word.strip_suffix('}'));
            PatternPlace::Words {
                // The name of a list stands before its words, since the right side goes by the first word.
                words: bare.unwrap_or(word).split('|').chain(list.into_iter().flat_map(all)).collect(),
                is_optional: bare.is_some(),
            }
        }
    };
    text.split_ascii_whitespace().map(place).collect()
}

fn change(line: &'static str) -> Option<Change> {
    let (from, to) = line.split_once("=>")?;
    Some(Change { from: pattern(from), to: to.split_ascii_whitespace().collect() })
}

/// How many words at the beginning are a greeting.
pub(super) fn greeting(words: &[String]) -> usize {
    RULES.greetings.iter().filter_map(|greeting| prefix(greeting, words)).max().unwrap_or(0)
}

pub(super) fn thanks(words: &[String]) -> bool {
    let words = small(words);
    RULES.thanks.iter().any(|thanks| fits(thanks, &words, &mut Vec::new()))
}

/// Whether a text is one of the questions that name all that they are about.
pub(super) fn is_whole(words: &[String]) -> bool {
    RULES.whole.iter().any(|whole| fits(whole, words, &mut Vec::new()))
}

/// Whether a text can only be a question, and not one about itself.
pub(super) fn is_question(words: &[String]) -> bool {
    !speaks_of_itself(words) && RULES.questions.iter().any(|question| fits(question, words, &mut Vec::new()))
}

/// Whether a text may be about its own beginning or end ("Do you see a capital?"), or about what is written around it.
pub(super) fn speaks_of_itself(words: &[String]) -> bool {
    // "The capital of Laos" is a city.
    let is_letter = |at: usize| words.get(at.saturating_add(1)).is_none_or(|next| next != "of");
    words.iter().enumerate().any(|(at, word)| {
        word.split('-').any(|part| is_in("of_itself", part)) || word == "capital" && is_letter(at)
    })
}

/// Applies the first change that fits. Returns whether one did.
pub(super) fn applied(words: &mut Vec<String>) -> bool {
    let changed = |change: &Change, words: &[String]| {
        let mut found = Vec::new();
        fits(&change.from, words, &mut found).then(|| written(&change.to, found))
    };
    let of_embedded = || {
        let begun = small(words);
        RULES.openings.iter().find_map(|opening| {
            let (opening, rest) = begun.split_at_checked(prefix(opening, &begun)?)?;
            // "Explain who wrote Dracula" asks for more than the name, so "explain" is cut only before "how", "why" and "the".
            let explains = opening.last().is_some_and(|last| last == "explain" || last == "explaining");
            let is_way = rest.first().is_some_and(|first| matches!(first.as_str(), "how" | "why" | "the"));
            (!explains || is_way)
                .then(|| RULES.embedded.iter().find_map(|change| changed(change, rest)))
                .flatten()
        })
    };
    let of_whole =
        || RULES.changes.iter().find_map(|change| changed(change, words).filter(|new| new != words));
    let new = of_embedded().or_else(of_whole);
    new.map(|new| *words = new).is_some()
}

/// How many of the first words a pattern without capitals matches: as many as it can.
fn prefix(places: &[PatternPlace], words: &[String]) -> Option<usize> {
    let Some((place, places)) = places.split_first() else { return Some(0) };
    let PatternPlace::Words { words: known, is_optional } = place else { return None };
    let taken = words
        .split_first()
        .filter(|(first, _)| is_one_of(known, first))
        .and_then(|(_, rest)| prefix(places, rest))
        .map(|len| len.saturating_add(1));
    taken.or_else(|| prefix(places, words).filter(|_| *is_optional))
}

fn is_one_of(known: &[&str], word: &str) -> bool {
    let word = if word == "I" { "i" } else { word };
    known.contains(&word.replace('’', "'").as_str())
}

fn fits<'a>(places: &[PatternPlace], words: &'a [String], found: &mut Captures<'a>) -> bool {
    let Some((place, rest)) = places.split_first() else { return words.is_empty() };
    let before = found.len();
    match place {
        PatternPlace::Words { words: known, is_optional } => {
            if let Some((first, after)) = words.split_first()
                && is_one_of(known, first)
            {
                found.extend(known.first().map(|name| (*name, std::slice::from_ref(first))));
                if fits(rest, after, found) {
                    return true;
                }
                found.truncate(before);
            }
            *is_optional && fits(rest, words, found)
        }
        // As short as it can be.
        PatternPlace::Any(name) => (1..=longest(name).min(words.len())).any(|len| {
            let Some((taken, after)) = words.split_at_checked(len) else { return false };
            found.push((name, taken));
            let do_fit = can_be(name, taken) && fits(rest, after, found);
            if !do_fit {
                found.truncate(before);
            }
            do_fit
        }),
    }
}

fn written(to: &[&'static str], mut found: Captures<'_>) -> Vec<String> {
    let mut new = Vec::new();
    for part in to {
        // Alternatives on the right are those that begin so on the left.
        let name = part.split('|').next().unwrap_or(part);
        let is_named = part.contains(['|', '{']) || part.len() == 1 && part.chars().all(char::is_uppercase);
        match found.iter().position(|(label, _)| is_named && *label == name) {
            Some(at) => {
                let (name, taken) = found.remove(at);
                new.extend(taken.iter().map(|word| written_as(name, word)));
            }
            None => new.push(name.to_owned()),
        }
    }
    new
}
