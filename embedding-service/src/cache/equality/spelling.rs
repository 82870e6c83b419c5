//! One spelling: a slip of the typist and a British word, where they stand as words and are not what the text is about. Which word is meant by a
//! slip is in `slips`.

use super::{
    changes,
    slips::{may_be_slip, meant, meant_at_start},
    token::{Kind, Token, is_any_of},
    words::{american, is_in},
    writing::says_much,
};

/// Words that may be slips, in a text that has some.
const MOST_SLIPS: usize = 6;

/// One spelling, without slips.
pub(super) fn spelt(tokens: &mut [Token], is_known: &dyn Fn(&str) -> bool) {
    let is_programmed = tokens.iter().any(|token| is_in("programmed", &token.text.to_lowercase()));
    // A package may have the name of a slip.
    if tokens.iter().any(|token| {
        is_any_of(token, "install uninstall import update upgrade configure package module library")
    }) {
        return;
    }
    // "How common is definately?"
    let is_judged = tokens.iter().any(|token| is_in("judged", &token.text.to_lowercase()));
    // "Who stars in humour me?"
    let names_somebody = tokens.first().is_some_and(|first| first.is("who"));
    let company = tokens.iter().filter(|token| says_much(token)).count();
    // Each takes a look at hundreds of words. A text with many is of a trade.
    let may_slip =
        tokens.iter().filter(|token| may_be_slip(&token.text, is_known)).take(MOST_SLIPS + 1).count()
            <= MOST_SLIPS;
    let mut is_naming = false;
    let mut new = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let follows = std::mem::replace(&mut is_naming, is_in("naming", &token.text));
        let is_alone = company == usize::from(says_much(token));
        // "What is teh?"
        let is_meant = is_judged || follows || is_named(tokens, at) || is_alone && token.text.len() < 5;
        if !token.is_plain() || is_meant {
            continue;
        }
        let mended = match at {
            0 => meant_at_start(&token.text).map(str::to_owned),
            _ => meant(&token.text, is_known)
                .filter(|slip| {
                    may_slip
                        && (company > 1 || tokens.len() > 5)
                        && !is_called(tokens, at)
                        && if slip.is_famous {
                            is_of_one(tokens, at)
                        } else {
                            may_be_no_name(tokens, at, &slip.meant)
                        }
                })
                .map(|slip| slip.meant),
        };
        let american = american(mended.as_deref().unwrap_or(&token.text)).filter(|_| {
            (is_used(tokens, at) || company > 2 && is_of_a_kind(tokens, at))
                && !is_programmed
                && !is_alone
                && !names_somebody
        });
        new.extend(american.map(str::to_owned).or(mended).map(|word| (at, word)));
    }
    for (at, word) in new {
        if let Some(token) = tokens.get_mut(at) {
            token.text = word;
        }
    }
}

/// Whether a slip stands where a name in small letters does not: "a wool carpte", "which vacinations", "to remvoe", but not "who is wizrd", "love
/// wizrd" and "does wizrd use".
fn may_be_no_name(tokens: &[Token], at: usize, meant: &str) -> bool {
    /// So long a word is hardly somebody's name for himself.
    const LONG: usize = 9;
    const GRAMMAR: &str = "without before after because should would could about between during while through until against their there where which when what than then with from into these those every always never often";
    const SET: &str =
        "the a an my your his her its our their this these those some any many much no which what";
    const BEFORE: &str = "i you we they he she to not very too so most more less than how and or";
    const NAMED: &str = "domain trademark brand tattoo nickname username handle line";
    let before = |by: usize| at.checked_sub(by).and_then(|at| tokens.get(at));
    let is_set = |by: usize| {
        before(by).is_some_and(|token| {
            is_any_of(token, SET) || token.text.starts_with(|digit: char| digit.is_ascii_digit())
        })
    };
    let is_named = tokens.iter().any(|token| is_any_of(token, NAMED));
    let next = at
        .checked_add(1)
        .and_then(|at| tokens.get(at))
        .filter(|next| !is_any_of(next, super::order::PREPOSITIONS));
    let is_kind =
        |by: usize| before(by).is_some_and(|kind| kind.kind == Kind::Word && !super::order::is_verb(kind));
    let follows_kind =
        is_kind(1) && (is_set(2) || is_kind(2) && is_set(3) && !next.is_some_and(Token::is_plain));
    let ends_as_no_name = tokens
        .get(at)
        .is_some_and(|word| ["s", "ing", "ed", "ly"].iter().any(|end| word.text.ends_with(end)));
    let is_long = tokens.get(at).is_some_and(|word| word.text.len() >= LONG);
    !is_named
        && (is_long
            || is_any_of(&Token::word(meant), GRAMMAR)
            || is_set(1)
            || before(1).is_some_and(|token| is_any_of(token, BEFORE))
            || follows_kind
            || ends_as_no_name)
}

/// "In an emergancy", "a buisness plan": with "the", a slip of which texts speak may be meant as it is ("find the seperate").
fn is_of_one(tokens: &[Token], at: usize) -> bool {
    at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|token| is_any_of(token, "a an my our your"))
}

/// "When was captial founded?": the name of something.
fn is_called(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let next = at.checked_add(1).and_then(|at| tokens.get(at));
    before.is_some_and(super::order::is_verb)
        && next.is_some_and(|next| super::contractions::is_participle(&next.text))
}

/// Whether a word is used and not spoken of or a title: "what colour is", "how do I organise my", but not "the colour of magic", "how many
/// bytes has the colour of", "the colour argument".
fn is_used(tokens: &[Token], at: usize) -> bool {
    let is = |at: Option<usize>, list: &str| {
        at.and_then(|at| tokens.get(at)).is_some_and(|token| is_any_of(token, list))
    };
    let before = |by: usize| at.checked_sub(by);
    let behind = |by: usize| at.checked_add(by);
    let is_verb = behind(1).and_then(|at| tokens.get(at)).is_some_and(super::order::is_verb);
    is(before(1), "what which") && at == 1 && is_verb
        || is(before(1), "of") && is(before(2), "symptoms causes signs treatment risks") && behind(1).and_then(|at| tokens.get(at)).is_none_or(Token::is_mark)
        // "How can I send an e-mail", "what is a good neighbour?", "tips for travelling"
        || is(before(1), "a an the my")
            && before(2).and_then(|at| tokens.get(at)).is_some_and(|verb| is_in("actions", &verb.text))
            && is(before(3), "i you")
            && is(before(5), "how")
        || behind(1).and_then(|at| tokens.get(at)).is_none_or(Token::is_mark)
            && (is(before(1), "a an") && is(before(2), "is") && is(before(3), "what")
                || is(before(2), "a an") && is(before(3), "is") && is(before(4), "what"))
        || at == 2 && is(before(1), "for") && is(before(2), "tips ideas advice")
        || is(before(1), "i you we they to")
            && (is(before(3), "how") || is(before(2), "how"))
            && is(behind(1), "the a an my your his her our their this these")
}

/// "What colours go well with blue?", "where do grey whales live?": no title ("the colour of magic"), no name of a program, and not two words
/// that are compared.
fn is_of_a_kind(tokens: &[Token], at: usize) -> bool {
    /// With these, the form of the word is asked about: "is colour preferred?"
    const OF_FORMS: &str = "editor editors newspaper newspapers publisher publishers journal journals dictionary dictionaries netflix hulu watch stream \
        domain domains resume name put prefer preferred popular search form forms \
        maths paediatric paediatrics paediatrician";
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let follows_the = before.is_some_and(|token| is_any_of(token, "the does did"));
    let is_asked =
        tokens.first().is_some_and(|first| is_any_of(first, "how what which where is can do does"));
    // "Which newspapers insist on colour": the word itself.
    let is_bare = tokens.get(at).is_some_and(|word| {
        ["our", "oured", "ise", "ised", "ising", "yse", "ysed", "lled", "lling", "re"]
            .iter()
            .any(|end| word.text.ends_with(end))
    }) && !tokens.get(at.saturating_add(1)).is_some_and(changes::is_plural)
        && !has_article(tokens, at);
    is_asked
        && !is_bare
        && !follows_the
        && tokens
            .iter()
            .skip(1)
            .all(|token| token.is_plain() && !token.is("or") || token.is_mark() && !token.is(","))
        && !tokens.iter().any(|token| is_any_of(token, OF_FORMS))
}

/// "A noisy neighbour", "the best colour", "my neighbour".
fn has_article(tokens: &[Token], at: usize) -> bool {
    let is = |by: usize, list: &str| {
        at.checked_sub(by).and_then(|at| tokens.get(at)).is_some_and(|token| is_any_of(token, list))
    };
    is(1, "a an the my his her our their") || is(2, "a an the")
}

/// Whether a word is the name of what is called so beside it: "the lenght function".
fn is_named(tokens: &[Token], at: usize) -> bool {
    let beside = [at.checked_sub(1), at.checked_add(1)].into_iter().flatten();
    let is_called = |token: &Token| is_in("named", &token.text) || is_in("searched", &token.text);
    // "What does normalise do?", "is it seperate?"
    let is_subject = match tokens.get(..at) {
        Some([.., is, it]) if it.is("it") => {
            is.text.eq_ignore_ascii_case("is") && tokens.len() == at.saturating_add(1)
        }
        Some([wh, does]) => {
            ["what", "who", "when"].iter().any(|word| wh.text.eq_ignore_ascii_case(word))
                && matches!(does.text.as_str(), "does" | "did")
                && tokens.get(at).is_some_and(|token| token.text.len() > 3)
        }
        _ => false,
    };
    is_subject || beside.filter_map(|at| tokens.get(at)).any(is_called)
}
