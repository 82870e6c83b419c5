//! What of a text decides about its answer: the kind of question, and the words of content, each with the relation in which it
//! stands. Nothing is compared here.

use std::collections::BTreeSet;

use super::{
    equivalents::Key,
    lists::{
        is_comparison, is_dropped, is_format, is_language, is_loose_relation, is_negation, is_quantity,
        is_question_word, is_strict_relation, is_time, modal_of, person_of,
    },
    number::{is_date, is_unit},
    question::{Kind, without_asking, without_frame, without_thanks},
    token::{Shape, Token},
};
use crate::wording::stem;

/// What a word of content is, as far as a list or its shape tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Matter,
    Name,
    Number,
    Unit,
    Date,
    Time,
    Quote,
    Code,
    Sign,
    Negation,
    Quantity,
    Comparison,
    Question,
    Relation,
    Format,
    Language,
}

#[derive(Clone, Debug)]
pub(super) struct Item {
    pub class: Class,
    pub text: String,
    key: Key,
    pub is_name: bool,
    /// The preposition before it.
    pub relation: String,
    /// The preposition of the phrase in which it stands.
    pub phrase: String,
    pub is_negated: bool,
}

impl Item {
    /// Whether both stand for the same. Names, numbers, quotes and code have no inflections and no equivalents.
    pub fn is_like(&self, other: &Self) -> bool {
        let is_exact = |item: &Self| {
            item.is_name
                || matches!(
                    item.class,
                    Class::Number | Class::Quote | Class::Code | Class::Sign | Class::Name
                )
        };
        let has_shape = |item: &Self, class| item.class == class;
        let same_shape = [Class::Quote, Class::Code]
            .iter()
            .all(|class| has_shape(self, *class) == has_shape(other, *class));
        same_shape
            && (self.text == other.text
                || !is_exact(self) && !is_exact(other) && self.key.is_like(&other.key))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tense {
    Past,
    Present,
    Future,
    /// It fits the past and the present.
    Open,
}

impl Tense {
    pub fn agrees(self, other: Self) -> bool {
        self == other
            || self == Self::Open && other != Self::Future
            || other == Self::Open && self != Self::Future
    }
}

pub(super) struct Reading {
    pub kind: Kind,
    pub items: Vec<Item>,
    pub tense: Tense,
    pub modals: BTreeSet<&'static str>,
    pub persons: BTreeSet<char>,
    /// I and you, in their order.
    pub speakers: Vec<char>,
    /// Of whom something is asked: "am I", "are you".
    pub subject: Option<char>,
    /// "the time" is not "time".
    pub is_definite: bool,
}

impl Reading {
    pub fn of(tokens: &[Token]) -> Self {
        let asked = without_thanks(without_asking(tokens));
        let (kind, rest) = without_frame(asked);
        let mut modals: BTreeSet<&'static str> = rest
            .iter()
            .filter(|token| !is_acronym(token, tokens))
            .filter_map(|token| modal_of(&token.text))
            .collect();
        if rest.windows(2).any(|pair| matches!(pair, [need, to] if (need.is("need") || need.is("have") || need.is("has")) && to.is("to"))) {
            modals.insert("must");
        }
        let begins =
            |words: &[&str]| rest.first().is_some_and(|first| words.iter().any(|word| first.is(word)));
        let is_possible = || rest.iter().any(|token| token.is("possible") || token.is("able"));
        if kind == Kind::YesNo && (begins(&["can", "could"]) || begins(&["is", "are", "am"]) && is_possible())
        {
            modals.insert("can");
        }
        // "What can dogs eat" is not "what do dogs eat"; "where can I eat" is "where do I eat".
        for three in asked.windows(3) {
            let speaks = |token: &Token| {
                ["i", "we", "you", "one", "be", "it", "not"].iter().any(|word| token.is(word))
            };
            if let [before, verb, after] = three
                && kind != Kind::HowTo
                && matches!(verb.text.as_str(), "can" | "could" | "would")
                && !(speaks(before) || speaks(after))
            {
                modals.insert(if verb.is("would") { "would" } else { "can" });
            }
        }
        let speakers = rest.iter().filter_map(|token| match token.text.as_str() {
            "i" | "me" | "we" | "us" => Some('1'),
            "you" => Some('2'),
            _ => None,
        });
        let speakers = speakers.collect();
        let subject = asked.windows(2).find_map(|pair| match pair {
            [a, b] if a.is("am") && b.is("i") || a.is("i") && b.is("am") => Some('1'),
            [a, b] if a.is("are") && b.is("you") || a.is("you") && b.is("are") => Some('2'),
            _ => None,
        });
        Self {
            kind,
            speakers,
            subject,
            is_definite: asked.iter().any(|token| token.is("the")),
            tense: tense_of(asked, kind),
            modals,
            persons: rest.iter().filter_map(|token| person_of(&token.text)).collect(),
            items: items(&without_genitive(rest), tokens),
        }
    }
}

fn is_small_word(word: &str) -> bool {
    is_dropped(word) || is_strict_relation(word) || is_loose_relation(word) || is_question_word(word)
}

/// "France's capital" is "capital of France".
fn without_genitive(tokens: Vec<Token>) -> Vec<Token> {
    let mut places =
        tokens.iter().enumerate().filter(|(_, token)| token.shape == Shape::Genitive).map(|(at, _)| at);
    let (Some(place), None) = (places.next(), places.next()) else { return tokens };
    let (before, after) = tokens.split_at_checked(place).unwrap_or_default();
    let is_name = |token: &&Token| {
        token.shape == Shape::Word && token.raw.chars().next().is_some_and(char::is_uppercase)
    };
    let names = before.iter().rev().take_while(is_name).count().max(1);
    let (before, owner) = before.split_at_checked(before.len().saturating_sub(names)).unwrap_or_default();
    let after = after.get(1..).unwrap_or_default();
    let is_owned =
        |token: &&Token| token.shape == Shape::Word && !token.after_break && !is_small_word(&token.text);
    let owned = after
        .iter()
        .take_while(is_owned)
        .zip(0_usize..)
        .take_while(|(token, at)| *at == 0 || !is_name(token))
        .count();
    let (owned, after) = after.split_at_checked(owned).unwrap_or_default();
    let Some(of) = owner.first().map(|first| Token { after_break: false, ..Token::word("of", first) }) else {
        return tokens;
    };
    [before, owned, &[of], owner, after].concat()
}

fn tense_of(tokens: &[Token], kind: Kind) -> Tense {
    let has = |words: &[&str]| tokens.iter().any(|token| words.iter().any(|word| token.is(word)));
    let is_past = |token: &Token| {
        const NO_VERBS: &str =
            "children men women people persons indices indexes zeros zeroes goes going getting";
        token.shape == Shape::Word
            && (token.text.ends_with("ed") && token.text.len() > 4 && !token.text.ends_with("eed")
                || stem::is_irregular(&token.text) && !NO_VERBS.split(' ').any(|word| token.is(word)))
    };
    if has(&["will", "shall", "gonna"]) {
        Tense::Future
    } else if has(&["was", "were", "did", "had"]) {
        Tense::Past
    } else if has(&["has", "have"]) {
        Tense::Open
    } else if !has(&["is", "are", "am", "do", "does", "can", "should", "to"]) && tokens.iter().any(is_past) {
        Tense::Past
    } else if kind == Kind::Explain && !has(&["is", "are"]) {
        Tense::Open
    } else {
        Tense::Present
    }
}

/// Capitals all through: "US", "WHO", "IT" are no small words, unless all the text is written so.
fn is_acronym(token: &Token, all: &[Token]) -> bool {
    let is_upper =
        |raw: &str| raw.chars().count() > 1 && raw.chars().all(|c| c.is_uppercase() || c.is_numeric());
    let is_shouted = all
        .iter()
        .filter(|token| token.shape == Shape::Word && token.raw.chars().count() > 1)
        .all(|token| is_upper(&token.raw));
    token.shape == Shape::Word && is_upper(&token.raw) && !is_shouted
}

fn items(tokens: &[Token], all: &[Token]) -> Vec<Item> {
    let inner = || all.iter().filter(|token| token.shape == Shape::Word && !token.is_first);
    let is_capital =
        |token: &Token| token.raw.chars().next().is_some_and(char::is_uppercase) && token.text != "i";
    let capitals = inner().filter(|token| is_capital(token)).count();
    let is_title = capitals.saturating_mul(3) > inner().count().saturating_mul(2) && inner().count() > 3;
    let mut found: Vec<Item> = Vec::new();
    let mut state = Place::default();
    for (at, token) in tokens.iter().enumerate() {
        if token.after_break {
            state.phrase.clear();
        }
        let next = tokens.get(at.saturating_add(1));
        let is_own_word = is_acronym(token, all)
            || token.text == "a" && (next.is_none() || token.raw == "A" && !token.is_first && !is_title);
        let is_name = is_own_word
            || is_capital(token) && !token.is_first && !is_title
            || token.text.chars().any(|c| c.is_numeric() || c == '_');
        if token.shape != Shape::Word || is_own_word {
            found.extend(item(token, is_name, &mut state));
        } else if matches!(
            token.text.as_str(),
            "not"
                | "no"
                | "never"
                | "none"
                | "nobody"
                | "nothing"
                | "neither"
                | "nor"
                | "hardly"
                | "barely"
                | "scarcely"
                | "without"
        ) {
            // "Why does oil not mix" negates what "why doesn't oil mix" does.
            let after_and = at
                .checked_sub(1)
                .and_then(|at| tokens.get(at))
                .is_some_and(|before| before.is("and") || before.is("or") || before.is("but"));
            match found.as_mut_slice() {
                [subject] if token.is("not") && !after_and => {
                    let subject: &mut Item = subject;
                    subject.is_negated = !subject.is_negated;
                }
                _ => state.is_negated = !state.is_negated,
            }
            if token.is("without") {
                state.relate(&token.text);
            }
        } else if is_question_word(&token.text) {
            state.phrase.clear();
            found.extend(item(token, false, &mut state));
        } else if is_strict_relation(&token.text) || is_loose_relation(&token.text) {
            state.relate(&token.text);
        } else if (token.is("do") || token.is("done")) && next.is_none() {
            found.extend(item(token, false, &mut state));
        } else if is_dropped(&token.text)
            || modal_of(&token.text).is_some() && !is_name
            || person_of(&token.text).is_some()
        {
            if !matches!(
                token.text.as_str(),
                "a" | "an"
                    | "the"
                    | "this"
                    | "that"
                    | "these"
                    | "those"
                    | "my"
                    | "your"
                    | "his"
                    | "her"
                    | "its"
                    | "our"
                    | "their"
                    | "and"
                    | "any"
                    | "some"
            ) {
                state.phrase.clear();
            }
        } else {
            found.extend(item(token, is_name, &mut state));
        }
    }
    // "turn it off", "what is it for": a relation to nothing is matter itself; so is a negation.
    if !state.relation.is_empty() && state.relation != "at" {
        let text = std::mem::take(&mut state.relation);
        found.push(Item {
            class: Class::Relation,
            key: Key::of(&text),
            text,
            is_name: false,
            relation: String::new(),
            phrase: String::new(),
            is_negated: state.is_negated,
        });
    } else if state.is_negated {
        let text = "not".to_owned();
        found.push(Item {
            class: Class::Negation,
            key: Key::of(&text),
            text,
            is_name: false,
            relation: String::new(),
            phrase: String::new(),
            is_negated: false,
        });
    }
    found
}

/// Where in the sentence the reader is.
#[derive(Default)]
struct Place {
    relation: String,
    phrase: String,
    is_negated: bool,
}

impl Place {
    fn relate(&mut self, word: &str) {
        if !self.relation.is_empty() {
            self.relation.push(' ');
        }
        self.relation.push_str(word);
        self.phrase.clone_from(&self.relation);
    }
}

fn item(token: &Token, is_name: bool, place: &mut Place) -> Option<Item> {
    if token.shape == Shape::Genitive {
        place.relate("of");
        return None;
    }
    let class = match token.shape {
        Shape::Quote => Class::Quote,
        Shape::Code => Class::Code,
        Shape::Sign => Class::Sign,
        Shape::Number => Class::Number,
        _ => class_of(&token.text, is_name),
    };
    let key = Key::of(&token.text);
    // "WHO" is not "who", but "AI" is "ai".
    let is_small = is_name && (is_dropped(&token.text) || is_question_word(&token.text) || token.is("us"));
    let text = if is_small { &token.raw } else { &token.text };
    Some(Item {
        class,
        text: text.clone(),
        key,
        is_name,
        relation: std::mem::take(&mut place.relation),
        phrase: place.phrase.clone(),
        is_negated: std::mem::take(&mut place.is_negated),
    })
}

fn class_of(text: &str, is_name: bool) -> Class {
    type Test = fn(&str) -> bool;
    let classes: [(Class, Test); 10] = [
        (Class::Language, is_language),
        (Class::Date, is_date),
        (Class::Unit, is_unit),
        (Class::Negation, is_negation),
        (Class::Time, is_time),
        (Class::Comparison, is_comparison),
        (Class::Quantity, is_quantity),
        (Class::Question, is_question_word),
        (Class::Relation, is_strict_relation),
        (Class::Format, is_format),
    ];
    let listed = classes.iter().find(|(_, is_listed)| is_listed(text)).map(|(class, _)| *class);
    match listed {
        Some(class @ (Class::Language | Class::Date)) => class,
        _ if is_name => Class::Name,
        Some(class) => class,
        None => Class::Matter,
    }
}
