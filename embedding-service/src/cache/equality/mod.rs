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

use self::courtesy::Courtesy;
use self::token::{Kind, Text, Token, is_any_of};

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
        let is_about_marks = is_about_marks(&tokens);
        let mut end = end_marks(&mut tokens, given.is_empty());
        let is_matter = is_looked_for(&tokens) || has_two_ways(&tokens, is_known);
        if !is_matter {
            contractions::with_full_forms(&mut tokens, is_about_words);
        }
        let is_about_words = is_about_words || is_matter;
        // "Waht is a typo of which word?", "teh is Malay for tea, right?"
        let is_subject = matches!(tokens.as_slice(), [first, verb, ..] if is_any_of(first, "teh taht") && order::is_verb(verb));
        writing::with_small_starts(&mut tokens, !is_about_words && !is_subject);
        if !is_about_words && !writing::may_be_meant(&tokens) {
            writing::spelt(&mut tokens, is_known);
            writing::with_numbers(&mut tokens);
        }
        let begun_as = Beginning::of(&tokens);
        let mut is_asking = false;
        while courtesy::without_thanks(&mut tokens, is_about_words, end == End::Asked) {
            let before = end_marks(&mut tokens, true);
            // "What is a hedge fund, please?"
            end = if before == End::Plain && end == End::Asked { end } else { before };
        }
        courtesy::without_last_please(&mut tokens, is_about_words);
        for _ in 0..ROUNDS {
            order::with_what(&mut tokens);
            let may_move = given.is_empty() && (!is_about_words || order::is_done_to_one(&tokens));
            let courtesy = courtesy::without_courtesy(&mut tokens, is_about_words);
            is_asking |= courtesy == Some(Courtesy::Asking);
            let is_changed = courtesy.is_some()
                || may_move && order::without_front(&mut tokens)
                || changes::applied(&mut tokens);
            if !is_changed {
                break;
            }
        }
        if !is_about_words {
            order::settled(&mut tokens);
        }
        if is_asking && matches!(end, End::Plain | End::Stopped) {
            end = End::Asked;
        }
        let mark = match end {
            End::Asked if is_about_marks || !asks(&tokens) || begun_as.is_offer(&tokens) => Some("?"),
            End::Exclaimed => Some("!"),
            End::Both => Some("!"),
            End::Open => Some("..."),
            _ => None,
        };
        if is_about_marks && end == End::Stopped {
            tokens.push(Token { kind: Kind::Mark, ..Token::word(".") });
        }
        // "Could you explain X?" and "explain X." are one.
        let own_mark =
            matches!(end, End::Stopped | End::Asked).then_some(end).filter(|_| !begun_as.is_asked_for);
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
        let is_how = matches!(tokens, [how, verb, i, ..] if how.is("how") && is_any_of(verb, "do can") && is_any_of(i, "i you"));
        let is_asked_for = is_how || tokens.iter().any(is_polite) || tokens.windows(2).any(is_asked);
        Self { has_order: tokens.iter().any(|token| words::is_order_word(&token.text)), is_asked_for }
    }

    /// "Delete the file?" and "remind Anna?" offer to, "delete the file" wants it.
    fn is_offer(self, tokens: &[Token]) -> bool {
        tokens.first().is_some_and(|first| words::is_order_word(&first.text))
            && self.has_order
            && !self.is_asked_for
    }
}

/// Takes the marks from the end of a text.
fn end_marks(tokens: &mut Vec<Token>, is_end: bool) -> End {
    let mut end = End::Plain;
    let dots = tokens.iter().rev().take_while(|token| token.is_mark() && token.text == ".").count();
    while is_end && tokens.last().is_some_and(|last| last.kind == Kind::Mark && last.text != ",") {
        end = match tokens.pop() {
            // "What is the capital of Laos??"
            Some(mark) if end == End::Asked && mark.text == "?" && insists(tokens) => end,
            // "What is Mass.?", "what is int...?", "what is int??": a part of the word.
            Some(mark) if end != End::Plain && (mark.text == "." || mark.text == "?") => {
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

/// Whether a second question mark only insists: no code and no question about signs.
fn insists(tokens: &[Token]) -> bool {
    const TYPES: &str = "bool char long short float double byte void object list array dict tuple date time nullable optional maybe null none nil true \
        false undefined this self guid task string value enum record";
    let is_plain = tokens.iter().all(|token| token.kind == Kind::Word || token.text == "?");
    let last = tokens.iter().rfind(|token| !token.is_mark());
    let is_of_code = tokens.iter().any(|token| {
        let word = token.text.to_lowercase();
        is_any_of(token, "text texts send sends write writes put puts shout reply")
            || words::is_in("programmed", &word)
            || words::is_in("named", &word)
            || words::is_in("works", &word)
            || words::are_about_words(&word)
    });
    let is_measure = tokens.first().is_some_and(|how| is_any_of(how, "how"))
        && tokens.get(1).is_some_and(|much| is_any_of(much, "many much long far often tall old deep"));
    let mut words = tokens.iter().rev().skip_while(|token| token.is_mark());
    let is_of_place = words.next().is_some_and(Token::is_capital)
        && words.next().is_some_and(|of| of.is("of"))
        && words.next().is_some_and(|noun| words::is_in("possessions", &noun.text));
    (is_measure || is_of_place)
        && is_plain
        && tokens.len() > 4
        && !is_of_code
        && !is_about_marks(tokens)
        && !writing::may_be_meant(tokens)
        && tokens.first().is_some_and(|first| words::is_in("questions", &first.text.to_lowercase()))
        && last.is_some_and(|last| {
            last.text.len() > 3
                && !is_any_of(last, TYPES)
                && !last.text.chars().skip(1).any(char::is_uppercase)
        })
}

/// Whether a text asks with or without a question mark: it begins with a question word and a verb before its subject, and no second verb
/// makes a statement of it ("what is done is done", "who is late has to pay", "why is beyond me").
fn asks(tokens: &[Token]) -> bool {
    const FINITE: &str = "is are am was were has does did can could should will would may must might";
    const CLAUSES: &str = "if that because which who when while";
    const SUBJECTS: &str =
        "the a an my your his her our their its i you he she it we they there people this these those";
    const MAKERS: &str = "wrote painted invented discovered founded composed";
    const BEHIND: &str = "of in for with on from at between";
    /// What stands before a plural that is no verb.
    const BEFORE_NOUNS: &str = "the a an of in for between and or to with on from my your his her our their its many most these those noble five three two";
    const NO_SUBJECTS: &str = "more not up beyond about in on because clear still";
    let [first, second, third, rest @ ..] = tokens else {
        return matches!(tokens, [order, _] if words::is_order_word(&order.text));
    };
    if words::is_in("questions_elsewhere", &first.text) {
        let is_being = |token: &Token| words::is_in("being_elsewhere", &token.text);
        // "Quanto è bella" and "come è grande" wonder at it.
        return (is_being(second) && !is_any_of(first, "come quanto")
            || is_any_of(first, "wie hoe")
                && !second.text.starts_with("ge")
                && is_being(third)
                && !rest.is_empty())
            && !tokens.iter().any(Token::is_mark);
    }
    let is_subject = |token: &Token| {
        is_any_of(token, SUBJECTS)
            || token.is_capital()
            || changes::is_plural(token)
            || token.kind == Kind::Other
    };
    let is_wh = words::is_in("questions", &first.text) && !order::is_verb(first);
    if words::is_order_word(&first.text) {
        return true;
    }
    let is_of_way = is_any_of(first, "why how when where");
    let verb = if order::is_verb(first) { 0 } else { usize::from(!order::is_verb(second)).saturating_add(1) };
    // A second verb makes a statement: "what is done is done", "who is the fastest wins".
    let clause = tokens.iter().skip(verb.saturating_add(1)).take_while(|token| !is_any_of(token, CLAUSES));
    let behind: Vec<&Token> = clause.collect();
    let is_second = |two: &[&Token]| match two {
        [before, next] => {
            is_any_of(next, FINITE)
                || !is_of_way
                    && next.text.ends_with('s')
                    && changes::is_plural(next)
                    && !is_any_of(before, BEFORE_NOUNS)
        }
        _ => false,
    };
    if behind.windows(2).any(is_second) {
        return false;
    }
    let subject = behind.first().copied();
    let has_subject = subject.is_some_and(is_subject);
    if verb == 0 {
        // "Is it safe", but not "do it now", "am I glad", "can it now", "had I known", "were I to go".
        let is_asked = is_any_of(first, "is are does would will could")
            && is_any_of(second, "it they he she we you there")
            || is_any_of(first, "do can") && is_any_of(second, "you they");
        // "Is Pluto a planet", but not "has Covid again", "did Anna's homework".
        let is_named =
            is_any_of(first, "is are can does") && second.is_capital() && !second.text.ends_with("'s");
        (is_asked || is_named) && !behind.iter().any(|token| token.is("ever"))
    } else if !is_wh {
        false
    } else if verb == 1 {
        let is_bound = |at: usize| behind.get(at).is_some_and(|next| is_any_of(next, BEHIND));
        // "What was the rule became the exception".
        let is_noun = is_any_of(second, "is are")
            || behind.len() < 3
            || is_bound(2)
            || is_bound(3)
            || subject.is_some_and(|who| who.is_capital() || is_any_of(who, "it this that these those"));
        is_of_way && has_subject && behind.len() > 1
            || first.is("what")
                && is_any_of(second, "do does did should can")
                && has_subject
                && behind.len() > 1
            || is_any_of(first, "what who")
                && is_any_of(second, "is are was were")
                && (has_subject && is_noun
                    || behind.len() == 1 && !is_any_of(third, NO_SUBJECTS)
                    || is_bound(1))
            || first.is("which")
                && second.is("is")
                && third.is("the")
                && rest.first().is_some_and(|most| most.text.ends_with("est"))
            || is_any_of(first, "why how") && !is_any_of(third, NO_SUBJECTS) && behind.len() > 1
    } else {
        // "What year did", "how tall is", "how many moons does".
        first.is("how") && second.is("to")
            || is_any_of(first, "what which how") && order::is_verb(third) && has_subject
            || first.is("how")
                && is_any_of(second, "many much")
                && (rest.first().is_some_and(order::is_verb)
                    || changes::is_plural(third) && rest.first().is_some_and(|verb| !is_subject(verb)))
            || first.is("what") && second.is("causes") && rest.is_empty()
            || first.is("who") && is_any_of(second, MAKERS) && is_subject(third)
    }
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
    }) || is_about_its_writer(tokens)
}

/// "What's the first word of my message?", "did I start with a capital letter?", "how kind am I?", "is the first letter a vowel?"
fn is_about_its_writer(tokens: &[Token]) -> bool {
    const TEXTS: &str = "message question prompt request query input sentence wording phrasing spelling grammar tone style typing punctuation capitalization capitalisation";
    const PLACES: &str = "first second third fourth last final longest shortest opening closing";
    const PARTS: &str = "word words letter letters character characters mark sign symbol";
    const DONE: &str = "use used write written wrote type typed say said ask asked end ended start started begin began spell spelled greet greeted \
        sound send sent just";
    let is = |at: usize, list: &str| tokens.get(at).is_some_and(|token| is_any_of(token, list));
    let is_of_words = tokens.iter().any(|token| words::are_about_words(&token.text));
    (0..tokens.len()).any(|at| {
        let next = |by: usize| at.saturating_add(by);
        is(at, "my") && (is(next(1), TEXTS) || is(next(2), TEXTS))
            || is_of_words
                && is(at, TEXTS)
                && at.checked_sub(1).is_some_and(|before| is(before, "the your current last previous user's"))
            || is(at, "my the") && is(next(1), PLACES) && is(next(2), PARTS) && !is(next(3), "of in")
            || is(at, "did have") && is(next(1), "i") && is(next(2), DONE)
            || is(at, "i") && is(next(1), "just wrote typed asked spelled")
            || is(at, "how")
                && (is(next(2), "am") && is(next(3), "i") || is(next(2), "i") && is(next(3), "am sound"))
            || is(at, "am")
                && is(next(1), "i")
                && tokens.get(next(2)).is_some_and(|doing| doing.text.ends_with("ing"))
    })
}

/// Whether a text asks for marks or for how much is written, so that the mark at its end is its matter: "does it end in a period, I am here."
fn is_about_marks(tokens: &[Token]) -> bool {
    const PUNCTUATION: &str =
        "punctuation punctuate period periods dot dots bytes tokens characters chars symbols";
    const BEFORE: &str = "question exclamation full last final closing end many what which final";
    const MARKS: &str = "mark marks stop stops symbol character char sign";
    tokens.iter().any(|token| is_any_of(token, PUNCTUATION))
        || tokens.windows(2).any(|two| match two {
            [before, mark] => is_any_of(before, BEFORE) && is_any_of(mark, MARKS),
            _ => false,
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
