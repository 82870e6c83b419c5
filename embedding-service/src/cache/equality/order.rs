//! What may stand in two places of a sentence and say the same: phrases that are put at the front, the verb of an embedded question,
//! "not", and what stands on both sides of a symmetric word.

use super::{
    numbers::small_number,
    token::{Kind, Token},
    words::is_in,
};

const PREPOSITIONS: &str = "in on at for with without during by as after before from to near";
/// Verbs that may stand before the subject.
const AUXILIARIES: &str = "is are am was were can could should will would may must might";
const WITH_DO: &str = "do does did";
/// A clause begins, or a second part of one.
const CLAUSES: &str = "that which who whose whom what where when while because if and or but said say says think thinks know knows told tell";
const ARTICLES: &str = "the a an my your his her our their its this that these those";
const PRONOUNS: &str = "i you he she it we they";

fn is_one_of(token: &Token, list: &str) -> bool {
    token.kind == Kind::Word && list.split(' ').any(|word| word == token.text)
}

fn is_auxiliary(token: &Token) -> bool {
    is_one_of(token, AUXILIARIES)
}

/// Whether it stands before the subject of a question.
pub(super) fn is_verb(token: &Token) -> bool {
    is_auxiliary(token) || is_one_of(token, WITH_DO) || is_one_of(token, "has have had")
}

/// "what the capital of Norway is" is "what is the capital of Norway"; "whether honey is vegan" is "is honey vegan". Only where the
/// verb follows a subject of one or two words, or ends the question: in a longer subject it may be that of another clause ("why dogs
/// that can swim drown").
pub(super) fn as_a_question(tokens: &mut Vec<Token>) {
    let [first, .., last] = tokens.as_slice() else { return };
    let is_conditional = is_one_of(first, "if whether");
    let is_asked = is_in("questions", &first.text) && !is_verb(first);
    if !is_conditional && !is_asked || tokens.iter().any(Token::is_mark) {
        return;
    }
    let verb = tokens.iter().position(is_auxiliary);
    let is_last = is_one_of(last, "is are was were") && verb == tokens.len().checked_sub(1);
    let from = match (verb, tokens.as_slice()) {
        (Some(_), [wh, ..]) if is_last && is_one_of(wh, "what who where how") => subject(tokens),
        (Some(verb), [wh, between @ ..]) => between
            .get(..verb.saturating_sub(1))
            .is_some_and(|subject| is_short_subject(wh, subject))
            .then_some(1),
        _ => None,
    };
    if let (Some(verb), Some(from)) = (verb, from) {
        let verb = tokens.remove(verb);
        tokens.splice(from.saturating_sub(usize::from(is_conditional))..from, [verb]);
    } else if verb.is_none() && is_one_of(first, "why how where if whether") {
        with_do(tokens);
    }
}

/// Where the subject of "what colour the sky is" begins.
fn subject(tokens: &[Token]) -> Option<usize> {
    let begins =
        |token: &Token| is_one_of(token, ARTICLES) || is_one_of(token, PRONOUNS) || token.is_capital();
    match tokens {
        [wh, subject, ..] if begins(subject) && !wh.is("how") => Some(1),
        [_, _, subject, _, ..] if begins(subject) => Some(2),
        _ => None,
    }
}

/// "Honey", "the sky", "it", "New York", "the price of gold". "What dogs can swim" asks for dogs.
fn is_short_subject(wh: &Token, subject: &[Token]) -> bool {
    let is_noun = |token: &Token| {
        token.kind == Kind::Word
            && !is_one_of(token, CLAUSES)
            && !is_in("questions", &token.text)
            && !is_in("quantities", &token.text)
            && !is_in("measured", &token.text)
    };
    match subject {
        [only] if is_one_of(only, PRONOUNS) => true,
        [only] => {
            is_noun(only)
                && (is_one_of(wh, "why where if whether") || wh.is("how") && super::changes::is_plural(only))
        }
        [the, noun, more @ ..] if is_one_of(the, ARTICLES) => {
            is_noun(noun)
                && match more {
                    [of, other] => of.is("of") && is_noun(other),
                    more => more.iter().all(Token::is_capital),
                }
        }
        names => !names.is_empty() && names.iter().all(Token::is_capital) && !is_one_of(wh, "what which who"),
    }
}

/// "Why cats purr" is "why do cats purr", "why ice floats" is "why does ice float", "how a pump works" is "how does a pump work". "How well
/// pumps work" and "how many women work" ask for something else.
fn with_do(tokens: &mut Vec<Token>) {
    const DEGREES: &str = "well hard good bad cold low";
    /// Verbs with these endings have one form for both times, or are the past of others ("they saw wood").
    const PAST_TOO: [&str; 28] = [
        "set", "let", "cast", "cut", "put", "read", "bet", "bid", "burst", "bust", "cost", "fit", "hit",
        "hurt", "knit", "quit", "rid", "shed", "shut", "slit", "split", "spit", "wet", "wed", "saw", "fell",
        "lay", "bore",
    ];
    let is_plain = |token: &Token| {
        token.is_plain()
            && !is_verb(token)
            && !is_one_of(token, DEGREES)
            && !is_in("measured", &token.text)
            && !is_in("quantities", &token.text)
    };
    // "They hit him" and "they reset it" may be past.
    let is_of_two_times = tokens.iter().skip(2).any(|token| {
        is_in("participles", &token.text) || PAST_TOO.iter().any(|end| token.text.ends_with(end))
    });
    let verb = match tokens.as_slice() {
        [how, subject @ .., works] if how.is("how") && works.is("works") && subject.len() < 5 => {
            let is_one = subject.first().is_some_and(|first| {
                is_one_of(first, ARTICLES) || first.is_capital() || subject.len() < 3 && is_plain(first)
            });
            is_one.then_some("does")
        }
        // "Where the Amazon River begins".
        [where_, names @ .., verb]
            if is_one_of(where_, "where why how")
                && is_name_with_article(names)
                && super::writing::without_s(&verb.text).is_some() =>
        {
            Some("does")
        }
        [why, noun, verb]
            if !is_one_of(why, "if whether")
                && is_plain(noun)
                && !noun.text.ends_with('s')
                && super::writing::without_s(&verb.text).is_some() =>
        {
            Some("does")
        }
        [_, who, rest @ ..] if (1..4).contains(&rest.len()) && !is_of_two_times => {
            let is_many = rest.len() < 3 && super::changes::is_plural(who) && is_plain(who)
                || is_one_of(who, "i you we they");
            let is_going = rest.last().is_some_and(|last| last.text.ends_with("ing"));
            (is_many && !is_going).then_some("do")
        }
        _ => None,
    };
    let Some(verb) = verb else { return };
    if verb == "does"
        && let Some(last) = tokens.last_mut()
        && let Some(bare) = super::writing::without_s(&last.text)
    {
        last.text = bare;
    }
    // "If penguins have knees" is "do penguins have knees".
    match tokens.first_mut().filter(|first| is_one_of(first, "if whether")) {
        Some(first) => *first = Token { is_first: first.is_first, ..Token::word(verb) },
        None => tokens.insert(1, Token::word(verb)),
    }
}

/// "The Amazon River", "Lake Baikal".
fn is_name_with_article(names: &[Token]) -> bool {
    let names = names.split_first().filter(|(the, _)| the.is("the")).map_or(names, |(_, rest)| rest);
    !names.is_empty() && names.iter().all(Token::is_capital)
}

/// "At the hotel, is there a pool?" is "is there a pool at the hotel?", where the phrase can belong to nothing else. Returns whether one was
/// moved.
pub(super) fn without_front(tokens: &mut Vec<Token>) -> bool {
    let Some(comma) = tokens.iter().position(Token::is_mark) else { return false };
    let Some((front, [mark, rest @ ..])) = tokens.split_at_checked(comma) else { return false };
    if !mark.is(",") || rest.iter().any(Token::is_mark) || !may_stand_behind(front, rest) {
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

/// Each shape has a reason why the phrase belongs to the verb, wherever it stands. "In Norway, is there interest?" and "is there interest in
/// Norway?" are two questions, and so are "in Excel, how do I mention proficiency?" and "after the war, what did people expect?"
fn may_stand_behind(front: &[Token], rest: &[Token]) -> bool {
    /// What is made of data: nothing of it is about a program.
    /// What is done to these is done in the program: nobody looks for a number "in Excel" and means what he wrote about Excel.
    const DATA: &str = "row rows column columns cell cells list lists string strings file files screenshot commit filter date ports table \
        tables image background array arrays dictionary dictionaries dataframe loop function object branch package module chart map set";
    /// In a program something is written, but sent in its form, and learnt by who learns the program.
    const NOT_WITHIN: &str = "download upload submit export import send choose teach learn study join quit cancel sell host plan track practice write";
    const TIMES: &str = "winter summer autumn spring pregnancy surgery";
    const DONE: &str = "eat drink wear drive survive";
    const DONE_THEN: &str =
        "eat drink wear drive live work travel cook heat earn cost happen buy grow farm trade dress";
    const TRADES: &str = "tennis chess football soccer cricket baseball basketball golf rugby hockey bowling poker cooking baking music knitting sewing \
        programming accounting finance medicine geometry algebra calculus grammar poetry anatomy";
    /// What one has in a trade, and not what the trade calls so: "in music, what is a degree?"
    const STUDIES: &str =
        "degree minor major class course concentration diploma certificate career job license";
    let [preposition, phrase @ ..] = front else { return false };
    let is = |words: &str| is_one_of(preposition, words);
    match (phrase, rest) {
        // What is there, is there.
        ([.., place], [verb, there, thing @ ..])
            if is("at")
                && (is_in("places", &place.text) || is_name(phrase))
                && is_one_of(verb, "is are")
                && there.is("there") =>
        {
            thing.len() < 6
                && (thing.first().is_some_and(|first| is_one_of(first, "a an"))
                    || thing.last().is_some_and(super::changes::is_plural))
                && !thing.iter().any(|token| {
                    is_one_of(token, PREPOSITIONS) || is_one_of(token, CLAUSES) || token.text.ends_with("ing")
                })
        }
        // In a program, both the data and what is done to it are in it. "A file on Java" may be about it.
        ([.., program], [how, can, i, verb, thing @ .., data])
            if is_in("programs", &program.text)
                && (is("in") || is("on") && is_one_of(program, "Android Windows Linux Mac iPhone"))
                && is_of_data(thing, data, DATA) =>
        {
            how.is("how")
                && is_one_of(can, "do can")
                && is_one_of(i, "i you")
                && (["actions", "actions_of_titles"].iter().any(|list| is_in(list, &verb.text))
                    && !is_one_of(verb, NOT_WITHIN)
                    || is_one_of(verb, "list read hide crop join")
                    || verb.is("take") && data.is("screenshot"))
                && matches!(phrase, [_] | [_, _])
                && phrase.iter().rev().skip(1).all(|token| is_one_of(token, "a an"))
        }
        // The way of travelling: "by train, how do I get from A to B".
        ([vehicle], [how, verb, who, go, from, ..]) => {
            is("by")
                && is_one_of(vehicle, "train bus car plane bike boat ferry taxi")
                && how.is("how")
                && is_verb(verb)
                && is_one_of(who, PRONOUNS)
                && is_one_of(go, "get go travel")
                && from.is("from")
        }
        // The form of the answer: "in one sentence, explain DNS".
        ([number, unit], [explain, thing]) => {
            is("in")
                && (number.is("one") || small_number(number).is_some() || number.kind == Kind::Other)
                && is_one_of(unit, "sentence sentences words")
                && explain.is("explain")
                && thing.kind == Kind::Word
                && !super::changes::is_plural(thing)
        }
        // Whose view it is.
        ([to, who @ ..], [what, is_the, the, ..]) if preposition.text.eq_ignore_ascii_case("according") => {
            to.is("to")
                && !who.is_empty()
                && who.iter().all(Token::is_capital)
                && what.is("what")
                && is_one_of(is_the, "is are was were")
                && the.is("the")
                && !rest.iter().any(|token| token.is("gospel"))
        }
        // What may be paid: it is who buys that has it.
        ([a, budget, of, sum @ ..], [wh, .., _]) if is("with") && budget.is("budget") => {
            is_one_of(a, "a the")
                && of.is("of")
                && sum.len() < 3
                && is_one_of(wh, "which what")
                // "What should I get a woman?"
                && rest.iter().position(|token| is_one_of(token, "buy get choose purchase afford")).is_some_and(|buy| {
                    let is = |at: Option<usize>, words: &str| {
                        at.and_then(|at| rest.get(at)).is_some_and(|token| is_one_of(token, words))
                    };
                    is(buy.checked_sub(1), "i")
                        && is(buy.checked_sub(2), "should can")
                        && (is(buy.checked_add(1), "for in") || buy.saturating_add(1) == rest.len())
                })
        }
        // For whom something is best.
        ([.., person], [wh, .., best]) if is("for") && is_one_of(wh, "which what") => {
            is_one_of(best, "best suitable ideal recommended")
                && phrase.len() < 5
                && phrase.first().is_some_and(|first| is_one_of(first, ARTICLES))
                && person.is_plain()
                && !person.is("record")
                && !phrase
                    .iter()
                    .chain(rest)
                    .any(|token| is_one_of(token, CLAUSES) && !std::ptr::eq(token, wh))
        }
        // When it was: a decade, a year of four digits, an age with a capital. What was said, thought or released then may be about another time.
        (_, [wh, did, .., last]) if is("in during") && is_age(phrase) => {
            is_in("questions", &wh.text)
                && (rest.len() == 2 && did.is("happened")
                    || rest.iter().any(|token| is_one_of(token, "did"))
                        && rest.iter().any(|token| is_one_of(token, DONE_THEN))
                        && last.is_plain()
                        // "What did scientists expect to happen?"
                        && !rest.iter().skip(1).any(|token| is_one_of(token, CLAUSES) || is_one_of(token, "to would will")))
        }
        // What something is in a trade: "in tennis, what is a let?"
        ([kinds @ .., field], [what, is_a, a, term @ ..]) if is("in") && what.is("what") => {
            is_one_of(is_a, "is are")
                && is_one_of(a, "a an")
                && matches!(term, [_] | [_, _])
                && term.iter().all(|word| word.is_plain() && !is_one_of(word, STUDIES))
                && kinds.len() < 2
                // "In law, what is a mother?"
                && (!kinds.is_empty()
                    || field.is_capital()
                    || is_one_of(field, TRADES)
                    || ["ics", "logy", "istry", "nomy", "graphy"].iter().any(|end| field.text.ends_with(end)))
                && phrase.iter().all(|word| {
                    (word.is_plain() || word.is_capital())
                        && !is_in("languages", &word.text.to_lowercase())
                        && !is_in("not_explained", &word.text)
                        && !is_in("about_words", &word.text)
                })
        }
        // What is to be done at a time: "after a root canal, which foods should I avoid?"
        ([.., event], [wh, .., should, i, verb])
            if is("after before during")
                && is_one_of(wh, "what which when")
                && is_one_of(should, "should can may")
                && is_one_of(i, "i be")
                && phrase.first().is_some_and(|a| is_one_of(a, "a an pregnancy surgery")) =>
        {
            is_one_of(verb, "eat drink avoid wear drive swim exercise fly shower avoided eaten")
                && rest.len() < 6
                && phrase.len() < 4
                && event.is_plain()
                && phrase.iter().all(|token| token.is_plain() && !is_one_of(token, CLAUSES))
        }
        // When something is done that is done at once: nothing else is there that the time could be of.
        ([time] | [_, time], [wh, verb, subject, done]) => {
            is("in after before during")
                && is_one_of(time, TIMES)
                && !is_verb(wh)
                && is_verb(verb)
                && subject.kind == Kind::Word
                && is_one_of(done, DONE)
        }
        _ => false,
    }
}

/// "A file line by line" is a file.
fn is_of_data(thing: &[Token], last: &Token, data: &str) -> bool {
    let is_adverb =
        |words: &[&Token]| matches!(words, [line, by, other] if by.is("by") && line.text == other.text);
    let all: Vec<&Token> = thing.iter().chain([last]).collect();
    let len = all.len();
    let all = match len.checked_sub(3).and_then(|at| all.split_at_checked(at)) {
        Some((before, adverb)) if is_adverb(adverb) => before,
        _ => all.as_slice(),
    };
    all.len() < 4
        && all.iter().all(|token| token.is_plain() || small_number(token).is_some())
        && all.last().is_some_and(|noun| is_one_of(noun, data))
}

/// "Heathrow Terminal 5".
fn is_name(phrase: &[Token]) -> bool {
    phrase.first().is_some_and(Token::is_capital)
        && phrase.iter().all(|token| token.is_capital() || token.kind == Kind::Other)
}

/// "1969", "the 1950s", "the Middle Ages".
fn is_age(phrase: &[Token]) -> bool {
    let is_year = |text: &str| {
        let digits = text.strip_suffix('s').unwrap_or(text);
        digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    match phrase {
        [year] => is_year(&year.text) && !year.text.ends_with('s'),
        [the, decade] if the.is("the") => is_year(&decade.text) && decade.text.ends_with('s'),
        [the, middle, ages] => the.is("the") && middle.is("Middle") && ages.is("Ages"),
        _ => false,
    }
}

/// What the rules of `changes.txt` cannot say, because it is about places within the sentence.
pub(super) fn settled(tokens: &mut [Token]) {
    with_late_not(tokens);
    with_sorted_sides(tokens);
}

/// "Why isn't it working" is "why is it not working". "Why don't we" and "why doesn't he" propose something, and "why can't camels drink" may
/// be about being able not to. With a noun, "not" may belong to what follows it: "why aren't drugs approved by the FDA safe?"
fn with_late_not(tokens: &mut [Token]) {
    let [wh, verb, not, subject, next, ..] = &*tokens else { return };
    let is_moved = is_in("questions", &wh.text)
        && not.is("n't")
        // "What shouldn't we all do?"
        && !is_in("quantities", &next.text)
        && (is_one_of(verb, "is are was were did") && is_one_of(subject, PRONOUNS)
            || verb.is("does") && subject.is("it")
            || wh.is("what") && verb.is("should") && is_one_of(subject, PRONOUNS));
    if let Some(moved) = tokens.get_mut(2..4).filter(|_| is_moved) {
        moved.rotate_left(1);
        moved.iter_mut().skip(1).for_each(|not| "not".clone_into(&mut not.text));
    }
}

/// "the difference between A and B" is "the difference between B and A".
fn with_sorted_sides(tokens: &mut [Token]) {
    /// What stands before the two sides, and what behind them.
    const FRAMES: [(&[&str], &[&str]); 10] = [
        (&["what", "is", "the", "difference", "between"], &[]),
        (&["what", "is", "the", "distance", "between"], &[]),
        (&["compare"], &[]),
        (&["what", "do"], &["have", "in", "common"]),
        (&["how", "are"], &["related"]),
        (&["how", "are"], &["different"]),
        (&["how", "are"], &["similar"]),
        (&["is", "it", "safe", "to", "mix"], &[]),
        (&["can", "i", "mix"], &[]),
        (&["how", "far", "apart", "are"], &[]),
    ];
    let text = |side: &[Token]| side.iter().map(|token| token.text.clone()).collect::<Vec<_>>();
    let is = |tokens: &[Token], words: &[&str]| {
        tokens.len() == words.len() && tokens.iter().zip(words).all(|(token, word)| token.is(word))
    };
    for (before, behind) in FRAMES {
        let Some(end) = tokens.len().checked_sub(behind.len()).filter(|end| *end > before.len()) else {
            continue;
        };
        let Some((rest, last)) = tokens.split_at_mut_checked(end) else { continue };
        let Some((first, sides)) = rest.split_at_mut_checked(before.len()) else { continue };
        if is(first, before)
            && is(last, behind)
            && let Some((one, other)) = two_sides(sides)
            && text(one) > text(other)
        {
            let after_and = one.len().saturating_add(1);
            sides.rotate_left(after_and);
            let and = sides.len().saturating_sub(after_and);
            sides.get_mut(and..).unwrap_or_default().rotate_right(1);
        }
    }
}

/// The sides of "frogs and toads" and "a frog and a toad", each of which is one word: in "a gas and an electric stove" the first lacks its noun. The difference of two numbers, days or letters has a sign, and so may that of
/// "the GDP of France and Germany".
pub(super) fn two_sides(sides: &[Token]) -> Option<(&[Token], &[Token])> {
    let and = sides.iter().position(|token| token.is("and"))?;
    let (one, rest) = sides.split_at_checked(and)?;
    let other = rest.get(1..)?;
    let is_thing = |word: &Token| {
        let is_roman = word.text.chars().all(|letter| "IVXLCDM".contains(letter));
        let is_number = is_roman || small_number(word).is_some() || is_in("numerals", &word.text);
        let is_dated = is_in("days", &word.text) || is_in("months", &word.text);
        word.kind == Kind::Word
            && word.text.chars().count() > 1
            && !word.text.contains('-')
            && !is_number
            && !is_dated
    };
    let is_side = |side: &[Token]| match side {
        [word] => is_thing(word),
        [article, word] => is_one_of(article, "a an") && is_thing(word),
        _ => false,
    };
    (is_side(one) && is_side(other)).then_some((one, other))
}
