//! What stands on both sides of a symmetric word: "the difference between A and B" is "the difference between B and A".

use super::{
    changes::is_plural,
    numbers::small_number,
    token::{Kind, Token, is_any_of},
    words::is_in,
};

/// What stands before and behind the two sides of a symmetric question, and what joins them. `er` is an adjective that compares.
struct Frame {
    before: &'static str,
    behind: &'static str,
    joined_by: &'static str,
}

const FRAMES: [Frame; 12] = {
    const fn of(before: &'static str, behind: &'static str) -> Frame {
        Frame { before, behind, joined_by: "and" }
    }
    const fn between(before: &'static str, behind: &'static str) -> Frame {
        Frame { before, behind, joined_by: "or" }
    }
    [
        of("what is the difference between", ""),
        of("what is the distance between", ""),
        of("compare", ""),
        of("what do", "have in common"),
        of("how do", "differ"),
        of("how are", "related"),
        of("how are", "different"),
        of("can i mix", ""),
        of("can i take", "together"),
        between("which is er ,", ""),
        between("is", "er"),
        between("are", "er"),
    ]
};

/// "the difference between A and B" is "the difference between B and A".
pub(super) fn with_sorted_sides(tokens: &mut [Token]) {
    let text = |side: &[Token]| side.iter().map(|token| token.text.clone()).collect::<Vec<_>>();
    let is_word = |token: &Token, word: &str| match word {
        "er" => {
            token.is_plain()
                && (token.text.len() > 4 && token.text.ends_with("er") || is_any_of(token, "better worse"))
        }
        word => token.is(word),
    };
    let is = |tokens: &[Token], words: &str| {
        tokens.len() == words.split_ascii_whitespace().count()
            && tokens.iter().zip(words.split_ascii_whitespace()).all(|(token, word)| is_word(token, word))
    };
    // "Compare Madrid and Rome for a weekend"
    let tail = match tokens {
        [compare, ..] if compare.is("compare") => tokens.iter().position(|token| token.is("for")),
        _ => None,
    };
    let end = tail.unwrap_or(tokens.len());
    let tokens = tokens.get_mut(..end).unwrap_or_default();
    for Frame { before, behind, joined_by } in FRAMES {
        let len = |words: &str| words.split_ascii_whitespace().count();
        let Some(end) = tokens.len().checked_sub(len(behind)).filter(|end| *end > len(before)) else {
            continue;
        };
        let Some((rest, last)) = tokens.split_at_mut_checked(end) else { continue };
        let Some((first, sides)) = rest.split_at_mut_checked(len(before)) else { continue };
        if is(first, before)
            && is(last, behind)
            && let Some((one, other)) = sides_of(sides, joined_by)
            && are_of_one_form(before, one, other)
            && text(one) > text(other)
        {
            let after_and = one.len().saturating_add(1);
            sides.rotate_left(after_and);
            let and = sides.len().saturating_sub(after_and);
            sides.get_mut(and..).unwrap_or_default().rotate_right(1);
        }
    }
}

/// "Compare notes and report" tells somebody to do two things, and the distance between two tones has a direction.
fn are_of_one_form(before: &str, one: &[Token], other: &[Token]) -> bool {
    let are_names = [one, other].iter().all(|side| side.last().is_some_and(Token::is_capital));
    let are =
        |is: fn(&Token) -> bool| [one, other].iter().filter(|side| side.last().is_some_and(is)).count() != 1;
    let have_articles = (one.len() > 1) == (other.len() > 1);
    if before.ends_with("distance between") {
        return are_names;
    }
    let is_order = before == "compare";
    have_articles
        && are(Token::is_capital)
        && (!is_order
            || are_names
            || one.len() > 1
            || [one, other].iter().all(|side| side.last().is_some_and(is_plural)))
}

/// The sides of "frogs and toads" and "a frog and a toad", each of which is one word: in "a gas and an electric stove" the first lacks its
/// noun. The difference of two numbers, days or letters has a sign, and so may that of "the GDP of France and Germany".
pub(super) fn two_sides(sides: &[Token]) -> Option<(&[Token], &[Token])> {
    sides_of(sides, "and")
}

fn sides_of<'t>(sides: &'t [Token], joined_by: &str) -> Option<(&'t [Token], &'t [Token])> {
    let and = sides.iter().position(|token| token.is(joined_by))?;
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
        [article, word] => is_any_of(article, "a an") && is_thing(word),
        _ => false,
    };
    (is_side(one) && is_side(other)).then_some((one, other))
}
