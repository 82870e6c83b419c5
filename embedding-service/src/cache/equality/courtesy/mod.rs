//! What people say around a question: a greeting, "can you tell me", "please", thanks. It goes where it can be nothing else. Here are
//! the openings.

mod request;
mod self_contained;
mod thanks;

pub(super) use self::thanks::without_thanks;
use self::{
    request::{asks_for_text, is_of_any, is_order},
    self_contained::is_of_itself,
};
use super::{
    changes::{courtesies, is_plain_clause, is_plural, prefix},
    order::{as_a_question, is_verb},
    token::{Token, is_any_of},
    words::{begins_a_question, is_in},
    writing,
};

/// Openings that stand before each other, at most.
const ROUNDS: usize = 6;

/// Takes the courtesy from the beginning. Returns what went.
pub(super) fn without_courtesy(tokens: &mut Vec<Token>, is_about_words: bool) -> Option<Courtesy> {
    without_opening(tokens, is_about_words, false)
}

/// `is_inner`: what is left is judged by itself.
fn without_opening(tokens: &mut Vec<Token>, is_about_words: bool, is_inner: bool) -> Option<Courtesy> {
    // The longest pattern that leaves a question.
    let taken = courtesies().iter().filter_map(|pattern| {
        let len = prefix(&pattern.places, tokens)?;
        let rest = tokens.get(len..)?;
        let marks = rest.iter().take_while(|token| token.is_mark()).count();
        let rest = rest.get(marks..)?;
        let first = rest.first()?;
        // "Hi is a word"
        let is_greeting = !pattern.needs_order && !pattern.is_embedded;
        let is_please = tokens.first().is_some_and(|first| is_any_of(first, "please pls plz"));
        let is_open = (marks > 0 || first.is_plain())
            && (!is_about_words
                || !is_greeting
                || is_opening(rest)
                || tokens.first().is_some_and(|first| first.is("please")));
        let asks = begins_a_question(first)
            || pattern.needs_order && first.is("explaining")
            || is_opening(rest)
            || pattern.is_embedded && (first.is("if") || first.is("whether"));
        let is_order =
            if pattern.needs_order { is_order(rest, tokens) } else { !is_please || asks_for_text(rest) };
        let opening = tokens.get(..len).unwrap_or_default();
        // "Just curious, are you?"
        let is_bare = pattern.is_embedded && rest.len() < 4 && is_verb(first);
        // "Can you tell me how old a tree is?", "can you tell me if mail is spam?": of any one.
        // "What a hash map is" and "how to boil an egg" are of no single one.
        let is_general = match rest {
            [what, a, .., is] => {
                what.is("what") && is_any_of(a, "a an") && is_any_of(is, "is are") && rest.len() < 6
            }
            [how, to, ..] => how.is("how") && to.is("to"),
            _ => false,
        };
        let is_possible = pattern.is_embedded
            && !is_general
            && opening.first().is_some_and(|can| is_any_of(can, "can could would"))
            && (is_any_of(first, "if whether")
                || is_of_any(rest)
                || rest.iter().any(|token| is_any_of(token, "a an")));
        let is_meant = is_bare
            || is_possible
            || is_greeting && is_meant(opening, rest, marks > 0, is_inner)
            || is_notice(opening, rest)
            || pattern.is_embedded && is_skill(opening, rest);
        (is_open && asks && is_order && !is_meant).then_some((len.saturating_add(marks), pattern))
    });
    let (len, pattern) = taken.max_by_key(|(len, _)| *len)?;
    let is_please = tokens.first().is_some_and(|first| is_any_of(first, "please pls plz"));
    tokens.drain(..len);
    // "Please, could you suggest a name" is "could you please suggest a name".
    if is_please && !pattern.needs_order && asks_you(tokens) {
        tokens.insert(2, Token::word("please"));
    }
    if let Some(first) = tokens.first_mut() {
        first.is_first = true;
        if first.is("explaining") {
            "explain".clone_into(&mut first.text);
        }
    }
    writing::with_small_starts(tokens, !is_about_words);
    if pattern.is_embedded {
        as_a_question(tokens);
    }
    Some(if pattern.is_embedded { Courtesy::Asking } else { Courtesy::Other })
}

/// Whether a greeting is what is asked about, and no greeting: "Hello, who sang it?", "so what?"
fn is_meant(greeting: &[Token], rest: &[Token], has_mark: bool, is_inner: bool) -> bool {
    let starts_with = |word: &str| greeting.first().is_some_and(|first| first.is(word));
    // "Hi everyone who works here", "hey guys do push ups": these people.
    let is_of_people = || {
        greeting.len() > 1
            && greeting.last().is_some_and(|last| is_in("addressed", &last.text))
            && !is_opening(rest)
            && rest.first().is_some_and(|first| first.is("who") || is_verb(first))
    };
    // "Good morning", "quick question": of several words, and neither a title nor what inclusive people object to.
    // "Hey, quick question, ...": all of it greets.
    let words = greeting.iter().filter(|token| !token.is_mark()).count().saturating_add(greets_on(rest));
    let is_long = has_mark
        // "Good evening" names a time of the day, which may be what "when" asks for.
        && !rest.first().is_some_and(|first| first.is("when"))
        && !greeting.iter().any(|token| is_in("addressed", &token.text) || is_any_of(token, "thank thanks"));
    let least = match words {
        // "Out of curiosity"
        3.. if is_long => self_contained::FEW,
        2 if is_long => self_contained::SOME,
        _ => self_contained::MUCH,
    };
    let is_please = starts_with("please") || starts_with("pls") || starts_with("plz");
    let asks = rest.first().is_some_and(|first| is_in("questions", &first.text));
    !(is_inner || is_please && !(has_mark && asks) || is_of_itself(rest, least))
        || greeting
            .iter()
            .find(|word| !word.is("i"))
            .is_some_and(|word| rest.iter().any(|token| token.is(&word.text)))
        // "Question what is given" wants it doubted, "thanks how" and "great what" are no sentences.
        || !has_mark
            && (["thanks", "thank", "great", "perfect"].into_iter().any(starts_with)
                || starts_with("question") || is_bound(greeting, rest) || is_of_people())
        || names_language(rest)
}

/// The words of further greetings that a text goes on with, each before a mark.
fn greets_on(rest: &[Token]) -> usize {
    let greetings = courtesies().iter().filter(|pattern| !pattern.needs_order && !pattern.is_embedded);
    let lens = greetings.filter_map(|pattern| prefix(&pattern.places, rest));
    lens.max().filter(|len| rest.get(*len).is_some_and(Token::is_mark)).unwrap_or(0)
}

/// "So do I", "so what if": no filler.
fn is_bound(tokens: &[Token], rest: &[Token]) -> bool {
    let [first, second, ..] = rest else { return false };
    let is_binding = tokens.first().is_some_and(|opening| opening.is("so"));
    let is_free = is_in("questions", &first.text) && !is_verb(first) && !second.is("if")
        || is_in("orders", &first.text)
        || is_opening(rest);
    is_binding && !is_free
}

/// "Hello how are you in French": what is to be said in it.
fn names_language(rest: &[Token]) -> bool {
    rest.windows(2).any(|two| match two {
        [into, language] => into.is("in") && is_in("languages", &language.text.to_lowercase()),
        _ => false,
    })
}

/// "Do you know how to swim?", "I wonder how you can sleep" and "do you know who my father is?" ask for no answer.
fn is_skill(opening: &[Token], rest: &[Token]) -> bool {
    // "I was wondering how I can tie a tie"
    if let [how, i, can, verb, _, ..] = rest
        && how.is("how")
        && i.is("i")
        && is_any_of(can, "can could should")
        && is_in("actions", &verb.text)
        && !rest.iter().skip(4).any(|token| is_any_of(token, "you your"))
    {
        return false;
    }
    let says = |word: &str| opening.iter().any(|token| token.is(word));
    let is_skill = rest.first().is_some_and(|first| is_any_of(first, "how when"));
    // "Do you know how dangerous drugs are?"
    let is_measured = rest.get(1).is_some_and(|next| is_in("measured", &next.text))
        && rest.get(2).is_some_and(|next| !is_any_of(next, "i you he she it we they people"));
    let is_far = || {
        !is_measured && rest.get(1).is_some_and(|next| next.is_plain() && !is_plural(next) && !next.is("the"))
    };
    // "Do you know what is funny?" announces it, and "do you know what love is?" sings.
    let is_announced = matches!(rest, [what, one, other, end @ ..] if is_any_of(what, "what who")
        && (is_any_of(one, "is are") && other.is_plain() || one.is_plain() && is_any_of(other, "is are"))
        && end.iter().all(Token::is_mark));
    opening.first().is_some_and(|first| first.is("do")) && (is_skill && is_far() || is_announced)
        || (says("do") || says("wonder") || says("wondering") || says("idea"))
            && rest.iter().any(|token| is_any_of(token, "i you your my we our it that this am cares could"))
}

/// "Tell me when dinner is ready" and "I'd like to know if the server is down" want to be told then.
fn is_notice(opening: &[Token], rest: &[Token]) -> bool {
    let says = |word: &str| opening.iter().any(|token| token.is(word));
    let is = |words: &str| rest.first().is_some_and(|first| is_any_of(first, words));
    let is_told = says("tell") || says("telling");
    let is_liked = says("like") || says("love");
    // What was is no event that is awaited.
    let is_dated = rest.iter().skip(1).any(|token| is_any_of(token, "was were did"));
    // "Can you tell me if" asks, "tell me if" waits for it.
    let is_asked = opening.first().is_some_and(|first| is_in("questions", &first.text) || first.is("will"));
    (is_told || is_liked) && (is("when") && !is_dated || !is_plain_clause(rest))
        || (is_told && !is_asked || is_liked) && is("if whether")
        // "Tell me who calls"
        || (is_told && !is_asked || is_liked) && rest.iter().take(3).skip(1).any(|verb| is("who which what") && verb.is_plain() && !is_verb(verb) && verb.text.ends_with('s'))
}

/// Whether another opening follows, or a request for one's own.
fn is_opening(rest: &[Token]) -> bool {
    courtesies().iter().any(|pattern| prefix(&pattern.places, rest).is_some())
        || rest.first().is_some_and(|first| first.is("i"))
}

/// What people say around a question.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Courtesy {
    /// "I wonder": what follows is a question, whatever ends it.
    Asking,
    Other,
}

/// "Could you ...".
fn asks_you(tokens: &[Token]) -> bool {
    matches!(tokens, [can, you, ..] if is_any_of(can, "can could") && you.is("you"))
}
