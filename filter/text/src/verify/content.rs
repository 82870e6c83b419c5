//! Which words of content of two texts stand for the same, and what it means that one has no counterpart.

use super::{
    Contradiction,
    order::Pair,
    reading::{Class, Item},
    token::{Shape, Token},
};

pub(super) struct Matched<'a> {
    /// In the order of the first text.
    pub pairs: Vec<Pair<'a>>,
    /// Of both.
    pub unmatched: Vec<&'a Item>,
}

pub(super) fn matched<'a>(a: &'a [Item], b: &'a [Item]) -> Matched<'a> {
    let mut free: Vec<Option<&Item>> = b.iter().map(Some).collect();
    let mut pairs = Vec::new();
    let mut rest = Vec::new();
    for (at, item) in a.iter().enumerate() {
        // To the letter before by sense: "sort a type" has both.
        let same = |exact: bool| {
            move |other: &Option<&Item>| {
                other.is_some_and(|other| {
                    if exact { item.text == other.text && item.is_like(other) } else { item.is_like(other) }
                })
            }
        };
        let place = free.iter().position(same(true)).or_else(|| free.iter().position(same(false)));
        match place.and_then(|place| free.get_mut(place).and_then(Option::take).map(|other| (place, other))) {
            Some((place, other)) => pairs.push((at, place, item, other)),
            None => rest.push(item),
        }
    }
    let mut others: Vec<&Item> = free.into_iter().flatten().collect();
    without_initials(&mut rest, &mut others);
    without_initials(&mut others, &mut rest);
    rest.append(&mut others);
    Matched { pairs, unmatched: rest }
}

/// "AI" stands for "artificial intelligence": all that only the other text has, letter by letter.
fn without_initials<'a>(short: &mut Vec<&'a Item>, long: &mut Vec<&'a Item>) {
    let [only] = short.as_slice() else { return };
    let initials: String = long.iter().filter_map(|item| item.text.chars().next()).collect();
    let is_plain =
        long.iter().all(|item| matches!(item.class, Class::Matter | Class::Name) && !item.is_negated);
    let is_like = long.len() > 1 && long.len() < 6 && only.text == initials && is_plain && !only.is_negated;
    if is_like {
        short.clear();
        long.clear();
    }
}

/// "log in" where the other text has "login", "e-mail" where it has "email".
pub(super) fn joined(tokens: Vec<Token>, other: &[Token]) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        if let Some(last) = found.last_mut()
            && last.shape == Shape::Word
            && token.shape == Shape::Word
            && !token.after_break
        {
            let both = [last.text.as_str(), token.text.as_str()].concat();
            if both.len() > 4 && other.iter().any(|other| other.shape == Shape::Word && other.text == both) {
                last.text = both;
                continue;
            }
        }
        found.push(token);
    }
    found
}

/// Why a word that only one text has speaks against it.
pub(super) fn objection(item: &Item) -> Contradiction {
    match item.class {
        Class::Matter => Contradiction::Matter,
        Class::Name => Contradiction::Name,
        Class::Number => Contradiction::Number,
        Class::Unit => Contradiction::Unit,
        Class::Date => Contradiction::Date,
        Class::Time => Contradiction::Time,
        Class::Quote => Contradiction::Quote,
        Class::Code => Contradiction::Code,
        Class::Sign => Contradiction::Sign,
        Class::Negation => Contradiction::Negation,
        Class::Quantity => Contradiction::Quantity,
        Class::Comparison => Contradiction::Comparison,
        Class::Question => Contradiction::Question,
        Class::Relation => Contradiction::Direction,
        Class::Format => Contradiction::Format,
        Class::Language => Contradiction::Language,
    }
}
