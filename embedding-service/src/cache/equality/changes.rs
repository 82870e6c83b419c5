//! Applies the rules of `changes.txt`: patterns over the whole text that are written as other patterns.

use std::sync::LazyLock;

use super::{
    order::as_a_question,
    sides::two_sides,
    token::{Kind, Token, is_any_of},
    words::{is_in, is_in_any},
};

const CHANGES: &str = include_str!("changes.txt");

/// One place of a pattern.
#[derive(Debug)]
pub(super) enum Place {
    /// One of these words; `is_optional`: or nothing.
    Words { words: Vec<&'static str>, is_optional: bool },
    /// What a capital stands for.
    Any(char),
}

#[derive(Debug)]
pub(super) struct Pattern {
    pub places: Vec<Place>,
    /// What follows, or what comes out, is a question in the order of words of a statement.
    pub is_embedded: bool,
    /// An order has to follow.
    pub needs_order: bool,
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
    whole: Vec<Pattern>,
    changes: Vec<Change>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let mut rules = Rules { courtesy: Vec::new(), whole: Vec::new(), changes: Vec::new() };
    let mut part = "";
    for line in CHANGES.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line {
            "[courtesy]" | "[whole]" | "[changes]" => part = line,
            _ if part == "[courtesy]" => rules.courtesy.push(Pattern::of(line)),
            _ if part == "[whole]" => rules.whole.push(Pattern::of(line)),
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

/// What a talk begins with.
pub(super) fn courtesies() -> &'static [Pattern] {
    &RULES.courtesy
}

/// Whether a text is one of the questions that name all that they are about.
pub(super) fn is_whole(tokens: &[Token]) -> bool {
    RULES.whole.iter().any(|pattern| {
        let mut found = Vec::new();
        fits(&pattern.places, tokens, &mut found)
            && found
                .iter()
                .filter(|(label, _)| label.chars().all(char::is_uppercase))
                .all(|(_, taken)| is_named(taken) && !may_end_a_title(taken, tokens))
    })
}

/// "Hello, why is Kitty popular?", "good morning, explain Vietnam": a greeting and one name may be a title, but not with "the capital of".
fn may_end_a_title(taken: &[Token], tokens: &[Token]) -> bool {
    let [first, ..] = taken else { return false };
    let before = tokens.windows(2).find(|two| two.get(1).is_some_and(|next| std::ptr::eq(next, first)));
    let is_of = before.is_some_and(|two| two.first().is_some_and(|of| is_any_of(of, "of in from between")));
    let is_alone = taken.iter().filter(|token| token.is_capital()).count() == 1;
    is_alone && first.is_capital() && first.text.chars().any(char::is_lowercase) && !is_of
}

/// Whether words point at nothing: no "it", "the tone" or "you", but "the Nile" and "the sky".
fn is_named(taken: &[Token]) -> bool {
    const POINTING: &str = "i it its they them their this that these those one ones here there he she his her him you your yours me our us \
        people each every both some any other another else instead next again more better such";
    /// "How do I sound nice?" is of what was said, and so is "what is a nicer way?"
    const OF_TALK: &str = "sound look feel seem warmer nicer shorter better softer older newer";
    /// There is one of each.
    const ONLY: &str = "sky sun moon earth world sea ocean universe internet";
    // "What does L stand for?", "can you explain why?", "what is missing?"
    let says_nothing = |token: &Token| {
        token.text.len() == 1 && !token.is("a")
            || is_in("questions", &token.text)
            || super::contractions::is_participle(&token.text) && !token.text.ends_with("eed")
            || is_any_of(token, OF_TALK)
    };
    let is_open = |(at, token): (usize, &Token)| {
        let next = taken.get(at.saturating_add(1));
        is_any_of(token, POINTING)
            || is_in("languages", &token.text.to_lowercase())
            || is_in("about_talk", &token.text)
            || is_in("works", &token.text)
            || is_manner(token)
            || token.is_mark()
            || token.is("the") && !next.is_some_and(|next| next.is_capital() || is_any_of(next, ONLY))
    };
    !taken.iter().enumerate().any(is_open) && !matches!(taken, [only] if says_nothing(only))
}

/// "Nicely", but not "fly".
fn is_manner(token: &Token) -> bool {
    token.text.len() > 4 && token.text.ends_with("ly")
}

/// Applies the first change that fits. Returns whether one did.
pub(super) fn applied(tokens: &mut Vec<Token>) -> bool {
    let changed = RULES.changes.iter().find_map(|change| {
        let mut found = Vec::new();
        if !fits(&change.from.places, tokens, &mut found)
            || change.to_embedded && !is_plain_clause(tokens)
            || is_meant_otherwise(change, &found)
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

/// Whether nothing in an embedded question can belong to how or when it is to be answered: "explain how cars work with pictures", "for
/// kids", "briefly", "and stop there", "tell me what the price is if it drops".
pub(super) fn is_plain_clause(rest: &[Token]) -> bool {
    const NO_PART: &str = "verbatim aloud style time sans minus via through within under over plus please twice thrice too fast slow quick \
        hard loud straight instead only times alone together well not no so just right then and or but if when while as like with \
        without for by from in on at using before after until once whenever every each next today tomorrow tonight now immediately \
        first again";
    // "What the fee for a visa is": of the subject.
    let ends_in_verb = rest.first().is_some_and(|first| first.is("what"))
        && rest.last().is_some_and(|last| is_any_of(last, "is are was were"));
    let is_of_subject = |token: &Token| ends_in_verb && is_any_of(token, "for in on at from");
    rest.iter().enumerate().skip(1).all(|(at, token)| {
        // "Who won the 2010 World Cup"
        let is_year = token.text.len() == 4
            && token.text.chars().all(|digit| digit.is_ascii_digit())
            && at.checked_sub(1).and_then(|the| rest.get(the)).is_some_and(|the| the.is("the"));
        (token.kind == Kind::Word || is_year)
            && !(is_any_of(token, NO_PART) && !is_of_subject(token)
                || at > 1 && token.is("to")
                || is_manner(token))
    })
}

/// "How do I write under pressure?" and "how do I cook?" ask how well.
fn is_meant_otherwise(change: &Change, found: &Captures<'_>) -> bool {
    let thing = found.iter().find(|(label, _)| *label == "X").map(|(_, taken)| *taken);
    match change.to.as_slice() {
        // "How can I test positive after a vaccination?" asks why that can be.
        ["how", "do", "i", ..] => {
            !thing.is_some_and(|thing| is_told_plainly(thing) && begins_with_a_thing(thing))
        }
        ["how", "to", verb, ..] if *verb == "V" || verb.contains('|') => !thing.is_some_and(is_a_thing),
        // "The difference between the GDP of France and Germany": one number.
        ["what", "is", "the", "difference", "between", _] => {
            thing.is_none_or(|sides| two_sides(sides).is_none())
        }
        _ => false,
    }
}

/// What begins how, where or when something is done.
const HOW: &str = "in on at for with without during by as after before from to near under like through out up over of into onto";

/// Whether what is done, and to what, is said in one go: nothing is left that could wonder at it, doubt it or go on ("yet it drips", "my own mother").
fn is_told_plainly(object: &[Token]) -> bool {
    const OTHERWISE: &str = "yet but so if when while than like as enough still ever own again more less better worse such same without \
        mother father wife husband boss friend friends anyone someone everyone people";
    object.len() > 1
        && object.iter().all(|token| {
            (token.kind == Kind::Word || super::numbers::small_number(token).is_some())
                && !is_any_of(token, OTHERWISE)
                && !is_in("questions", &token.text)
                && !is_in("pronouns", &token.text)
                && !is_manner(token)
        })
}

/// "A letter", "my debts", "two lists", "candle wax", but not "positive", "pregnant after" and "out of range".
fn begins_with_a_thing(object: &[Token]) -> bool {
    let [first, second, ..] = object else { return false };
    let is_compound = first.is_plain()
        && !is_any_of(first, HOW)
        && second.is_plain()
        && !is_any_of(second, HOW)
        && !is_manner(second);
    (is_any_of(first, "a an the my")
        || super::numbers::small_number(first).is_some()
        || is_plural(first)
        || is_compound)
        && !object.iter().any(|token| is_any_of(token, "after during despite range twice"))
}

/// One thing with "a" or a number, in a program or not ("the impossible" is no thing): nothing is left that could judge, doubt or go on. "How can I dry my hair yet
/// it drips?", "how do I draw for a beginner?"
fn is_a_thing(object: &[Token]) -> bool {
    // "How do I change a lot?"
    const NO_THINGS: &str =
        "heart lot bit little while few most least same second moment minute day week year time way";
    let is_noun = |token: &Token| {
        token.is_plain()
            && !is_any_of(token, NO_THINGS)
            && !is_in("not_explained", &token.text)
            && !is_in("pronouns", &token.text)
            && !is_manner(token)
    };
    let is_article =
        |token: &Token| is_any_of(token, "a an") || super::numbers::small_number(token).is_some();
    let (thing, place) = match object.iter().position(|token| is_any_of(token, HOW)) {
        Some(at) => object.split_at_checked(at).unwrap_or_default(),
        None => (object, [].as_slice()),
    };
    let is_thing = match thing {
        [my, noun] if my.is("my") => is_in("belongings", &noun.text),
        [article, kinds @ .., noun] if is_article(article) => {
            is_noun(noun) && kinds.len() < 3 && kinds.iter().all(|kind| is_noun(kind) || kind.is_capital())
        }
        [kinds @ .., things] => {
            is_plural(things) && is_noun(things) && kinds.len() < 3 && kinds.iter().all(is_noun)
        }
        _ => false,
    };
    is_thing
        && match place {
            [] => true,
            [preposition, rest @ .., noun] => {
                is_any_of(preposition, "in from on into without with for to")
                    && (is_noun(noun) || noun.is_capital())
                    && rest.len() < 3
                    && rest.iter().all(|token| is_noun(token) || is_any_of(token, "a an the my"))
            }
            _ => false,
        }
}

/// How many tokens at the beginning a pattern of words alone takes, as many as it can.
pub(super) fn prefix(places: &[Place], tokens: &[Token]) -> Option<usize> {
    let Some((place, places)) = places.split_first() else { return Some(0) };
    let Place::Words { words, is_optional } = place else { return None };
    let taken = tokens
        .split_first()
        .filter(|(first, _)| words.iter().any(|word| first.is(word)))
        .and_then(|(_, rest)| prefix(places, rest))
        .map(|len| len.saturating_add(1));
    taken.or_else(|| prefix(places, tokens).filter(|_| *is_optional))
}

fn fits<'a>(places: &[Place], tokens: &'a [Token], found: &mut Captures<'a>) -> bool {
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
                if fits(rest, after, found) {
                    return true;
                }
                found.truncate(before);
            }
            *is_optional && fits(rest, tokens, found)
        }
        Place::Any(name) => {
            let longest = match name {
                'V' | 'W' | 'P' | 'R' | 'O' => tokens.len().min(1),
                // As short as it can be; to the end of the text where nothing follows.
                _ => tokens.len(),
            };
            let from = if rest.is_empty() { longest.max(1) } else { 1 };
            (from..=longest).any(|len| {
                let Some((taken, after)) = tokens.split_at_checked(len) else { return false };
                let before = found.len();
                found.push((label(*name), taken));
                let is_one = can_be(*name, taken) && fits(rest, after, found);
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
        'V' => "V",
        'W' => "W",
        'R' => "R",
        'N' => "N",
        'O' => "O",
        'Z' => "Z",
        _ => "P",
    }
}

fn can_be(name: char, taken: &[Token]) -> bool {
    match (name, taken) {
        ('V', [verb]) => is_in("actions", &verb.text),
        ('W', [verb]) => is_in_any(&["actions", "actions_of_titles"], &verb.text),
        ('O', [word]) => word.is_plain() && !is_in("not_explained", &word.text),
        ('N', [first, rest @ ..]) => {
            (first.is_capital() || first.is("the") && !rest.is_empty()) && rest.iter().all(Token::is_capital)
        }
        ('P', [owner]) => owner.text.strip_suffix("'s").is_some_and(|name| is_in("countries", name)),
        ('R', [noun]) => is_in("possessions", &noun.text),
        ('Z', [first, ..]) if is_any_of(first, HOW) => false,
        ('X' | 'Z', [only]) => !is_in("pronouns", &only.text),
        // "Some of it" is not "it".
        ('X' | 'Z', [first, ..]) => !first.is("of") && !first.is_mark(),
        _ => false,
    }
}

pub(super) fn is_plural(word: &Token) -> bool {
    // Not "glass", "bus", "analysis", "physics".
    let is_singular = ["ss", "us", "is", "ics"].iter().any(|end| word.text.ends_with(end));
    word.is_plain() && (word.text.ends_with('s') && !is_singular || is_in("plurals", &word.text))
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
            Some((_, tokens)) => new.extend_from_slice(tokens),
            None => new.push(Token::word(name)),
        }
    }
    new
}
