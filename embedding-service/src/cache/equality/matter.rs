//! Whether the writing of a text is its matter: then a slip is no slip, and every sign of it counts.

use super::token::{Token, is_any_of};
use super::{contractions, numbers, order, spelling, words};

/// "Is this a question?", "how many tokens is this?": without anything else that "this" could be, every sign of the text counts.
pub(super) fn is_about_itself(tokens: &[Token]) -> bool {
    const BEHIND: &str = "a an the in with of as to too and or so right correctly end begin start all it";
    tokens.iter().enumerate().any(|(at, token)| {
        let next = tokens.get(at.saturating_add(1));
        let is_alone = next.is_none_or(|next| {
            next.is_mark()
                || order::is_verb(next)
                || contractions::is_participle(&next.text)
                || BEHIND.split(' ').any(|word| next.is(word))
        });
        token.text.eq_ignore_ascii_case("this") && is_alone
            || token.is("here") && next.is_none_or(Token::is_mark)
    }) || is_about_its_writer(tokens)
}

/// "What's the first word of my message?", "did I start with a capital letter?", "how kind am I?", "is the first letter a vowel?"
fn is_about_its_writer(tokens: &[Token]) -> bool {
    const TEXTS: &str = "message question prompt request query input sentence wording phrasing spelling grammar tone style typing punctuation capitalization capitalisation";
    const PLACES: &str = "first second third fourth last final longest shortest opening closing";
    const PARTS: &str = "word words letter letters character characters mark sign symbol";
    const DONE: &str = "use used write written wrote type typed say said ask asked end ended start started begin began spell spelled greet greeted \
        sound send sent just";
    let is = |at: usize, list: &str| tokens.get(at).is_some_and(|token| is_any_of(token, list));
    let is_of_words = tokens.iter().any(|token| words::are_about_words(&token.text));
    (0..tokens.len()).any(|at| {
        let next = |by: usize| at.saturating_add(by);
        is(at, "my") && (is(next(1), TEXTS) || is(next(2), TEXTS))
            || is_of_words
                && is(at, TEXTS)
                && at.checked_sub(1).is_some_and(|before| is(before, "the your current last previous user's"))
            || is(at, "my the") && is(next(1), PLACES) && is(next(2), PARTS) && !is(next(3), "of in")
            || is(at, "did have") && is(next(1), "i") && is(next(2), DONE)
            || is(at, "i") && is(next(1), "just wrote typed asked spelled")
            || is(at, "how")
                && (is(next(2), "am") && is(next(3), "i") || is(next(2), "i") && is(next(3), "am sound"))
            || is(at, "am")
                && is(next(1), "i")
                && tokens.get(next(2)).is_some_and(|doing| doing.text.ends_with("ing"))
    })
}

/// Whether a text asks for marks or for how much is written, so that the mark at its end is its matter: "does it end in a period, I am here."
pub(super) fn is_about_marks(tokens: &[Token]) -> bool {
    const PUNCTUATION: &str =
        "punctuation punctuate period periods dot dots bytes tokens characters chars symbols";
    const BEFORE: &str = "question exclamation full last final closing end many what which final";
    const MARKS: &str = "mark marks stop stops symbol character char sign";
    tokens.iter().any(|token| is_any_of(token, PUNCTUATION))
        || tokens.windows(2).any(|two| match two {
            [before, mark] => is_any_of(before, BEFORE) && is_any_of(mark, MARKS),
            _ => false,
        })
}

/// Whether a word is looked for in a text: "Find seperate in the document", "remove colour from the list".
pub(super) fn is_looked_for(tokens: &[Token]) -> bool {
    let is = |list: &str, token: &Token| words::is_in(list, &token.text.to_lowercase());
    let has = |list: &str| tokens.iter().any(|token| is(list, token));
    let is_part = |three: &[Token]| match three {
        [into, _, whole] => {
            ["from", "to", "in", "into"].iter().any(|word| into.is(word)) && is("searched", whole)
        }
        _ => false,
    };
    has("searching") && has("searched") || has("editing") && tokens.windows(3).any(is_part)
}

/// Whether a text has one word in two ways of writing it: then it is about how they are written ("replace teh with the").
pub(super) fn has_two_ways(tokens: &[Token], is_known: &dyn Fn(&str) -> bool) -> bool {
    let mut spelt = tokens.to_vec();
    spelling::spelt(&mut spelt, is_known);
    let has = |text: &str| tokens.iter().any(|token| token.text == text);
    let is_spelt_twice =
        tokens.iter().zip(&spelt).any(|(before, after)| before.text != after.text && has(&after.text));
    let is_counted_twice = tokens.iter().filter_map(numbers::small_number).any(|number| has(&number));
    let mut full = tokens.to_vec();
    contractions::with_full_forms(&mut full, false);
    let pairs =
        |tokens: &[Token]| tokens.windows(2).filter(|two| matches!(two, [_, not] if not.is("not"))).count();
    let twice = |tokens: &[Token]| -> bool {
        let mut seen = std::collections::HashSet::new();
        let with_not = tokens.windows(2).filter(|two| matches!(two, [_, not] if not.is("not")));
        with_not.map(|two| two.first().map(|verb| verb.text.to_lowercase())).any(|verb| !seen.insert(verb))
    };
    is_spelt_twice || is_counted_twice || pairs(&full) > pairs(tokens) && twice(&full)
}
