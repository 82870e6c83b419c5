//! What a text asks for: the kind of its question, and the words that do nothing but ask it.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    lists::is_strict_relation,
    token::{Shape, Token},
};

/// What an answer would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A thing or a value: "what is", "give me".
    What,
    /// "explain", "describe", "tell me about".
    Explain,
    /// "list", "name".
    List,
    HowTo,
    How,
    HowMany,
    HowMuch,
    Why,
    When,
    /// "what year", "what day".
    WhenExactly(char),
    Where,
    Who,
    Whose,
    YesNo,
    /// "give me", "provide": a thing, or a task.
    Give,
    /// A task, or a statement.
    Task,
}

impl Kind {
    /// Whether one answer can serve both.
    pub fn agrees(self, other: Self) -> bool {
        use Kind::{Explain, Give, How, HowTo, List, Task, What, When, WhenExactly};
        self == other
            || matches!(
                (self, other),
                (What | Give, List | Explain)
                    | (List | Explain, What | Give)
                    | (Give, What | Task)
                    | (What | Task, Give)
                    | (When, WhenExactly(_))
                    | (WhenExactly(_), When)
                    | (How, Explain)
                    | (Explain, How)
                    | (HowTo, How)
                    | (How, HowTo)
            )
    }
}

/// What introduces a question, and what asks it.
const FRAMES: &str = include_str!("frames.txt");

/// The kinds as `frames.txt` has them.
const KINDS: [(&str, Kind); 15] = [
    ("what", Kind::What),
    ("give", Kind::Give),
    ("explain", Kind::Explain),
    ("list", Kind::List),
    ("how to", Kind::HowTo),
    ("how", Kind::How),
    ("how many", Kind::HowMany),
    ("how much", Kind::HowMuch),
    ("why", Kind::Why),
    ("when", Kind::When),
    ("year", Kind::WhenExactly('y')),
    ("day", Kind::WhenExactly('d')),
    ("where", Kind::Where),
    ("who", Kind::Who),
    ("whose", Kind::Whose),
];

/// Verbs of asking.
const ASKING_VERBS: &str = "tell explain describe give help show list write translate summarize summarise provide define compare convert name \
    suggest recommend generate calculate compute rewrite draft walk clarify elaborate teach solve proofread enumerate outline paraphrase \
    rephrase remind teach summarise";

/// "What are X" asks what they are, "what are the X" for a list of them.
fn asks_for_definition(tokens: &[Token], frame: usize) -> bool {
    let is_one_of = |at: usize, words: &[&str]| {
        tokens.get(at).is_some_and(|token| words.iter().any(|word| token.is(word)))
    };
    let points = ["the", "some", "my", "your", "his", "her", "their", "our", "all"];
    frame == 2
        && is_one_of(0, &["what"])
        && is_one_of(1, &["is", "are", "was", "were"])
        && !is_one_of(2, &points)
        && !tokens.iter().any(|token| token.shape == Shape::Genitive)
}

/// Begins a question that is answered by yes or no.
const AUXILIARIES: &str =
    "is are am was were do does did can could should will would has have had may must might shall if whether";

/// How much of a quality, and the noun for it: "how tall is X" is "what is the height of X".
const DEGREES: &str = "tall:height high:height old:age far:distance big:size large:size deep:depth heavy:weight fast:speed frequently:frequency hot:temperature cold:temperature \
    wide:width often:frequency long:length thick:thickness strong:strength expensive:price bright:brightness dense:density loud:loudness popular:popularity";

/// The kind of a question, and what is left of its tokens. What was taken from the middle leaves a break.
pub(super) fn without_frame(tokens: &[Token]) -> (Kind, Vec<Token>) {
    let mut rest = tokens;
    let mut kind = None;
    let mut found = Vec::new();
    if let Some((first, len)) = frame_at(rest) {
        kind = Some(if asks_for_definition(rest, len) { Kind::Explain } else { first });
        rest = rest.get(len..).unwrap_or_default();
        // "Tell me why", "explain what it is and how": what follows says more.
        while matches!(kind, Some(Kind::Explain | Kind::What | Kind::Give))
            && rest.first().is_some_and(asks)
            && let Some((inner, len)) = frame_at(rest)
        {
            kind = Some(inner);
            rest = rest.get(len..).unwrap_or_default();
        }
    } else if is_yes_no(rest) {
        kind = Some(Kind::YesNo);
    } else if let Some((at, inner, len)) = later_frame(rest) {
        kind = Some(inner);
        found.extend_from_slice(rest.get(..at).unwrap_or_default());
        rest = rest.get(at.saturating_add(len)..).unwrap_or_default();
    } else if rest.last().is_some_and(asks)
        && rest.len() > 2
        && let Some((inner, 1)) = rest.len().checked_sub(1).and_then(|at| frame_at(rest.get(at..)?))
    {
        kind = Some(inner);
        rest = rest.get(..rest.len().saturating_sub(1)).unwrap_or_default();
    }
    let mut rest = rest.to_vec();
    if let Some(first) = rest.first_mut()
        && !found.is_empty()
    {
        first.after_break = true;
    }
    found.append(&mut rest);
    with_degree(kind.unwrap_or(Kind::Task), found)
}

/// Without greetings, courtesy and what introduces a question.
pub(super) fn without_asking(tokens: &[Token]) -> &[Token] {
    static ASKS: LazyLock<Patterns> = LazyLock::new(|| patterns_of("asking"));
    let mut rest = tokens;
    while let Some(len) = longest(&ASKS, rest)
        .filter(|len| *len < rest.len() && frame_at(rest).is_none_or(|(_, frame)| frame < *len))
    {
        rest = rest.get(len..).unwrap_or_default();
    }
    rest
}

/// Whether nothing is said but courtesy, or what introduces a question.
pub(super) fn only_asks(tokens: &[Token]) -> bool {
    static ASKS: LazyLock<Patterns> = LazyLock::new(|| patterns_of("asking"));
    let mut rest = tokens;
    while let Some(len) = longest(&ASKS, rest) {
        rest = rest.get(len..).unwrap_or_default();
    }
    rest.is_empty()
}

/// Without what follows a question for courtesy.
pub(super) fn without_thanks(tokens: &[Token]) -> &[Token] {
    let thanks = |rest: &[Token]| {
        let begins =
            rest.first().is_some_and(|first| first.after_break && (first.is("thanks") || first.is("thank")));
        let allowed =
            ["thanks", "thank", "you", "a", "lot", "so", "very", "much", "in", "advance", "again", "please"];
        begins && rest.iter().all(|token| allowed.iter().any(|word| token.is(word)))
    };
    let end = (1..tokens.len()).find(|at| tokens.get(*at..).is_some_and(thanks)).unwrap_or(tokens.len());
    let tokens = tokens.get(..end).unwrap_or(tokens);
    // "Is it right for me" asks about me, "write it for me" does not.
    match tokens {
        [rest @ .., by, me] if by.is("for") && (me.is("me") || me.is("us")) && !is_yes_no(tokens) => rest,
        _ => tokens,
    }
}

fn frame_at(tokens: &[Token]) -> Option<(Kind, usize)> {
    static KNOWN: LazyLock<Vec<(Kind, Patterns)>> =
        LazyLock::new(|| KINDS.iter().map(|(name, kind)| (*kind, patterns_of(name))).collect());
    KNOWN
        .iter()
        .filter_map(|(kind, patterns)| longest(patterns, tokens).map(|len| (*kind, len)))
        .max_by_key(|(kind, len)| (*len, *kind != Kind::What && *kind != Kind::How))
}

fn asks(token: &Token) -> bool {
    matches!(
        token.text.as_str(),
        "what" | "which" | "how" | "why" | "who" | "when" | "where" | "whose" | "if" | "whether"
    ) && token.shape == Shape::Word
}

fn is_yes_no(tokens: &[Token]) -> bool {
    let is_auxiliary = |token: &Token| AUXILIARIES.split_ascii_whitespace().any(|word| token.is(word));
    tokens.first().is_some_and(is_auxiliary)
        && !tokens
            .get(1)
            .is_some_and(|next| next.is("not") && tokens.first().is_some_and(|first| first.is("do")))
}

/// A question behind something that leads to it: "In Python, how do I ...", "My car is old. What is ...".
fn later_frame(tokens: &[Token]) -> Option<(usize, Kind, usize)> {
    let leads = tokens.first().is_some_and(|first| {
        is_strict_relation(&first.text)
            || super::lists::is_loose_relation(&first.text)
            || matches!(first.text.as_str(), "when" | "as" | "given" | "using")
    });
    (1..tokens.len()).find_map(|at| {
        let rest = tokens.get(at..)?;
        let first = rest.first()?;
        let (kind, len) = frame_at(rest).filter(|_| first.after_break || leads && asks(first))?;
        Some((at, kind, len))
    })
}

/// "how tall is X" asks what the height of X is; "how much does X cost", what its price is; "what does X mean", what X is.
fn with_degree(kind: Kind, mut tokens: Vec<Token>) -> (Kind, Vec<Token>) {
    let degree = |token: &Token| {
        DEGREES
            .split_ascii_whitespace()
            .find_map(|d| d.split_once(':').filter(|(a, _)| token.is(a)).map(|(_, noun)| noun))
    };
    match kind {
        Kind::How => {
            if let Some(first) = tokens.first_mut()
                && let Some(noun) = degree(first)
            {
                *first = Token::word(noun, first);
                return (Kind::What, tokens);
            }
        }
        Kind::HowMuch
            if tokens.first().is_some_and(|first| {
                matches!(first.text.as_str(), "is" | "are" | "does" | "do" | "was" | "did")
            }) =>
        {
            let price = tokens.iter().position(|token| matches!(token.text.as_str(), "cost" | "costs"));
            let weight =
                tokens.iter().position(|token| matches!(token.text.as_str(), "weigh" | "weighs" | "weighed"));
            let (noun, at) = if let Some(at) = weight { ("weight", Some(at)) } else { ("price", price) };
            let template = tokens.first().cloned();
            if let Some(at) = at {
                tokens.remove(at);
            }
            if let Some(template) = template {
                tokens.insert(0, Token::word(noun, &template));
            }
            return (Kind::What, tokens);
        }
        Kind::What | Kind::Explain => {
            let asks_meaning = tokens.first().is_some_and(|first| first.is("does") || first.is("do"));
            let ends = |next: Option<&Token>| {
                next.is_none_or(|next| ["in", "when", "by", "for"].iter().any(|word| next.is(word)))
            };
            let place = tokens.iter().enumerate().position(|(at, token)| {
                (token.is("mean") || token.is("means")) && ends(tokens.get(at.saturating_add(1)))
            });
            if let Some(place) = place.filter(|_| asks_meaning || kind == Kind::Explain || tokens.len() < 4) {
                tokens.remove(place);
            }
        }
        Kind::Why => tokens.retain(|token| {
            !matches!(token.text.as_str(), "happen" | "happens" | "occur" | "occurs" | "happening")
        }),
        _ => {}
    }
    (kind, tokens)
}

/// A row of places, each with the words that may stand there and whether it can be left out.
type Pattern = Vec<(Vec<&'static str>, bool)>;

/// The patterns of one kind of frame, by the words that they can begin with.
type Patterns = HashMap<&'static str, Vec<Pattern>>;

fn patterns_of(kind: &str) -> Patterns {
    let place = |place: &'static str| {
        let (words, can_go) = place.strip_suffix('?').map_or((place, false), |words| (words, true));
        (words.split('|').collect(), can_go)
    };
    let mut found: Patterns = HashMap::new();
    for line in FRAMES.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix(": ")) {
        let pattern: Pattern = line.split_ascii_whitespace().map(place).collect();
        let optional = pattern.iter().take_while(|(_, can_go)| *can_go).count();
        for (words, _) in pattern.iter().take(optional.saturating_add(1)) {
            for word in words {
                found.entry(word).or_default().push(pattern.clone());
            }
        }
    }
    found
}

fn longest(patterns: &Patterns, tokens: &[Token]) -> Option<usize> {
    let first = tokens.first().filter(|token| token.shape == Shape::Word)?;
    let begin = patterns.get(first.text.as_str())?;
    begin.iter().filter_map(|pattern| fits(pattern, tokens)).max().filter(|len| *len > 0)
}

/// How many tokens a pattern takes. What can be left out is taken where it fits, unless the rest fits only without.
fn fits(pattern: &[(Vec<&'static str>, bool)], tokens: &[Token]) -> Option<usize> {
    let Some(((words, can_go), rest)) = pattern.split_first() else { return Some(0) };
    let first = tokens.first();
    let looked_ahead = match words.as_slice() {
        ["^q"] => Some(first.is_some_and(asks)),
        ["^v"] => {
            Some(first.is_some_and(|token| ASKING_VERBS.split_ascii_whitespace().any(|verb| token.is(verb))))
        }
        _ => None,
    };
    if let Some(holds) = looked_ahead {
        return holds.then(|| fits(rest, tokens)).flatten();
    }
    let taken = first
        .filter(|token| words.iter().any(|word| token.is(word)))
        .and_then(|_| fits(rest, tokens.get(1..).unwrap_or_default()))
        .map(|len| len.saturating_add(1));
    taken.or_else(|| can_go.then(|| fits(rest, tokens)).flatten())
}

#[cfg(test)]
mod tests {
    use super::{super::token::tokens, *};

    fn read(text: &str) -> (Kind, String) {
        let tokens = tokens(text);
        let (kind, rest) = without_frame(without_asking(&tokens));
        (kind, rest.into_iter().map(|token| token.text).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn questions_are_known_by_their_frames() {
        for (text, kind, rest) in [
            ("What is the capital of Peru?", Kind::What, "the capital of peru"),
            ("Could you please tell me what the capital of Peru is?", Kind::What, "the capital of peru is"),
            ("Hi! Can you explain what recursion is?", Kind::What, "recursion is"),
            ("Explain recursion", Kind::Explain, "recursion"),
            ("How do I boil an egg?", Kind::HowTo, "boil an egg"),
            ("What's the best way to boil an egg?", Kind::HowTo, "boil an egg"),
            ("Show me how to boil an egg", Kind::HowTo, "boil an egg"),
            ("How does a fridge work?", Kind::How, "a fridge work"),
            ("Why is the sky blue?", Kind::Why, "the sky blue"),
            ("How many moons does Mars have?", Kind::HowMany, "moons does mars have"),
            ("How tall is the tower?", Kind::What, "height is the tower"),
            ("In Python, how do I sort a list?", Kind::HowTo, "in python sort a list"),
            ("Is it safe to eat raw eggs?", Kind::YesNo, "is it safe to eat raw eggs"),
            ("Can I freeze milk?", Kind::YesNo, "can i freeze milk"),
            ("Translate this to French", Kind::Task, "translate this to french"),
            ("What does entropy mean?", Kind::What, "does entropy"),
            ("The capital of France is what?", Kind::What, "the capital of france is"),
        ] {
            assert_eq!(read(text), (kind, rest.to_owned()), "{text}");
        }
    }
}
