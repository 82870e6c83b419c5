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
        let mut end = end_marks(&mut tokens, given.is_empty());
        let is_matter = is_looked_for(&tokens) || has_two_ways(&tokens, is_known);
        if !is_matter {
            writing::with_full_forms(&mut tokens, is_about_words);
        }
        let is_about_words = is_about_words || is_matter;
        writing::with_small_starts(&mut tokens);
        if !is_about_words && !writing::may_be_meant(&tokens) {
            writing::spelt(&mut tokens, is_known);
            writing::with_numbers(&mut tokens);
        }
        while changes::without_thanks(&mut tokens, is_about_words) {
            end = end_marks(&mut tokens, true);
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
        let mark = match end {
            End::Asked if !asks(&tokens) => Some("?"),
            End::Exclaimed if exclaims(&tokens) => Some("!"),
            End::Both => Some("!"),
            _ => None,
        };
        tokens.extend(mark.map(|mark| Token { kind: Kind::Mark, ..Token::word(mark) }));
        let words = tokens.into_iter().map(|token| token.text).collect();
        Some(Self { words, given })
    }
}

/// How a text ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Plain,
    Asked,
    Exclaimed,
    Both,
}

/// Takes the marks from the end of a text.
fn end_marks(tokens: &mut Vec<Token>, is_end: bool) -> End {
    let mut end = End::Plain;
    while is_end && tokens.last().is_some_and(|last| last.kind == Kind::Mark && last.text != ",") {
        end = match tokens.pop() {
            Some(mark) if mark.text == "?" => End::Asked,
            // "How do I use sort!?"
            Some(mark) if mark.text == "!" && end == End::Asked => End::Both,
            Some(mark) if mark.text == "!" && end == End::Plain => End::Exclaimed,
            _ => end,
        };
    }
    end
}

/// Whether a text asks with or without a question mark. "What he said is true" and "wie du willst" may be no questions.
fn asks(tokens: &[Token]) -> bool {
    let [first, rest @ ..] = tokens else { return false };
    let is_short = rest.len() < 3 && (first.is("who") || words::is_in("questions_elsewhere", &first.text));
    let is_subject = |token: &Token| words::is_in("subjects", &token.text) || token.is_capital();
    let is_stated = match rest {
        [subject, ..] if is_subject(subject) => true,
        // "Whose fault it is", "how old he is".
        [noun, subject, ..] => {
            words::is_in("questions", &first.text) && !order::is_verb(noun) && is_subject(subject)
        }
        _ => false,
    };
    let is_open = order::is_verb(first)
        || !words::is_in("questions", &first.text) && !words::is_in("questions_elsewhere", &first.text);
    words::begins_a_question(first) && !is_short && (is_open || !is_stated)
}

/// "What a day!", "is he tall!" and "do it!" are no questions, though they begin as one. Elsewhere "!" may belong to a name, to code
/// or to a program's words.
fn exclaims(tokens: &[Token]) -> bool {
    let [first, rest @ ..] = tokens else { return false };
    let is_programmed = || tokens.iter().any(|token| words::is_in("programmed", &token.text.to_lowercase()));
    let is_exclaimed = words::is_in("questions", &first.text)
        && (tokens.len() < 4
            || !rest.iter().any(|token| order::is_verb(token) || token.is("to"))
            || rest.first().is_some_and(|next| next.is("a") || next.is("an")));
    order::is_verb(first)
        || is_exclaimed
        || tokens.last().is_some_and(|last| last.kind == Kind::Other)
        || tokens.iter().rev().nth(1).is_some_and(|before| words::is_in("naming", &before.text))
        || is_programmed()
}

/// Whether a word is looked for in a text: "Find seperate in the document", "remove colour from the list".
fn is_looked_for(tokens: &[Token]) -> bool {
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
fn has_two_ways(tokens: &[Token], is_known: &dyn Fn(&str) -> bool) -> bool {
    let mut spelt = tokens.to_vec();
    writing::spelt(&mut spelt, is_known);
    let has = |text: &str| tokens.iter().any(|token| token.text == text);
    let is_spelt_twice =
        tokens.iter().zip(&spelt).any(|(before, after)| before.text != after.text && has(&after.text));
    let is_counted_twice = tokens.iter().filter_map(writing::small_number).any(|number| has(&number));
    let mut full = tokens.to_vec();
    writing::with_full_forms(&mut full, false);
    let pairs =
        |tokens: &[Token]| tokens.windows(2).filter(|two| matches!(two, [_, not] if not.is("not"))).count();
    let twice = |tokens: &[Token]| -> bool {
        let mut seen = std::collections::HashSet::new();
        let with_not = tokens.windows(2).filter(|two| matches!(two, [_, not] if not.is("not")));
        with_not.map(|two| two.first().map(|verb| verb.text.to_lowercase())).any(|verb| !seen.insert(verb))
    };
    is_spelt_twice || is_counted_twice || pairs(&full) > pairs(tokens) && twice(&full)
}

#[cfg(test)]
mod tests;
