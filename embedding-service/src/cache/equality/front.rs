//! Phrases that are put at the front and may stand at the end: "At the hotel, is there a pool?" is "is there a pool at the hotel?".
//!
//! Each shape below has a reason why the phrase belongs to the verb, wherever it stands. "In Norway, is there interest?" and "is there interest in
//! Norway?" are two questions, and so are "in Excel, how do I mention proficiency?" and "after the war, what did people expect?"

use super::{
    changes::is_plural,
    numbers::small_number,
    order::{CLAUSES, PREPOSITIONS, PRONOUNS},
    token::{Kind, Token, is_any_of},
    words::{is_in, is_in_any},
};

/// A phrase, and what is asked behind it.
struct Front<'a> {
    preposition: &'a Token,
    phrase: &'a [Token],
    asked: &'a [Token],
}

const SHAPES: [fn(&Front<'_>) -> bool; 3] = [is_place, is_program, is_time_to_do];

/// Puts a phrase at the end that can belong to nothing else. Returns whether one was moved.
pub(super) fn without_front(tokens: &mut Vec<Token>) -> bool {
    with_comma(tokens);
    let Some(comma) = tokens.iter().position(Token::is_mark) else { return false };
    let Some(([preposition, phrase @ ..], [mark, asked @ ..])) = tokens.split_at_checked(comma) else {
        return false;
    };
    let front = Front { preposition, phrase, asked };
    if !mark.is(",") || asked.iter().any(Token::is_mark) || !SHAPES.iter().any(|is_shape| is_shape(&front)) {
        return false;
    }
    let mut front: Vec<Token> = tokens.drain(..=comma).collect();
    front.truncate(comma);
    front.iter_mut().take(1).for_each(|first| first.text = first.text.to_lowercase());
    tokens.iter_mut().take(1).for_each(|first| first.is_first = true);
    super::writing::with_small_starts(tokens, true);
    tokens.append(&mut front);
    true
}

/// "In Linux how do I": people leave the comma out.
fn with_comma(tokens: &mut Vec<Token>) {
    let [into, program, how, do_, i, ..] = tokens.as_slice() else { return };
    if is_any_of(into, "in on")
        && is_in("programs", &program.text)
        && how.is("how")
        && is_any_of(do_, "do can")
        && is_any_of(i, "i you")
    {
        tokens.insert(2, Token { kind: Kind::Mark, ..Token::word(",") });
    }
}

impl Front<'_> {
    fn is(&self, words: &str) -> bool {
        is_any_of(self.preposition, words)
    }
}

fn has_clause(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| is_any_of(token, CLAUSES))
}

/// What is there, is there: "at Gatwick, is there a pharmacy?"
fn is_place(front: &Front<'_>) -> bool {
    let ([.., place], [verb, there, thing @ ..]) = (front.phrase, front.asked) else { return false };
    // "A safe for valuables"
    let thing = match thing {
        [thing @ .., for_, whom] if for_.is("for") && is_plural(whom) => thing,
        _ => thing,
    };
    // "Heathrow Terminal 5"
    let is_name = front.phrase.first().is_some_and(Token::is_capital)
        && front.phrase.iter().all(|token| token.is_capital() || token.kind == Kind::Other);
    let is_one = |words: &[Token]| (1..3).contains(&words.len()) && words.iter().all(is_noun);
    let is_thing = match thing {
        [a, words @ ..] if is_any_of(a, "a an") => is_one(words),
        [.., last] => is_plural(last) && is_one(thing),
        [] => false,
    };
    front.is("at")
        && (is_in("places", &place.text) || is_name)
        && is_any_of(verb, "is are")
        && there.is("there")
        && is_thing
}

/// A plain word that may be a noun or stand before one: nothing else is said in it.
fn is_noun(word: &Token) -> bool {
    word.is_plain()
        && !is_any_of(word, PREPOSITIONS)
        && !is_any_of(word, PRONOUNS)
        && !is_any_of(word, CLAUSES)
        && !is_any_of(word, IN)
        && !word.text.ends_with("ing")
        && !super::contractions::is_participle(&word.text)
}

/// In a program, both the data and what is done to them are in it. "A file on Java" may be about it.
fn is_program(front: &Front<'_>) -> bool {
    /// Nobody looks for a number "in Excel" and means what he wrote about Excel.
    const DATA: &str = "row rows column columns cell cells list lists string strings file files screenshot commit filter date ports table \
        someone notifications constant constants variable variables enum struct interface method tuple vector exception \
        tables image background array arrays dictionary dictionaries dataframe loop function object branch module chart map set";
    /// Something is sent in the form of a program, and learnt by who learns it.
    const NOT_WITHIN: &str = "download upload submit export import send choose teach learn study join quit cancel sell host plan track practice write";
    let ([article @ .., program], [how, can, i, verb, thing @ ..]) = (front.phrase, front.asked) else {
        return false;
    };
    // "A file line by line" is a file.
    let thing = match thing {
        [thing @ .., line, by, other] if by.is("by") && line.text == other.text => thing,
        _ => thing,
    };
    let is_of_data = thing.last().is_some_and(|data| is_any_of(data, DATA))
        && thing.len() < 4
        && thing.iter().all(|token| token.is_plain() || small_number(token).is_some());
    let is_done = is_in_any(&["actions", "actions_of_titles"], &verb.text) && !is_any_of(verb, NOT_WITHIN)
        || is_any_of(verb, "list read hide crop join")
        || verb.is("take") && thing.last().is_some_and(|data| data.is("screenshot"));
    is_in("programs", &program.text)
        && (front.is("in") || front.is("on") && is_any_of(program, "Android Windows Linux Mac iPhone Slack"))
        && matches!(article, [] | [_])
        && article.iter().all(|token| is_any_of(token, "a an"))
        && how.is("how")
        && is_any_of(can, "do can")
        && is_any_of(i, "i you")
        && is_of_data
        && is_done
}

/// What is to be done at a time: "after a root canal, which foods should I avoid?"
fn is_time_to_do(front: &Front<'_>) -> bool {
    const TO_DO: &str = "eat drink avoid wear drive swim exercise fly shower avoided eaten";
    let ([.., event], [wh, .., should, i, verb]) = (front.phrase, front.asked) else { return false };
    front.is("after before during")
        && front.phrase.first().is_some_and(|first| is_any_of(first, "a an pregnancy surgery"))
        && front.phrase.len() < 4
        && event.is_plain()
        && front.phrase.iter().all(Token::is_plain)
        && !has_clause(front.phrase)
        && is_any_of(wh, "what which when")
        && front.asked.len() < 6
        && is_any_of(should, "should can may")
        && is_any_of(i, "i be")
        && is_any_of(verb, TO_DO)
}

/// Nouns and verbs of which "in" says what they are of: "interest in Norway".
const IN: &str = "believe belief invest invested investment investments trust confidence specialize specialise confide share shares stake interest \
    interests faith increase decrease change rise fall drop growth degree class course job role career position certificate license difference \
    in";
