//! What may stand in two places of a sentence and say the same: the verb of an embedded question, and "not". Phrases at the front are in `front`,
//! and what stands on both sides of a symmetric word in `sides`.

use super::{
    token::{Kind, Token},
    words::is_in,
};

pub(super) const PREPOSITIONS: &str = "in on at for with without during by as after before from to near";
/// Verbs that may stand before the subject.
const AUXILIARIES: &str = "is are am was were can could should will would may must might";
const WITH_DO: &str = "do does did";
/// A clause begins, or a second part of one.
pub(super) const CLAUSES: &str = "that which who whose whom what where when while because if and or but said say says think thinks know knows told tell";
pub(super) const ARTICLES: &str = "the a an my your his her our their its this that these those";
pub(super) const PRONOUNS: &str = "i you he she it we they";

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

/// "Why does my printer not connect" is "why doesn't my printer connect", of one thing of somebody, where one word follows "not". With more,
/// "not" may belong to it: "why does my dog not only bark at men", "why are drugs not approved by the FDA safe?" "Why doesn't he" proposes something.
pub(super) fn with_early_not(tokens: &mut Vec<Token>) {
    let [why, verb, subject @ .., not, done] = tokens.as_slice() else { return };
    let is_noun = |token: &Token| {
        token.kind == Kind::Word
            && !is_one_of(token, CLAUSES)
            && !is_one_of(token, PREPOSITIONS)
            && !is_in("quantities", &token.text)
    };
    let is_subject = match subject {
        [who] => who.is("it") || verb.is("is") && is_one_of(who, "he she"),
        [my, nouns @ .., noun] => {
            is_one_of(my, "my our")
                && nouns.len() < 3
                && nouns.iter().chain([noun]).all(is_noun)
                && !super::changes::is_plural(noun)
        }
        [] => false,
    };
    let is_moved = is_one_of(why, "why")
        && is_one_of(verb, "is does did will")
        && is_subject
        && not.is("not")
        && done.is_plain()
        && !done.text.ends_with("ly");
    if is_moved {
        let at = tokens.len().saturating_sub(2);
        tokens.remove(at);
        tokens.insert(2, Token::word("n't"));
    }
}

/// "The Amazon River", "Lake Baikal".
fn is_name_with_article(names: &[Token]) -> bool {
    let names = names.split_first().filter(|(the, _)| the.is("the")).map_or(names, |(_, rest)| rest);
    !names.is_empty() && names.iter().all(Token::is_capital)
}
