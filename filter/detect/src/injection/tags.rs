//! Tags that only the provider or the operator writes, and words that pretend that a context has ended.

use super::{
    Found, Pattern, Token, View,
    overrides::is_mention,
    vocabulary::{
        AND, ARE, ARTICLE, CHAT, CODE, END, FILLER, FRAME, IGNORE, INSTRUCTION, LIMIT, MENTION, MODAL, NEW,
        NEWLINE, NO, NOTE, NOW, OVERRIDE, PRIOR, QUOTE, REVEAL, ROLE, ROLEPLAY, SAID, SIGN, SYSTEM, TERM,
        THIRD, UNKNOWN, WEAK_FRAME, WITHIN, WORD, YOU, YOUR,
    },
};

/// Tokens behind a tag in which the model is spoken to.
const SPEECH: usize = 30;

/// Tags that were opened and not closed, by kind.
#[derive(Default)]
pub struct Opened {
    frames: usize,
    weak: usize,
}

/// Tokens that the rules begin with, besides the signs of tags.
pub const ANCHORS: u64 = END | SYSTEM;

pub fn judge(view: View<'_>, opened: &mut Opened, found: &mut Found) {
    let Some(token) = view.token(0) else { return };
    match token.sign {
        '<' => angle(view, opened, found),
        '[' if !token.repeats && is_bracketed_role(view) => found.add(Pattern::SystemTags, view.offset()),
        _ if token.is(END) && ends_context(view) => found.add(Pattern::DelimiterEscape, view.offset()),
        _ if token.is(SYSTEM) && token.begins_line && is_heading(view) => {
            found.add(Pattern::SystemTags, view.offset())
        }
        _ => {}
    }
}

fn sign(view: View<'_>, by: isize) -> char {
    view.token(by).map_or(' ', |token| token.sign)
}

fn angle(view: View<'_>, opened: &mut Opened, found: &mut Found) {
    let is_double = view.token(0).is_some_and(|token| token.repeats);
    // <|im_start|>, <<SYS>>, <start_of_turn>
    let at: isize = if matches!(sign(view, 1), '|' | '/') { 2 } else { 1 };
    let Some(name) = view.token(at) else { return };
    // <system-reminder>
    let is_longer = at == 1 && name.is(SYSTEM) && sign(view, 2) == '-' && sign(view, 4) == '>';
    if is_longer && is_ordered(view) && !is_code(view) && !is_term(view) {
        found.add(Pattern::SystemTags, view.offset());
    }
    let closes = matches!(sign(view, at.saturating_add(1)), '|' | '>');
    if !closes {
        return;
    }
    let is_chat = (sign(view, 1) == '|' && name.is(CHAT | ROLE | END))
        || is_double && name.is(CHAT)
        || name.is(CHAT) && !name.is(FRAME | WEAK_FRAME);
    if is_chat {
        if !is_code(view) && !is_term(view) {
            found.add(Pattern::SystemTags, view.offset());
        }
        return;
    }
    if sign(view, 1) == '/' {
        let count = if name.is(FRAME) { &mut opened.frames } else { &mut opened.weak };
        if !name.is(FRAME | WEAK_FRAME) {
            return;
        }
        if *count > 0 {
            *count = count.saturating_sub(1);
            return;
        }
        let is_escape = name.is(FRAME) || is_spoken_to(view);
        if is_escape && !is_code(view) && !is_term(view) {
            found.add(Pattern::DelimiterEscape, view.offset());
        }
        return;
    }
    if name.is(FRAME) {
        opened.frames = opened.frames.saturating_add(1);
    } else if name.is(WEAK_FRAME) {
        opened.weak = opened.weak.saturating_add(1);
    }
    // A tag of the operator around words to the model.
    let is_system =
        name.is(SYSTEM) || name.is(FRAME) && name.is(SAID | INSTRUCTION) || name.is(ROLE) && name.is(SYSTEM);
    if is_system && is_ordered(view) && !is_code(view) && !is_term(view) {
        found.add(Pattern::SystemTags, view.offset());
    }
}

/// [SYSTEM], [INST], [system message]
fn is_bracketed_role(view: View<'_>) -> bool {
    let at: isize = if matches!(sign(view, 1), '/' | '#') { 2 } else { 1 };
    let Some(name) = view.token(at) else { return false };
    let is_instruction = name.is(CHAT) && name.is_loud;
    let is_system = name.is(SYSTEM) && !name.is(ROLE) || name.is(SYSTEM | ROLE) && name.is(SYSTEM);
    if !(is_instruction || is_system) {
        return false;
    }
    let mut end = at.saturating_add(1);
    while end <= at.saturating_add(3) && view.is(end, SAID | NOTE | PRIOR | INSTRUCTION | OVERRIDE | ROLE) {
        end = end.saturating_add(1);
    }
    if !matches!(sign(view, end), ']' | ':') || is_code(view) || is_term(view) {
        return false;
    }
    let begins = view.token(0).is_some_and(|token| token.begins_line);
    if is_instruction {
        return true;
    }
    let rest = view.moved(end);
    let is_alone = rest
        .is_some_and(|close| close.ahead(1).next().is_none() || close.is(1, NEWLINE) && !is_settings(close));
    let is_marked = end > at.saturating_add(1) || sign(view, end) == ':';
    rest.is_some_and(is_ordered) && (begins || is_marked) || begins && is_alone
}

/// Lines of `key = value` follow.
fn is_settings(view: View<'_>) -> bool {
    let ahead: Vec<&Token> =
        view.tokens.get(view.at.saturating_add(2)..).unwrap_or_default().iter().take(8).collect();
    ahead
        .iter()
        .take_while(|token| !token.is(NEWLINE))
        .any(|token| matches!(token.sign, '=' | ':' | '#' | ';'))
}

/// "### System: you must ..", "SYSTEM: ignore ..".
fn is_heading(view: View<'_>) -> bool {
    let mut by = 1;
    while by <= 3 && view.is(by, PRIOR | SAID | NOTE | INSTRUCTION | OVERRIDE | NEW | ROLE) {
        by = by.saturating_add(1);
    }
    sign(view, by) == ':' && view.moved(by).is_some_and(is_ordered) && !is_code(view) && !is_mention(view)
}

/// Whether what follows tells somebody what to do.
#[inline(never)]
fn is_ordered(view: View<'_>) -> bool {
    let ahead: Vec<&Token> =
        view.tokens.get(view.at.saturating_add(1)..).unwrap_or_default().iter().take(SPEECH).collect();
    ahead.windows(2).any(|pair| match pair {
        [first, second] => {
            first.is(YOU) && second.is(ARE | NOW)
                || first.is(YOU) && second.is(MODAL)
                || first.is(IGNORE)
                    && second.is(WORD)
                    && !first.is(ROLE)
                    && second.is(PRIOR | YOUR | super::vocabulary::ALL)
                || first.is(YOUR) && second.is(NEW | INSTRUCTION | ROLEPLAY)
                || first.is(NEW) && second.is(INSTRUCTION)
                || first.is(REVEAL) && second.is(YOUR)
        }
        _ => false,
    })
}

/// Whether what follows speaks to the model at all.
#[inline(never)]
fn is_spoken_to(view: View<'_>) -> bool {
    is_ordered(view)
        || view
            .tokens
            .get(view.at.saturating_add(4)..)
            .unwrap_or_default()
            .iter()
            .take(10)
            .any(|token| token.is(NOW | IGNORE) || token.is(NEW) && token.is_loud)
}

/// Whether a tag stands in a program or a template: in a block of code, in quotation marks of its own, before a
/// placeholder.
#[inline(never)]
fn is_code(view: View<'_>) -> bool {
    if view.is(0, CODE) {
        return true;
    }
    let ahead: Vec<&Token> = view.tokens.get(view.at..).unwrap_or_default().iter().take(16).collect();
    if ahead.iter().any(|token| matches!(token.sign, '{' | '$' | '%' | '+')) {
        return true;
    }
    let behind = view.tokens.get(view.at.saturating_sub(6)..view.at).unwrap_or_default();
    let is_filled_in = behind.iter().any(|token| matches!(token.sign, '{' | '}' | '%'));
    // Behind an escape, and the text ends with the tag.
    let is_escaped = view.token(-2).is_some_and(|token| token.sign == '\\');
    if (is_filled_in || is_escaped) && ahead.iter().take(9).any(|token| token.is(QUOTE)) {
        return true;
    }
    let Some(before) = view.token(-1).filter(|before| before.is(QUOTE)) else { return false };
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

/// Whether somebody writes about the tag as such.
#[inline(never)]
fn is_term(view: View<'_>) -> bool {
    let is_named = view.behind(2).any(|token| token.is(TERM | MENTION) || token.is(AND) || token.is(NO));
    let close = (1..8_isize).find(|by| matches!(sign(view, *by), '>' | ']'));
    let after = close.and_then(|close| view.token(close.saturating_add(1)));
    let is_about = after
        .is_some_and(|after| after.is(TERM | AND) && after.is_apart && !after.is(NEWLINE) || after.is(ARE));
    // "<sys> is an alias of".
    let is_explained = close.is_some_and(|close| {
        view.is(close.saturating_add(1), FILLER) && view.is(close.saturating_add(2), ARTICLE)
    });
    let is_in_prose = view.token(-1).is_some_and(|token| token.is(WORD) && !token.is(UNKNOWN))
        && after.is_some_and(|after| after.is(WORD) && after.is_apart);
    let is_enclosed =
        matches!(sign(view, -1), '(' | ':') && after.is_some_and(|after| matches!(after.sign, ',' | ')'));
    let is_listed = view.token(-1).is_some_and(|token| token.sign == ',') || is_enclosed;
    is_named || is_listed || is_explained || is_about || is_in_prose && !is_ordered(view)
}

/// "--- END OF SYSTEM PROMPT ---", "end of system".
fn ends_context(view: View<'_>) -> bool {
    if !view.token(0).is_some_and(|token| token.begins_line) && !view.is(-1, SIGN) {
        return false;
    }
    let is_loud = view.token(0).is_some_and(|token| token.is_loud);
    let mut by = 1_isize;
    let mut has_frame = false;
    while by <= 5 && view.token(by).is_some_and(|token| token.is(WORD) && !token.is(NEWLINE)) {
        let Some(token) = view.token(by) else { break };
        // "END OF TOOL OUTPUT": the role alone says nothing.
        if token.is(THIRD)
            && token.is(ROLE)
            && is_loud
            && view.token(by.saturating_add(1)).is_some_and(|next| next.is(SAID))
        {
            has_frame = true;
            by = by.saturating_add(2);
            continue;
        }
        if token.is(FRAME | SYSTEM)
            || token.is(INSTRUCTION) && !token.is(LIMIT)
            || token.is(WEAK_FRAME) && is_loud
        {
            has_frame = true;
        } else if token.is(UNKNOWN | THIRD) || token.is(WITHIN) && !token.is(FILLER) {
            return false;
        }
        by = by.saturating_add(1);
    }
    let after = view.token(by);
    let ends = after.is_none_or(|after| after.is(SIGN | NEWLINE) && !matches!(after.sign, '(' | '_' | '/'));
    has_frame && by > 1 && ends && !is_code(view) && !is_mention(view)
}
