//! The same word in two ways of writing it: spellings, slips of the typist, the capital at the beginning of a sentence. Numbers and
//! dates are in `numbers`.

use super::{
    numbers::small_number,
    slips::{may_be_slip, meant, meant_at_start},
    token::{Kind, Token, is_any_of},
    words::{american, is_in, is_start},
};

/// "floats" is "float". `None` for a word of which it cannot be told.
pub(super) fn without_s(verb: &str) -> Option<String> {
    let bare = verb.strip_suffix('s')?;
    let is_doubtful = ["s", "u", "i", "e", "a", "o"].iter().any(|end| bare.ends_with(end));
    (bare.len() > 2 && bare.chars().all(char::is_lowercase) && !is_doubtful).then(|| bare.to_owned())
}

/// The capital that only a sentence's beginning gives a word, and that of "I". Only for words that are no names.
pub(super) fn with_small_starts(tokens: &mut [Token], may_be_slip: bool) {
    let is_title = tokens.windows(2).next().is_some_and(|two| match two {
        // "The Trial", but not "The capital".
        [first, second] => matches!(first.text.as_str(), "The" | "A" | "An") && second.is_capital(),
        _ => false,
    });
    let follows_way = tokens.get(1).is_some_and(|next| next.is("way") || next.is("ways"));
    for token in tokens.iter_mut().skip(usize::from(is_title)).filter(|token| token.is_first) {
        let mut letters = token.text.chars();
        let is_one = letters.next().is_some_and(char::is_uppercase) && !letters.any(char::is_uppercase);
        let small = token.text.to_lowercase();
        // "Best way to", but "Best" may be the player.
        let is_way = small == "best" && follows_way;
        // "I" has a rule of its own.
        if is_one && small != "i" {
            if let Some(meant) = meant_at_start(&small).filter(|_| may_be_slip) {
                meant.clone_into(&mut token.text);
            } else if is_start(&small) || is_way {
                token.text = small;
            }
        }
    }
    // "Should I depend on x?"
    let has_value = tokens.iter().any(|token| {
        let mut letters = token.text.trim_end_matches(['.', '?', '!']).chars();
        letters.next().is_some_and(|first| first.is_lowercase() && !matches!(first, 'a' | 'i'))
            && letters.next().is_none()
    });
    let is_of_somebody = is_of_somebody(tokens);
    for at in 0..tokens.len() {
        let word =
            |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.text.as_str());
        let (before, after) = (word(at.checked_sub(1)).to_owned(), word(at.checked_add(1)).to_owned());
        // "When I increases": a value.
        let is_value = after.ends_with('s') && !matches!(after.as_str(), "was" | "always" | "perhaps");
        let is_pronoun = before != "does"
            && (is_of_somebody && before != "of"
                || is_in("before_i", &before)
                    && after.len() > 1
                    && !is_value
                    && !is_in("of_values", &after)
                    && !is_in("between_values", &after)
                || is_in("after_i", &after));
        if let Some(token) = tokens.get_mut(at).filter(|token| token.text == "I" && is_pronoun && !has_value)
        {
            "i".clone_into(&mut token.text);
        }
    }
}

/// "Should I sell my car?": no value has a car.
fn is_of_somebody(tokens: &[Token]) -> bool {
    let i = tokens.iter().position(|token| is_any_of(token, "i I"));
    // "Why did i go negative in my loop?"
    let is_of_code = tokens.iter().any(|token| {
        is_any_of(
            token,
            "loop code program function script circuit formula equation array algorithm recursion index",
        )
    });
    !is_of_code
        && i.is_some_and(|at| tokens.iter().skip(at).any(|token| is_any_of(token, "my me mine our myself")))
}

/// Marks an "i" that may be the value of a program: "can i go below zero?", "when should i reset?", "when i hit 10". Of a value one says "does"
/// and "has", so in "how do i", "if i have" and "i am" it is nobody else's.
pub(super) fn with_values(tokens: &mut [Token]) {
    const OF_I: &str = "am have want need do think know wonder get";
    // "Should i sell my car?" is of somebody.
    if is_of_somebody(tokens) {
        return;
    }
    for at in 0..tokens.len() {
        let is = |at: Option<usize>, list: &str| {
            at.and_then(|at| tokens.get(at)).is_some_and(|token| is_any_of(token, list))
        };
        let before = |by: usize| at.checked_sub(by);
        let next = at.checked_add(1);
        let is_how = is(before(2), "how How")
            && is(before(1), "can")
            && next.and_then(|next| tokens.get(next)).is_some_and(|verb| is_in("actions", &verb.text));
        let is_pronoun = is(before(1), "do") || is(next, OF_I) || is_how;
        if let Some(token) = tokens.get_mut(at).filter(|token| token.text == "i" && !is_pronoun) {
            token.kind = Kind::Other;
            "i as it stands".clone_into(&mut token.text);
        }
    }
}

/// Whether a word may be meant as it is written: in code, in games of letters, beside a single letter.
pub(super) fn may_be_meant(tokens: &[Token]) -> bool {
    let is_letter = |text: &str| text.chars().count() == 1 && text.chars().all(char::is_alphabetic);
    tokens.iter().any(|token| {
        let lower = token.text.to_lowercase();
        is_in("written", &lower)
            || token.kind == Kind::Word && is_letter(&lower) && lower != "a" && lower != "i"
    })
}

/// Whether a word says what a text is about.
pub(super) fn says_much(token: &Token) -> bool {
    token.kind == Kind::Word && token.text.len() > 2 && !is_in("little", &token.text.to_lowercase())
}

/// Words that may be slips, in a text that has some.
const MOST_SLIPS: usize = 6;

/// One spelling, without slips.
pub(super) fn spelt(tokens: &mut [Token], is_known: &dyn Fn(&str) -> bool) {
    let is_programmed = tokens.iter().any(|token| is_in("programmed", &token.text.to_lowercase()));
    // A package may have the name of a slip.
    if tokens.iter().any(|token| {
        is_any_of(token, "install uninstall import update upgrade configure package module library")
    }) {
        return;
    }
    // "How common is definately?"
    let is_judged = tokens.iter().any(|token| is_in("judged", &token.text.to_lowercase()));
    // "Who stars in humour me?"
    let names_somebody = tokens.first().is_some_and(|first| first.is("who"));
    let company = tokens.iter().filter(|token| says_much(token)).count();
    // Each takes a look at hundreds of words. A text with many is of a trade.
    let may_slip =
        tokens.iter().filter(|token| may_be_slip(&token.text, is_known)).take(MOST_SLIPS + 1).count()
            <= MOST_SLIPS;
    let mut is_naming = false;
    let mut new = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let follows = std::mem::replace(&mut is_naming, is_in("naming", &token.text));
        let is_alone = company == usize::from(says_much(token));
        // "What is teh?"
        let is_meant = is_judged || follows || is_named(tokens, at) || is_alone && token.text.len() < 5;
        if !token.is_plain() || is_meant {
            continue;
        }
        let mended = match at {
            0 => meant_at_start(&token.text).map(str::to_owned),
            _ if !may_slip => None,
            _ => meant(&token.text, is_known)
                .filter(|slip| {
                    let is_asked = is_in("asked_for", &slip.meant);
                    is_asked && is_asked_for(tokens, at)
                        || !slip.is_famous && token.text.len() > 4 && company > 1 && !is_called(tokens, at)
                        || !is_asked && stands_as_a_word(tokens, at, &slip.meant)
                })
                .map(|slip| slip.meant),
        };
        let american = american(mended.as_deref().unwrap_or(&token.text)).filter(|_| {
            (is_used(tokens, at) || company > 2 && is_of_a_kind(tokens, at))
                && !is_programmed
                && !is_alone
                && !names_somebody
        });
        new.extend(american.map(str::to_owned).or(mended).map(|word| (at, word)));
    }
    for (at, word) in new {
        if let Some(token) = tokens.get_mut(at) {
            token.text = word;
        }
    }
}

/// "When was captial founded?": the name of something.
fn is_called(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let next = at.checked_add(1).and_then(|at| tokens.get(at));
    before.is_some_and(super::order::is_verb)
        && next.is_some_and(|next| super::contractions::is_participle(&next.text))
}

/// "What is the captial of", "what is the diffrence between".
fn is_asked_for(tokens: &[Token], at: usize) -> bool {
    matches!(tokens.get(..at), Some([what, is, the]) if what.is("what") && is_any_of(is, "is are") && the.is("the"))
        && at.checked_add(1).and_then(|at| tokens.get(at)).is_some_and(|next| is_any_of(next, "of between"))
}

/// Whether a slip stands where its word does something in the sentence: "the captial of", "i recieve my", "to boil potatos", "how do vacines
/// work". "A sign that says seperate", "who was musuem?", "the seperate event" and "where does teh come from?" may mean it as it is.
fn stands_as_a_word(tokens: &[Token], at: usize, meant: &str) -> bool {
    const DETERMINERS: &str = "the a an my your his her its our their many much these those";
    const CLAUSES: &str = "because which that when where while what how why";
    const BEHIND: &str = "of for from to between and";
    const BOUND: &str = "in on at for with by from to of about into and or so as than";
    /// What may stand between an article and its noun.
    const KINDS: &str = "best most main good bad new old big small great common first last next only average total full whole different important \
        legal daily annual monthly chemical human current same";
    const WORTH: &str = "important good bad necessary dangerous healthy unhealthy expensive cheap hard difficult easy useful safe";
    let before = |by: usize| at.checked_sub(by).and_then(|at| tokens.get(at));
    let is = |by: usize, list: &str| before(by).is_some_and(|token| is_any_of(token, list));
    let next = at.checked_add(1).and_then(|at| tokens.get(at));
    let is_next = |list: &str| next.is_some_and(|next| is_any_of(next, list));
    let asks_how = tokens.first().is_some_and(|first| is_any_of(first, "how why when where"));
    let is_count = before(1).is_some_and(|number| {
        small_number(number).is_some() || number.text.starts_with(|c: char| c.is_ascii_digit())
    });
    let is_object = is(2, "i you we they to") && before(1).is_some_and(|verb| is_in("actions", &verb.text));
    let is_next_plain = next.is_some_and(Token::is_plain);
    let is_next_bound = is_next(BOUND) || next.is_some_and(super::order::is_verb);
    let is_clause = is_any_of(&Token::word(meant), CLAUSES);
    let ends_phrase = next.is_none_or(Token::is_mark) || is_next(BEHIND);
    // "Circle the recieve", "find the seperate": the word that stands there.
    let is_of_text = |verb: &Token| {
        !is_in("actions", &verb.text)
            || is_any_of(
                verb,
                "find check fix read write print quote use draw record translate cite add remove delete replace test",
            )
    };
    let verb_at: usize = if is(1, DETERMINERS) { 2 } else { 3 };
    let is_meant = next.is_none_or(Token::is_mark)
        && before(verb_at)
            .is_some_and(|verb| !is_any_of(verb, BOUND) && !super::order::is_verb(verb) && is_of_text(verb));
    // "What is a convnet?" is of a trade.
    let is_last = next.is_none_or(Token::is_mark) && is(1, "a an the");
    let is_noun = !meant.ends_with("ly") && ends_phrase && !is_meant && !is_last;
    is_clause && is_next_plain && !is_next_bound && !before(1).is_some_and(super::order::is_verb)
        || is(1, DETERMINERS) && is_noun
        || is(1, "a an many much") && is_next_plain && !meant.ends_with("ly")
        || is_count
        || is(2, DETERMINERS) && (is(1, KINDS) || before(1).is_some_and(|kind| kind.text.ends_with("est"))) && is_noun
        || is(1, "i you we they to") && is_next_plain
        || is_object
        || asks_how && is(1, "do does did") && is_next_plain
        // "Why is excercise important?", but not "why is excercise underlined?"
        || is(2, "why") && is(1, "is are") && is_next(WORTH)
        // "How does the stock market wrok?"
        || asks_how && !meant.ends_with("ly") && !is(1, DETERMINERS) && ends_question(tokens, at)
}

fn ends_question(tokens: &[Token], at: usize) -> bool {
    let is = |at: usize, list: &str| tokens.get(at).is_some_and(|token| is_any_of(token, list));
    at.saturating_add(1) == tokens.len() && is(1, "do does did") && !is(2, "i you we they he she it")
}

/// Whether a word is used and not spoken of or a title: "what colour is", "how do I organise my", but not "the colour of magic", "how many
/// bytes has the colour of", "the colour argument".
fn is_used(tokens: &[Token], at: usize) -> bool {
    let is = |at: Option<usize>, list: &str| {
        at.and_then(|at| tokens.get(at)).is_some_and(|token| is_any_of(token, list))
    };
    let before = |by: usize| at.checked_sub(by);
    let behind = |by: usize| at.checked_add(by);
    let is_verb = behind(1).and_then(|at| tokens.get(at)).is_some_and(super::order::is_verb);
    is(before(1), "what which") && at == 1 && is_verb
        || is(before(1), "of") && is(before(2), "symptoms causes signs treatment risks") && behind(1).and_then(|at| tokens.get(at)).is_none_or(Token::is_mark)
        // "How can I send an e-mail", "what is a good neighbour?", "tips for travelling"
        || is(before(1), "a an the my")
            && before(2).and_then(|at| tokens.get(at)).is_some_and(|verb| is_in("actions", &verb.text))
            && is(before(3), "i you")
            && is(before(5), "how")
        || behind(1).and_then(|at| tokens.get(at)).is_none_or(Token::is_mark)
            && (is(before(1), "a an") && is(before(2), "is") && is(before(3), "what")
                || is(before(2), "a an") && is(before(3), "is") && is(before(4), "what"))
        || at == 2 && is(before(1), "for") && is(before(2), "tips ideas advice")
        || is(before(1), "i you we they to")
            && (is(before(3), "how") || is(before(2), "how"))
            && is(behind(1), "the a an my your his her our their this these")
}

/// "What colours go well with blue?", "where do grey whales live?": no title ("the colour of magic"), no name of a program, and not two words
/// that are compared.
fn is_of_a_kind(tokens: &[Token], at: usize) -> bool {
    /// With these, the form of the word is asked about: "is colour preferred?"
    const OF_FORMS: &str = "domain domains resume name put prefer preferred popular search form forms \
        maths paediatric paediatrics paediatrician";
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let follows_the = before.is_some_and(|token| is_any_of(token, "the does did"));
    let is_asked =
        tokens.first().is_some_and(|first| is_any_of(first, "how what which where is can do does"));
    is_asked
        && !follows_the
        && tokens
            .iter()
            .skip(1)
            .all(|token| token.is_plain() && !token.is("or") || token.is_mark() && !token.is(","))
        && !tokens.iter().any(|token| is_any_of(token, OF_FORMS))
}

/// Whether a word is the name of what is called so beside it: "the lenght function".
fn is_named(tokens: &[Token], at: usize) -> bool {
    let beside = [at.checked_sub(1), at.checked_add(1)].into_iter().flatten();
    let is_called = |token: &Token| is_in("named", &token.text) || is_in("searched", &token.text);
    // "What does normalise do?", "is it seperate?"
    let is_subject = match tokens.get(..at) {
        Some([.., is, it]) if it.is("it") => {
            is.text.eq_ignore_ascii_case("is") && tokens.len() == at.saturating_add(1)
        }
        Some([wh, does]) => {
            ["what", "who", "when"].iter().any(|word| wh.text.eq_ignore_ascii_case(word))
                && matches!(does.text.as_str(), "does" | "did")
                && tokens.get(at).is_some_and(|token| token.text.len() > 3)
        }
        _ => false,
    };
    is_subject || beside.filter_map(|at| tokens.get(at)).any(is_called)
}
