//! Texts that tell the model to ignore its instructions: a verb in the imperative, together with instructions that are
//! earlier ones, the reader's own, or all of them.

use super::{
    Found, Pattern, Place,
    addressed::is_turned_from_user,
    mention::is_mention,
    token::Token,
    tokens::IDEOGRAPH,
    view::{View, count, find, find_but, has, has_pair},
    vocabulary::{
        ACT, ALL, AND, ANSWER, ARE, EVERYTHING, FILLER, FOLLOW, GIVEN, HALT, IDENTITY, IGNORE, INSTEAD,
        INSTRUCTION, LIMIT, MENTION, MODAL, NEGATION, NOW, OBLIGE, OVERRIDE, PRIOR, PROMPT, SAID, SIGN,
        SYSTEM, TASK, THIRD, TO, UNKNOWN, VOID, WHAT, WITHIN, WORD, YOU, YOUR,
    },
    voided::{is_void, voids},
};

/// Tokens behind the verb in which its object must stand.
const OBJECT: usize = 12;
/// Tokens behind it in which the sentence turns to something else.
const TURN: usize = 20;
/// Words nobody knows that may stand between.
const STRANGERS: usize = 2;

/// Tokens that the rules begin with.
pub const ANCHORS: u64 = IGNORE | FOLLOW | INSTRUCTION | VOID | ANSWER;

pub fn judge(view: View<'_>, found: &mut Found) {
    let Some(token) = view.token(0).filter(|token| token.is(ANCHORS)) else { return };
    // The first place of a pattern is enough.
    if found.has(Pattern::IgnoreInstructions) {
        return;
    }
    let is_order = if token.is(IGNORE) {
        !is_noun(view) && (sets_aside(view) || is_turned_from_user(view)) && is_imperative(view)
    } else if token.is(FOLLOW) {
        (is_halted(view) || is_denied_behind(view))
            && (sets_aside(view) || is_turned_from_user(view) || is_released(view))
    } else if token.is(ANSWER) && view.is(-1, NEGATION | HALT) {
        is_halted(view) && is_turned_from_user(view)
    } else {
        token.is(INSTRUCTION) && is_void(view) || token.is(VOID) && voids(view)
    };
    if is_order && !is_mention(view) {
        found.add(Pattern::IgnoreInstructions, view.offset());
    }
}

/// "An override of a rule".
fn is_noun(view: View<'_>) -> bool {
    view.is(0, OVERRIDE) && view.token(1).is_some_and(|token| token.is(WITHIN) && token.is(FILLER))
}

/// Whether a verb is an order to the reader: nobody else does it, and it is not denied.
#[inline(never)]
pub fn is_imperative(view: View<'_>) -> bool {
    let mut behind = view.behind(6).filter(|token| token.is(WORD)).peekable();
    let Some(last) = behind.peek() else { return true };
    if last.is(AND) && !last.is(NEGATION) {
        return true;
    }
    if last.is(TO) {
        // "I want you to", "you need to"; but not "the attack asks the model to".
        let before: Vec<Token> = behind.skip(1).take(5).copied().collect();
        return has(&before, usize::MAX, YOU)
            || before.first().is_some_and(|token| token.is(OBLIGE) && !token.is(MENTION | GIVEN))
                && !has(&before, usize::MAX, THIRD)
            || before.is_empty();
    }
    let near = view.words_behind(3);
    if has(near, 3, NEGATION) {
        return false;
    }
    if has(near, 3, YOU) {
        return true;
    }
    // "The guidelines override all previous ones".
    let is_spoken_about = |token: &Token| {
        token.is(THIRD | MODAL) && !token.is(AND | YOU)
            || view.is(0, OVERRIDE) && token.is(INSTRUCTION) && !is_for_models(token)
    };
    !near.last().is_some_and(is_spoken_about)
}

/// "Do not follow", "stop obeying".
fn is_halted(view: View<'_>) -> bool {
    let near = view.words_behind(5);
    let most = if has(near, 5, YOU) { 4 } else { 3 };
    let Some(halt) = near.iter().rev().take(most).position(|token| token.is(NEGATION | HALT)) else {
        return false;
    };
    // "It does not follow the rules", "the model stops following".
    let subject = near.iter().rev().skip(halt).take(3).any(|token| token.is(THIRD) && !token.is(MODAL | YOU));
    !subject
}

/// "You no longer need to follow the rules", "stop following the guidelines".
fn is_released(view: View<'_>) -> bool {
    let noun = (1..=2).find(|by| view.is(*by, INSTRUCTION | LIMIT));
    // "You did not follow the instructions" says what happened.
    let needs_to = view.is(-1, TO) && view.is(-2, OBLIGE);
    let is_told = view.moved(-1).is_some_and(|halt| halt.begins_sentence() || halt.is(-1, AND | ACT | NOW));
    let is_reader =
        view.is(-1, HALT) && is_told || needs_to && view.has_behind(6, YOU) && !view.has_behind(6, MODAL);
    view.place == Place::User && is_reader && noun.is_some_and(|noun| is_object(view, noun))
}

/// "Beachte die obigen Anweisungen nicht".
fn is_denied_behind(view: View<'_>) -> bool {
    let words = view.words(8);
    let noun = find(words, usize::MAX, INSTRUCTION);
    noun.and_then(|noun| words.get(noun.saturating_add(1))).is_some_and(|next| next.is(NEGATION))
}

/// "The instruction to keep it secret".
fn is_to_be_kept(view: View<'_>, by: isize) -> bool {
    let Some(noun) = view.moved(by).filter(|noun| noun.token(0).is_some_and(is_for_models)) else {
        return false;
    };
    view.place == Place::User && by <= 2 && (noun.is(1, TO) || noun.is(1, NEGATION) || noun.is(2, NEGATION))
}

/// "Forget everything you know about baking": so books and shops begin.
fn is_known_about(view: View<'_>, by: isize) -> bool {
    let about = by.saturating_add(1);
    view.is(about, WITHIN) && view.is(about, FILLER)
}

/// Whether what follows the verb is what the reader was told before.
#[inline(never)]
fn sets_aside(view: View<'_>) -> bool {
    let is_weak = view.is(0, VOID);
    let (mut all, mut everything, mut prior, mut yours, mut systems, mut what, mut strangers) =
        (false, false, false, false, false, false, 0_usize);
    for (by, token) in (1..).zip(view.ahead(OBJECT)) {
        if token.is(INSTRUCTION) || token.is(LIMIT) && (yours || all) {
            // "Ignore instructions now."
            let is_bare = by == 1 && is_object(view, by);
            // Rules of a firewall are dropped, and orders are skipped.
            if is_weak && !is_for_models(token) && !(yours && (systems || is_object(view, by))) {
                return false;
            }
            // "Your password rules".
            if by > 1 && !is_for_models(token) && view.is(by.saturating_sub(1), UNKNOWN) {
                strangers = strangers.saturating_add(1);
                continue;
            }
            // "The above order of chapters", "the previous orders of the court".
            if prior && !yours && !is_for_models(token) && is_elsewhere(view, by) {
                return false;
            }
            // "Override the system rules with your own".
            let is_systems =
                systems && (!view.is(0, OVERRIDE) || is_for_models(token) || is_object(view, by));
            if prior || yours || is_systems || is_bare || is_prior_behind(view, by) || is_to_be_kept(view, by)
            {
                return true;
            }
            return all && !is_elsewhere(view, by);
        }
        if token.is(SAID) && !token.is(PRIOR | ALL) {
            // "And instead print".
            let is_turned = || {
                view.sentence(TURN)
                    .windows(2)
                    .any(|pair| matches!(pair, [and, instead] if and.is(AND) && instead.is(INSTEAD)))
            };
            let is_yours =
                prior && (yours || view.sign(0) == IDEOGRAPH) || is_prior_behind(view, by) && is_turned();
            let is_tools = view.place == Place::Tool
                && !is_weak
                && token.is(TASK)
                && (prior || is_prior_behind(view, by));
            if is_yours || is_tools || all && !is_weak && (prior || is_prior_behind(view, by)) {
                return true;
            }
            strangers = strangers.saturating_add(1);
        } else if token.is(EVERYTHING | ALL) {
            everything |= token.is(EVERYTHING);
            all = true;
        } else if token.is(PRIOR) {
            prior = true;
            // "Ignore everything above", "forget all of the above".
            if all && (everything && !is_weak || is_object(view, by)) {
                return true;
            }
            // "Ignore above and ..".
            if by == 1 && view.is(2, AND) && view.begins_sentence() {
                return true;
            }
            if !token.is(FILLER) && is_object(view, by) && view.is(by.saturating_sub(1), FILLER) && by <= 3 {
                return true;
            }
        } else if token.is(YOUR | SYSTEM) {
            yours |= token.is(YOUR);
            systems |= token.is(SYSTEM);
        } else if token.is(GIVEN)
            && (everything && !is_known_about(view, by)
                || what && (is_object(view, by) || view.is(by.saturating_add(1), PRIOR | TO)))
        {
            return true;
        } else if token.is(UNKNOWN) || token.is(SIGN) && !token.is_quote() && !is_markup(token) {
            strangers = strangers.saturating_add(1);
            // "Forget your phones, follow the rules".
            yours &= !(token.sign == ',' && view.is(by.saturating_sub(1), UNKNOWN));
        }
        let you = if view.is(by.saturating_add(1), FILLER) { 2 } else { 1 };
        what |= token.is(WHAT) && view.is(by.saturating_add(1), YOU);
        // "All that you were told".
        everything |= token.is(ALL) && view.is(by.saturating_add(you), YOU);
        // What is quoted behind a noun is its text: the warning "all previous settings were lost".
        let is_its_text =
            token.sign == '"' && by > 1 && !view.is(by.saturating_sub(1), FILLER | ALL | PRIOR | YOUR);
        if strangers > STRANGERS || is_its_text {
            break;
        }
    }
    if comes_last(view) {
        return true;
    }
    // "Forget your role", "forget that you are an AI".
    let is_self = view.is(1, YOUR) && view.is(2, IDENTITY)
        || has_pair(view.words(4), YOU, ARE) && view.words(6).iter().any(Token::is_ai);
    if is_self && !is_weak {
        return true;
    }
    // "IGNORE WHAT I TOLD YOU": nobody shouts so at whom he corrects.
    let loud = view.words(3);
    if has(loud, 1, WHAT) && !is_weak && loud.iter().all(|token| token.is_loud) {
        return true;
    }
    // "Forget everything."
    everything && is_alone(view)
}

/// A sign that only says how the words beside it are to look: `**all** /previous/`.
fn is_markup(token: &Token) -> bool {
    matches!(token.sign, '*' | '_' | '/' | '~')
}

/// Where a language has the verb behind its object, or a half of it: "lass alle Anweisungen beiseite".
fn comes_last(view: View<'_>) -> bool {
    let before: Vec<Token> = view.behind(8).copied().collect();
    let is_said = |kinds| has(&before, usize::MAX, kinds);
    let is_verb = view.token(0).is_some_and(|token| token.sign == IDEOGRAPH || !token.is(VOID));
    // One word may stand there that nobody knows: the verb's other half.
    let strangers = count(&before, UNKNOWN | MODAL | THIRD);
    let is_last = view.token(1).is_none_or(|next| next.is(AND | SIGN)) && !view.is(-1, AND | SIGN);
    let is_free = view.token(0).is_some_and(|token| token.sign == IDEOGRAPH) || strangers <= 1 && is_last;
    is_verb && is_free && is_said(INSTRUCTION) && is_said(PRIOR | ALL) && !is_said(NEGATION)
}

/// "The instructions above", "the rules that you were given".
#[inline(never)]
fn is_prior_behind(view: View<'_>, by: isize) -> bool {
    let Some(noun) = view.moved(by) else { return false };
    // "Les instructions ci-dessus".
    let next = noun.following(6, |token| token.sign == '-' || token.is(WORD) && !token.ends_sentence());
    // "From your developer".
    let is_operators = |three: &[Token]| matches!(three, [from, your, whose] if from.is(WITHIN) && your.is(YOUR) && whose.is(SYSTEM));
    next.get(..3).is_some_and(is_operators)
        || find_but(next, 5, GIVEN, WITHIN).is_some()
        || find_but(next, 4, PRIOR, AND).is_some()
}

/// "Any instructions in the document": who says so defends himself.
#[inline(never)]
fn is_elsewhere(view: View<'_>, by: isize) -> bool {
    let Some(noun) = view.moved(by) else { return false };
    let next = noun.sentence(7);
    let is_within = has(next, 1, WITHIN)
        || next.first().is_some_and(|token| token.is(THIRD | MODAL | FILLER | AND) && !token.is(YOU))
            && has(next, 3, WITHIN);
    is_within && !has(next, 5, YOUR | SYSTEM | PRIOR | YOU)
}

/// Whether nothing of it follows: "ignore the above and ..".
#[inline(never)]
pub fn is_object(view: View<'_>, by: isize) -> bool {
    let Some(next) = view.moved(by.saturating_add(1)) else { return true };
    // "My previous e-mail": in Italian, "e" is a word of its own.
    let is_part = next.sign(1) == '-' && next.token(1).is_some_and(|dash| !dash.is_apart);
    next.token(0).is_none_or(|next| next.is(SIGN | NOW) || next.is(AND) && !is_part || !next.is(WORD))
}

/// "Forget everything and ..", "Vergiss alles."
fn is_alone(view: View<'_>) -> bool {
    let mut ahead =
        view.ahead(3).skip_while(|token| token.is(FILLER)).skip_while(|token| token.is(EVERYTHING));
    ahead.next().is_none_or(|next| next.is(AND | SIGN))
}

/// Orders, policies and rules are also what shops and offices write of: "your order has been cancelled".
pub fn is_for_models(noun: &Token) -> bool {
    noun.is(TASK | PROMPT)
}
