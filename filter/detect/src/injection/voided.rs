//! Texts that say that the model's instructions or limits no longer hold: "all previous instructions are void".

use super::{
    Place,
    overrides::{is_for_models, is_imperative, is_object},
    view::{View, find, has, has_pair, is_at},
    vocabulary::{
        ACTIVE, ALL, ARE, ETHICS, EVERYTHING, FILLER, GIVEN, INSTRUCTION, LIMIT, NEGATION, NEW, NO, NOW,
        PRIOR, SAID, SYSTEM, THIRD, TO, UNKNOWN, VOID, WHAT, WITHIN, YOU, YOUR,
    },
};

/// "This supersedes all prior instructions".
pub fn voids(view: View<'_>) -> bool {
    let ahead = view.sentence(5);
    let noun = ahead.iter().position(is_for_models);
    let is_said_before = noun.and_then(|noun| ahead.get(..noun)).is_some_and(|before| {
        let is_said = |kinds| has(before, usize::MAX, kinds);
        is_said(PRIOR) && is_said(ALL | YOUR) && !is_said(UNKNOWN)
    });
    // A directive of an office, too, replaces the one before it.
    let is_of_its_kind = view.behind(2).any(is_for_models) && !view.has_behind(6, NEW);
    is_said_before && !is_of_its_kind || is_told_no_longer(view) || lifts_limits(view)
}

/// "Switch off your safety filters", "ethics do not apply to you".
fn lifts_limits(view: View<'_>) -> bool {
    // Most of what is on or off is something else.
    if !view.is(1, YOUR | ALL | TO) && !view.has_behind(4, LIMIT) {
        return false;
    }
    let ahead = view.words(5);
    let limit = find(ahead, usize::MAX, LIMIT);
    let before = limit.and_then(|limit| ahead.get(..limit)).unwrap_or_default();
    // "Apply your guidelines to this draft", "how can I remove your limit?"
    let is_switch = view.is(0, ACTIVE);
    let is_off = is_switch
        && is_imperative(view)
        && has(ahead, 1, YOUR | ALL)
        && (has(before, 4, SYSTEM | ETHICS)
            || view.place == Place::User && limit == Some(1) && has(ahead, 1, YOUR) && is_object(view, 2)
            || limit.and_then(|limit| ahead.get(limit)).is_some_and(|limit| limit.is(SYSTEM)));
    let is_free = matches!(ahead, [to, you, ..] if to.is(TO) && you.is(YOU))
        && view.has_behind(3, NEGATION)
        && view.has_behind(6, ETHICS);
    // "All content filters are disabled".
    let behind = view.words_behind(5);
    let limit = find(behind, usize::MAX, LIMIT);
    let whose = limit.and_then(|limit| behind.get(limit.checked_sub(1)?));
    let is_lifted = view.place == Place::User
        && is_switch
        && has(behind, usize::MAX, ALL | YOUR)
        && whose.is_some_and(|whose| whose.is(SAID | SYSTEM | ETHICS | YOUR))
        && view.has_behind(2, ARE | NEGATION);
    // "Replace your instructions with the following".
    let is_replaced = view.place == Place::User
        && has(ahead, 1, YOUR)
        && ahead.get(1).is_some_and(|noun| noun.is(INSTRUCTION) && is_for_models(noun))
        && (is_at(ahead, 2, TO | FILLER) || view.sign(3) == ':')
        && is_imperative(view);
    is_off || is_free || is_lifted || is_replaced
}

/// "Everything you were told before no longer counts".
fn is_told_no_longer(view: View<'_>) -> bool {
    let words = view.words_behind(12);
    let you = find(words, usize::MAX, YOU);
    let told = you.and_then(|you| words.get(you..)).unwrap_or_default();
    has(told, 4, GIVEN)
        && view.has_behind(2, NEGATION | NO)
        && has(words, usize::MAX, EVERYTHING | WHAT | INSTRUCTION)
}

/// "All previous instructions are void".
pub fn is_void(view: View<'_>) -> bool {
    let ahead = view.words(6);
    let Some(void) = find(ahead, usize::MAX, VOID) else { return false };
    let before = view.words_behind(4);
    let is_said = |kinds| has(before, 4, kinds);
    let is_theirs = is_said(YOUR) && !is_said(THIRD) || is_said(ALL) && is_said(PRIOR);
    // "Your guidelines are void from now on": so nobody writes of a policy.
    let is_from_now = || {
        let after = ahead.get(void..).unwrap_or_default();
        view.is(0, LIMIT) && has_pair(after, WITHIN, NOW)
    };
    let is_meant = view.token(0).is_some_and(is_for_models) && !has(ahead, void, NEW);
    is_theirs && (is_meant || is_from_now()) && !is_said(UNKNOWN)
}
