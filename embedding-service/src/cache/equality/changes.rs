//! Applies the rules of `changes.txt`: patterns over the whole text that are written as other patterns.

use std::sync::LazyLock;

use super::{
    order::as_a_question,
    token::{Kind, Token},
    words::is_in,
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

/// What a talk begins with.
pub(super) fn courtesies() -> &'static [Pattern] {
    &RULES.courtesy
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

/// "Before applying it", "every hour", "in one word", "in emojis", "as a poem", "to a child".
pub(super) fn says_how_to_tell(rest: &[Token]) -> bool {
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

/// A verb without its object, and how somebody does it.
fn tells_how(found: &Captures<'_>) -> bool {
    let of = |name: &str| {
        let tokens = found.iter().find(|(label, _)| *label == name)?.1;
        tokens.first().map(|first| first.text.as_str())
    };
    let verb = of("V").or(of("O"));
    // "How do I find her cooking?"
    let is_judged =
        verb == Some("find") && of("X").is_some_and(|next| ["her", "his", "him", "it"].contains(&next));
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
    let is_number =
        |token: &Token| token.kind == Kind::Other || super::writing::small_number(token).is_some();
    match change.to.as_slice() {
        ["what", "causes", cause] => {
            any("arranged") || *cause == "Z" && any("served") || tokens.iter().skip(1).any(is_name)
        }
        ["what", "is", "the", "purpose", ..] => {
            any("officials") || tokens.iter().any(|token| is_in("about_words", &token.text))
        }
        // "A compiler", "a plumber", but not "a baby".
        ["what", "does", "a|an", "O", "do"] => !tokens
            .last()
            .is_some_and(|who| ["er", "or", "ist", "ian"].iter().any(|end| who.text.ends_with(end))),
        ["what", "does", "the", "O", "do"] => !last("organs"),
        ["what", "is", "the", "difference", "between", _] => {
            !tokens.iter().any(|token| token.is("and"))
                || tokens.iter().any(is_number)
                || any("days")
                || any("months")
        }
        ["what", "should", "i", "do", "if", "my", ..] => any("asked_aloud"),
        ["how", "to", ..] => tokens.iter().any(|token| token.is("ways")) && tokens.iter().any(is_number),
        _ => false,
    }
}

/// The height of what flies is how high it is.
fn is_aloft(change: &Change, tokens: &[Token]) -> bool {
    change.to.get(1).is_some_and(|word| *word == "tall")
        && tokens.iter().any(|token| is_in("aloft", &token.text.to_lowercase()))
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
                // "Explain song lyrics".
                && !is_plural(two)
                && (one.is_plain() || !one.text.chars().any(char::is_lowercase))
                && (!one.text.ends_with("ing") || two.text.ends_with("ing"))
        }
        ('X' | 'Y', [only]) => !is_in("pronouns", &only.text),
        ('Z', [first, ..]) => {
            !["owners", "pronouns", "named"].iter().any(|list| is_in(list, &first.text))
                && !first.is_capital()
        }
        // "Some of it" is not "it".
        ('X' | 'Y', [first, ..]) => !first.is("of") && !first.is_mark(),
        _ => false,
    }
}

pub(super) fn is_plural(word: &Token) -> bool {
    // Not "glass", "bus", "analysis", "physics".
    let is_singular = ["ss", "us", "is", "ics"].iter().any(|end| word.text.ends_with(end));
    word.is_plain() && (word.text.ends_with('s') && !is_singular || is_in("plurals", &word.text))
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
