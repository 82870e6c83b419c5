//! Whether two questions are the same, so that one answer serves both. Embeddings put opposites side by side ("with", "without";
//! 15 and 50), so a semantic cache has to look at the words.
//!
//! Two texts are the same if a closed list of changes that keep the meaning brings both to one form: those of `changes.txt`, each
//! group with its reason, and those of [`writing`] (spelling, contractions, slips, numbers) and [`order`] (phrases that may stand in two
//! places). Everything that no entry names is compared to the letter and in its order: another word, sign, capital or line break
//! is another question. In doubt two texts are not the same: a miss costs one request, a wrong answer costs trust.

mod changes;
mod order;
mod token;
mod words;
mod writing;

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
    a == b || a.len().max(b.len()) <= LONGEST && form(a).is_some_and(|of_a| form(b) == Some(of_a))
}

/// What is left of a text after all changes. Texts of one form are the same question.
#[derive(Debug, PartialEq, Eq)]
struct Form {
    words: Vec<String>,
    /// What follows a colon or a line break: material, as it stands.
    given: String,
}

impl Form {
    /// Returns `None` for a text that only its repetition equals.
    fn of(text: &str, is_known: &dyn Fn(&str) -> bool) -> Option<Self> {
        let Text { mut tokens, given, is_about_words } = Text::read(text)?;
        let is_asked = end_marks(&mut tokens, given.is_empty());
        writing::with_full_forms(&mut tokens, is_about_words);
        writing::with_small_starts(&mut tokens);
        if !is_about_words {
            writing::spelt(&mut tokens, is_known);
            writing::with_numbers(&mut tokens);
        }
        for _ in 0..ROUNDS {
            order::with_what(&mut tokens);
            let may_move = given.is_empty() && !is_about_words;
            let is_changed = changes::without_courtesy(&mut tokens, is_about_words)
                || may_move && order::without_front(&mut tokens)
                || changes::applied(&mut tokens, given.is_empty());
            if !is_changed {
                break;
            }
        }
        if !is_about_words {
            order::settled(&mut tokens);
        }
        if is_asked && !tokens.first().is_some_and(words::begins_a_question) {
            tokens.push(Token { kind: Kind::Mark, ..Token::word("?") });
        }
        let words = tokens.into_iter().map(|token| token.text).collect();
        Some(Self { words, given })
    }
}

/// Takes the marks from the end of a text. Returns whether there was a question mark.
fn end_marks(tokens: &mut Vec<Token>, is_end: bool) -> bool {
    let mut is_asked = false;
    while is_end && tokens.last().is_some_and(|last| last.kind == Kind::Mark && last.text != ",") {
        is_asked |= tokens.pop().is_some_and(|mark| mark.text == "?");
    }
    is_asked
}

#[cfg(test)]
mod tests;
