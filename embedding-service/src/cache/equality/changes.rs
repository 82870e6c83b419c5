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
        let is_pointed = is_greeting
            && (is_bare_question(rest)
                || rest.iter().any(|token| token.is("its"))
                // "Question what is given" wants it doubted.
                || marks == 0 && tokens.first().is_some_and(|first| first.is("question"))
                || rest.iter().rfind(|token| !token.is_mark()).is_some_and(|last| is_in("bare_ends", &last.text))
                || tokens.first().is_some_and(|opening| rest.iter().any(|token| token.is(&opening.text)))
                || is_of_a_work(rest)
                || marks == 0
                    && (is_bound(tokens, rest)
                        || names_language(rest)
                        // "Hi everyone who works here": these people.
                        || len > 1 && first.is("who")));
        let opening = tokens.get(..len).unwrap_or_default();
        let is_notice = is_notice(opening, rest);
        let is_skill = pattern.is_embedded && is_skill(opening, rest);
        (is_open && asks && is_order && !is_skill && !is_notice && !is_pointed)
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

/// "Tell me when dinner is ready" and "remind me if it is raining" want to be told then.
fn is_notice(opening: &[Token], rest: &[Token]) -> bool {
    let says = |word: &str| opening.iter().any(|token| token.is(word));
    let is = |word: &str| rest.first().is_some_and(|first| first.is(word));
    // What was, or what is on a day, is no event that is awaited.
    let is_dated = rest.iter().skip(1).any(|token| {
        ["was", "were", "did", "on"].iter().any(|word| token.is(word)) || token.kind == Kind::Other
    });
    // "Can you tell me if" asks, "tell me if" waits for it.
    let is_asked = opening.first().is_some_and(|first| is_in("questions", &first.text) || first.is("will"));
    // "Tell me what you are going to change before you change it."
    let is_ahead = rest.windows(2).any(|two| match two {
        [conjunction, you] => {
            ["before", "until", "once"].iter().any(|word| conjunction.is(word)) && you.is("you")
        }
        _ => false,
    });
    (says("tell") || says("remind")) && is("when") && !is_dated
        || says("tell") && !is_asked && (is("if") || is_ahead)
        || says("remind") && (is("if") || is("whether"))
}

/// Whether another opening follows, or a request for one's own.
fn is_opening(rest: &[Token]) -> bool {
    RULES.courtesy.iter().any(|pattern| prefix(&pattern.places, rest).is_some())
        || rest.first().is_some_and(|first| first.is("i"))
}

/// "Can you explain X", "could you write a poem", but not "can you write poems" and "could you write as a child".
fn is_order(rest: &[Token], all: &[Token], is_thanked: bool) -> bool {
    let Some(first) = rest.first() else { return false };
    let is_polite = is_thanked
        || all
            .iter()
            .take_while(|token| **token != *first)
            .any(|token| token.is("please") || token.is("kindly") || token.is("mind"));
    let is = |word: &str| is_in("orders", word) || is_in("orders_with_object", word);
    // "Can you write a novel?" may ask for no novel, and "can you remove the spleen?" for no operation: who wants a text, or
    // something done to what is at hand, says so.
    let next_is = |list: &str| rest.get(1).is_some_and(|next| is_in(list, &next.text));
    let is_for_reader = rest.iter().any(|next| next.is("me") || next.is("us"));
    let opens = |word: &str| all.first().is_some_and(|first| first.is(word));
    let is_text = is_for_reader
        || is_in("textual", &first.text)
        || is_in("makers", &first.text) && rest.iter().any(|token| token.is("about"));
    let is_skill = !is_polite && next_is("indefinite") && rest.len() < 5;
    let is_again = !is_polite && rest.iter().any(|token| is_in("repeated", &token.text));
    let has_object = || {
        !is_skill
            && !is_again
            && rest.get(1).is_some_and(|next| {
                let is_named = next.kind == Kind::Other
                    && !next.text.starts_with(|c: char| c.is_ascii_digit())
                    || next.is_capital() && !is_in("languages", &next.text.to_lowercase());
                (is_polite || is_text)
                    && (is_named
                        || next.is("the")
                        || next_is("indefinite") && (is_polite || !is_in("textual", &first.text)))
                    || next_is("definite")
                    || is_polite && (next.kind == Kind::Other || next.is("it") || next_is("objects"))
            })
    };
    // "Can you delete a commit in git?" asks whether it is possible, and "can anyone describe God?" too.
    let is_possible = !is_polite
        && !is_for_reader
        && (!is_in("orders", &first.text) && rest.iter().any(|token| token.is("without"))
            || !is_in("explained", &first.text) && !is_in("textual", &first.text))
        && (all.get(1).is_some_and(|who| who.text.ends_with("one") || who.text.ends_with("body"))
            || !next_is("definite") && rest.iter().skip(1).any(|token| is_in("circumstances", &token.text)));
    if is_possible {
        return false;
    }
    // "Will you tell the truth?", "would you describe her as kind?"
    let is_question = !is_polite
        && !is_for_reader
        && (first.is("tell")
            || first.is("remind")
            || (opens("would") || opens("will"))
                && (!is_in("explained", &first.text) || rest.iter().any(|token| token.is("as"))));
    if is_question {
        return false;
    }
    is_in("orders", &first.text)
        || is(&first.text) && (is_polite || has_object())
        || order_of_gerund(&first.text).is_some_and(|order| is_in("orders", &order) || has_object())
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
    let after = tokens.get(mark.saturating_add(1)..).unwrap_or_default();
    let word = |token: &Token| token.text.to_lowercase();
    let is_please = matches!(after, [only] if matches!(word(only).as_str(), "please" | "pls" | "plz"));
    let thanks = after
        .first()
        .is_some_and(|first| matches!(word(first).as_str(), "thanks" | "thank" | "thx" | "cheers"));
    // "How do you say, thank you?"
    // "Which album has the song, Thank You?"
    let is_title = after.first().is_some_and(Token::is_capital) || is_of_a_work(tokens);
    // "How should I end my email, thanks?"
    let is_meant = (is_about_words || is_title || thanks && is_asked)
        && tokens.get(mark).is_some_and(|mark| mark.is(","));
    let is_courtesy = !is_meant
        && (is_please || thanks && after.iter().all(|token| THANKS.contains(&word(token).as_str())));
    if is_courtesy {
        // Another mark is the end of the question.
        let is_comma = tokens.get(mark).is_some_and(|mark| mark.is(","));
        tokens.truncate(mark.saturating_add(usize::from(!is_comma)));
    }
    is_courtesy
}

/// Applies the first change that fits. Returns whether one did. `is_whole`: nothing follows the tokens.
pub(super) fn applied(tokens: &mut Vec<Token>, is_whole: bool) -> bool {
    // "How can I cut calories and gain weight?" wonders that it is so.
    let is_wonder = tokens.get(1).is_some_and(|can| can.is("can"))
        && tokens.iter().skip(5).any(|token| token.is("and") || token.is("but"));
    let is_habit = is_wonder || tokens.iter().any(|token| is_in("habits", &token.text));
    let changed = RULES.changes.iter().find_map(|change| {
        let mut found = Vec::new();
        // "How do I gain weight so fast?" asks for no way to do it.
        let asks_for_a_way = matches!(change.to.as_slice(), ["how", "to", ..]);
        if asks_for_a_way && is_habit
            || !fits(&change.from.places, tokens, is_whole, &mut found)
            || asks_for_a_way && tells_how(&found)
            || change.to_embedded && (is_shown(tokens) || is_given(tokens))
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
    let is_sought = of("V").or(of("O")).is_some_and(|verb| is_in("seekers", verb));
    of("X").is_some_and(|next| is_in("manners", next) && !(next == "for" && is_sought))
}

/// "Show me how fast you are" wants to see it.
fn is_shown(tokens: &[Token]) -> bool {
    tokens.first().is_some_and(|first| first.is("show")) && tokens.iter().any(|token| token.is("are"))
}

/// "What is the reason that you give?": which one.
fn is_given(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| token.is("reason") || token.is("reasons"))
        && tokens.last().is_some_and(|last| is_in("given", &last.text))
}

/// "Why do elections happen?" asks for no cause, "what is the senator for?" for no purpose, and the function of a curve is a formula.
fn is_meant_otherwise(change: &Change, tokens: &[Token]) -> bool {
    let list = match change.to.as_slice() {
        ["what", "causes", ..] => "arranged",
        ["what", "is", "the", "purpose", ..] if tokens.last().is_some_and(|last| last.is("for")) => {
            "officials"
        }
        ["what", "does", "the", "X", "do"] => "graphs",
        _ => return false,
    };
    tokens.iter().any(|token| is_in(list, &token.text))
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
            !["owners", "pronouns", "named"].iter().any(|list| is_in(list, &first.text))
                && !first.is("action")
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
