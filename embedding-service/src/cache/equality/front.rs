//! Phrases that are put at the front and may stand at the end: "At the hotel, is there a pool?" is "is there a pool at the hotel?".
//!
//! Each shape below has a reason why the phrase belongs to the verb, wherever it stands. "In Norway, is there interest?" and "is there interest in
//! Norway?" are two questions, and so are "in Excel, how do I mention proficiency?" and "after the war, what did people expect?"

use super::{
    changes::is_plural,
    numbers::small_number,
    order::{ARTICLES, CLAUSES, PREPOSITIONS, PRONOUNS, is_verb},
    token::{Kind, Token, is_any_of},
    words::{is_in, is_in_any},
};

/// A phrase, and what is asked behind it.
struct Front<'a> {
    preposition: &'a Token,
    phrase: &'a [Token],
    asked: &'a [Token],
}

const SHAPES: [fn(&Front<'_>) -> bool; 11] = [
    is_place,
    is_program,
    is_vehicle,
    is_form_of_the_answer,
    is_view,
    is_budget,
    is_for_whom,
    is_age,
    is_trade,
    is_time_to_do,
    is_time,
];

/// Puts a phrase at the end that can belong to nothing else. Returns whether one was moved.
pub(super) fn without_front(tokens: &mut Vec<Token>) -> bool {
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
    // "Heathrow Terminal 5"
    let is_name = front.phrase.first().is_some_and(Token::is_capital)
        && front.phrase.iter().all(|token| token.is_capital() || token.kind == Kind::Other);
    front.is("at")
        && (is_in("places", &place.text) || is_name)
        && is_any_of(verb, "is are")
        && there.is("there")
        && thing.len() < 6
        && (thing.first().is_some_and(|first| is_any_of(first, "a an"))
            || thing.last().is_some_and(is_plural))
        && !thing.iter().any(|token| is_any_of(token, PREPOSITIONS) || token.text.ends_with("ing"))
        && !has_clause(thing)
}

/// In a program, both the data and what is done to them are in it. "A file on Java" may be about it.
fn is_program(front: &Front<'_>) -> bool {
    /// Nobody looks for a number "in Excel" and means what he wrote about Excel.
    const DATA: &str = "row rows column columns cell cells list lists string strings file files screenshot commit filter date ports table \
        tables image background array arrays dictionary dictionaries dataframe loop function object branch package module chart map set";
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
        && (front.is("in") || front.is("on") && is_any_of(program, "Android Windows Linux Mac iPhone"))
        && matches!(article, [] | [_])
        && article.iter().all(|token| is_any_of(token, "a an"))
        && how.is("how")
        && is_any_of(can, "do can")
        && is_any_of(i, "i you")
        && is_of_data
        && is_done
}

/// The way of travelling: "by train, how do I get from A to B".
fn is_vehicle(front: &Front<'_>) -> bool {
    let ([vehicle], [how, verb, who, go, from, ..]) = (front.phrase, front.asked) else { return false };
    front.is("by")
        && is_any_of(vehicle, "train bus car plane bike boat ferry taxi")
        && how.is("how")
        && is_verb(verb)
        && is_any_of(who, PRONOUNS)
        && is_any_of(go, "get go travel")
        && from.is("from")
}

/// "In one sentence, explain DNS".
fn is_form_of_the_answer(front: &Front<'_>) -> bool {
    let ([number, unit], [explain, thing]) = (front.phrase, front.asked) else { return false };
    front.is("in")
        && (number.is("one") || small_number(number).is_some() || number.kind == Kind::Other)
        && is_any_of(unit, "sentence sentences words")
        && explain.is("explain")
        && thing.kind == Kind::Word
        && !is_plural(thing)
}

/// Whose view it is. Countries may punish "according to" a law, and a gospel has its name so.
fn is_view(front: &Front<'_>) -> bool {
    let ([to, who @ ..], [what, is, the, ..]) = (front.phrase, front.asked) else { return false };
    front.preposition.text.eq_ignore_ascii_case("according")
        && to.is("to")
        && !who.is_empty()
        && who.iter().all(Token::is_capital)
        && what.is("what")
        && is_any_of(is, "is are was were")
        && the.is("the")
        && !front.asked.iter().any(|token| token.is("gospel"))
}

/// What may be paid: it is who buys that has it. "What should I get a woman?" has two persons.
fn is_budget(front: &Front<'_>) -> bool {
    let ([a, budget, of, sum @ ..], [wh, asked @ ..]) = (front.phrase, front.asked) else { return false };
    let buys = asked.windows(3).position(|three| match three {
        [should, i, buy] => {
            is_any_of(should, "should can") && i.is("i") && is_any_of(buy, "buy get choose purchase afford")
        }
        _ => false,
    });
    let behind = buys.and_then(|at| asked.get(at.saturating_add(3)..));
    front.is("with")
        && is_any_of(a, "a the")
        && budget.is("budget")
        && of.is("of")
        && sum.len() < 3
        && is_any_of(wh, "which what")
        && behind.is_some_and(|behind| behind.first().is_none_or(|next| is_any_of(next, "for in")))
}

/// For whom something is best.
fn is_for_whom(front: &Front<'_>) -> bool {
    let ([first, .., person], [wh, asked @ .., best]) = (front.phrase, front.asked) else { return false };
    front.is("for")
        && is_any_of(first, ARTICLES)
        && front.phrase.len() < 5
        && person.is_plain()
        && !person.is("record")
        && is_any_of(wh, "which what")
        && is_any_of(best, "best suitable ideal recommended")
        && !has_clause(front.phrase)
        && !has_clause(asked)
}

/// When it was: "1969", "the 1950s", "the Middle Ages". What was said, thought or released then may be about another time.
fn is_age(front: &Front<'_>) -> bool {
    const DONE: &str =
        "eat drink wear drive live work travel cook heat earn cost happen buy grow farm trade dress";
    let is_year = |digits: &str| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_age = match front.phrase {
        [year] => is_year(&year.text),
        [the, decade] => the.is("the") && decade.text.strip_suffix('s').is_some_and(is_year),
        [the, middle, ages] => the.is("the") && middle.is("Middle") && ages.is("Ages"),
        _ => false,
    };
    let is_done = match front.asked {
        [_, happened] => happened.is("happened"),
        [_, rest @ .., last] => {
            let has = |words: &str| rest.iter().chain([last]).any(|token| is_any_of(token, words));
            // "What did scientists expect to happen?"
            has("did") && has(DONE) && last.is_plain() && !has(CLAUSES) && !has("to would will")
        }
        _ => false,
    };
    front.is("in during")
        && is_age
        && front.asked.first().is_some_and(|first| is_in("questions", &first.text))
        && is_done
}

/// What something is in a trade: "in tennis, what is a let?", but not "in law, what is a mother?"
fn is_trade(front: &Front<'_>) -> bool {
    const TRADES: &str = "tennis chess football soccer cricket baseball basketball golf rugby hockey bowling poker cooking baking music knitting sewing \
        programming accounting finance medicine geometry algebra calculus grammar poetry anatomy";
    const SCIENCES: [&str; 5] = ["ics", "logy", "istry", "nomy", "graphy"];
    /// What one has in a trade, and not what the trade calls so: "in music, what is a degree?"
    const STUDIES: &str =
        "degree minor major class course concentration diploma certificate career job license";
    let ([kinds @ .., field], [what, is, a, term @ ..]) = (front.phrase, front.asked) else { return false };
    let is_of_nothing_else = |word: &Token| {
        (word.is_plain() || word.is_capital())
            && !is_in("languages", &word.text.to_lowercase())
            && !is_in("not_explained", &word.text)
            && !is_in("about_words", &word.text)
    };
    front.is("in")
        && kinds.len() < 2
        && (!kinds.is_empty()
            || field.is_capital()
            || is_any_of(field, TRADES)
            || SCIENCES.iter().any(|end| field.text.ends_with(end)))
        && front.phrase.iter().all(is_of_nothing_else)
        && what.is("what")
        && is_any_of(is, "is are")
        && is_any_of(a, "a an")
        && matches!(term, [_] | [_, _])
        && term.iter().all(|word| word.is_plain() && !is_any_of(word, STUDIES))
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

/// When something is done that is done at once: nothing else is there that the time could be of.
fn is_time(front: &Front<'_>) -> bool {
    let ([time] | [_, time], [wh, verb, subject, done]) = (front.phrase, front.asked) else { return false };
    front.is("in after before during")
        && is_any_of(time, "winter summer autumn spring pregnancy surgery")
        && !is_verb(wh)
        && is_verb(verb)
        && subject.kind == Kind::Word
        && is_any_of(done, "eat drink wear drive survive")
}
