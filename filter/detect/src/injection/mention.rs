//! Whether somebody only writes about what looks like an attack: quotes it, has it in a program, or says what it is.

use super::{
    speech::is_ordered,
    token::Token,
    view::View,
    vocabulary::{
        AND, ARE, ARTICLE, CODE, FILLER, GIVEN, MENTION, NEWLINE, NO, SIGN, TERM, UNBOUND, UNKNOWN, WORD, YOU,
    },
};

/// Whether somebody writes about such a sentence: it stands by itself in quotation marks within another, or the sentence
/// tells of attacks.
#[inline(never)]
pub fn is_mention(view: View<'_>) -> bool {
    let (mut is_about, mut is_told) = (false, false);
    for (by, token) in (1_usize..).zip(view.behind(16)) {
        if token.is_quote() {
            let apart = view.at.saturating_sub(by);
            let opening = View { at: apart, ..view };
            // In JSON a value's quotation mark follows a colon, in a list a bracket or a comma.
            let before = opening.token(-1);
            let is_value = before
                .is_none_or(|before| before.is(SIGN) && matches!(before.sign, ':' | '[' | '{' | '=' | '>'));
            let is_prose = before.is_some_and(|before| {
                before.is(WORD) && token.is_apart || matches!(before.sign, ',' | ':' | '(')
            }) && opening.behind(12).filter(|token| token.is(WORD)).count() >= 2;
            let closes = view.onward(0, 14).iter().any(|token| token.is_quote());
            // A list of texts in a program.
            let end = view.onward(0, 7).iter().position(|token| token.is_quote());
            let end = end.and_then(|end| view.tokens.get(view.at.saturating_add(end).saturating_add(1)));
            let is_listed = before.is_some_and(|before| matches!(before.sign, '[' | ',' | '('))
                && end.is_some_and(|end| matches!(end.sign, ',' | ']' | ')'));
            if by <= 2 && is_listed {
                return true;
            }
            if by <= if is_told { 6 } else { 4 }
                && closes
                && (is_prose && !is_value || opening.has_behind(12, MENTION))
            {
                return true;
            }
        }
        is_about |= !is_told && token.is(MENTION) && !token.is(GIVEN | FILLER | YOU | UNBOUND);
        is_told |= token.is(YOU);
    }
    is_about
}

/// Whether a tag stands in a program or a template: in a block of code, in quotation marks of its own, before a
/// placeholder.
#[inline(never)]
pub fn is_code(view: View<'_>) -> bool {
    if view.is(0, CODE) {
        return true;
    }
    let ahead = view.onward(0, 16);
    if ahead.iter().any(|token| matches!(token.sign, '{' | '$' | '%' | '+')) {
        return true;
    }
    let behind = view.tokens.get(view.at.saturating_sub(6)..view.at).unwrap_or_default();
    let is_filled_in = behind.iter().any(|token| matches!(token.sign, '{' | '}' | '%'));
    // Behind an escape, and the text ends with the tag.
    let is_escaped = view.token(-2).is_some_and(|token| token.sign == '\\');
    if (is_filled_in || is_escaped) && ahead.iter().take(9).any(|token| token.is_quote()) {
        return true;
    }
    let Some(before) = view.token(-1).filter(|before| before.is_quote()) else { return false };
    // Nothing but the tag is quoted, or a program quotes it.
    let closes = ahead.iter().skip(1).take(7).any(|token| token.sign == before.sign);
    let outside = view.token(-2);
    closes
        || before.sign == '`'
        || outside.is_some_and(|token| {
            matches!(token.sign, '=' | '(' | '+' | '[' | ',')
                || token.is(WORD) && !token.is_apart && token.offset.saturating_add(1) == before.offset
        })
}

/// Whether a tag is mentioned and not used: the words beside it say what it is, or it stands between two words of a sentence
/// or two signs of a list. Who uses it puts it where it stands for itself.
#[inline(never)]
pub fn is_term(view: View<'_>) -> bool {
    let close = (1..8_isize).find(|by| matches!(view.sign(*by), '>' | ']'));
    let Some(end) = close.and_then(|close| view.moved(close)) else { return false };
    let is_named = view.has_behind(2, TERM | MENTION | AND | NO);
    // "<sys> is an alias of".
    let is_explained =
        end.is(1, TERM | AND) && !end.is(1, NEWLINE) && end.token(1).is_some_and(|next| next.is_apart)
            || end.is(1, ARE)
            || end.is(1, FILLER) && end.is(2, ARTICLE);
    let (before, after) = (view.token(-1), end.token(1));
    let is_word = |token: &Token| token.is(WORD) && token.is_apart && !token.is(NEWLINE);
    let is_in_prose = before.is_some_and(|before| before.is(WORD) && !before.is(UNKNOWN))
        && after.is_some_and(is_word)
        && !is_ordered(view);
    let is_listed = before.is_some_and(|before| {
        before.is(WORD) && !before.is(UNKNOWN) || matches!(before.sign, ',' | '(' | ':')
    }) && matches!(end.sign(1), ',' | ')' | '?')
        || view.sign(-1) == ',' && end.sign(1) == '.';
    is_named || is_explained || is_in_prose || is_listed
}
