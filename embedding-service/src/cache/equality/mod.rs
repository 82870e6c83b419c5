//! Whether two questions are the same, so that one answer serves both. Embeddings put opposites side by side ("with", "without";
//! 15 and 50), so a semantic cache has to look at the words.
//!
//! Two texts are the same if a closed list of changes that keep the meaning brings both to one form: those of `changes.txt`, each
//! group with its reason, and those of [`writing`] (spelling, slips, numbers), [`contractions`], [`courtesy`] and [`order`] (phrases that
//! may stand in two places). Everything that no entry names is compared to the letter and in its order: another word, sign, capital or line break
//! is another question. In doubt two texts are not the same: a miss costs one request, a wrong answer costs trust.

mod changes;
mod contractions;
mod courtesy;
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
        let mut end = end_marks(&mut tokens, given.is_empty());
        let is_matter = is_looked_for(&tokens) || has_two_ways(&tokens, is_known);
        if !is_matter {
            contractions::with_full_forms(&mut tokens, is_about_words);
        }
        let is_about_words = is_about_words || is_matter;
        writing::with_small_starts(&mut tokens);
        if !is_about_words && !writing::may_be_meant(&tokens) {
            writing::spelt(&mut tokens, is_known);
            writing::with_numbers(&mut tokens);
        }
        let begun_as = Beginning::of(&tokens);
        let mut is_thanked = false;
        while courtesy::without_thanks(&mut tokens, is_about_words, end == End::Asked) {
            end = end_marks(&mut tokens, true);
            is_thanked = true;
        }
        for _ in 0..ROUNDS {
            order::with_what(&mut tokens);
            let may_move = given.is_empty() && !is_about_words;
            let is_changed = courtesy::without_courtesy(&mut tokens, is_about_words, is_thanked)
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
            End::Asked if !asks(&tokens) || begun_as.is_offer(&tokens) => Some("?"),
            End::Exclaimed if !is_of_a_place(&tokens) => Some("!"),
            End::Both => Some("!"),
            End::Open => Some("..."),
            _ => None,
        };
        // "Could you explain X?" and "explain X." are one, and so are "what is X?" and "what is X."
        let is_clear = begun_as.is_asked_for || is_turned_round(&tokens);
        let own_mark = matches!(end, End::Stopped | End::Asked).then_some(end).filter(|_| !is_clear);
        tokens.extend(mark.map(|mark| Token { kind: Kind::Mark, ..Token::word(mark) }));
        let words = tokens.into_iter().map(|token| token.text).collect();
        Some(Self { words, given, mark: own_mark })
    }
}

/// How a text ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Plain,
    Stopped,
    Asked,
    Exclaimed,
    Both,
    /// "I am...": something is to follow.
    Open,
}

/// What a text says before the changes that decides what its last mark says.
#[derive(Clone, Copy)]
struct Beginning {
    has_order: bool,
    is_asked_for: bool,
}

impl Beginning {
    fn of(tokens: &[Token]) -> Self {
        let is_polite = |token: &Token| words::is_in("polite", &token.text.to_lowercase());
        // "Could you", but not "could have been worse".
        let is_asked = |two: &[Token]| match two {
            [verb, who] => {
                words::is_in("asking", &verb.text.to_lowercase()) && words::is_in("asked", &who.text)
            }
            _ => false,
        };
        let is_asked_for = tokens.iter().any(is_polite) || tokens.windows(2).any(is_asked);
        Self { has_order: tokens.iter().any(|token| words::is_order_word(&token.text)), is_asked_for }
    }

    /// "Delete the file?" and "remind Anna?" offer to, "delete the file" wants it.
    fn is_offer(self, tokens: &[Token]) -> bool {
        tokens.first().is_some_and(|first| words::is_order_word(&first.text))
            && self.has_order
            && !self.is_asked_for
    }
}

/// "What is the capital of Laos!" asks. Elsewhere "!" may belong to a name or to code ("describe Oklahoma!", "how do I stub save!"), and
/// "what a day!" is no question.
fn is_of_a_place(tokens: &[Token]) -> bool {
    const BEFORE: [&str; 5] = ["what", "is", "the", "capital", "of"];
    tokens.len() == 6 && tokens.iter().zip(BEFORE).all(|(token, word)| token.is(word))
}

/// Takes the marks from the end of a text.
fn end_marks(tokens: &mut Vec<Token>, is_end: bool) -> End {
    let mut end = End::Plain;
    let dots = tokens.iter().rev().take_while(|token| token.is_mark() && token.text == ".").count();
    while is_end && tokens.last().is_some_and(|last| last.kind == Kind::Mark && last.text != ",") {
        end = match tokens.pop() {
            // "What is Mass.?", "what is int...?", "what is int??": a part of the word.
            Some(mark) if end != End::Plain && is_of_word(&mark, end, tokens) => {
                tokens.push(mark);
                break;
            }
            Some(mark) if mark.text == "." && end == End::Plain => End::Stopped,
            Some(mark) if mark.text == "?" => End::Asked,
            // "How do I use sort!?"
            Some(mark) if mark.text == "!" && end == End::Asked => End::Both,
            Some(mark) if mark.text == "!" && end == End::Plain => End::Exclaimed,
            _ => end,
        };
    }
    if dots > 2 { End::Open } else { end }
}

/// Whether a mark before the last one is of the word before: "What is the capital of Kenya??" is only loud.
fn is_of_word(mark: &Token, end: End, before: &[Token]) -> bool {
    let [first, rest @ ..] = before else { return true };
    let small = Token { text: first.text.to_lowercase(), ..first.clone() };
    let is_loud = || end == End::Asked && is_of_a_place(&[&[small], rest].concat());
    mark.text == "." || mark.text == "?" && !is_loud()
}

/// "How do I", "what is": whatever ends it, it asks.
fn is_turned_round(tokens: &[Token]) -> bool {
    let [first, second, ..] = tokens else { return false };
    words::is_in("questions", &first.text)
        && !order::is_verb(first)
        && (order::is_verb(second) || first.is("how") && second.is("to"))
}

/// Whether a text asks with or without a question mark. "What he said is true" and "wie du willst" may be no questions.
fn asks(tokens: &[Token]) -> bool {
    let [first, rest @ ..] = tokens else { return false };
    let is_elsewhere = words::is_in("questions_elsewhere", &first.text);
    words::begins_a_question(first)
        && if is_elsewhere {
            asks_elsewhere(first, rest, tokens.iter().any(Token::is_mark))
        } else if words::is_in("questions", &first.text) {
            if order::is_verb(first) { inverts(first, rest) } else { is_interrogative(first, rest) }
        } else {
            true
        }
}

fn is_subject(token: &Token) -> bool {
    words::is_in("subjects", &token.text) || token.is_capital()
}

/// "Is he tall", but not "was closed", "does not work", "should you need help", "had I known" and the German "was er sagt".
fn inverts(first: &Token, rest: &[Token]) -> bool {
    let is_any = |token: &Token, list: &[&str]| list.iter().any(|word| token.is(word));
    let is_conditional = first.is("had")
        || is_any(first, &["were", "should"])
            && rest.get(1).is_some_and(|verb| words::is_in("needing", &verb.text));
    match rest {
        [] | [_] => false,
        [next, more @ ..] => {
            // "Do it now", "have a nice day".
            let is_order = is_any(first, &["do", "have"])
                && is_any(next, &["it", "a", "an", "the", "that", "this", "your"]);
            let is_without_subject = is_any(next, &["not", "be", "been", "do"])
                || more.len() < 2 && contractions::is_participle(&next.text);
            let is_wish = first.is("were") && is_any(next, &["i", "it"]);
            let is_german = first.is("was") && words::is_in("german", &next.text);
            !(is_conditional || is_order || is_without_subject || is_wish || is_german)
        }
    }
}

/// "How tall is he", "who wrote it", but not "how true", "what nonsense", "when pigs fly", "which is why I left", "what matters is love".
fn is_interrogative(first: &Token, rest: &[Token]) -> bool {
    let is_finite = |token: &Token| order::is_verb(token) || token.is("to");
    let next_is_finite = rest.first().is_some_and(is_finite);
    let is_stated = match rest {
        [subject, ..] if is_subject(subject) => true,
        // "Whose fault it is", "how old he is".
        [noun, subject, ..] => {
            !order::is_verb(noun)
                && is_subject(subject)
                // "Who invented the wheel", "what causes a cold".
                && !(first.is("who") || first.is("what") && ["the", "a", "an"].iter().any(|word| subject.is(word)))
        }
        _ => false,
    };
    let is_clause = match rest {
        [verb, be, ..] => {
            first.is("what")
                && ["s", "ed"].iter().any(|end| verb.text.ends_with(end))
                && !order::is_verb(verb)
                && (be.is("is") || be.is("was"))
        }
        _ => false,
    };
    let is_open = match first.text.as_str() {
        "when" | "where" => next_is_finite,
        "why" => next_is_finite || rest.len() > 2,
        "how" => {
            rest.len() > 1
                && (rest.iter().any(is_finite)
                    || rest.first().is_some_and(|next| words::is_in("degrees", &next.text)))
        }
        "which" => {
            !next_is_finite
                || rest
                    .get(1)
                    .is_some_and(|next| words::is_in("compared", &next.text) || next.text.ends_with("er"))
        }
        "who" => rest.len() > 2 || next_is_finite && rest.len() > 1,
        _ => rest.len() > 1,
    };
    is_open && !is_stated && !is_clause
}

/// The same in other languages, where a form of "to be" follows that no statement begins with: "wie alt ist", "quelle est". "Wo
/// gehobelt wird, fallen Späne" and "wie gesagt ist das so" are no questions.
fn asks_elsewhere(first: &Token, rest: &[Token], has_comma: bool) -> bool {
    let is = |at: usize| rest.get(at).is_some_and(|next| words::is_in("being_elsewhere", &next.text));
    let is_adjective =
        rest.first().is_some_and(|next| next.is_plain() && !is_participle_elsewhere(&next.text));
    let is_infinitive = first.is("comment")
        && rest.first().is_some_and(|next| next.text.ends_with('r') || next.text.ends_with("re"));
    // "Wie funktioniert ein Motor".
    let is_german = ["wie", "wo", "wann", "warum"].iter().any(|word| first.is(word))
        && matches!(rest, [verb, article, _, ..] if verb.text.ends_with('t') && is_adjective
            && ["ein", "eine", "der", "die", "das"].iter().any(|word| article.is(word)));
    rest.len() > 1
        && !has_comma
        && (is(0) || is_infinitive || is_german || rest.len() > 2 && is_adjective && is(1))
}

/// "Is this a question?", "how many tokens is this?": without anything else that "this" could be, every sign of the text counts.
fn is_about_itself(tokens: &[Token]) -> bool {
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
    })
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

/// German and Dutch participles: "wie gesagt", "zoals beloofd".
fn is_participle_elsewhere(word: &str) -> bool {
    ["ge", "be", "ver", "vor", "ab", "an"].iter().any(|begin| word.starts_with(begin))
        && ["t", "en", "d"].iter().any(|end| word.ends_with(end))
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

#[cfg(test)]
mod tests;
