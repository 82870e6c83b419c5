//! What may stand in two places of a sentence and say the same: phrases that are put at the front, the verb of an embedded question,
//! "not", and what stands on both sides of a symmetric word.

use super::{
    numbers::small_number,
    token::{Kind, Token},
    words::{begins_a_question, is_in},
};

const PREPOSITIONS: &str = "in on at for with without during by as after before from to near";
/// Verbs that may stand before the subject.
const AUXILIARIES: &str = "is are am was were can could should will would may must might";
const WITH_DO: &str = "do does did";
/// A clause begins, or a second part of one.
const CLAUSES: &str = "that which who whose whom what where when while because if and or but said say says think thinks know knows told tell";
const ARTICLES: &str = "the a an my your his her our their its this that these those";
const PRONOUNS: &str = "i you he she it we they one people";

fn is_one_of(token: &Token, list: &str) -> bool {
    token.kind == Kind::Word && list.split(' ').any(|word| word == token.text)
}

fn is_auxiliary(token: &Token) -> bool {
    is_one_of(token, AUXILIARIES)
}

/// Whether it stands before the subject of a question.
pub(super) fn is_verb(token: &Token) -> bool {
    is_auxiliary(token) || is_one_of(token, WITH_DO) || is_one_of(token, "has have had")
}

/// "what the capital of Norway is" is "what is the capital of Norway"; "whether honey is vegan" is "is honey vegan". Only where one
/// verb can be meant.
pub(super) fn as_a_question(tokens: &mut Vec<Token>) {
    let Some((first, rest)) = tokens.split_first() else { return };
    let verbs: Vec<usize> =
        (1_usize..).zip(rest).filter(|(_, token)| is_auxiliary(token)).map(|(at, _)| at).collect();
    let is_conditional = first.is("if") || first.is("whether");
    let is_asked = is_in("questions", &first.text) && !is_auxiliary(first) && !is_one_of(first, WITH_DO);
    if !is_conditional && !is_asked || tokens.iter().any(Token::is_mark) {
        return;
    }
    if is_conditional {
        if let [verb] = *verbs.as_slice()
            && verb > 1
        {
            let verb = tokens.remove(verb);
            tokens.splice(..1, [verb]);
        }
        return;
    }
    let is_pronoun = |at: usize| tokens.get(at).is_some_and(|token| is_one_of(token, PRONOUNS));
    let subject = subject(tokens);
    match (verbs.as_slice(), subject) {
        ([2, ..], _) if is_pronoun(1) => tokens.swap(1, 2),
        (&[verb], Some(subject)) if verb > subject => {
            let verb = tokens.remove(verb);
            tokens.insert(subject, verb);
        }
        ([], Some(1)) => {
            let is_direct = tokens.get(1).is_some_and(|next| is_one_of(next, WITH_DO) || next.is("to"));
            let asks_how = ["why", "how", "when", "where"]
                .iter()
                .any(|word| tokens.first().is_some_and(|first| first.is(word)));
            // "They hit him" may be past.
            let is_of_two_times = tokens.iter().any(|token| is_in("participles", &token.text));
            // "Why ice floats" is "why does ice float".
            let is_of_one = match tokens.as_slice() {
                [_, noun, verb] => {
                    !noun.text.ends_with('s') && super::writing::without_s(&verb.text).is_some()
                }
                _ => false,
            };
            if asks_how && is_of_one {
                if let Some(verb) = tokens.last_mut()
                    && let Some(bare) = super::writing::without_s(&verb.text)
                {
                    verb.text = bare;
                }
                tokens.insert(1, Token::word("does"));
            } else if asks_how && !is_direct && !is_of_two_times && may_be_asked(tokens) {
                let is_singular = tokens.last().is_some_and(|last| last.is("works"));
                tokens.insert(1, Token::word(if is_singular { "does" } else { "do" }));
                if let Some(last) = tokens.last_mut().filter(|_| is_singular) {
                    "work".clone_into(&mut last.text);
                }
            }
        }
        _ => {}
    }
}

/// "How bees make honey", but not "how cats purr pirate style", "how cats purr singing".
fn may_be_asked(tokens: &[Token]) -> bool {
    tokens.last().is_some_and(|last| {
        is_one_of(last, "works work")
            || tokens.len() < (if tokens.get(1).is_some_and(|who| is_one_of(who, PRONOUNS)) { 6 } else { 5 })
                && !last.text.ends_with("ing")
    })
}

/// Where the subject of an embedded question begins.
fn subject(tokens: &[Token]) -> Option<usize> {
    let is_subject =
        |token: &Token| is_one_of(token, ARTICLES) || is_one_of(token, PRONOUNS) || token.is_capital();
    // "Which people should lead"
    let from = if tokens.get(1).is_some_and(|who| who.is("people")) { 2 } else { 1 };
    let named = (from..).zip(tokens.iter().skip(from)).find(|(_, token)| is_subject(token)).map(|(at, _)| at);
    match tokens {
        [first, ..] if ["why", "when", "where", "who"].iter().any(|word| first.is(word)) => Some(1),
        // Not "how old": there the adjective comes first.
        // "How birds fly", "how rain works", but not "how fast cars go", "how nervous dogs are".
        [first, second, rest @ ..] if first.is("how") && !tokens.iter().any(is_auxiliary) => {
            let is_plural = second.text.ends_with('s') && !second.text.ends_with("ous");
            (is_plural
                || is_subject(second)
                || rest.last().is_some_and(|last| last.is("works") || last.is("work")))
            .then_some(1)
        }
        [first, second, ..]
            if first.is("how") && second.text.ends_with('s') && !second.text.ends_with("ous") =>
        {
            Some(1)
        }
        [first, second, last] if first.is("what") && second.is_plain() && is_auxiliary(last) => Some(1),
        _ => named,
    }
}

/// "In Python, how do I sort a list?" is "How do I sort a list in Python?", where the phrase can belong to nothing else in the
/// sentence. Returns whether one was moved.
pub(super) fn without_front(tokens: &mut Vec<Token>) -> bool {
    let Some(end) = front(tokens) else { return false };
    let mut front: Vec<Token> = tokens.drain(..end).collect();
    front.retain(|token| !token.is_mark());
    if let Some(first) = front.first_mut() {
        first.text = first.text.to_lowercase();
    }
    if let Some(first) = tokens.first_mut() {
        first.is_first = true;
    }
    super::writing::with_small_starts(tokens, true);
    tokens.append(&mut front);
    true
}

/// How many tokens at the front, with their comma, belong to a phrase that may stand at the end.
fn front(tokens: &[Token]) -> Option<usize> {
    let comma =
        tokens.iter().position(Token::is_mark).filter(|at| tokens.get(*at).is_some_and(|mark| mark.is(",")));
    let len = match comma {
        Some(comma) => comma,
        // "In Linux how do I"
        None => 2_usize.min(tokens.iter().position(begins_a_question)?),
    };
    let (front, rest) = tokens.split_at_checked(len)?;
    let rest = rest.get(usize::from(comma.is_some())..)?;
    let [preposition, phrase @ ..] = front else { return None };
    let first = rest.first()?;
    let is_phrase = is_one_of(preposition, PREPOSITIONS) && (1..=6).contains(&phrase.len());
    let is_plain =
        !rest.iter().any(Token::is_mark) && rest.iter().skip(1).all(|token| !is_one_of(token, CLAUSES));
    (is_phrase && is_plain && begins_a_question(first) && may_stand_behind(preposition, phrase, rest))
        .then(|| len.saturating_add(usize::from(comma.is_some())))
}

/// Each shape has a reason why the phrase belongs to the verb, wherever it stands. "In Ukraine, how do I support soldiers?" and "how do I
/// support soldiers in Ukraine?" may be two questions, and so may "after the war, what did people expect?"
fn may_stand_behind(preposition: &Token, phrase: &[Token], rest: &[Token]) -> bool {
    const TIMES: &str = "winter summer autumn spring pregnancy surgery";
    const DONE: &str = "eat drink wear drive survive";
    let is_place = is_one_of(preposition, "in on at");
    let is_bare = |token: &Token| token.kind == Kind::Word;
    let names_another = rest.iter().skip(1).any(|token| token.is_capital() && token.text.len() > 1);
    let has_preposition = rest
        .iter()
        .any(|token| is_one_of(token, PREPOSITIONS) || is_one_of(token, "of about into over under"));
    // In a program, both the thing and what is done to it are in it. "On Facebook, how do I block a person I met": it may belong to the end.
    let is_of_end = rest.last().is_some_and(|last| {
        last.is_plain()
            && (last.text.ends_with("ed") || last.text.ends_with("ing") || is_in("participles", &last.text))
    }) || rest.iter().skip(3).any(|token| is_one_of(token, PRONOUNS));
    let is_program = matches!(phrase, [name] | [_, name] if is_in("programs", &name.text))
        && phrase.iter().rev().skip(1).all(|token| is_one_of(token, "a an the"));
    let is_done_there = is_place
        && is_program
        && matches!(rest, [how, verb, i, ..] if how.is("how") && is_one_of(verb, "do can") && is_one_of(i, "i you"))
        && !(names_another || has_preposition || is_of_end);
    // What is there, is there.
    let is_country = matches!(phrase, [name] if preposition.is("in")
        && name.is_capital()
        && name.text.chars().any(char::is_lowercase)
        && !is_in("languages", &name.text.to_lowercase()))
        && !is_of_end
        && !names_another;
    let is_existence = is_place
        && !has_preposition
        && (is_country || phrase.last().is_some_and(|last| is_in("places", &last.text)))
        && matches!(rest, [is, there, thing @ ..] if is_verb(is) && there.is("there") && thing.len() <= 4);
    // The way of travelling: "by train, how do I get from A to B".
    let is_way = matches!(phrase, [only] if preposition.is("by") && is_one_of(only, "train bus car plane bike boat ferry taxi"))
        && matches!(rest, [how, verb, who, go, ..] if how.is("how") && is_verb(verb) && is_one_of(who, PRONOUNS) && is_one_of(go, "get go travel"));
    // The form of the answer: "in one sentence, explain DNS".
    let is_form = matches!(phrase, [_, unit] if preposition.is("in") && is_one_of(unit, "sentence sentences words paragraph paragraphs lines"))
        && matches!(rest, [explain, thing] if explain.is("explain") && is_bare(thing) && !super::changes::is_plural(thing));
    // When something is done that is done at once: nothing else is there that the time could be of.
    let is_time = matches!(phrase, [time] | [_, time] if is_one_of(time, TIMES) || is_one_of(preposition, "after before during") && time.is("marathon"))
        && matches!(rest, [wh, verb, subject, done] if !is_verb(wh) && is_verb(verb) && is_bare(subject) && is_one_of(done, DONE));
    let has_symptoms = matches!(phrase, [who] if preposition.is("in") && is_one_of(who, "children adults women men babies"))
        && matches!(rest, [what, are, the, symptoms, of, _, ..] if what.is("what") && are.is("are") && the.is("the") && symptoms.is("symptoms") && of.is("of"));
    is_done_there || is_existence || is_way || is_form || is_time || has_symptoms
}

/// What the rules of `changes.txt` cannot say, because it is about places within the sentence.
pub(super) fn settled(tokens: &mut Vec<Token>) {
    with_late_not(tokens);
    without_article_of_superlative(tokens);
    with_origin_first(tokens);
    with_sorted_sides(tokens);
}

/// "Which planet has the most moons" is "what planet has the most moons": one of several is asked for. "Which damage was done" is of some
/// that are known.
pub(super) fn with_what(tokens: &mut [Token]) {
    // "Which is the largest desert in Asia": without a mark, no choice is given.
    if let [which, is, the, most, thing, of, ..] = &*tokens
        && which.is("which")
        && is.is("is")
        && the.is("the")
        && most.text.len() > 5
        && most.is_plain()
        && most.text.ends_with("est")
        && thing.is_plain()
        && !is_one_of(thing, "one ones of")
        && is_one_of(of, "of in on")
        && !tokens.iter().any(|token| token.is_mark() || is_one_of(token, "or and"))
    {
        if let Some(first) = tokens.first_mut() {
            "what".clone_into(&mut first.text);
        }
        return;
    }
    let is_most = |token: &Token| {
        token.is("most") || token.is_plain() && token.text.len() > 5 && token.text.ends_with("est")
    };
    if let [first, second, third, rest @ ..] = &*tokens
        && first.is("which")
        && second.is_plain()
        && !is_one_of(second, "one ones of")
        && is_one_of(third, "is are has have")
        && rest.first().is_some_and(|next| next.is("the") || is_most(next))
        && rest.iter().take(2).any(is_most)
    {
        tokens.iter_mut().take(1).for_each(|first| "what".clone_into(&mut first.text));
    }
}

/// "Why doesn't oil mix" is "why does oil not mix", where the subject is one word or an article and a word. "Why don't you" and "why don't
/// we" propose something. "Why does not eating help" may be about who does not eat, so "not" moves only behind a pronoun or a name.
fn with_late_not(tokens: &mut [Token]) {
    const MANY: &str = "majority minority rest whole average number lot pair couple";
    let is_short = |token: &Token| token.is("n't");
    if let [wh, verb, not, subject, rest @ ..] = &*tokens
        && is_in("questions", &wh.text)
        && (is_auxiliary(verb) || is_one_of(verb, WITH_DO))
        && (not.is("not") || is_short(not))
        && !(is_one_of(verb, WITH_DO) && is_one_of(subject, "you we i"))
        && !is_in("quantities", &subject.text)
        && !is_one_of(subject, "just only even really still nearly almost hardly always ever")
        && small_number(subject).is_none()
    {
        // "Why can camels not drink for weeks?": they are able not to.
        let is_many = subject.is_plain() && super::changes::is_plural(subject);
        let is_able = is_one_of(verb, "can could")
            && !(is_one_of(subject, "i it")
                && rest.len() < 9
                && !rest.iter().any(|token| is_one_of(token, "for all until and without whole entire")));
        // "What isn't love?" and "what is love not?"
        let is_subject_asked = is_one_of(wh, "what who which") && is_one_of(verb, "is are was were am");
        let next = rest.first();
        let is_name = subject.is_capital()
            && !is_one_of(subject, "Null None Nil True False Guilty Found Empty Applicable")
            && subject.text.chars().any(char::is_lowercase)
            && next.is_some_and(|next| !next.is_capital());
        let is_thing = is_one_of(subject, "the my your his her our their this that these those")
            && next.is_some_and(|noun| {
                noun.kind == Kind::Word
                    && noun.text.chars().any(char::is_lowercase)
                    && !is_one_of(noun, MANY)
                    && !is_in("quantities", &noun.text)
                    && small_number(noun).is_none()
            });
        let len = if is_one_of(subject, PRONOUNS)
            || is_name
            || is_short(not) && subject.is_plain() && !is_one_of(subject, ARTICLES) && !is_subject_asked
        {
            1
        } else if is_short(not) && is_thing && !is_subject_asked {
            2
        } else {
            0
        };
        // "Why do not cats bark": nobody is a "not cat".
        let len = if len == 0 && is_many { 1 } else { len };
        if len > 0 && is_able {
            if let Some(not) = tokens.get_mut(2).filter(|_| is_many) {
                "not".clone_into(&mut not.text);
            }
        } else if len > 0
            && let Some(moved) = tokens.get_mut(2..3_usize.saturating_add(len))
        {
            moved.rotate_left(1);
            moved.iter_mut().skip(len).for_each(|not| "not".clone_into(&mut not.text));
        }
    }
}

/// "is the closest to the sun" is "is closest to the sun".
fn without_article_of_superlative(tokens: &mut Vec<Token>) {
    let place = tokens.windows(4).position(|four| match four {
        [be, the, most, next] => {
            is_one_of(be, "is are was were")
                && the.is("the")
                && is_one_of(most, "closest nearest")
                && next.is("to")
        }
        _ => false,
    });
    if let Some(at) = place {
        tokens.remove(at.saturating_add(1));
    }
}

/// "trains to Denver from Boston" is "trains from Boston to Denver". "Who wrote to Anna from Berlin?": Anna may be from there.
fn with_origin_first(tokens: &mut [Token]) {
    let count = |word: &str| tokens.iter().filter(|token| token.is(word)).count();
    if count("from") != 1 || count("to") != 1 {
        return;
    }
    let place = tokens.windows(5).position(|five| match five {
        [way, to, a, from, b] => {
            is_in("ways_between", &way.text)
                && to.is("to")
                && from.is("from")
                && a.is_capital()
                && b.is_capital()
        }
        _ => false,
    });
    if let Some(four) = place.and_then(|at| tokens.get_mut(at.saturating_add(1)..at.saturating_add(5))) {
        four.rotate_left(2);
    }
}

/// "the difference between A and B" is "the difference between B and A", where each is one word. Not of numbers and letters, whose
/// difference has a sign.
fn with_sorted_sides(tokens: &mut [Token]) {
    const BEFORE: [&str; 5] = ["what", "is", "the", "difference", "between"];
    let Some((before, sides)) = tokens.split_at_mut_checked(BEFORE.len()) else { return };
    if !before.iter().zip(BEFORE).all(|(token, word)| token.is(word)) {
        return;
    }
    let Some(and) = sides.iter().position(|token| token.is("and")) else { return };
    let (one, rest) = sides.split_at_mut(and);
    let Some((_, other)) = rest.split_first_mut() else { return };
    let is_side = |side: &[Token]| match side {
        [word] => {
            let is_roman = word.text.chars().all(|letter| "IVXLCDM".contains(letter));
            let is_number = is_roman || small_number(word).is_some() || is_in("numerals", &word.text);
            let is_dated = is_in("days", &word.text) || is_in("months", &word.text);
            word.kind == Kind::Word && word.text.chars().count() > 1 && !is_number && !is_dated
        }
        [article, word] => {
            is_one_of(article, "a an the") && word.kind == Kind::Word && word.text.chars().count() > 1
        }
        _ => false,
    };
    let text = |side: &[Token]| side.iter().map(|token| token.text.clone()).collect::<Vec<_>>();
    if is_side(one) && is_side(other) && one.len() == other.len() && text(one) > text(other) {
        one.swap_with_slice(other);
    }
}
