//! Whether a question says all that it is about, so that a greeting before it and thanks behind it belong to nothing.

use super::{
    super::{
        changes::is_whole,
        numbers,
        order::is_verb,
        token::{Token, is_any_of, is_lost},
        words::{is_in, is_in_any},
        writing,
    },
    ROUNDS, without_opening,
};

/// Words that say much, in a question that may have a greeting of one word before it.
pub(super) const MUCH: usize = 5;
/// The same behind a greeting of two words.
pub(super) const SOME: usize = 3;
/// The same behind a longer one.
pub(super) const FEW: usize = 2;
/// The same, of what who asks does or may do.
const MUCH_OF_WRITER: usize = 2;

/// Whether a text names all that it is about, so that a greeting before it or thanks behind it are not what it is about.
pub(super) fn is_of_itself(text: &[Token], least: usize) -> bool {
    let is_end = |token: &&Token| token.is_mark() && !token.is(",");
    let len = text.len().saturating_sub(text.iter().rev().take_while(|token| is_end(token)).count());
    let mut rest = text.get(..len).unwrap_or_default().to_vec();
    for _ in 0..ROUNDS {
        let is_of_talk = rest.iter().any(|token| is_in("of_talk", &token.text));
        if is_whole(&rest) && !is_of_talk || names_its_matter(&rest, least) {
            return true;
        }
        if without_opening(&mut rest, false, true).is_none() {
            return false;
        }
    }
    false
}

/// Whether a question says enough of what it asks for that no greeting is a part of it, and points at nothing.
fn names_its_matter(text: &[Token], least: usize) -> bool {
    const OF_OTHERS: &str = "instead else such other another more less better worse rather";
    let says = text.iter().filter(|token| writing::says_much(token)).count();
    // "Hello, suggest some friendlier options": than it.
    let compares = !text.iter().any(|token| token.is("than"))
        && text.iter().any(|token| {
            is_any_of(token, OF_OTHERS)
                || token.is_plain() && token.text.len() > 5 && token.text.ends_with("ier")
        });
    // "Hello, how many copies did Adele sell?"
    let is_history = text.iter().any(|token| is_any_of(token, "did was were had has won"))
        && text.iter().skip(1).any(|token| token.is_capital() && token.text.len() > 1);
    // "Hello, hey, which should I choose": of the two.
    let chooses = matches!(text, [which, verb, ..] if which.is("which") && is_verb(verb));
    if compares || is_history || chooses {
        return false;
    }
    let is_question = text.first().is_some_and(|first| is_in("questions", &first.text));
    // "Can I freeze hummus", "can my employer read my mail", "how do I change the address": what who asks does, and to what.
    let is_of_writer = match text {
        // "Hello, can I teach my parrot": it.
        [can, who, _, _, ..] if is_any_of(can, "can should") && is_any_of(who, "i my") => {
            says > MUCH_OF_WRITER
        }
        [how, do_, i, _, rest @ ..] => {
            how.is("how")
                && is_any_of(do_, "do can should")
                && i.is("i")
                && rest.iter().any(|token| is_any_of(token, "a an my"))
        }
        _ => false,
    };
    let is_told = tells_then_asks(text);
    let least = match () {
        () if is_of_writer => MUCH_OF_WRITER,
        () if is_question => least,
        () => MUCH,
    };
    says >= least
        && (is_question
            || is_told
            || text.first().is_some_and(|first| {
                is_any_of(first, "explain describe list compare summarize recommend suggest")
                    && text.get(1).is_some_and(|next| {
                        is_any_of(next, "the a an what how why some") || numbers::small_number(next).is_some()
                    })
            }))
        && !text.iter().enumerate().any(|(at, token)| {
            !is_bound_within(text, at)
                && !is_lost(text, at)
                && is_in_any(
                    &["of_talk", "languages", "about_words", "about_talk", "works"],
                    &token.text.to_lowercase(),
                )
        })
}

/// "I was charged twice, how do I get a refund": what happened to who asks, and a question about it.
fn tells_then_asks(text: &[Token]) -> bool {
    let asks = |rest: &[Token]| rest.first().is_some_and(|first| is_in("questions", &first.text));
    text.first().is_some_and(|first| is_any_of(first, "i my"))
        && text
            .iter()
            .enumerate()
            .filter(|(_, token)| token.is_mark())
            .any(|(at, _)| text.get(at.saturating_add(1)..).is_some_and(asks))
}

/// "Is it legal to", "an order that has not shipped": it points at what stands beside it.
fn is_bound_within(text: &[Token], at: usize) -> bool {
    let before = |by: usize| at.checked_sub(by).and_then(|at| text.get(at));
    let behind = |by: usize| text.get(at.saturating_add(by));
    let is = |token: Option<&Token>, list: &str| token.is_some_and(|token| is_any_of(token, list));
    let is_plain = |token: Option<&Token>| token.is_some_and(Token::is_plain);
    let token = text.get(at);
    is(token, "there") && at == 1 && is(before(1), "is are") && is(behind(1), "a an any")
        || is(token, "it") && at == 1 && is(before(1), "is") && is_plain(behind(1)) && is(behind(2), "to")
        || is(token, "that")
            && is_plain(before(1))
            && is(before(2), "a an the my")
            && is(behind(1), "has have is are was were does do did can will")
}
