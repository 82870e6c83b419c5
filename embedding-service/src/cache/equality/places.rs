//! What may fill a place of a pattern.

use super::{
    text::{is_capital, is_plain, is_word},
    words::{all, is_in},
};

/// How many words a place takes at most.
pub(super) fn longest(name: &str) -> usize {
    match name {
        "X" | "Z" => 40,
        "E" => 12,
        "T" => 8,
        "K" | "L" | "N" => 4,
        _ => 1,
    }
}

pub(super) fn can_be(name: &str, taken: &[String]) -> bool {
    let [first, rest @ ..] = taken else { return false };
    let is_in_list = |list: &str| is_in(list, first);
    match name {
        "X" => taken.iter().all(|word| word != ","),
        "Z" => is_plain_matter(taken),
        "T" => is_thing(taken),
        "K" => is_thing(taken) && !taken.iter().any(|word| is_in("prepositions", word) && word != "of"),
        "N" => {
            (is_capital(first) || first == "the" && !rest.is_empty())
                && rest.iter().all(|word| is_capital(word))
        }
        "E" => is_object(taken),
        "L" => {
            taken.last().is_some_and(|last| is_in("data", last))
                && is_thing(taken)
                && taken.iter().all(|word| is_plain(word))
        }
        "H" => is_side(first),
        "O" => is_noun(first),
        "S" => is_plural(first) && is_noun(first),
        "V" => is_in_list("actions"),
        "W" => is_in_list("actions_in_programs"),
        "A" => is_in_list("measured"),
        "B" => is_in_list("counted"),
        "C" => count(first).is_some(),
        "D" => day(first).is_some(),
        "F" => is_plain(first) && is_of_a_thing(first),
        "U" => first.len() > 5 && first.ends_with("ing") && is_plain(first) && is_of_a_thing(first),
        "G" => all("programs").any(|program| program.eq_ignore_ascii_case(first)),
        "I" => is_noun(first) && !is_plural(first),
        "J" => first.len() > 1 && first.chars().all(|c| c.is_ascii_uppercase()),
        "M" => is_in_list("months"),
        "P" => owner(first).is_some_and(|owner| is_in("countries", owner)),
        "Q" => first.chars().all(|c| c.is_ascii_digit()),
        "R" => is_in_list("possessions"),
        "Y" => first.len() == 4 && first.chars().all(|c| c.is_ascii_digit()),
        _ => false,
    }
}

/// How the right side of a rule writes what was found.
pub(super) fn written_as(name: &str, word: &str) -> String {
    let other = match name {
        "C" => count(word),
        "G" => Some(word.to_lowercase()),
        "D" => day(word),
        "P" => owner(word).map(str::to_owned),
        _ => None,
    };
    other.unwrap_or_else(|| word.to_owned())
}

/// No verb, no pronoun but "my", no second clause, and nothing that says how or when. "My" stands only before what people have:
/// "my inquiry" may be the text itself.
pub(super) fn is_plain_matter(words: &[String]) -> bool {
    words.iter().all(|word| is_of_a_thing(word))
        && words.windows(2).all(|two| match two {
            [my, noun] if my == "my" => is_in("belongings", noun),
            _ => true,
        })
}

/// A noun and what stands around it.
fn is_thing(words: &[String]) -> bool {
    is_plain_matter(words)
        && words.first().is_some_and(|first| !is_in("prepositions", first))
        && words.last().is_some_and(|last| !is_in("prepositions", last) && !is_in("articles", last))
}

/// A plain word that may be a noun or stand before one.
fn is_noun(word: &str) -> bool {
    is_plain(word)
        && word.len() > 2
        && is_of_a_thing(word)
        && !word.ends_with("ing")
        // "Explain how lawyers talk jargon-free" says how to explain it.
        && !word.contains('-')
        && !["not_nouns", "prepositions", "articles"].iter().any(|list| is_in(list, word))
}

/// What something is done to: "a letter", "candle wax", "two lists". A preposition with a place, a source or the like may follow.
fn is_object(words: &[String]) -> bool {
    let is_preposition =
        |word: &String| matches!(word.as_str(), "in" | "on" | "from" | "to" | "into" | "with" | "without");
    let are_nouns = |nouns: &[String]| nouns.iter().all(|noun| is_noun(noun) || is_capital(noun));
    let is_one = |words: &[String]| match words {
        [my, noun] if my == "my" || my == "the" => is_in("belongings", noun),
        [my, kind, noun] if my == "my" => is_plain(kind) && is_of_a_thing(kind) && is_in("belongings", noun),
        [article, nouns @ ..] if article == "a" || article == "an" || count(article).is_some() => {
            (1..4).contains(&nouns.len()) && are_nouns(nouns)
        }
        nouns => nouns.len() < 4 && are_nouns(nouns) && nouns.last().is_some_and(|last| is_plural(last)),
    };
    let is_bare = |place: &[String]| (1..3).contains(&place.len()) && are_nouns(place);
    let mut parts = words.split(is_preposition);
    parts.next().is_some_and(is_one) && parts.all(|place| is_one(place) || is_bare(place))
}

fn is_of_a_thing(word: &str) -> bool {
    let is_manner = word.len() > 4 && word.ends_with("ly") && is_plain(word);
    let is_done = is_plain(word)
        && (word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed") || is_in("participles", word));
    let is_other =
        ["auxiliaries", "clauses", "no_things"].iter().any(|list| is_in(list, &word.to_lowercase()));
    word != "," && word != "%" && !is_manner && !is_done && !is_other && !word.contains(['\'', '’'])
}

pub(super) fn is_plural(word: &str) -> bool {
    // Not "glass", "bus", "analysis", "physics".
    let is_singular = ["ss", "us", "is", "ics"].iter().any(|end| word.ends_with(end));
    is_plain(word) && (word.len() > 2 && word.ends_with('s') && !is_singular || is_in("plurals", word))
}

/// "Chile's".
fn owner(word: &str) -> Option<&str> {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s"))
}

/// "3" and "3rd", as a day of a month.
fn day(word: &str) -> Option<String> {
    let bare = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    bare.parse::<u8>()
        .is_ok_and(|day| (1..=31).contains(&day) && !bare.starts_with('0'))
        .then(|| bare.to_owned())
}

/// "Five" and "5".
fn count(word: &str) -> Option<String> {
    const NUMBERS: [&str; 11] =
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let of_word = NUMBERS.iter().zip(2..).find(|(number, _)| **number == word).map(|(_, number)| number);
    let of_digits =
        word.parse::<i32>().ok().filter(|number| (2..=12).contains(number) && !word.starts_with('0'));
    of_word.or(of_digits).map(|number| number.to_string())
}

/// Whether a word is a day, a month or a number, in any case and also in short. The difference between two of these depends on their order.
pub(super) fn is_counted(word: &str) -> bool {
    let lower = word.to_lowercase();
    let mut letters = lower.chars();
    let capital: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    count(&lower).is_some()
        || is_in("numerals", &lower)
        || ["days", "short_days", "months"].iter().any(|list| is_in(list, &capital))
}

/// One word that may be the side of a comparison.
pub(super) fn is_side(word: &str) -> bool {
    let is_roman = word.chars().all(|letter| "IVXLCDM".contains(letter));
    is_word(word)
        && word.chars().count() > 1
        && !word.contains(['-', '\'', '’'])
        && !is_roman
        // "FF" and "fe" are numbers.
        && !word.chars().all(|letter| letter.is_ascii_hexdigit())
        && is_of_a_thing(word)
        && !["not_nouns", "numerals", "days", "months"].iter().any(|list| is_in(list, word))
        && count(word).is_none()
}
