//! Whether two questions are the same, so that one answer serves both. Embeddings put opposites side by side ("with", "without";
//! 15 and 50), so a semantic cache has to look at the words.
//!
//! Two texts are the same if a closed list of changes that keep the meaning brings both to one form: those of `changes.txt`, each
//! group with its reason, and those of [`writing`], [`spelling`], [`numbers`], [`contractions`], [`courtesy`], [`front`], [`order`] and [`sides`]
//! (what may stand in two places). Everything that no entry names is compared to the letter and in its order: another word, sign, capital or line break
//! is another question. In doubt two texts are not the same: a miss costs one request, a wrong answer costs trust.

mod changes;
mod contractions;
mod courtesy;
mod end;
mod front;
mod matter;
mod numbers;
mod order;
mod sides;
mod slips;
mod spelling;
mod token;
mod words;
mod writing;

use self::courtesy::Courtesy;
use self::end::{Beginning, End, asks, end_marks, may_be_short};
use self::matter::{has_two_ways, is_about_itself, is_about_marks, is_looked_for};
use self::token::{Kind, Text, Token};

/// Longer texts, in bytes, are compared as they stand: rewordings are short, and what is pasted into a prompt is its matter.
const LONGEST: usize = 1_000;
/// Changes are applied until nothing changes, at most so often.
const ROUNDS: usize = 12;

/// Whether the answer to one text may serve the other. Symmetric. `is_known`: whether a word in lower case is one, as far as a
/// vocabulary goes; a slip of the typist is mended only where no second word is near.
#[must_use]
pub fn asks_the_same(a: &str, b: &str, is_known: &dyn Fn(&str) -> bool) -> bool {
    let form = |text| Form::of(text, is_known);
    a == b
        || a.len().max(b.len()) <= LONGEST
            && form(a).zip(form(b)).is_some_and(|(of_a, of_b)| {
                of_a.words == of_b.words && of_a.given == of_b.given && !of_a.says_what_is_asked_by(&of_b)
            })
}

/// What is left of a text after all changes. Texts of one form are the same question.
struct Form {
    words: Vec<String>,
    /// What follows a colon or a line break: material, as it stands.
    given: String,
    /// The full stop or the question mark at its end says something: "Was great at the time." and "Was great at the time?"
    mark: Option<End>,
}

impl Form {
    /// Whether one of the two states what the other asks.
    fn says_what_is_asked_by(&self, other: &Self) -> bool {
        let is = |one: &Self, end| one.mark == Some(end);
        is(self, End::Stopped) && is(other, End::Asked) || is(self, End::Asked) && is(other, End::Stopped)
    }

    /// Returns `None` for a text that only its repetition equals.
    fn of(text: &str, is_known: &dyn Fn(&str) -> bool) -> Option<Self> {
        let Text { mut tokens, given, is_about_words } = Text::read(text)?;
        if given.is_empty() && is_about_itself(&tokens) {
            return None;
        }
        let is_about_marks = is_about_marks(&tokens);
        writing::with_values(&mut tokens);
        let mut end = end_marks(&mut tokens, given.is_empty());
        let is_matter = is_looked_for(&tokens) || has_two_ways(&tokens, is_known);
        if !is_matter {
            contractions::with_full_forms(&mut tokens, is_about_words);
        }
        let is_about_words = is_about_words || is_matter;
        writing::with_small_starts(&mut tokens, !is_about_words);
        let with_one_writing = |tokens: &mut Vec<Token>| {
            if !is_about_words && !writing::may_be_meant(tokens) {
                spelling::spelt(tokens, is_known);
                // "Shoudl I".
                writing::with_small_i(tokens);
                numbers::with_numbers(tokens);
            }
        };
        with_one_writing(&mut tokens);
        let begun_as = Beginning::of(&tokens);
        let is_short = may_be_short(&tokens);
        let mut is_asking = false;
        while courtesy::without_thanks(&mut tokens, is_about_words, end == End::Asked) {
            let before = end_marks(&mut tokens, true);
            // "What is a hedge fund, please?"
            end = if before == End::Plain && end == End::Asked { end } else { before };
        }
        for _ in 0..ROUNDS {
            let may_move = given.is_empty() && !is_about_words;
            let courtesy = courtesy::without_courtesy(&mut tokens, is_about_words);
            is_asking |= courtesy == Some(Courtesy::Asking);
            if courtesy.is_some() {
                // What follows is a text of its own.
                with_one_writing(&mut tokens);
            }
            let is_changed = courtesy.is_some()
                || may_move && front::without_front(&mut tokens)
                || changes::applied(&mut tokens);
            if !is_changed {
                break;
            }
        }
        if !is_about_words {
            order::with_early_not(&mut tokens);
        }
        // The sides of a comparison may be given below, in their order.
        if !is_about_words && given.is_empty() {
            sides::with_sorted_sides(&mut tokens);
        }
        if is_asking && matches!(end, End::Plain | End::Stopped) {
            end = End::Asked;
        }
        let mark = match end {
            End::Asked if is_about_marks || !asks(&tokens) || begun_as.is_offer(&tokens) => Some("?"),
            End::Exclaimed | End::Both => Some("!"),
            End::Open => Some("..."),
            _ => None,
        };
        if end == End::Stopped && (is_about_marks || is_short && may_be_short(&tokens)) {
            tokens.push(Token { kind: Kind::Mark, ..Token::word(".") });
        }
        // "Could you explain X?" and "explain X." are one.
        let says_nothing = begun_as.is_asked_for || end == End::Stopped && begun_as.is_order;
        let own_mark = matches!(end, End::Stopped | End::Asked).then_some(end).filter(|_| !says_nothing);
        tokens.extend(mark.map(|mark| Token { kind: Kind::Mark, ..Token::word(mark) }));
        let words = tokens.into_iter().map(|token| token.text).collect();
        Some(Self { words, given, mark: own_mark })
    }
}

#[cfg(test)]
mod tests;
