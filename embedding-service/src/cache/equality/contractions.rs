//! "Don't" is "do not", where it is used as a verb and not spoken of, and "what's" is "what is", where it cannot be "what has".

use super::{
    order::is_verb,
    token::{Kind, Token, is_any_of},
    words::{is_in, is_in_any},
};

/// Contractions with their full form, with and without the apostrophe. Not "cant", "wont", "lets" and "ill": these are words.
const FULL_FORMS: &str = "don't:do not;doesn't:does not;didn't:did not;isn't:is not;aren't:are not;wasn't:was not;weren't:were not;\
    hasn't:has not;haven't:have not;hadn't:had not;shouldn't:should not;couldn't:could not;wouldn't:would not;can't:can not;\
    cannot:can not;won't:will not;mustn't:must not;i'm:i am;i've:i have;i'll:i will;you're:you are;we're:we are;they're:they are;\
    dont:do not;doesnt:does not;didnt:did not;isnt:is not;arent:are not;wasnt:was not;werent:were not;shouldnt:should not;\
    couldnt:could not;wouldnt:would not;havent:have not;hasnt:has not;hadnt:had not;\
    youve:you have;youre:you are;theyre:they are;you've:you have;we've:we have;they've:they have;\
    you'll:you will;we'll:we will;they'll:they will;it'll:it will;he'll:he will;she'll:she will;that'll:that will;needn't:need not;what'll:what will;who'll:who will;\
    what're:what are;who're:who are;how're:how are;where're:where are;whats:what is;wheres:where is;hows:how is;i'd:i would";
/// What "'s" stands for "is" behind, unless a participle follows ("what's happened").
const BEFORE_IS: &str = "what who where when how why that it there here";
/// What a clause begins with.
const CLAUSES: &str = "if when whenever while since until although though whether once unless";
/// What a subject begins with.
const SUBJECTS: &str =
    "i you he she it we they this that these there who which people the a an my your his her its our their";
const DETERMINERS: &str = "a an the my your his her its our their";
const PREPOSITIONS: &str = "of in on at for with by from to about into";
/// What may stand before a question without a mark between.
const OPENINGS: &str = "hi hello hey so ok okay um well please know me us wonder wondering and";
const PERSONS: &str = "he she it we they you i this that";

fn begins_clause(token: &Token) -> bool {
    is_any_of(token, CLAUSES)
}

fn is_verb_in_either_case(token: &Token) -> bool {
    is_verb(&Token { text: token.text.to_lowercase(), ..token.clone() })
}

/// "Why", "what".
fn asks(token: &Token) -> bool {
    is_in("questions", &token.text.to_lowercase()) && !is_verb_in_either_case(token)
}

/// Contractions in full.
pub(super) fn with_full_forms(tokens: &mut Vec<Token>, is_about_words: bool) {
    let given = std::mem::take(tokens);
    let place = Place::of(&given, is_about_words);
    for (at, token) in given.iter().enumerate() {
        let (before, after) =
            (given.get(..at).unwrap_or_default(), given.get(at.saturating_add(1)..).unwrap_or_default());
        let straight = token.text.replace('’', "'");
        let full = match full_form(&straight).filter(|_| token.kind == Kind::Word) {
            Some(full) if place.is_used(before, &straight, after) => full,
            _ => {
                // "Peru’s capital", but not "is don’t ASCII?"
                let owner = straight.strip_suffix("'s").filter(|_| !is_about_words && !after.is_empty());
                let is_owner = owner.is_some_and(|owner| !is_any_of(&Token::word(owner), BEFORE_IS));
                let text = if is_owner { straight } else { token.text.clone() };
                tokens.push(Token { text, ..token.clone() });
                continue;
            }
        };
        // "I can not eat" and "who can not eat" may be able not to, but "why can not I" is "why can I not".
        let is_asked = before.last().is_none_or(|last| is_any_of(last, "why how when where"));
        if matches!(straight.as_str(), "can't" | "cannot") && !is_asked {
            tokens.push(Token { text: "cannot".to_owned(), ..token.clone() });
        } else if full.1 == "is" && straight.ends_with('s') && place.may_be_has(&straight, after) {
            tokens.push(Token { text: straight, ..token.clone() });
        } else {
            // "Why isn't smoking good?" is not "why is not smoking good?", where it is not to smoke.
            let is_inverted = full.1 == "not"
                && before.last().is_none_or(|last| last.is_mark() || asks(last) || is_any_of(last, OPENINGS));
            // "What isn't covered by the warranty?"
            let is_inverted = is_inverted
                && !(before.last().is_some_and(|last| is_any_of(last, "what"))
                    && after.first().is_some_and(|next| is_participle(&next.text))
                    && after.get(1).is_some_and(|next| !next.is_mark()));
            tokens.push(Token { text: full.0, ..token.clone() });
            tokens.push(Token::word(if is_inverted { "n't" } else { full.1 }));
        }
    }
}

/// What is said around a contraction.
struct Place {
    is_about_words: bool,
    has_been: bool,
    /// A clause in it is a clause: "a sign that reads if you're happy" and "who sang when you're gone?" quote.
    is_plain: bool,
    /// No order or question stands before: what follows a mark is no text that something is done to.
    begins_freely: bool,
    ends_in_preposition: bool,
    ends_in_participle: bool,
}

impl Place {
    fn of(tokens: &[Token], is_about_words: bool) -> Self {
        let begins_plainly = tokens.first().is_some_and(|first| {
            [SUBJECTS, CLAUSES, OPENINGS].iter().any(|list| is_any_of(first, list))
                || is_in_any(&["questions", "orders"], &first.text.to_lowercase())
        });
        let quotes = tokens.first().is_some_and(|first| is_any_of(first, "who whose which"))
            || tokens.iter().any(|token| is_in("works", &token.text))
            // "Is why don't you rude?"
            || tokens.windows(2).any(|two| match two {
                [be, opening] => is_any_of(be, "is are was were") && (begins_clause(opening) || asks(opening)),
                _ => false,
            });
        let mut words = tokens.iter().rev().filter(|token| !token.is_mark());
        let (last, before_last) = (words.next(), words.next());
        Self {
            is_about_words,
            has_been: tokens.iter().any(|token| token.is("been")),
            is_plain: begins_plainly && !quotes,
            begins_freely: tokens
                .first()
                .is_some_and(|first| is_any_of(first, SUBJECTS) || is_any_of(first, OPENINGS)),
            ends_in_preposition: last.is_some_and(|last| is_any_of(last, PREPOSITIONS)),
            // "In my garden" does not end in a participle.
            ends_in_participle: last.zip(before_last).is_some_and(|(last, before)| {
                last.is_plain() && is_participle(&last.text) && !is_any_of(before, DETERMINERS)
            }),
        }
    }

    /// Whether a contraction is used, and not spoken of. "Is can't formal?", "spell don't", "a sign that reads don't walk", "what does
    /// don't mean": there it stands where no verb can.
    fn is_used(&self, before: &[Token], word: &str, after: &[Token]) -> bool {
        let is_of_is = word.ends_with('s');
        let Some(next) = after.first().filter(|next| !next.is_mark()) else { return false };
        if is_verb(next)
            || is_any_of(next, "and or short first")
            || !is_of_is && (next.kind != Kind::Word || is_any_of(next, PREPOSITIONS))
            // "I'd" is "I had" as well, and "Whats app" has a name of its own.
            || word.eq_ignore_ascii_case("i'd") && !is_any_of(next, "like love prefer")
            || word.eq_ignore_ascii_case("whats") && next.is("app")
        {
            return false;
        }
        if self.is_about_words {
            // "What's the plural of ox", but not "what's a contraction of".
            let asks_of_word =
                before.is_empty() && is_of_is && is_any_of(next, "the a an your my") && after.len() > 3;
            return asks_of_word && !self.ends_in_preposition
                || matches!(before, [why] if is_any_of(why, "why"));
        }
        if is_greeting_of(word, after)
            && before.iter().all(|token| token.is_mark() || is_any_of(token, OPENINGS))
        {
            return false;
        }
        let Some(last) = before.last() else { return true };
        // "Suggest a shorter caption, it's late" and "how many bytes, it's me" give a text.
        let may_be_given = !self.begins_freely
            && !matches!(word.split('\'').next(), Some("what" | "who" | "where" | "how" | "why" | "when"));
        let opens = |token: &Token| token.is_mark() && !may_be_given || begins_clause(token) || asks(token);
        self.is_plain
            && (opens(last)
                || is_of_is
                    && (is_any_of(last, "know me us wonder wondering")
                        || before.iter().all(|token| token.is_mark() || is_any_of(token, OPENINGS)))
                || word.ends_with('t') && !is_of_third_person(next) && follows_subject(before, opens))
    }

    /// "What's it like" and "where's it put" are of "is", "what's it eaten", "what's he shown" and "what's this do" of "has" or "does".
    fn may_be_has(&self, word: &str, after: &[Token]) -> bool {
        let Some((next, rest)) = after.split_first() else { return false };
        let what = rest.first();
        let is_put = word.eq_ignore_ascii_case("where's")
            && next.is("it")
            && matches!(rest, [put] if is_participle(&put.text));
        let is_state = what.is_none_or(|what| {
            is_put || what.text.ends_with("ing") || is_any_of(what, "like called about for")
        });
        // "How's cheese made?": who made nothing has not made.
        let is_of_making = word.eq_ignore_ascii_case("how's")
            && rest.last().is_some_and(|made| is_any_of(made, "made built produced measured calculated"))
            || word.eq_ignore_ascii_case("where's")
                && rest.last().is_some_and(|found| is_any_of(found, "located situated based"));
        self.has_been
            // "What's a panda like to eat?" is of "does".
            // "Where's the bus stop on Sundays?" may be of "does".
            || word.eq_ignore_ascii_case("where's") && rest.iter().any(|token| is_any_of(token, "stop start end begin run go lead"))
            || after.windows(2).any(|two| matches!(two, [like, to] if like.is("like") && to.is("to")))
            || is_participle(&next.text)
            || !next.is("it") && self.ends_in_participle && !is_of_making
            || is_any_of(next, PERSONS) && !is_state
            || !next.is("it")
                && !is_of_making
                && rest
                    .iter()
                    .take(4)
                    // "Who's responsible if a guest gets hurt?"
                    .take_while(|token| !begins_clause(token))
                    .any(|token| is_done(&token.text) && !is_any_of(token, "speed seed weed need feed bed"))
    }
}

/// "What's good?" and "what's cracking?" greet, "what is good?" and "what is cracking?" ask for a meaning. "What's the story?" and "who's the
/// boss?" are titles too. With more words, and in "what's a quark?", it asks.
fn is_greeting_of(word: &str, after: &[Token]) -> bool {
    let is_single = |next: &Token| {
        next.text.ends_with("ing") || next.text.ends_with("in") || is_any_of(next, "good new up hot")
    };
    let words = after.iter().filter(|token| !token.is_mark()).count();
    let Some(next) = after.first() else { return false };
    (word.ends_with('s')
        && (words < 3 && !is_any_of(next, "a an") && !next.text.replace('’', "'").ends_with("'s")
            || is_single(next)))
        || is_any_of(next, "who what")
}

/// "If my car won't start", "I don't know": a subject stands between what opens a clause and the contraction.
fn follows_subject(before: &[Token], opens: impl Fn(&Token) -> bool) -> bool {
    let is_of_subject = |token: &&Token| !opens(token) && !is_verb_in_either_case(token);
    let len = before.iter().rev().take(4).take_while(is_of_subject).count();
    let Some((opening, [first, rest @ ..])) = before.split_at_checked(before.len().saturating_sub(len))
    else {
        return false;
    };
    // "The sign we can't stop".
    let is_one = !rest.last().is_some_and(|last| is_any_of(last, "i you he she it we they"));
    let is_begun = is_any_of(first, SUBJECTS);
    is_one
        && opening
            .last()
            .map_or(is_begun, |last| begins_clause(last) || asks(last) || last.is_mark() && is_begun)
}

/// "Why I don't works".
fn is_of_third_person(verb: &Token) -> bool {
    verb.text.ends_with('s')
        && !["ss", "us"].iter().any(|end| verb.text.ends_with(end))
        && !is_any_of(verb, "always perhaps")
}

/// "Between" and "often" end as "eaten" does.
fn is_done(word: &str) -> bool {
    ["ed", "wn", "orn", "ung", "unk", "ught", "ept"].iter().any(|end| word.ends_with(end))
        || is_in("participles", word)
}

pub(super) fn is_participle(word: &str) -> bool {
    word.ends_with("en") || is_done(word)
}

fn full_form(word: &str) -> Option<(String, &'static str)> {
    let lower = word.to_lowercase();
    let (first, second) = match lower.strip_suffix("'s") {
        Some(before) if BEFORE_IS.split(' ').any(|known| known == before) => (before.to_owned(), "is"),
        Some(_) => return None,
        None => {
            let mut forms = FULL_FORMS.split(';').filter_map(|entry| entry.split_once(':'));
            let (first, second) = forms.find(|(short, _)| *short == lower)?.1.split_once(' ')?;
            (first.to_owned(), second)
        }
    };
    let mut letters = word.chars();
    let is_capital = letters.next().is_some_and(char::is_uppercase);
    // "DON'T" in capitals says more.
    if letters.any(char::is_uppercase) {
        return None;
    }
    Some((if is_capital { capital(&first) } else { first }, second))
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
