//! Texts that tell the model to ignore its instructions: a verb in the imperative, together with instructions that are
//! earlier ones, the reader's own, or all of them.

use super::{
    Found, Pattern, Place, Token, View,
    tokens::IDEOGRAPH,
    vocabulary::{
        ALL, AND, EVERYTHING, FILLER, FOLLOW, GIVEN, HALT, IGNORE, INSTRUCTION, LIMIT, MENTION, MODAL,
        NEGATION, NEW, NO, NOW, OBLIGE, OVERRIDE, PRIOR, PROMPT, QUOTE, ROLE, SAID, SIGN, SYSTEM, TASK,
        THIRD, TO, UNBOUND, UNKNOWN, USER, VOID, WHAT, WITHIN, WORD, YOU, YOUR,
    },
};

/// Tokens behind the verb in which its object must stand.
const OBJECT: usize = 12;
/// Words nobody knows that may stand between.
const STRANGERS: usize = 2;

/// Tokens that the rules begin with.
pub const ANCHORS: u64 = IGNORE | FOLLOW | INSTRUCTION | VOID;

pub fn judge(view: View<'_>, found: &mut Found) {
    let Some(token) = view.token(0).filter(|token| token.is(ANCHORS)) else { return };
    // The first place of a pattern is enough.
    if found.has(Pattern::IgnoreInstructions) {
        return;
    }
    let is_order = if token.is(IGNORE) {
        !is_noun(view) && (sets_aside(view) || is_turned_from_user(view)) && is_imperative(view)
    } else if token.is(FOLLOW) {
        is_halted(view) && (sets_aside(view) || is_turned_from_user(view))
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
        let before: Vec<_> = behind.skip(1).take(5).collect();
        return before.iter().any(|token| token.is(YOU))
            || before.first().is_some_and(|token| token.is(OBLIGE) && !token.is(MENTION | GIVEN))
                && !before.iter().any(|token| token.is(THIRD))
            || before.is_empty();
    }
    let near = view.words_behind(3);
    if super::has(near, 3, NEGATION) {
        return false;
    }
    if super::has(near, 3, YOU) {
        return true;
    }
    let is_spoken_about = |token: &Token| token.is(THIRD | MODAL) && !token.is(AND | YOU);
    !near.last().is_some_and(is_spoken_about)
}

/// "Do not follow", "stop obeying".
fn is_halted(view: View<'_>) -> bool {
    let near = view.words_behind(5);
    let Some(halt) = near.iter().rev().take(3).position(|token| token.is(NEGATION | HALT)) else {
        return false;
    };
    // "It does not follow the rules", "the model stops following".
    let subject = near.iter().rev().skip(halt).take(3).any(|token| token.is(THIRD) && !token.is(MODAL | YOU));
    !subject
}

/// Whether what follows the verb is what the reader was told before.
#[inline(never)]
fn sets_aside(view: View<'_>) -> bool {
    let is_weak = view.is(0, VOID);
    let (mut all, mut everything, mut prior, mut yours, mut what, mut strangers) =
        (false, false, false, false, false, 0_usize);
    for (by, token) in (1..).zip(view.ahead(OBJECT)) {
        if token.is(INSTRUCTION) || token.is(LIMIT) && (yours || all) {
            // "Ignore instructions now."
            let is_bare = by == 1 && is_object(view, by);
            // Rules of a firewall are dropped, and orders are skipped.
            if is_weak && !yours && !is_for_models(token) {
                return false;
            }
            if prior || yours || is_bare || is_prior_behind(view, by) {
                return true;
            }
            return all && !is_elsewhere(view, by);
        }
        if token.is(SAID) && !token.is(PRIOR | ALL) {
            if all && (prior || is_prior_behind(view, by)) {
                return true;
            }
            strangers = strangers.saturating_add(1);
        } else if token.is(EVERYTHING | ALL) {
            everything |= token.is(EVERYTHING);
            all = true;
        } else if token.is(PRIOR) {
            prior = true;
            // "Ignore everything above", "forget all of the above".
            if all && (everything || is_object(view, by)) {
                return true;
            }
            if token.is(WORD) && is_object(view, by) && view.is(by.saturating_sub(1), FILLER) && by <= 3 {
                return true;
            }
        } else if token.is(YOUR | SYSTEM) {
            yours = true;
        } else if token.is(GIVEN)
            && (everything || what && (is_object(view, by) || view.is(by.saturating_add(1), PRIOR)))
        {
            return true;
        } else if token.is(UNKNOWN) || token.is(SIGN) && !token.is(QUOTE) {
            strangers = strangers.saturating_add(1);
        }
        what |= token.is(WHAT) && view.is(by.saturating_add(1), YOU);
        if strangers > STRANGERS {
            break;
        }
    }
    // Where the verb comes last.
    if view.token(0).is_some_and(|token| token.sign == IDEOGRAPH) {
        let before: Vec<_> = view.behind(8).collect();
        let has = |kinds| before.iter().any(|token| token.is(kinds));
        if has(INSTRUCTION) && has(PRIOR | ALL) && before.iter().all(|token| !token.is(NEGATION)) {
            return true;
        }
    }
    // "Forget everything."
    everything && is_alone(view)
}

/// "The instructions above", "the rules that you were given".
#[inline(never)]
fn is_prior_behind(view: View<'_>, by: isize) -> bool {
    let Some(noun) = view.moved(by) else { return false };
    let next = noun.words(6);
    // "From your developer".
    let is_operators = |three: &[Token]| matches!(three, [from, your, whose] if from.is(WITHIN) && your.is(YOUR) && whose.is(SYSTEM));
    next.get(..3).is_some_and(is_operators)
        || next.iter().take(5).any(|token| token.is(GIVEN) && !token.is(WITHIN))
        || next.iter().take(4).any(|token| token.is(PRIOR) && !token.is(AND))
}

/// "Any instructions in the document": who says so defends himself.
#[inline(never)]
fn is_elsewhere(view: View<'_>, by: isize) -> bool {
    let Some(noun) = view.moved(by) else { return false };
    let next = noun.sentence(7);
    let is_within = next.first().is_some_and(|token| token.is(WITHIN))
        || next.first().is_some_and(|token| token.is(THIRD | MODAL | FILLER | AND) && !token.is(YOU))
            && next.iter().take(3).any(|token| token.is(WITHIN));
    is_within && !next.iter().take(5).any(|token| token.is(YOUR | SYSTEM | PRIOR | YOU))
}

/// Whether nothing of it follows: "ignore the above and ..".
#[inline(never)]
fn is_object(view: View<'_>, by: isize) -> bool {
    view.moved(by.saturating_add(1))
        .and_then(|next| next.token(0))
        .is_none_or(|next| next.is(AND | SIGN | NOW) || !next.is(WORD))
}

/// "Forget everything and ..", "Vergiss alles."
fn is_alone(view: View<'_>) -> bool {
    let mut ahead =
        view.ahead(3).skip_while(|token| token.is(FILLER)).skip_while(|token| token.is(EVERYTHING));
    ahead.next().is_none_or(|next| next.is(AND | SIGN))
}

/// Orders, policies and rules are also what shops and offices write of: "your order has been cancelled".
fn is_for_models(noun: &Token) -> bool {
    noun.is(TASK | PROMPT)
}

/// "This supersedes all prior instructions".
fn voids(view: View<'_>) -> bool {
    let ahead = view.sentence(5);
    let noun = ahead.iter().position(is_for_models);
    let is_said_before = noun.and_then(|noun| ahead.get(..noun)).is_some_and(|before| {
        let has = |kinds| before.iter().any(|token| token.is(kinds));
        has(PRIOR) && has(ALL | YOUR) && !has(UNKNOWN)
    });
    // A directive of an office, too, replaces the one before it.
    let is_of_its_kind = view.behind(2).any(is_for_models) && !view.has_behind(6, NEW);
    is_said_before && !is_of_its_kind || is_told_no_longer(view)
}

/// "Everything you were told before no longer counts".
fn is_told_no_longer(view: View<'_>) -> bool {
    let words = view.words_behind(12);
    let you = words.iter().position(|token| token.is(YOU));
    let told = you.and_then(|you| words.get(you..)).unwrap_or_default();
    super::has(told, 4, GIVEN)
        && view.has_behind(2, NEGATION | NO)
        && super::has(words, usize::MAX, EVERYTHING | WHAT | INSTRUCTION)
}

/// "All previous instructions are void".
fn is_void(view: View<'_>) -> bool {
    let ahead = view.words(6);
    let Some(void) = ahead.iter().position(|token| token.is(VOID)) else { return false };
    let before = view.words_behind(4);
    let has = |kinds| super::has(before, 4, kinds);
    let is_theirs = has(YOUR) && !has(THIRD) || has(ALL) && has(PRIOR);
    // "Your guidelines are void from now on": so nobody writes of a policy.
    let is_from_now = || {
        let after = ahead.get(void..).unwrap_or_default();
        view.is(0, LIMIT)
            && after.windows(2).any(|pair| matches!(pair, [from, now] if from.is(WITHIN) && now.is(NOW)))
    };
    let is_meant = view.token(0).is_some_and(is_for_models) && !super::has(ahead, void, NEW);
    is_theirs && (is_meant || is_from_now()) && !has(UNKNOWN)
}

/// "Forget what the user asked for", "stop following the user's request", in a tool result.
fn is_turned_from_user(view: View<'_>) -> bool {
    let ahead = view.words(5);
    let user = ahead.iter().position(|token| token.is(USER) && token.is(ROLE));
    view.place == Place::Tool
        && user.is_some_and(|user| {
            let asked = ahead.get(user.saturating_add(1));
            ahead.first().is_some_and(|token| token.is(WHAT | EVERYTHING))
                || view.is(0, FOLLOW) && asked.is_some_and(|token| token.is(SAID | TASK | INSTRUCTION))
        })
}

/// Whether somebody writes about such a sentence: it stands by itself in quotation marks within another, or the sentence
/// tells of attacks.
#[inline(never)]
pub fn is_mention(view: View<'_>) -> bool {
    let mut is_about = false;
    for (by, token) in (1_usize..).zip(view.behind(16)) {
        if token.is(QUOTE) {
            let apart = view.at.saturating_sub(by);
            let opening = View { at: apart, ..view };
            // In JSON a value's quotation mark follows a colon, in a list a bracket or a comma.
            let before = opening.token(-1);
            let is_value = before
                .is_none_or(|before| before.is(SIGN) && matches!(before.sign, ':' | '[' | '{' | '=' | '>'));
            let is_prose = before
                .is_some_and(|before| before.is(WORD) || matches!(before.sign, ',' | ':' | '('))
                && opening.behind(12).filter(|token| token.is(WORD)).count() >= 2;
            let closes =
                view.tokens.get(view.at..).unwrap_or_default().iter().take(14).any(|token| token.is(QUOTE));
            // A list of texts in a program.
            let mut nearby = view.tokens.get(view.at..).unwrap_or_default().iter().take(7);
            let end = nearby.position(|token| token.is(QUOTE));
            let end = end.and_then(|end| view.tokens.get(view.at.saturating_add(end).saturating_add(1)));
            let is_listed = before.is_some_and(|before| matches!(before.sign, '[' | ',' | '('))
                && end.is_some_and(|end| matches!(end.sign, ',' | ']' | ')'));
            if by <= 2 && is_listed {
                return true;
            }
            if by <= 4 && closes && (is_prose && !is_value || opening.has_behind(12, MENTION)) {
                return true;
            }
        }
        is_about |= token.is(MENTION) && !token.is(GIVEN | FILLER | YOU | UNBOUND);
        if token.is(YOU) {
            return false;
        }
    }
    is_about
}
