//! Whether two questions are the same, so that one answer serves both. Embeddings put opposites side by side ("with", "without";
//! 15 and 50), so a semantic cache has to look at the words.
//!
//! Two texts are the same if a closed list of changes that keep the meaning brings both to one form: those of `changes.txt`, each
//! group with its reason, the capital of a first word, a mark at the end ([`end`]) and the two sides of a comparison ([`sides`]).
//! They apply only to one plain sentence ([`text`]), with or without a greeting and thanks, that does not speak of writing.
//! Everything else is compared to the letter and in its order. In doubt two texts are not the same: a miss costs one request, a wrong answer costs trust.

mod changes;
mod end;
mod places;
mod sides;
mod talk;
mod text;
mod words;

use self::{
    talk::{Talk, without_talk},
    text::{Sentence, is_capital, is_plain, read},
    words::{all, is_in, meant, near},
};

/// Changes are applied until none fits, at most this many times.
const ROUNDS: usize = 6;

/// Whether the answer to one text may serve the other. Symmetric.
#[must_use]
pub fn asks_the_same(a: &str, b: &str) -> bool {
    // "Is there a capital at the start?" A question that no rule knows may ask about its own first letter or its own mark.
    let may_be = |form: &Form| form.is_known || !differ_at_ends_only(a, b);
    a == b || Form::of(a).zip(Form::of(b)).is_some_and(|(a, b)| a == b && may_be(&a))
}

/// What is left of a text after all changes. Texts of one form are the same question.
#[derive(PartialEq)]
struct Form {
    words: Vec<String>,
    end: Option<char>,
    /// It is a question that the rules know, or an order.
    is_known: bool,
}

impl Form {
    /// Returns `None` for a text that equals only itself.
    fn of(text: &str) -> Option<Self> {
        let (Sentence { mut words, end }, talk) = without_talk(read(text)?)?;
        if speaks_of_writing(&words) {
            return None;
        }
        with_small_start(&mut words);
        without_slips(&mut words);
        with_capitals(&mut words);
        let asks = |words: &[String]| {
            words
                .first()
                .map(|first| first.trim_end_matches("'s"))
                .is_some_and(|first| is_in("questions", first) || is_in("auxiliaries", first))
        };
        let asks_at_first = asks(&words);
        for _ in 0..ROUNDS {
            if !changes::applied(&mut words) {
                break;
            }
        }
        let has_sides = sides::sort(&mut words);
        // A question must name all that it is about, or it may be about the greeting: "Hello, what does it stand for?" That is less
        // likely if the greeting or the thanks are a sentence of their own. With an order they may be part of the text that is wanted: "Write a
        // card for my coach. Thank you!"
        let names_all = match talk {
            Talk::None => true,
            Talk::Sentence if words.len() > 4 && asks_at_first => !changes::speaks_of_itself(&words),
            Talk::Call if words.len() > 4 && changes::is_question(&words) => true,
            Talk::Sentence | Talk::Call | Talk::Other => changes::is_whole(&words),
        };
        // A comma that is left separates items of a list, or a text from what is to be done with it.
        if words.iter().any(|word| word == ",") || !names_all {
            return None;
        }
        // The changes may have made a question of an order ("Tell me how tides work."), or an order of a question ("could you please list
        // the gases?"). The mark at the end must follow.
        let end = match (end, asks_at_first, asks(&words)) {
            (None | Some('.'), false, true) => Some('?'),
            (Some('?'), true, false) => None,
            _ => end,
        };
        let is_known = has_sides
            || changes::is_question(&words)
            || words.first().is_some_and(|first| is_in("orders", first));
        Some(Self { end: end.filter(|end| !end::says_nothing(&words, *end)), words, is_known })
    }
}

/// Whether the texts differ only in the case of the first letter and in the mark at the end.
fn differ_at_ends_only(a: &str, b: &str) -> bool {
    let [a, b] = [a, b].map(|text| text.trim_end_matches(['.', '?', '!']).chars());
    let first =
        |text: &std::str::Chars<'_>| text.clone().next().map(|first| first.to_lowercase().to_string());
    first(&a) == first(&b) && a.skip(1).eq(b.skip(1))
}

/// Whether a text speaks of writing, or gives a secret. "How many capitals does my text have" is about itself, so every character counts.
fn speaks_of_writing(words: &[String]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let word = word.to_lowercase();
        let one = word.strip_suffix('s').unwrap_or(&word);
        let has_part = || word.contains('-') && word.split('-').any(|part| is_in("of_writing", part));
        // "My password hunter", but not "the password of my account".
        let next = words.get(at.saturating_add(1)).filter(|_| is_in("secret", one));
        // "Opening hours" are a shop's. Any other opening may be that of a text.
        let is_of_a_shop =
            word == "opening" && words.get(at.saturating_add(1)).is_some_and(|next| next == "hours");
        let is_given = next.is_some_and(|next| !matches!(next.as_str(), "of" | "for" | "on" | ","));
        !is_of_a_shop && (is_in("of_writing", &word) || is_in("of_writing", one) || has_part() || is_given)
    })
}

/// Puts the first word into lower case, if it has its capital only because it begins the sentence.
fn with_small_start(words: &mut [String]) {
    let is_start = begins_as_a_sentence(words) && !speaks_of_writer(words);
    if let Some(first) = words.first_mut().filter(|_| is_start) {
        *first = first.to_lowercase();
    }
    // In "how do I" the "I" is the speaker. Of a variable `i` one would say "how does i".
    if let [way, verb, who, ..] = words
        && verb == "do"
        && who == "I"
        && is_in("questions", way)
    {
        "i".clone_into(who);
    }
}

/// Gives a country its capital behind a preposition. Not "china", "turkey" and "chile", which are things too.
fn with_capitals(words: &mut [String]) {
    for at in 1..words.len() {
        if let Some([before, country]) = words.get_mut(at.saturating_sub(1)..=at)
            && matches!(before.as_str(), "of" | "in" | "to" | "from" | "for")
            && !matches!(country.as_str(), "china" | "turkey" | "chile")
            && let Some(name) =
                all("countries").find(|name| is_plain(country) && name.eq_ignore_ascii_case(country))
        {
            name.clone_into(country);
        }
    }
}

/// Corrects a misspelt noun in "What is the definiton of" and "What is the emergancy number in", and a misspelt verb behind "how do I" and
/// "how to". Elsewhere the typing error itself may be meant.
fn without_slips(words: &mut [String]) {
    let of_verb = |verb: &str| near("actions", verb);
    let of_noun = |noun: &str| meant(noun).or_else(|| near("things", noun));
    match words {
        [what, is, the, thing @ ..] if what == "what" && (is == "is" || is == "are") && the == "the" => {
            let end = thing.iter().position(|word| matches!(word.as_str(), "of" | "in" | "for" | "between"));
            thing
                .iter_mut()
                .take(end.filter(|end| *end < 3).unwrap_or_default())
                .for_each(|word| correct(word, of_noun));
        }
        [how, can, i, verb, _, ..]
            if how == "how" && (can == "do" || can == "can") && (i == "i" || i == "you") =>
        {
            correct(verb, of_verb);
        }
        [how, to, verb, _, ..] if how == "how" && to == "to" => correct(verb, of_verb),
        _ => {}
    }
}

fn correct(word: &mut String, meant: impl Fn(&str) -> Option<&'static str>) {
    if let Some(meant) = meant(word) {
        meant.clone_into(word);
    }
}

/// Whether the first word is certainly not a name, a type or a command. It is a question word with its verb, a verb before its subject, or an
/// order with an article. Not so: "Who in bash lists users" (a command), "How Democracies Die" (a title).
fn begins_as_a_sentence(words: &[String]) -> bool {
    let [first, second, rest @ ..] = words else { return false };
    let small = first.to_lowercase();
    let is_verb = |word: &str| is_in("auxiliaries", word);
    let is_question = is_verb(second)
        || is_in("behind_questions", second)
        || is_plain(second) && rest.first().is_some_and(|third| is_verb(third));
    let has_subject = second == "I" || is_plain(second) && !is_in("prepositions", second);
    // "When is undefined in Kotlin" asks about `When`, so the capital matters.
    let speaks_of_code =
        !matches!(second.as_str(), "do" | "can" | "to") && words.iter().any(|word| is_in("programs", word));
    is_capital(first)
        && !first.chars().skip(1).any(char::is_uppercase)
        && !speaks_of_code
        && rest.first().is_none_or(|third| third != "not")
        && !is_in("clauses", second)
        && (is_in("questions", &small) && is_question
            || is_verb(&small) && !is_in("other_verbs", &small) && has_subject
            || is_in("orders", &small) && is_in("objects", second)
            || is_in("starts", &small.replace('’', "'")))
}

/// Whether a text asks about its writer: "How would you grade me", "what did I do wrong". Then it may be about the capital itself.
fn speaks_of_writer(words: &[String]) -> bool {
    let is_one_of = |word: &str, known: &[&str]| known.contains(&word.to_lowercase().as_str());
    words.windows(2).any(|two| match two {
        [before, who] if who == "me" => !is_one_of(before, &["tell", "telling", "give"]),
        [before, who] if who == "I" || who == "i" => !is_one_of(before, &["do", "can", "should"]),
        _ => false,
    })
}

#[cfg(test)]
mod tests;
