//! The same word in two ways of writing it: the capital at the beginning of a sentence, and "I". Spellings and slips are in `spelling`, numbers and
//! dates in `numbers`.

use super::{
    slips::meant_at_start,
    token::{Kind, Token, is_any_of},
    words::{is_in, is_start},
};

/// "floats" is "float". `None` for a word of which it cannot be told.
pub(super) fn without_s(verb: &str) -> Option<String> {
    let bare = verb.strip_suffix('s')?;
    let is_doubtful = ["s", "u", "i", "e", "a", "o"].iter().any(|end| bare.ends_with(end));
    (bare.len() > 2 && bare.chars().all(char::is_lowercase) && !is_doubtful).then(|| bare.to_owned())
}

/// The capital that only a sentence's beginning gives a word, and that of "I". Only for words that are no names.
pub(super) fn with_small_starts(tokens: &mut [Token], may_be_slip: bool) {
    let is_title = tokens.windows(2).next().is_some_and(|two| match two {
        // "The Trial", but not "The capital".
        [first, second] => matches!(first.text.as_str(), "The" | "A" | "An") && second.is_capital(),
        _ => false,
    });
    // "Make" and "Convert" are programs, "Just" is a brand, and "Steps" a band, but not in "make a list".
    let may_be_brand = tokens.first().is_some_and(|first| is_any_of(first, "make convert simple just steps"))
        && !tokens.get(1).is_some_and(|next| {
            is_in("objects", &next.text) || is_any_of(next, "to question wondering curious")
        });
    let follows_way = tokens.get(1).is_some_and(|next| next.is("way") || next.is("ways"));
    for token in tokens.iter_mut().skip(usize::from(is_title || may_be_brand)).filter(|token| token.is_first)
    {
        let mut letters = token.text.chars();
        let is_one = letters.next().is_some_and(char::is_uppercase) && !letters.any(char::is_uppercase);
        let small = token.text.to_lowercase();
        // "Best way to", but "Best" may be the player.
        let is_way = small == "best" && follows_way;
        // "I" has a rule of its own.
        if is_one && small != "i" {
            if let Some(meant) = meant_at_start(&small).filter(|_| may_be_slip) {
                meant.clone_into(&mut token.text);
            } else if is_start(&small) || is_way {
                token.text = small;
            }
        }
    }
    with_small_i(tokens);
}

/// "I" in either case, where it is no value of a program: "Should I depend on x?"
pub(super) fn with_small_i(tokens: &mut [Token]) {
    let has_value = tokens.iter().any(|token| {
        let mut letters = token.text.trim_end_matches(['.', '?', '!']).chars();
        letters.next().is_some_and(|first| first.is_lowercase() && !matches!(first, 'a' | 'i'))
            && letters.next().is_none()
    });
    let is_of_somebody = is_of_somebody(tokens);
    for at in 0..tokens.len() {
        let word =
            |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.text.as_str());
        let (before, after) = (word(at.checked_sub(1)).to_owned(), word(at.checked_add(1)).to_owned());
        // "When I increases": a value.
        let is_value = after.ends_with('s') && !matches!(after.as_str(), "was" | "always" | "perhaps");
        let is_pronoun = before != "does"
            && (is_of_somebody && before != "of"
                || is_in("before_i", &before)
                    && after.len() > 1
                    && !is_value
                    && !is_in("of_values", &after)
                    && !is_in("between_values", &after)
                || is_in("after_i", &after));
        if let Some(token) = tokens.get_mut(at).filter(|token| token.text == "I" && is_pronoun && !has_value)
        {
            "i".clone_into(&mut token.text);
        }
    }
}

/// "Should I sell my car?": no value has a car.
fn is_of_somebody(tokens: &[Token]) -> bool {
    let i = tokens.iter().position(|token| is_any_of(token, "i I"));
    // "Why did i go negative in my loop?"
    let is_of_code = tokens.iter().any(|token| {
        is_any_of(
            token,
            "loop code program function script circuit formula equation array algorithm recursion index",
        )
    });
    !is_of_code
        && i.is_some_and(|at| tokens.iter().skip(at).any(|token| is_any_of(token, "my me mine our myself")))
}

/// Marks an "i" that may be the value of a program: "can i go below zero?", "when should i reset?", "when i hit 10". Of a value one says "does"
/// and "has", so in "how do i", "if i have" and "i am" it is nobody else's.
pub(super) fn with_values(tokens: &mut [Token]) {
    const OF_I: &str = "am have want need do think know wonder get";
    // "Should i sell my car?" is of somebody.
    if is_of_somebody(tokens) {
        return;
    }
    for at in 0..tokens.len() {
        let is = |at: Option<usize>, list: &str| {
            at.and_then(|at| tokens.get(at)).is_some_and(|token| is_any_of(token, list))
        };
        let before = |by: usize| at.checked_sub(by);
        let next = at.checked_add(1);
        let is_how = is(before(2), "how How")
            && is(before(1), "can")
            && next.and_then(|next| tokens.get(next)).is_some_and(|verb| is_in("actions", &verb.text));
        let is_pronoun = is(before(1), "do") || is(next, OF_I) || is_how;
        if let Some(token) = tokens.get_mut(at).filter(|token| token.text == "i" && !is_pronoun) {
            token.kind = Kind::Other;
            "i as it stands".clone_into(&mut token.text);
        }
    }
}

/// Whether a word may be meant as it is written: in code, in games of letters, beside a single letter.
pub(super) fn may_be_meant(tokens: &[Token]) -> bool {
    let is_letter = |text: &str| text.chars().count() == 1 && text.chars().all(char::is_alphabetic);
    tokens.iter().any(|token| {
        let lower = token.text.to_lowercase();
        is_in("written", &lower)
            || token.kind == Kind::Word && is_letter(&lower) && lower != "a" && lower != "i"
    })
}

/// Whether a word says what a text is about.
pub(super) fn says_much(token: &Token) -> bool {
    token.kind == Kind::Word && token.text.len() > 2 && !is_in("little", &token.text.to_lowercase())
}
