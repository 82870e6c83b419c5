//! Applies the rules of `changes.txt`: patterns over the whole text that are written as other patterns.

use std::sync::LazyLock;

use super::{
    order::as_a_question,
    token::{Kind, Token},
    words::{begins_a_question, is_in},
};

const CHANGES: &str = include_str!("changes.txt");

/// One place of a pattern.
#[derive(Debug)]
enum Place {
    /// One of these words; `is_optional`: or nothing.
    Words { words: Vec<&'static str>, is_optional: bool },
    /// What a capital stands for.
    Any(char),
}

#[derive(Debug)]
struct Pattern {
    places: Vec<Place>,
    /// What follows, or what comes out, is a question in the order of words of a statement.
    is_embedded: bool,
    /// An order has to follow.
    needs_order: bool,
}

struct Change {
    from: Pattern,
    to: Vec<&'static str>,
    to_embedded: bool,
}

/// What a pattern's places have found: their name on the right side, and the tokens.
type Captures<'a> = Vec<(&'static str, &'a [Token])>;

struct Rules {
    courtesy: Vec<Pattern>,
    changes: Vec<Change>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let mut rules = Rules { courtesy: Vec::new(), changes: Vec::new() };
    let mut is_courtesy = true;
    for line in CHANGES.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line {
            "[courtesy]" => is_courtesy = true,
            "[changes]" => is_courtesy = false,
            _ if is_courtesy => rules.courtesy.push(Pattern::of(line)),
            _ => rules.changes.extend(line.split_once("=>").map(|(from, to)| Change {
                from: Pattern::of(from),
                to: to.split_ascii_whitespace().filter(|word| *word != "~").collect(),
                to_embedded: to.contains('~'),
            })),
        }
    }
    rules
});

impl Pattern {
    fn of(text: &'static str) -> Self {
        let (mut places, mut is_embedded, mut needs_order) = (Vec::new(), false, false);
        for word in text.split_ascii_whitespace() {
            match word {
                "+" => is_embedded = true,
                "^A" => needs_order = true,
                _ => {
                    let bare = word.strip_suffix('?');
                    places.push(
                        match word.chars().next().filter(|first| word.len() == 1 && first.is_uppercase()) {
                            Some(name) => Place::Any(name),
                            None => Place::Words {
                                words: bare.unwrap_or(word).split('|').collect(),
                                is_optional: bare.is_some(),
                            },
                        },
                    );
                }
            }
        }
        Self { places, is_embedded, needs_order }
    }
}

/// Takes the courtesy from the beginning. Returns whether anything went.
pub(super) fn without_courtesy(tokens: &mut Vec<Token>, is_about_words: bool, is_thanked: bool) -> bool {
    // The longest pattern that leaves a question.
    let taken = RULES.courtesy.iter().filter_map(|pattern| {
        let len = prefix(&pattern.places, tokens)?;
        let rest = tokens.get(len..)?;
        let marks = rest.iter().take_while(|token| token.is_mark()).count();
        let rest = rest.get(marks..)?;
        let first = rest.first()?;
        // "Hi is a word"
        let is_greeting = !pattern.needs_order && !pattern.is_embedded;
        let is_open = marks > 0
            || first.is_plain()
                && !(is_about_words
                    && is_greeting
                    && !tokens.first().is_some_and(|first| first.is("please")));
        let asks = begins_a_question(first)
            || pattern.needs_order && order_of_gerund(&first.text).is_some()
            || is_opening(rest)
            || pattern.is_embedded && (first.is("if") || first.is("whether"));
        let is_order = !pattern.needs_order || is_order(rest, tokens, is_thanked);
        // "Hello, who sang it?": the song. "So what?" is no greeting.
        let ends_in_addressee = len > 1 && tokens.get(len.saturating_sub(1)).is_some_and(|last| is_in("addressed", &last.text));
        let is_pointed = is_greeting
            && (is_bare_question(rest)
                || points_back(rest)
                || is_of_the_talk(rest)
                // "Question what is given" wants it doubted.
                || marks == 0 && tokens.first().is_some_and(|first| first.is("question"))
                || rest.iter().rfind(|token| !token.is_mark()).is_some_and(|last| is_in("bare_ends", &last.text))
                || tokens.first().is_some_and(|opening| rest.iter().any(|token| token.is(&opening.text)))
                || is_of_a_work(rest)
                || marks == 0
                    && (is_bound(tokens, rest)
                        || names_language(rest)
                        // "Hi everyone who works here", "hey guys do push ups": these people.
                        || ends_in_addressee && !is_opening(rest) && (first.is("who") || super::order::is_verb(first))));
        // "Any idea is worth a try"
        let is_subject = pattern.is_embedded && marks == 0 && tokens.first().is_some_and(|any| any.is("any")) && super::order::is_verb(first);
        let opening = tokens.get(..len).unwrap_or_default();
        let is_notice = is_notice(opening, rest);
        let is_skill = pattern.is_embedded && is_skill(opening, rest);
        (is_open && asks && is_order && !is_skill && !is_notice && !is_pointed && !is_subject)
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
    super::writing::with_small_starts(tokens);
    if pattern.is_embedded {
        as_a_question(tokens);
    }
    true
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
        [_, be, the, _] => is_question && super::order::is_verb(be) && the.is("the"),
        _ => false,
    }
}

/// "Ok, what does it stand for?", "hello, is this too casual?": the greeting may be what is meant. "Is it safe to", "how long does it take
/// to" point at what follows.
fn points_back(rest: &[Token]) -> bool {
    let is = |token: &Token, words: &[&str]| words.iter().any(|word| token.is(word));
    rest.first().is_some_and(|first| is_in("questions", &first.text))
        && !is_opening(rest)
        && rest.iter().enumerate().any(|(at, token)| {
            let after = rest.get(at.saturating_add(1)..).unwrap_or_default();
            let follows_verb = at.checked_sub(1).and_then(|before| rest.get(before)).is_some_and(super::order::is_verb);
            is(token, &["its", "this", "these", "them"])
                || is(token, &["it", "they"]) && !after.iter().any(|next| is(next, &["to", "that", "if"]))
                || is(token, &["that", "those"])
                    && (follows_verb || after.first().is_none_or(|next| is_in("circumstances", &next.text)))
        })
}

/// "Did I greet you?", "um, how do I sound?": how something was said is what is asked about.
fn is_of_the_talk(rest: &[Token]) -> bool {
    let is = |token: &Token, words: &[&str]| words.iter().any(|word| token.is(word));
    let is_said = rest.windows(2).any(|two| match two {
        [verb, i] => is(verb, &["did", "am", "was", "have"]) && i.is("i") || verb.is("i") && is(i, &["am", "sound"]),
        _ => false,
    });
    let is_own = matches!(rest, [verb, i, ..] if is(verb, &["do", "does"]) && i.is("i"));
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
    let is_free = is_in("questions", &first.text) && !super::order::is_verb(first) && !second.is("if")
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
        && (is("if") || is("whether") || rest.iter().skip(1).any(|token| is_in("circumstances", &token.text)));
    tells && (is("when") && !is_dated || says_how_to_tell(rest))
        || says("tell") && !is_asked && is("if")
        || is_reminded
        // "Does anyone know who Banksy is?"
        || says("know") && (says("anyone") || says("anybody") || says("someone") || says("somebody"))
            && (!is("how") || rest.iter().any(super::order::is_verb))
        || !says("help") && says("understand") && !is("why") && !is("how")
}

/// "Before applying it", "every hour", "in one word", "in emojis", "as a poem", "to a child".
fn says_how_to_tell(rest: &[Token]) -> bool {
    let is_form = rest.windows(2).skip(1).any(|two| match two {
        [to, thing] if to.is("to") || to.is("like") => is_in("indefinite", &thing.text),
        [into, form] => {
            into.is("in")
                && (form.kind == Kind::Other
                    || form.is("one")
                    || super::writing::small_number(form).is_some()
                    || is_in("languages", &form.text.to_lowercase()))
        }
        _ => false,
    });
    is_form || rest.iter().skip(1).any(|token| is_in("telling", &token.text))
}

/// Whether another opening follows, or a request for one's own.
fn is_opening(rest: &[Token]) -> bool {
    RULES.courtesy.iter().any(|pattern| prefix(&pattern.places, rest).is_some())
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
    let is_plain = !object.iter().any(|token| is_in("circumstances", &token.text) || token.is("to") || token.is("for") || token.is_mark());
    let is_article = |token: &Token| token.is("the") || is_in("indefinite", &token.text);
    let is_short = |most: usize| object.len() <= most && object.iter().all(|token| token.kind == Kind::Word && !is_in("pronouns", &token.text));
    let has_plural = object.last().is_some_and(|last| {
        is_plural(last) && !["is", "ss", "us"].iter().any(|end| last.text.ends_with(end))
    });
    match order.text.as_str() {
        "explain" => is_in("questions", &next.text) || is_plain && (is_article(next) || is_short(2) && !has_plural),
        "describe" => is_plain && next.is("the"),
        "define" => is_short(1) && !has_plural,
        "clarify" => is_in("questions", &next.text),
        "recommend" | "suggest" => is_for_reader || is_in("indefinite", &next.text) && !object.iter().any(|token| token.is("to")),
        "help" => is_for_reader,
        "give" | "write" | "show" | "tell" if is_for_reader => object.get(1).is_some_and(|thing| is_article(thing) || thing.kind == Kind::Other || super::writing::small_number(thing).is_some()),
        "write" => is_in("indefinite", &next.text) && object.iter().any(|token| token.is("about")),
        "list" => object.get(..2).is_some_and(|two| matches!(two, [the, things] if the.is("the") && is_plural(things))) && !object.iter().any(|token| is_in("circumstances", &token.text) && !token.is("in")),
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
        "fix" | "rewrite" | "proofread" | "correct" => is_in("definite", &next.text) && object.len() == 2,
        _ => false,
    }
}

/// "explaining" is "explain".
fn order_of_gerund(word: &str) -> Option<String> {
    let stem = word.strip_suffix("ing")?;
    [stem.to_owned(), format!("{stem}e")]
        .into_iter()
        .find(|order| is_in("orders", order) || is_in("orders_with_object", order))
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
    let points = points_back(before) || before.iter().any(|token| ["this", "these", "it"].iter().any(|word| token.is(word)));
    let is_material = is_of_the_talk(before) || waits(before) || !is_comma && points;
    if !(is_please || thanks) || is_meant || is_material {
        return false;
    }
    // Another mark is the end of the question.
    tokens.truncate(mark.saturating_add(usize::from(!is_comma)));
    true
}

/// Whether a text has to follow: "Classify the sentiment", "translate into German".
fn waits(before: &[Token]) -> bool {
    let begins = |token: &Token| begins_a_question(token) || is_in("starts", &token.text.to_lowercase());
    let lacks_object = before.windows(2).any(|two| match two {
        [order, next] => {
            ["orders", "orders_with_object"].iter().any(|list| is_in(list, &order.text))
                && is_in("circumstances", &next.text)
        }
        _ => false,
    });
    lacks_object || !before.first().is_some_and(begins)
}

/// Applies the first change that fits. Returns whether one did. `is_whole`: nothing follows the tokens.
pub(super) fn applied(tokens: &mut Vec<Token>, is_whole: bool) -> bool {
    // "How can I cut calories and gain weight?" and "how can I buy that without money?" wonder that it is so.
    let is_wonder = tokens.get(1).is_some_and(|can| can.is("can"))
        && (tokens.iter().skip(5).any(|token| token.is("and") || token.is("but"))
            || tokens.iter().skip(3).any(|token| is_in("doubting", &token.text)));
    let is_habit = is_wonder || tokens.iter().any(|token| is_in("habits", &token.text));
    let changed = RULES.changes.iter().find_map(|change| {
        let mut found = Vec::new();
        // "How do I gain weight so fast?" asks for no way to do it.
        let asks_for_a_way = matches!(change.to.as_slice(), ["how", "to", ..]);
        if asks_for_a_way && is_habit
            || !fits(&change.from.places, tokens, is_whole, &mut found)
            || asks_for_a_way && tells_how(&found)
            || change.to_embedded && (is_shown(tokens) || is_given(tokens) || says_how_to_tell(tokens))
            || is_aloft(change, tokens)
            || is_meant_otherwise(change, tokens)
        {
            return None;
        }
        let mut new = written(&change.to, &found);
        if change.to_embedded {
            as_a_question(&mut new);
        }
        (new != *tokens).then_some(new)
    });
    changed.map(|new| *tokens = new).is_some()
}

/// A verb without its object, and how somebody does it.
fn tells_how(found: &Captures<'_>) -> bool {
    let of = |name: &str| {
        let tokens = found.iter().find(|(label, _)| *label == name)?.1;
        tokens.first().map(|first| first.text.as_str())
    };
    let verb = of("V").or(of("O"));
    // "How do I find her cooking?"
    let is_judged = verb == Some("find") && of("X").is_some_and(|next| ["her", "his", "him", "it"].contains(&next));
    let is_sought = verb.is_some_and(|verb| is_in("seekers", verb));
    is_judged || of("X").is_some_and(|next| is_in("manners", next) && !(next == "for" && is_sought))
}

/// "Show me how fast you are" wants to see it.
fn is_shown(tokens: &[Token]) -> bool {
    tokens.first().is_some_and(|first| first.is("show")) && tokens.iter().any(super::order::is_verb)
}

/// "What is the reason that you give?": which one.
fn is_given(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| token.is("reason") || token.is("reasons"))
        && tokens.last().is_some_and(|last| is_in("given", &last.text))
}

/// "Why do elections happen?" asks for no cause, "what is the cause of death?" for that of one, "what are the ways to order three books?" for
/// their number, "what are the differences between 8 and 3?" for a text.
fn is_meant_otherwise(change: &Change, tokens: &[Token]) -> bool {
    let any = |list: &str| tokens.iter().any(|token| is_in(list, &token.text));
    let last = |list: &str| tokens.last().is_some_and(|last| is_in(list, &last.text));
    let is_name = |token: &Token| token.is_capital() && token.text.chars().any(char::is_lowercase);
    match change.to.as_slice() {
        ["what", "causes", cause] => {
            any("arranged") || *cause == "Z" && any("served") || tokens.iter().skip(1).any(is_name)
        }
        ["what", "is", "the", "purpose", ..] => any("officials") || tokens.iter().any(|token| is_in("about_words", &token.text)),
        // "A compiler", "a plumber", but not "a baby".
        ["what", "does", "a|an", "O", "do"] => !tokens.last().is_some_and(|who| {
            ["er", "or", "ist", "ian"].iter().any(|end| who.text.ends_with(end))
        }),
        ["what", "does", "the", "O", "do"] => !last("organs"),
        ["what", "is", "the", "difference", "between", _] => {
            !tokens.iter().any(|token| token.is("and"))
                || tokens.iter().any(|token| token.kind == Kind::Other || super::writing::small_number(token).is_some())
                || any("days")
                || any("months")
        }
        ["what", "should", "i", "do", "if", "my", ..] => any("asked_aloud"),
        ["how", "to", ..] => {
            tokens.iter().any(|token| token.is("ways")) && tokens.iter().any(|token| token.kind == Kind::Other)
        }
        _ => false,
    }
}

/// The height of what flies is how high it is.
fn is_aloft(change: &Change, tokens: &[Token]) -> bool {
    change.to.get(1).is_some_and(|word| *word == "tall")
        && tokens.iter().any(|token| is_in("aloft", &token.text.to_lowercase()))
}

/// How many tokens at the beginning a pattern of words alone takes, as many as it can.
fn prefix(places: &[Place], tokens: &[Token]) -> Option<usize> {
    let Some((place, places)) = places.split_first() else { return Some(0) };
    let Place::Words { words, is_optional } = place else { return None };
    let taken = tokens
        .split_first()
        .filter(|(first, _)| words.iter().any(|word| first.is(word)))
        .and_then(|(_, rest)| prefix(places, rest))
        .map(|len| len.saturating_add(1));
    taken.or_else(|| prefix(places, tokens).filter(|_| *is_optional))
}

fn fits<'a>(places: &[Place], tokens: &'a [Token], is_whole: bool, found: &mut Captures<'a>) -> bool {
    let Some((place, rest)) = places.split_first() else { return tokens.is_empty() };
    match place {
        Place::Words { words, is_optional } => {
            if let Some((first, after)) = tokens.split_first()
                && words.iter().any(|word| first.is(word))
            {
                let before = found.len();
                if let Some(word) = words.first() {
                    found.push((word, std::slice::from_ref(first)));
                }
                if fits(rest, after, is_whole, found) {
                    return true;
                }
                found.truncate(before);
            }
            *is_optional && fits(rest, tokens, is_whole, found)
        }
        Place::Any(name) => {
            let longest = match name {
                'B' | 'M' | 'R' => tokens.len().min(2),
                'V' | 'D' | 'P' | 'F' | 'W' | 'O' | 'Q' | 'T' => tokens.len().min(1),
                // As short as it can be; to the end of the text where nothing follows.
                _ => tokens.len(),
            };
            let from = if rest.is_empty() { longest.max(1) } else { 1 };
            (from..=longest).any(|len| {
                let Some((taken, after)) = tokens.split_at_checked(len) else { return false };
                let before = found.len();
                found.push((label(*name), taken));
                let is_one = can_be(*name, taken, is_whole) && fits(rest, after, is_whole, found);
                if !is_one {
                    found.truncate(before);
                }
                is_one
            })
        }
    }
}

fn label(name: char) -> &'static str {
    match name {
        'X' => "X",
        'Y' => "Y",
        'V' => "V",
        'B' => "B",
        'R' => "R",
        'N' => "N",
        'M' => "M",
        'F' => "F",
        'D' => "D",
        'W' => "W",
        'O' => "O",
        'S' => "S",
        'Q' => "Q",
        'T' => "T",
        'Z' => "Z",
        'J' => "J",
        'E' => "E",
        _ => "P",
    }
}

fn can_be(name: char, taken: &[Token], is_whole: bool) -> bool {
    let word = |token: &Token| token.kind == Kind::Word;
    match (name, taken) {
        ('V', [verb]) => is_in("actions", &verb.text),
        ('W', [word]) => is_plural(word),
        ('O', [word]) => word.is_plain() && !is_in("not_explained", &word.text),
        ('E', [.., last]) => taken.iter().all(Token::is_capital) && is_in("over", &last.text),
        ('T', [word]) => word.is_plain() && is_noun(&word.text),
        ('S', [.., last]) => is_plural(last),
        ('Q', [quoted]) => {
            quoted.kind == Kind::Other && quoted.text.starts_with(['"', '\'', '`', '“', '‘', '«'])
                || word(quoted) && quoted.text.len() > 1 && quoted.text.chars().all(char::is_uppercase)
        }
        // "How can the shop be closed?" may wonder that it is.
        ('D', [participle]) => !is_in("states", &participle.text) && verb_of(&participle.text).is_some(),
        ('F', [verb]) => is_in("physical", &verb.text),
        ('J', [.., last]) => is_in("professions", &last.text),
        ('N', [first, rest @ ..]) => {
            (first.is_capital() || first.is("the") && !rest.is_empty()) && rest.iter().all(Token::is_capital)
        }
        ('M', words) => words.iter().all(|token| {
            token.is_plain()
                && !token.text.ends_with('s')
                && !is_in("not_explained", &token.text)
                && !ends(&token.text, "payers")
                && !is_in("payers", &token.text)
        }),
        ('P', [owner]) => owner.is_capital() && owner.text.ends_with("'s"),
        ('R', [noun]) => is_in("possessions", &noun.text),
        ('R', [adjective, noun]) => {
            is_in("possession_adjectives", &adjective.text) && is_in("possessions", &noun.text)
        }
        ('B', [only]) => is_whole && word(only) && is_noun(&only.text),
        // "Define class Person" is an order to a programmer.
        ('B', [one, _]) if is_in("named", &one.text) => false,
        ('B', [one, two]) => {
            // "Explain killing bees" and "what is killing bees?", "explain step one", "explain answer B": not the words.
            let is_part = |token: &Token| {
                word(token)
                    && token.text.len() > 1
                    && super::writing::small_number(token).is_none()
                    && !is_in("numerals", &token.text)
                    && !token.text.ends_with("'s")
                    && !is_in("not_explained", &token.text)
                    && !ends(&token.text, "other_endings")
            };
            is_whole
                && is_part(one)
                && is_part(two)
                && (one.is_plain() || !one.text.chars().any(char::is_lowercase))
                && (!one.text.ends_with("ing") || two.text.ends_with("ing"))
        }
        ('X' | 'Y', [only]) => !is_in("pronouns", &only.text),
        ('Z', [first, ..]) => {
            !["owners", "pronouns", "named"].iter().any(|list| is_in(list, &first.text)) && !first.is_capital()
        }
        // "Some of it" is not "it".
        ('X' | 'Y', [first, ..]) => !first.is("of") && !first.is_mark(),
        _ => false,
    }
}

fn is_plural(word: &Token) -> bool {
    word.is_plain() && (word.text.ends_with('s') || is_in("plurals", &word.text))
}

/// A name, or a noun by its ending. "What is allowed?" and "what is open?" ask for no explanation of the word.
fn is_noun(word: &str) -> bool {
    // "Explain Monday" wants more than what Monday is.
    let is_name = word.chars().count() > 1 && word.chars().all(char::is_uppercase);
    !is_in("not_explained", word) && (is_name || ends(word, "noun_endings"))
}

fn ends(word: &str, list: &str) -> bool {
    (1..word.len()).any(|at| word.get(at..).is_some_and(|end| is_in(list, end)))
}

/// "removed" is of "remove", if that is a verb of which nobody asks how he does it himself.
fn verb_of(participle: &str) -> Option<String> {
    let stem = participle.strip_suffix("ed")?;
    let single = stem
        .chars()
        .next_back()
        .and_then(|last| stem.strip_suffix(last)?.strip_suffix(last).map(|rest| format!("{rest}{last}")));
    let y = stem.strip_suffix('i').map(|rest| format!("{rest}y"));
    [Some(stem.to_owned()), Some(format!("{stem}e")), single, y]
        .into_iter()
        .flatten()
        .find(|verb| is_in("actions", verb))
}

fn written(to: &[&'static str], found: &Captures<'_>) -> Vec<Token> {
    let mut new = Vec::new();
    for part in to {
        // Alternatives on the right are those that begin so on the left.
        let name = part.split('|').next().unwrap_or(part);
        let is_named = part.contains('|') || part.chars().all(char::is_uppercase);
        match found.iter().find(|(label, _)| is_named && *label == name) {
            Some(("P", [owner])) => {
                let bare = owner.text.strip_suffix("'s").unwrap_or(&owner.text);
                new.push(Token { text: bare.to_owned(), ..owner.clone() });
            }
            Some(("D", [participle])) => {
                new.extend(verb_of(&participle.text).map(|verb| Token { text: verb, ..participle.clone() }));
            }
            Some((_, tokens)) => new.extend_from_slice(tokens),
            None => new.push(Token::word(name)),
        }
    }
    new
}
