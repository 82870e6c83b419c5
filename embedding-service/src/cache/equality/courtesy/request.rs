//! What is a request to an assistant after "can you" or "please", and what is asked of others or only about what is possible.

use super::super::{
    changes::{is_plain_clause, is_plural},
    numbers,
    token::{Kind, Token, is_any_of},
    words::{is_in, is_order_word},
};

/// "Can you explain X", "could you write a poem about Y", but not "can you write poems" and "could you write as a child".
pub(super) fn is_order(rest: &[Token], all: &[Token]) -> bool {
    let Some(first) = rest.first() else { return false };
    let is_polite = all
        .iter()
        .take_while(|token| **token != *first)
        .any(|token| is_any_of(token, "please kindly kind grateful"));
    if is_polite { is_polite_order(rest) } else { is_plain_order(rest) }
}

/// "Please explain X" and "please give me X", but not "please find the attached invoice" and "please remove your shoes": these are said to others.
pub(super) fn asks_for_text(rest: &[Token]) -> bool {
    let [first, next, ..] = rest else { return false };
    // "Please suggest a gift for my dad" is said to an assistant, "please list my visitors" to somebody who knows them.
    let is_mine = is_any_of(first, "explain define suggest recommend") && !is_of_reader(rest);
    if is_of_somebody(rest) && !is_mine {
        return !is_order_word(&first.text);
    }
    !is_order_word(&first.text)
        || is_any_of(first, "explain define describe summarize summarise tell suggest recommend translate")
        || is_any_of(first, "give write show") && is_any_of(next, "me us a an")
        || first.is("list") && (is_any_of(next, "the some all") || numbers::small_number(next).is_some())
}

/// "Please describe your symptoms", "please translate the enclosed letter", "a list of my emails".
fn is_of_somebody(rest: &[Token]) -> bool {
    is_of_reader(rest) || rest.iter().any(|token| is_any_of(token, "my our"))
}

/// "Your symptoms", "the letter below", but not "the primes below 50".
fn is_of_reader(rest: &[Token]) -> bool {
    rest.iter().enumerate().any(|(at, token)| {
        let is_limit = rest
            .get(at.saturating_add(1))
            .is_some_and(|next| next.text.starts_with(|digit: char| digit.is_ascii_digit()));
        is_any_of(token, "your yours yourself attached enclosed following")
            || is_any_of(token, "below above") && !is_limit
    })
}

/// "Can you summarize the plot of any movie?" asks what is possible.
pub(super) fn is_of_any(rest: &[Token]) -> bool {
    const ANY: &str = "any anything anyone anybody ever every everything each whatever whichever all image images photo photos picture \
        pictures video videos audio podcast podcasts website websites";
    rest.iter().any(|token| is_any_of(token, ANY))
}

fn is_polite_order(rest: &[Token]) -> bool {
    let Some(first) = rest.first().filter(|_| !is_of_any(rest)) else { return false };
    let has_object = || {
        rest.get(1).is_some_and(|next| {
            let is_named = next.kind == Kind::Other && !next.text.starts_with(|c: char| c.is_ascii_digit())
                || next.is_capital() && !is_in("languages", &next.text.to_lowercase());
            is_named || next.kind == Kind::Other || next.is("it") || is_in("objects", &next.text)
        })
    };
    let is_bare = rest.get(1).is_none_or(|next| next.is("to") || is_in("circumstances", &next.text));
    let is_of_many = matches!(rest, [_, things] if is_plural(things));
    is_in("orders", &first.text) && !is_bare && !is_of_many
        || is_in("orders_with_object", &first.text) && has_object()
}

/// Without "please", "can you" asks whether it is possible as well: "can you translate PDFs?", "can you define happiness?", "can you list
/// the reals?", "can you write a song about a real person?", "can you give me a cold?" So only what cannot be meant so: an explanation, or
/// something about something, for who asks.
fn is_plain_order(rest: &[Token]) -> bool {
    const POEMS: &str = "poem haiku limerick";
    /// What is a text, so that an assistant can give it.
    const TEXTS: &str = "poem haiku limerick story example examples definition recipe tip tips idea ideas";
    let is_reader = |token: &Token| token.is("me") || token.is("us");
    let [order, object @ ..] = rest else { return false };
    let (object, is_for_reader) = match object {
        [object @ .., to, me] if is_reader(me) && (to.is("to") || to.is("for")) => (object, true),
        [me, object @ ..] if is_reader(me) => (object, true),
        object => (object, false),
    };
    let Some(next) = object.first().filter(|_| !is_of_any(rest)) else { return false };
    // "The contents of a video", "a poem about a real person": of any one.
    let is_of_one = |after: usize| {
        !object.iter().skip(after).any(|token| is_any_of(token, "a an"))
            || object.get(1).is_some_and(|thing| is_any_of(thing, "difference example definition"))
    };
    // "The terms of contracts", but not "the difference between cats and dogs".
    let is_of_many =
        object.last().is_some_and(is_plural) && !object.get(1).is_some_and(|thing| thing.is("difference"));
    let is_plain = !object.iter().any(|token| {
        is_in("circumstances", &token.text)
            || is_in("repeated", &token.text)
            || ["to", "for", "as"].iter().any(|word| token.is(word))
            || token.is_mark()
    });
    let is_work = |kinds: &str| {
        let is_kind = |at: usize| object.get(at).is_some_and(|kind| is_any_of(kind, kinds));
        let is_about = |at: usize| {
            object.get(at).is_some_and(|about| is_any_of(about, "about of for"))
                && object.len() > at.saturating_add(1)
        };
        (is_any_of(next, "a an the") || next.kind == Kind::Other || numbers::small_number(next).is_some())
            && (is_kind(1) && is_about(2) || is_kind(2) && is_about(3))
            || next.is("a") && object.len() == 2 && object.last().is_some_and(|kind| is_any_of(kind, POEMS))
    };
    let is_free = !object.iter().any(|token| {
        is_in("repeated", &token.text)
            || token.is_mark()
            || token.text.ends_with("ly")
            || is_in("circumstances", &token.text)
    });
    let is_text = matches!(object, [this, text, ..] if this.is("this") && is_any_of(text, "text sentence paragraph article essay letter email code into to"));
    match order.text.as_str() {
        "explain" | "explaining" | "clarify" if is_in("questions", &next.text) => {
            object.len() > 1 && is_plain_clause(object)
        }
        "explain" | "explaining" => {
            is_plain && next.is("the") && object.len() > 2 && is_of_one(1) && !is_of_many
        }
        "define" | "describe" => {
            is_for_reader
                && is_plain
                && is_free
                && !is_of_many
                && !object.last().is_some_and(|last| last.text.ends_with("able"))
        }
        "give" | "write" | "show" | "tell" => {
            is_for_reader && is_free && is_work(TEXTS) && is_of_one(1) && !is_of_somebody(rest)
        }
        "recommend" | "suggest" => {
            is_plain
                && is_any_of(next, "a an")
                && object.iter().any(|word| word.is("about"))
                && is_work("book film movie")
                && is_of_one(1)
        }
        "summarize" | "summarise" => {
            is_plain
                && (next.is("this") || next.is("the") && object.iter().any(Token::is_capital))
                && is_of_one(1)
                && !is_of_many
        }
        "translate" => is_text && is_about_this(object),
        _ => false,
    }
}

/// "This letter", "this letter into Spanish".
fn is_about_this(object: &[Token]) -> bool {
    match object.get(1..).unwrap_or_default() {
        [_] => true,
        [.., into, language] => {
            object.len() < 5
                && (into.is("into") || into.is("to"))
                && is_in("languages", &language.text.to_lowercase())
        }
        _ => false,
    }
}
