//! What people say around a question: a greeting, "can you tell me", "please", thanks. It goes where it can be nothing else.

use super::{
    changes::{courtesies, is_plain_clause, is_plural, is_whole, prefix},
    contractions::is_participle,
    numbers,
    order::{as_a_question, is_verb},
    token::{Kind, Token, is_any_of},
    words::{begins_a_question, is_in, is_in_any, is_order_word},
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
        // "Can you tell me where a photo was taken?", "can you tell me if mail is spam?": of any one.
        let is_possible = pattern.is_embedded
            && opening.first().is_some_and(|can| is_any_of(can, "can could would"))
            && (is_any_of(first, "if whether")
                || is_of_any(rest)
                || is_any_of(first, "where when who") && rest.iter().any(|token| is_any_of(token, "a an")));
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
    let is_please = starts_with("please") || starts_with("pls") || starts_with("plz");
    let asks = rest.first().is_some_and(|first| is_in("questions", &first.text));
    !(is_inner || is_please && !(has_mark && asks) || is_of_itself(rest))
        || greeting
            .iter()
            .find(|word| !word.is("i"))
            .is_some_and(|word| rest.iter().any(|token| token.is(&word.text)))
        // "Question what is given" wants it doubted.
        || !has_mark
            && (starts_with("question") || is_bound(greeting, rest) || is_of_people())
        || names_language(rest)
}

/// Whether a text names all that it is about, so that a greeting before it or thanks behind it are not what it is about.
fn is_of_itself(text: &[Token]) -> bool {
    let is_end = |token: &&Token| token.is_mark() && !token.is(",");
    let len = text.len().saturating_sub(text.iter().rev().take_while(|token| is_end(token)).count());
    let mut rest = text.get(..len).unwrap_or_default().to_vec();
    for _ in 0..ROUNDS {
        let is_of_talk = rest.iter().any(|token| is_in("of_talk", &token.text));
        if is_whole(&rest) && !is_of_talk || names_its_matter(&rest, 3) {
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
    let says = text.iter().filter(|token| writing::says_much(token)).count();
    says >= least
        && text.first().is_some_and(|first| {
            is_in("questions", &first.text)
                || is_any_of(first, "explain describe list compare summarize recommend suggest")
                    && text.get(1).is_some_and(|next| is_any_of(next, "the a an what how why some"))
        })
        && !text.iter().any(|token| {
            is_in_any(
                &["of_talk", "languages", "about_words", "about_talk", "works"],
                &token.text.to_lowercase(),
            )
        })
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
        || is_told && !is_asked && rest.iter().take(3).skip(1).any(|verb| is("who which what") && verb.is_plain() && !is_verb(verb) && verb.text.ends_with('s') && rest.len() < 4)
}

/// Whether another opening follows, or a request for one's own.
fn is_opening(rest: &[Token]) -> bool {
    courtesies().iter().any(|pattern| prefix(&pattern.places, rest).is_some())
        || rest.first().is_some_and(|first| first.is("i"))
}

/// "Can you explain X", "could you write a poem about Y", but not "can you write poems" and "could you write as a child".
fn is_order(rest: &[Token], all: &[Token]) -> bool {
    let Some(first) = rest.first() else { return false };
    let is_polite = all
        .iter()
        .take_while(|token| **token != *first)
        .any(|token| is_any_of(token, "please kindly kind grateful"));
    if is_polite { is_polite_order(rest) } else { is_plain_order(rest) }
}

/// "Please explain X" and "please give me X", but not "please find the attached invoice" and "please remove your shoes": these are said to others.
fn asks_for_text(rest: &[Token]) -> bool {
    let [first, next, ..] = rest else { return false };
    if is_of_somebody(rest) {
        return !is_order_word(&first.text);
    }
    !is_order_word(&first.text)
        || is_any_of(first, "explain define describe summarize summarise tell suggest recommend translate")
        || is_any_of(first, "give write show") && is_any_of(next, "me us a an")
        || first.is("list") && (is_any_of(next, "the some all") || numbers::small_number(next).is_some())
}

/// "Please describe your symptoms", "please translate the enclosed letter", "a list of my emails".
fn is_of_somebody(rest: &[Token]) -> bool {
    rest.iter()
        .any(|token| is_any_of(token, "your yours yourself my our attached enclosed below above following"))
}

/// "Can you summarize the plot of any movie?" asks what is possible.
fn is_of_any(rest: &[Token]) -> bool {
    const ANY: &str = "any anything anyone anybody ever every everything each whatever whichever all image images photo photos picture \
        pictures video videos audio podcast podcasts website websites";
    rest.iter().any(|token| is_any_of(token, ANY))
}

fn is_polite_order(rest: &[Token]) -> bool {
    let Some(first) = rest.first().filter(|_| !is_of_any(rest)) else { return false };
    let has_object = || {
        rest.get(1).is_some_and(|next| {
            let is_named = next.kind == Kind::Other && !next.text.starts_with(|c: char| c.is_ascii_digit())
                || next.is_capital() && !is_in("languages", &next.text.to_lowercase());
            is_named || next.kind == Kind::Other || next.is("it") || is_in("objects", &next.text)
        })
    };
    let is_bare = rest.get(1).is_none_or(|next| next.is("to") || is_in("circumstances", &next.text));
    let is_of_many = matches!(rest, [_, things] if is_plural(things));
    is_in("orders", &first.text) && !is_bare && !is_of_many
        || is_in("orders_with_object", &first.text) && has_object()
}

/// Without "please", "can you" asks whether it is possible as well: "can you translate PDFs?", "can you define happiness?", "can you list
/// the reals?", "can you write a song about a real person?", "can you give me a cold?" So only what cannot be meant so: an explanation, or
/// something about something, for who asks.
fn is_plain_order(rest: &[Token]) -> bool {
    const POEMS: &str = "poem haiku limerick";
    /// What is a text, so that an assistant can give it.
    const TEXTS: &str = "poem haiku limerick story example examples definition recipe tip tips idea ideas";
    let is_reader = |token: &Token| token.is("me") || token.is("us");
    let [order, object @ ..] = rest else { return false };
    let (object, is_for_reader) = match object {
        [object @ .., to, me] if is_reader(me) && (to.is("to") || to.is("for")) => (object, true),
        [me, object @ ..] if is_reader(me) => (object, true),
        object => (object, false),
    };
    let Some(next) = object.first().filter(|_| !is_of_any(rest)) else { return false };
    // "The contents of a video", "a poem about a real person": of any one.
    let is_of_one = |after: usize| {
        !object.iter().skip(after).any(|token| is_any_of(token, "a an"))
            || object.get(1).is_some_and(|thing| is_any_of(thing, "difference example definition"))
    };
    // "The terms of contracts", but not "the difference between cats and dogs".
    let is_of_many =
        object.last().is_some_and(is_plural) && !object.get(1).is_some_and(|thing| thing.is("difference"));
    let is_plain = !object.iter().any(|token| {
        is_in("circumstances", &token.text)
            || is_in("repeated", &token.text)
            || ["to", "for", "as"].iter().any(|word| token.is(word))
            || token.is_mark()
    });
    let is_work = |kinds: &str| {
        let is_kind = |at: usize| object.get(at).is_some_and(|kind| is_any_of(kind, kinds));
        let is_about = |at: usize| {
            object.get(at).is_some_and(|about| is_any_of(about, "about of for"))
                && object.len() > at.saturating_add(1)
        };
        (is_any_of(next, "a an the") || next.kind == Kind::Other || numbers::small_number(next).is_some())
            && (is_kind(1) && is_about(2) || is_kind(2) && is_about(3))
            || next.is("a") && object.len() == 2 && object.last().is_some_and(|kind| is_any_of(kind, POEMS))
    };
    let is_free = !object.iter().any(|token| {
        is_in("repeated", &token.text)
            || token.is_mark()
            || token.text.ends_with("ly")
            || is_in("circumstances", &token.text)
    });
    let is_text = matches!(object, [this, text, ..] if this.is("this") && is_any_of(text, "text sentence paragraph article essay letter email code into to"));
    match order.text.as_str() {
        "explain" | "explaining" | "clarify" if is_in("questions", &next.text) => {
            object.len() > 1 && is_plain_clause(object)
        }
        "explain" | "explaining" => {
            is_plain && next.is("the") && object.len() > 2 && is_of_one(1) && !is_of_many
        }
        "define" | "describe" => is_for_reader && is_plain && is_free && !is_of_many,
        "give" | "write" | "show" | "tell" => {
            is_for_reader && is_free && is_work(TEXTS) && is_of_one(1) && !is_of_somebody(rest)
        }
        "recommend" | "suggest" => {
            is_plain
                && is_any_of(next, "a an")
                && object.iter().any(|word| word.is("about"))
                && is_work("book film movie")
                && is_of_one(1)
        }
        "summarize" | "summarise" => {
            is_plain
                && (next.is("this") || next.is("the") && object.iter().any(Token::is_capital))
                && is_of_one(1)
                && !is_of_many
        }
        "translate" => is_text && is_about_this(object),
        _ => false,
    }
}

/// "This letter", "this letter into Spanish".
fn is_about_this(object: &[Token]) -> bool {
    match object.get(1..).unwrap_or_default() {
        [_] => true,
        [.., into, language] => {
            object.len() < 5
                && (into.is("into") || into.is("to"))
                && is_in("languages", &language.text.to_lowercase())
        }
        _ => false,
    }
}

/// What people say around a question.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Courtesy {
    /// "I wonder": what follows is a question, whatever ends it.
    Asking,
    Other,
}

/// Takes thanks behind a mark, and "please" behind a comma. Returns whether anything went.
pub(super) fn without_thanks(tokens: &mut Vec<Token>, is_about_words: bool, is_asked: bool) -> bool {
    const THANKS: &str = "appreciated many thanks thx cheers thank you a lot so very much in advance";
    let Some(mark) = tokens.iter().rposition(Token::is_mark).filter(|mark| *mark > 0) else { return false };
    let Some((before, [sign, after @ ..])) = tokens.split_at_checked(mark) else { return false };
    let is_comma = sign.is(",");
    let is_please = is_comma && matches!(after, [only] if is_any_of(only, "please pls plz"));
    // "Many" and "much" alone thank nobody.
    let thanks = match after {
        [only] => is_any_of(only, "thanks thank thx cheers"),
        [first, ..] => {
            is_any_of(first, "thanks thank thx cheers many much")
                && after.iter().all(|token| is_any_of(token, THANKS))
        }
        [] => false,
    };
    // "How do you say, thank you?", "which album has the song, Thank You?", "how do I end the letter? Cheers?"
    let is_title = is_comma
        && (after.first().is_some_and(Token::is_capital)
            || tokens.iter().any(|token| is_in("works", &token.text)));
    let is_meant = is_about_words || is_title || thanks && is_asked;
    // "Could you list the planets, please?" is as polite as "could you please list the planets?"
    let asked = before.get(2..).filter(|_| is_please && asks_you(before)).unwrap_or(before);
    // "How do I paint a sign reading stop, please?", "explain why dogs hear sit, please": the last words may be what is said.
    let is_said = |token: &Token| {
        token.is("with")
            || token.text.ends_with("ing") && !token.is("explaining")
            || is_participle(&token.text)
    };
    // "How do I sign yes, please?", "why do parents insist on no, thanks?"
    let is_named = matches!(asked, [what, is, the, ..] if what.is("what") && is_any_of(is, "is are was") && is_any_of(the, "a an the"))
        || matches!(asked, [order, the, ..] if is_order_word(&order.text) && is_any_of(the, "a an the me"));
    let is_spoken = is_comma && !is_named || is_please && before.iter().skip(4).any(is_said);
    let is_list = matches!(asked, [list, the, _] | [list, the, _, _] if list.is("list") && the.is("the"));
    // "Is the mail friendly? Many thanks."
    let names_enough = || names_its_matter(asked, 2) && !asked.iter().any(|token| token.is("the"));
    let is_free = is_of_itself(asked) || is_list || thanks && !is_comma && names_enough();
    if !(is_please || thanks) || is_meant || is_spoken || !is_free || waits(before) {
        return false;
    }
    // "Could you list the planets, please?" is "could you please list the planets?"
    if is_please && asks_you(tokens) {
        tokens.truncate(mark);
        tokens.insert(2, Token::word("please"));
        return true;
    }
    // Another mark is the end of the question.
    tokens.truncate(mark.saturating_add(usize::from(!is_comma)));
    true
}

/// "Could you ...".
fn asks_you(tokens: &[Token]) -> bool {
    matches!(tokens, [can, you, ..] if is_any_of(can, "can could") && you.is("you"))
}

/// Whether a text has to follow: "Classify the sentiment", "translate into German".
fn waits(before: &[Token]) -> bool {
    // "A list in Python" is no order.
    let is_noun = |at: usize| {
        at.checked_sub(1).and_then(|at| before.get(at)).is_some_and(|the| is_any_of(the, "a the my"))
    };
    let lacks_object = before.windows(2).enumerate().any(|(at, two)| match two {
        [order, next] => {
            is_order_word(&order.text)
                && !is_noun(at)
                && (next.is("to") || is_in("circumstances", &next.text))
        }
        _ => false,
    });
    lacks_object || !before.iter().any(begins_a_question)
}
