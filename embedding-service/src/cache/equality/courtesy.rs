//! What people say around a question: a greeting, "can you tell me", "please", thanks. It goes where it can be nothing else.

use super::{
    changes::{courtesies, is_plural, prefix, says_how_to_tell},
    order::{as_a_question, is_verb},
    token::{Kind, Token},
    words::{begins_a_question, is_in, is_order_word},
    writing,
};

/// Takes the courtesy from the beginning. Returns whether anything went.
pub(super) fn without_courtesy(tokens: &mut Vec<Token>, is_about_words: bool, is_thanked: bool) -> bool {
    // The longest pattern that leaves a question.
    let taken = courtesies().iter().filter_map(|pattern| {
        let len = prefix(&pattern.places, tokens)?;
        let rest = tokens.get(len..)?;
        let marks = rest.iter().take_while(|token| token.is_mark()).count();
        let rest = rest.get(marks..)?;
        let first = rest.first()?;
        // "Hi is a word"
        let is_greeting = !pattern.needs_order && !pattern.is_embedded;
        let is_please = tokens.first().is_some_and(|first| first.is("please"));
        let is_open = (marks > 0 || first.is_plain())
            && (!is_about_words || !is_greeting || is_opening(rest) || is_please);
        let asks = begins_a_question(first)
            || pattern.needs_order && order_of_gerund(&first.text).is_some()
            || is_opening(rest)
            || pattern.is_embedded && (first.is("if") || first.is("whether"));
        let is_order = !pattern.needs_order || is_order(rest, tokens, is_thanked);
        let opening = tokens.get(..len).unwrap_or_default();
        // "Any idea is worth a try"
        let is_subject = pattern.is_embedded
            && marks == 0
            && opening.first().is_some_and(|any| any.is("any"))
            && is_verb(first);
        let is_meant = is_greeting && is_meant(opening, rest, marks > 0)
            || is_notice(opening, rest)
            || pattern.is_embedded && is_skill(opening, rest);
        (is_open && asks && is_order && !is_meant && !is_subject)
            .then_some((len.saturating_add(marks), pattern))
    });
    let Some((len, pattern)) = taken.max_by_key(|(len, _)| *len) else { return false };
    let is_gerund = pattern.needs_order && tokens.iter().take(len).any(|token| token.is("mind"));
    tokens.drain(..len);
    if let Some(first) = tokens.first_mut() {
        first.is_first = true;
        if let Some(order) = order_of_gerund(&first.text).filter(|_| is_gerund) {
            first.text = order;
        }
    }
    writing::with_small_starts(tokens);
    if pattern.is_embedded {
        as_a_question(tokens);
    }
    true
}

/// Whether a greeting is what is asked about, and no greeting: "Hello, who sang it?", "so what?"
fn is_meant(greeting: &[Token], rest: &[Token], has_mark: bool) -> bool {
    let starts_with = |word: &str| greeting.first().is_some_and(|first| first.is(word));
    let last_word = rest.iter().rfind(|token| !token.is_mark());
    // "Hi everyone who works here", "hey guys do push ups": these people.
    let is_of_people = || {
        greeting.len() > 1
            && greeting.last().is_some_and(|last| is_in("addressed", &last.text))
            && !is_opening(rest)
            && rest.first().is_some_and(|first| first.is("who") || is_verb(first))
    };
    is_bare_question(rest)
        || points_back(rest)
        || is_of_the_talk(rest)
        || is_of_a_work(rest)
        || last_word.is_some_and(|last| is_in("bare_ends", &last.text))
        || greeting.first().is_some_and(|word| rest.iter().any(|token| token.is(&word.text)))
        // "Question what is given" wants it doubted.
        || !has_mark
            && (starts_with("question") || is_bound(greeting, rest) || names_language(rest) || is_of_people())
}

/// "So what?", "Hello, who performed?", "Sorry, what are the chords?", "oh what a circus": too little is named for a question of its own.
fn is_bare_question(rest: &[Token]) -> bool {
    let words: Vec<&Token> = rest.iter().filter(|token| !token.is_mark()).collect();
    let is_question = words.first().is_some_and(|first| is_in("questions", &first.text));
    match words.as_slice() {
        [] | [_] => true,
        [_, _] => is_question,
        [_, article, ..] if article.is("a") || article.is("an") => {
            words.first().is_some_and(|what| what.is("what"))
        }
        // "Hello, what is the German word?": of what is not said.
        [wh, be, the, of @ ..] if is_question && is_verb(be) && the.is("the") => {
            let is_most = of.first().is_some_and(|most| most.text.ends_with("est") || most.is("most"));
            of.len() == 1 || of.len() == 2 && !is_most && !wh.is("why") && !wh.is("how")
        }
        _ => false,
    }
}

/// "Ok, what does it stand for?", "hello, is this too casual?": the greeting may be what is meant. "Is it safe to", "how long does it take
/// to" point at what follows.
fn points_back(rest: &[Token]) -> bool {
    let is = |token: &Token, words: &[&str]| words.iter().any(|word| token.is(word));
    let last_clause = rest.iter().rposition(|token| is(token, &["to", "that", "if"]));
    rest.first().is_some_and(|first| is_in("questions", &first.text))
        && !is_opening(rest)
        && rest.iter().enumerate().any(|(at, token)| {
            let next = rest.get(at.saturating_add(1));
            let follows_verb = at.checked_sub(1).and_then(|before| rest.get(before)).is_some_and(is_verb);
            is(token, &["its", "this", "these", "them"])
                || is(token, &["it", "they"]) && last_clause.is_none_or(|clause| clause < at)
                || is(token, &["that", "those"])
                    && (follows_verb || next.is_none_or(|next| is_in("circumstances", &next.text)))
        })
}

/// "Did I greet you?", "um, how do I sound?": how something was said is what is asked about.
fn is_of_the_talk(rest: &[Token]) -> bool {
    let is = |token: &Token, words: &[&str]| words.iter().any(|word| token.is(word));
    let is_i = |token: &Token| token.text.eq_ignore_ascii_case("i");
    let is_said = rest.windows(2).any(|two| match two {
        [verb, i] => {
            is(verb, &["did", "am", "was", "have"]) && is_i(i) || is_i(verb) && is(i, &["am", "sound"])
        }
        _ => false,
    });
    let is_own = matches!(rest, [verb, i, ..] if is(verb, &["do", "does"]) && is_i(i));
    is_said || is_own
}

/// "Hello, who is the singer?": of the song "Hello".
fn is_of_a_work(rest: &[Token]) -> bool {
    rest.first().is_some_and(|first| is_in("questions", &first.text))
        && rest.iter().any(|token| is_in("works", &token.text))
}

/// "So do I", "so what if", "well do I remember": no filler.
fn is_bound(tokens: &[Token], rest: &[Token]) -> bool {
    let [first, second, ..] = rest else { return false };
    let is_binding = tokens.first().is_some_and(|opening| opening.is("so") || opening.is("well"));
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

/// "Do you know how to swim?" asks for no instructions, and "remind me what to buy" for no list.
fn is_skill(opening: &[Token], rest: &[Token]) -> bool {
    let says = |word: &str| opening.iter().any(|token| token.is(word));
    let next = |word: &str| rest.get(1).is_some_and(|next| next.is(word));
    let is_skill = ["how", "when"].iter().any(|word| rest.first().is_some_and(|first| first.is(word)));
    next("to") && (says("remind") || says("forgot") || is_skill && opening.first().is_some_and(|first| first.is("do")))
        // "Can I ask why I was fired?": them.
        || says("ask") && next("i")
        // "Remind me what I should buy": what was agreed.
        || says("remind") && rest.iter().any(|token| token.is("i") || token.is("we"))
        || (says("know") || says("idea") || says("forgot") || says("understand")) && is_confided(opening, rest)
}

/// "Do you know what you are doing?", "I do not know who I am", "do you have any idea how hard it is": no answer is asked for.
fn is_confided(opening: &[Token], rest: &[Token]) -> bool {
    let is_idea = opening.iter().any(|token| token.is("idea"));
    rest.windows(2).any(|two| match two {
        [who, be] => {
            let is_be = ["am", "are", "is", "was", "were"].iter().any(|word| be.is(word));
            let is_felt = || rest.iter().any(|token| token.is("like"));
            let is_far = is_idea && rest.first().is_some_and(|first| first.is("how"));
            let is_own = ["i", "you", "we"].iter().any(|word| who.is(word));
            let is_it = ["it", "that", "this"].iter().any(|word| who.is(word)) && (is_felt() || is_far);
            is_be && (is_own || is_it)
        }
        _ => false,
    })
}

/// "Tell me when dinner is ready", "I need to know when the server is down" and "remind me if it is raining" want to be told then; "tell
/// me what the plan is before executing it" and "in one word" say when and how it is to be told.
fn is_notice(opening: &[Token], rest: &[Token]) -> bool {
    let says = |word: &str| opening.iter().any(|token| token.is(word));
    let is = |word: &str| rest.first().is_some_and(|first| first.is(word));
    let is_wanted = says("want") || says("need") || says("like") || says("love");
    let tells = says("tell") || says("remind") || is_wanted;
    // What was, or what is on a day, is no event that is awaited.
    let is_dated = rest.iter().skip(1).any(|token| {
        ["was", "were", "did", "on"].iter().any(|word| token.is(word)) || token.kind == Kind::Other
    });
    // "Can you tell me if" asks, "tell me if" waits for it.
    let is_asked = opening.first().is_some_and(|first| is_in("questions", &first.text) || first.is("will"));
    let is_reminded = says("remind")
        && (is("if")
            || is("whether")
            || rest.iter().skip(1).any(|token| is_in("circumstances", &token.text)));
    tells && (is("when") && !is_dated || says_how_to_tell(rest))
        || says("tell") && !is_asked && is("if")
        || is_reminded
        // "Does anyone know who Banksy is?"
        || says("know") && (says("anyone") || says("anybody") || says("someone") || says("somebody"))
            && (!is("how") || rest.iter().any(is_verb))
        || !says("help") && says("understand") && !is("why") && !is("how")
}

/// Whether another opening follows, or a request for one's own.
fn is_opening(rest: &[Token]) -> bool {
    courtesies().iter().any(|pattern| prefix(&pattern.places, rest).is_some())
        || rest.first().is_some_and(|first| first.is("i"))
}

/// "Can you explain X", "could you write a poem about Y", but not "can you write poems" and "could you write as a child".
fn is_order(rest: &[Token], all: &[Token], is_thanked: bool) -> bool {
    let Some(first) = rest.first() else { return false };
    let is_polite = is_thanked
        || all
            .iter()
            .take_while(|token| **token != *first)
            .any(|token| token.is("please") || token.is("kindly") || token.is("mind"));
    if is_polite { is_polite_order(rest) } else { is_plain_order(rest, all) }
}

fn is_polite_order(rest: &[Token]) -> bool {
    let Some(first) = rest.first() else { return false };
    let has_object = || {
        rest.get(1).is_some_and(|next| {
            let is_named = next.kind == Kind::Other && !next.text.starts_with(|c: char| c.is_ascii_digit())
                || next.is_capital() && !is_in("languages", &next.text.to_lowercase());
            is_named || next.kind == Kind::Other || next.is("it") || is_in("objects", &next.text)
        })
    };
    is_in("orders", &first.text)
        || is_in("orders_with_object", &first.text) && has_object()
        || order_of_gerund(&first.text).is_some_and(|order| is_in("orders", &order) || has_object())
}

/// Without "please", "can you" asks whether it is possible as well: "can you translate PDFs?", "can you fix my knee without surgery?",
/// "can you explain death to a child?" So only what cannot be meant so: its object is one thing, with nothing behind but for whom.
fn is_plain_order(rest: &[Token], all: &[Token]) -> bool {
    let is_reader = |token: &Token| token.is("me") || token.is("us");
    let [order, object @ ..] = rest else { return false };
    let object = match object {
        [object @ .., to, me] if is_reader(me) && (to.is("to") || to.is("for")) => object,
        object => object,
    };
    let Some(next) = object.first() else { return false };
    let is_for_reader = is_reader(next);
    // "Would you explain death to a child?" asks what you think of it.
    if all.first().is_some_and(|first| first.is("would") || first.is("will")) && !is_for_reader {
        return false;
    }
    let is_plain = !object.iter().any(|token| {
        is_in("circumstances", &token.text)
            || is_in("repeated", &token.text)
            || ["to", "for", "as"].iter().any(|word| token.is(word))
            || token.is_mark()
    });
    let is_article = |token: &Token| token.is("the") || is_in("indefinite", &token.text);
    let is_short = |most: usize| {
        object.len() <= most
            && object.iter().all(|token| token.kind == Kind::Word && !is_in("pronouns", &token.text))
    };
    let has_plural = object.last().is_some_and(is_plural);
    match order.text.as_str() {
        "explain" => {
            is_in("questions", &next.text) || is_plain && (is_article(next) || is_short(2) && !has_plural)
        }
        "describe" => is_plain && next.is("the"),
        "define" => is_short(1) && !has_plural,
        "clarify" => is_in("questions", &next.text),
        "recommend" | "suggest" => {
            let is_placed = |token: &&Token| token.is("to") || is_in("circumstances", &token.text);
            is_for_reader || is_in("indefinite", &next.text) && !object.iter().any(|token| is_placed(&token))
        }
        "help" => is_for_reader,
        // "Can you give me the flu?"
        "give" | "write" | "show" | "tell" if is_for_reader => object.get(1).is_some_and(|thing| {
            is_in("indefinite", &thing.text)
                || thing.kind == Kind::Other
                || writing::small_number(thing).is_some()
                || thing.is("the") && object.get(3).is_some_and(|of| of.is("of") || of.is("for"))
        }),
        "write" => is_in("indefinite", &next.text) && object.iter().any(|token| token.is("about")),
        "list" => {
            object
                .get(..2)
                .is_some_and(|two| matches!(two, [the, things] if the.is("the") && is_plural(things)))
                && (is_plain || matches!(object, [.., into, order] if into.is("in") && order.is("order")))
        }
        "summarize" | "summarise" => is_plain && (next.is("the") || next.is("this")),
        "translate" if is_in("definite", &next.text) => match object.get(1..).unwrap_or_default() {
            [_] => true,
            [.., into, language] => {
                object.len() < 5
                    && (into.is("into") || into.is("to"))
                    && is_in("languages", &language.text.to_lowercase())
            }
            _ => false,
        },
        "fix" | "rewrite" | "proofread" | "correct" => {
            (next.is("this") || next.is("these")) && object.len() == 2
        }
        _ => false,
    }
}

/// "explaining" is "explain".
fn order_of_gerund(word: &str) -> Option<String> {
    let stem = word.strip_suffix("ing")?;
    [stem.to_owned(), format!("{stem}e")].into_iter().find(|order| is_order_word(order))
}

/// Takes thanks behind a mark, and "please" behind a comma. Returns whether anything went.
pub(super) fn without_thanks(tokens: &mut Vec<Token>, is_about_words: bool, is_asked: bool) -> bool {
    const THANKS: [&str; 12] =
        ["thanks", "thx", "cheers", "thank", "you", "a", "lot", "so", "very", "much", "in", "advance"];
    let Some(mark) = tokens.iter().rposition(Token::is_mark).filter(|mark| *mark > 0) else { return false };
    let Some((before, [sign, after @ ..])) = tokens.split_at_checked(mark) else { return false };
    let is_comma = sign.is(",");
    let word = |token: &Token| token.text.to_lowercase();
    let is_please =
        is_comma && matches!(after, [only] if matches!(word(only).as_str(), "please" | "pls" | "plz"));
    let thanks = after
        .first()
        .is_some_and(|first| matches!(word(first).as_str(), "thanks" | "thank" | "thx" | "cheers"))
        && after.iter().all(|token| THANKS.contains(&word(token).as_str()));
    // "How do you say, thank you?", "which album has the song, Thank You?", "how do I end the letter? Cheers?"
    let is_title = is_comma && (after.first().is_some_and(Token::is_capital) || is_of_a_work(tokens));
    let is_meant = is_about_words || is_title || thanks && is_asked;
    // "Is this polite? Thanks.", "translate into German. Thank you.": that is the text.
    let points = points_back(before)
        // "What shall I answer? Thank you."
        || before.iter().any(|token| is_in("pointing_or_answering", &token.text));
    let is_material =
        is_of_the_talk(before) || waits(before) || !is_comma && (points || is_bare_question(before));
    if !(is_please || thanks) || is_meant || is_material {
        return false;
    }
    // Another mark is the end of the question.
    tokens.truncate(mark.saturating_add(usize::from(!is_comma)));
    true
}

/// Whether a text has to follow: "Classify the sentiment", "translate into German".
fn waits(before: &[Token]) -> bool {
    let lacks_object = before.windows(2).any(|two| match two {
        [order, next] => is_order_word(&order.text) && (next.is("to") || is_in("circumstances", &next.text)),
        _ => false,
    });
    lacks_object || !before.iter().any(begins_a_question)
}
