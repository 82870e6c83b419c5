//! Phrases that are put at the front and may stand at the end: "At the hotel, is there a pool?" is "is there a pool at the hotel?".
//!
//! Each shape below has a reason why the phrase belongs to the verb, wherever it stands. "In Norway, is there interest?" and "is there interest in
//! Norway?" are two questions, and so are "in Excel, how do I mention proficiency?" and "after the war, what did people expect?"

use super::{
    changes::is_plural,
    numbers::small_number,
    order::{CLAUSES, PREPOSITIONS, PRONOUNS, is_verb},
    token::{Kind, Token, is_any_of},
    words::{is_in, is_in_any},
};

/// A phrase, and what is asked behind it.
struct Front<'a> {
    preposition: &'a Token,
    phrase: &'a [Token],
    asked: &'a [Token],
}

const SHAPES: [fn(&Front<'_>) -> bool; 15] = [
    is_place,
    is_program,
    is_vehicle,
    is_form_of_the_answer,
    is_view,
    is_budget,
    is_for_whom,
    is_age,
    is_time_to_do,
    is_time,
    is_law,
    is_fact,
    is_setting,
    is_occasion,
    is_wait,
];

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

/// The way of travelling: "by train, how do I get from A to B".
fn is_vehicle(front: &Front<'_>) -> bool {
    let ([vehicle], [how, verb, who, go, from, way @ ..]) = (front.phrase, front.asked) else { return false };
    let is_way = way.iter().position(|token| token.is("to")).is_some_and(|to| {
        to > 0
            && way.len() > to.saturating_add(1)
            && way.iter().enumerate().all(|(at, token)| at == to || token.is_capital())
    });
    front.is("by")
        && is_any_of(vehicle, "train bus car plane bike boat ferry taxi")
        && how.is("how")
        && is_verb(verb)
        && is_any_of(who, PRONOUNS)
        && is_any_of(go, "get go travel")
        && from.is("from")
        && is_way
}

/// "In one sentence, explain DNS", but "ambiguity in two sentences" may be in them.
fn is_form_of_the_answer(front: &Front<'_>) -> bool {
    let ([number, unit], [explain, thing]) = (front.phrase, front.asked) else { return false };
    front.is("in")
        && (number.is("one") || small_number(number).is_some() || number.kind == Kind::Other)
        && is_any_of(unit, "sentence sentences words")
        && explain.is("explain")
        && thing.is_capital()
}

/// Whose view it is. Countries may punish "according to" a law, and a gospel has its name so.
fn is_view(front: &Front<'_>) -> bool {
    let ([to, who @ ..], [what, is, the, noun, of, thing @ ..]) = (front.phrase, front.asked) else {
        return false;
    };
    front.preposition.text.eq_ignore_ascii_case("according")
        && to.is("to")
        && !who.is_empty()
        && who.iter().all(Token::is_capital)
        && what.is("what")
        && is_any_of(is, "is are was were")
        && the.is("the")
        && is_noun(noun)
        && !thing.iter().any(|token| token.is("gospel"))
        && of.is("of")
        && (1..4).contains(&thing.len())
        && thing.iter().all(|token| is_noun(token) || token.is_capital())
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
        && behind.is_some_and(<[Token]>::is_empty)
}

/// For whom something is best.
fn is_for_whom(front: &Front<'_>) -> bool {
    const PERSONS: &str = "child baby toddler kid teenager boy girl man woman adult student beginner pupil senior tourist traveler family couple runner \
        vegetarian vegan dog puppy cat kitten horse hamster";
    let ([first, .., person], [wh, kinds @ .., is, best]) = (front.phrase, front.asked) else { return false };
    front.is("for")
        && is_any_of(first, "a an")
        && front.phrase.len() < 4
        && is_any_of(person, PERSONS)
        && is_any_of(wh, "which what")
        && (1..3).contains(&kinds.len())
        && kinds.iter().all(is_noun)
        && is_any_of(is, "is are")
        && is_any_of(best, "best suitable ideal recommended")
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
            // "What did scientists expect to happen?", "why did teens wear what they wore?"
            let ends_so = is_any_of(last, DONE)
                || rest.last().is_some_and(|verb| is_any_of(verb, DONE)) && is_noun(last);
            has("did") && ends_so && last.is_plain() && !has(CLAUSES) && !has("to would will")
        }
        _ => false,
    };
    front.is("in during")
        && is_age
        && front.asked.first().is_some_and(|first| is_in("questions", &first.text))
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

/// Nouns and verbs of which "in" says what they are of: "interest in Norway".
const IN: &str = "believe belief invest invested investment investments trust confidence specialize specialise confide share shares stake interest \
    interests faith increase decrease change rise fall drop growth degree class course job role career position certificate license difference \
    in";

/// What a country has, and what may be done there: "in France, what is the minimum wage?", "in Germany, is it legal to own a raccoon?" Sent, paid and
/// visited may be somebody elsewhere.
fn is_fact(front: &Front<'_>) -> bool {
    const ON_THE_SPOT: &str =
        "own drink smoke drive carry wear park camp sleep swim fish hunt hitchhike record";
    /// Of these there may be one in a country that others are in.
    const EVENTS: &str = "war election coup president government view views opinion coverage situation";
    let [country] = front.phrase else { return false };
    let is_plain = |rest: &[Token]| {
        rest.len() < 6
            && rest.iter().all(|token| is_noun(token) && !token.is("of") || is_any_of(token, "a an"))
    };
    let is_asked = match front.asked {
        [what, is, the, thing @ ..] if what.is("what") => {
            is_any_of(is, "is are")
                && the.is("the")
                && !thing.is_empty()
                && is_plain(thing)
                && !thing.iter().any(|token| is_any_of(token, EVENTS))
        }
        [is, it, how, to, verb, rest @ ..] => {
            is.is("is")
                && it.is("it")
                && how.is_plain()
                && to.is("to")
                && is_any_of(verb, ON_THE_SPOT)
                && is_plain(rest)
        }
        _ => false,
    };
    front.is("in") && is_in("countries", &country.text) && is_asked
}

/// Where something is done to one thing: "in a video call, how do I mute a participant?" "On my team" and "on a weekend" may say which one.
fn is_setting(front: &Front<'_>) -> bool {
    const PLACES: &str =
        "call meeting video chat phone laptop spreadsheet document email form presentation slide";
    const OF_WHOLES: &str = "cancel close open renew export report";
    let ([a, place @ ..], [how, can, i, verb, article, thing @ ..]) = (front.phrase, front.asked) else {
        return false;
    };
    front.is("in on")
        && is_any_of(a, "a an my")
        && (1..4).contains(&place.len())
        && place.last().is_some_and(|noun| is_any_of(noun, PLACES))
        && place.iter().all(|token| is_noun(token) || token.is_capital())
        && how.is("how")
        && is_any_of(can, "do can")
        && i.is("i")
        && is_in("actions", &verb.text)
        && !is_any_of(verb, OF_WHOLES)
        && is_any_of(article, "a an the")
        && (1..3).contains(&thing.len())
        && thing.iter().all(is_noun)
}

/// What has to be done on the spot: "in Japan, do I have to tip?" What is declared or paid may be elsewhere.
fn is_law(front: &Front<'_>) -> bool {
    const ON_THE_SPOT: &str = "wear carry tip drive vote recycle";
    let ([country], [verb, who, have, to, done, rest @ ..]) = (front.phrase, front.asked) else {
        return false;
    };
    let is_duty = is_any_of(have, "have need") && is_any_of(verb, "do does")
        || is_any_of(have, "allowed required obliged") && is_any_of(verb, "am are is");
    front.is("in")
        && is_in("countries", &country.text)
        && (is_any_of(who, "i we you") || is_plural(who))
        && is_duty
        && to.is("to")
        && is_any_of(done, ON_THE_SPOT)
        && rest.len() < 4
        && rest.iter().all(|token| is_noun(token) || is_any_of(token, "a an my"))
}

/// What is worn, brought or cooked for an occasion: "for a job interview, what should I wear?"
fn is_occasion(front: &Front<'_>) -> bool {
    let ([first, .., occasion], [wh, thing @ .., should, i, verb]) = (front.phrase, front.asked) else {
        return false;
    };
    front.is("for")
        && (is_any_of(first, "a an my") || first.text.ends_with("ing"))
        && front.phrase.len() < 8
        && (occasion.is_plain() || occasion.is_capital())
        && !has_clause(front.phrase)
        && is_any_of(wh, "what which how")
        && thing.len() < 3
        && thing.iter().all(|token| token.is_plain() && !is_any_of(token, PREPOSITIONS))
        && is_any_of(should, "should do can")
        && i.is("i")
        && is_any_of(verb, "wear bring pack cook buy need order serve prepare")
}

/// How long to wait with something: "after a tattoo, how long should I wait before swimming?"
fn is_wait(front: &Front<'_>) -> bool {
    let ([a, event], [how, long, should, i, wait, before, done @ ..]) = (front.phrase, front.asked) else {
        return false;
    };
    front.is("after")
        && is_any_of(a, "a an my")
        && event.is_plain()
        && how.is("how")
        && long.is("long")
        && is_any_of(should, "should do must")
        && i.is("i")
        && wait.is("wait")
        && before.is("before")
        && matches!(done, [doing] if doing.text.ends_with("ing"))
}
