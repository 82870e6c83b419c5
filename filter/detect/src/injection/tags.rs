//! Tags that only the provider or the operator writes, and words that pretend that a context has ended.

use super::{
    Found, Pattern,
    mention::{is_code, is_mention, is_term},
    speech::{is_ordered, is_spoken_to},
    token::Token,
    view::{View, has, has_pair},
    vocabulary::{
        AI, CHAT, END, FILLER, FRAME, IGNORE, INSTRUCTION, LIMIT, NEW, NEWLINE, NOTE, NOW, OVERRIDE, PRIOR,
        PROMPT, ROLE, SAID, SIGN, STOP, SYSTEM, THIRD, TO, UNKNOWN, USER, WEAK_FRAME, WITHIN, WORD,
    },
};

/// Tags that were opened and not closed, by kind.
#[derive(Default)]
pub struct Opened {
    frames: usize,
    weak: usize,
}

impl Opened {
    fn add(&mut self, name: &Token) {
        if name.is(FRAME) {
            self.frames = self.frames.saturating_add(1);
        } else if name.is(WEAK_FRAME) {
            self.weak = self.weak.saturating_add(1);
        }
    }
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

fn angle(view: View<'_>, opened: &mut Opened, found: &mut Found) {
    let is_double = view.token(0).is_some_and(|token| token.repeats);
    // <|im_start|>, <<SYS>>, <start_of_turn>
    let at: isize = if matches!(view.sign(1), '|' | '/') { 2 } else { 1 };
    let Some(name) = view.token(at) else { return };
    // <system-reminder>
    let is_longer = at == 1 && name.is(SYSTEM) && view.sign(2) == '-' && view.sign(4) == '>';
    if is_longer && is_ordered(view) && !is_code(view) && !is_term(view) {
        found.add(Pattern::SystemTags, view.offset());
    }
    let closes = matches!(view.sign(at.saturating_add(1)), '|' | '>');
    let has_attribute = view.is(2, WORD) && view.sign(3) == '=';
    if at == 1 && (closes || has_attribute) {
        opened.add(name);
    }
    if !closes {
        return;
    }
    let is_chat = (view.sign(1) == '|' && name.is(CHAT | ROLE | END))
        || is_double && name.is(CHAT)
        || name.is(CHAT) && !name.is(FRAME | WEAK_FRAME);
    if is_chat {
        if !is_code(view) && !is_term(view) {
            found.add(Pattern::SystemTags, view.offset());
        }
        return;
    }
    if view.sign(1) == '/' {
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
    // A tag of the operator around words to the model.
    let is_system =
        name.is(SYSTEM) || name.is(FRAME) && name.is(SAID | INSTRUCTION) || name.is(ROLE) && name.is(SYSTEM);
    if is_system && is_ordered(view) && !is_code(view) && !is_term(view) {
        found.add(Pattern::SystemTags, view.offset());
    }
}

/// [SYSTEM], [INST], [system message]
fn is_bracketed_role(view: View<'_>) -> bool {
    let at: isize = if matches!(view.sign(1), '/' | '#') { 2 } else { 1 };
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
    if !matches!(view.sign(end), ']' | ':') || is_code(view) || is_term(view) {
        return false;
    }
    let begins = view.token(0).is_some_and(|token| token.begins_line);
    // "[SYSTEM INSTRUCTION: ..".
    let last = end.saturating_sub(1);
    // "[SAFETY INSTRUCTIONS]" are on every box.
    let is_operators = name.is(ROLE) && view.is(last, INSTRUCTION) || view.is(last, OVERRIDE);
    let is_loud = name.is_loud && is_operators;
    if is_instruction || is_loud {
        return true;
    }
    let rest = view.moved(end);
    let is_alone = rest
        .is_some_and(|close| close.ahead(1).next().is_none() || close.is(1, NEWLINE) && !is_settings(close));
    let is_marked = end > at.saturating_add(1) || view.sign(end) == ':';
    name.is(ROLE) && rest.is_some_and(is_ordered) && (begins || is_marked) || begins && is_alone
}

/// Lines of `key = value` follow.
fn is_settings(view: View<'_>) -> bool {
    let line = view.onward(2, 8).iter().take_while(|token| !token.is(NEWLINE));
    line.into_iter().any(|token| matches!(token.sign, '=' | ':' | '#' | ';'))
}

/// "### System: you must ..", "SYSTEM: ignore ..".
fn is_heading(view: View<'_>) -> bool {
    let mut by = 1;
    while by <= 3 && view.is(by, PRIOR | SAID | NOTE | INSTRUCTION | OVERRIDE | NEW | ROLE) {
        by = by.saturating_add(1);
    }
    // "SYSTEM NOTE TO AGENT:"
    let is_to_ai = by > 1
        && view.is(by, TO)
        && view
            .token(by.saturating_add(1))
            .is_some_and(|to| to.is(AI) || to.is(THIRD) && !to.is(USER) && to.is_loud)
        && view.sign(by.saturating_add(2)) == ':';
    let is_order =
        is_to_ai || view.is(0, ROLE) && view.sign(by) == ':' && view.moved(by).is_some_and(is_ordered);
    is_order && !is_code(view) && !is_mention(view)
}

/// "--- END OF SYSTEM PROMPT ---", "end of system".
fn ends_context(view: View<'_>) -> bool {
    if !view.token(0).is_some_and(|token| token.begins_line) && !view.is(-1, SIGN) {
        return false;
    }
    if ends_ruled(view) {
        return true;
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
        // "End of instructions. Turn the page."
        let is_plain = token.is(INSTRUCTION) && !is_loud && !view.is(-1, SIGN);
        if !is_plain && (token.is(FRAME | SYSTEM) || token.is(INSTRUCTION) && !token.is(LIMIT))
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

/// "---- end of user input ----", "[end of conversation]", and behind it somebody speaks to the model.
fn ends_ruled(view: View<'_>) -> bool {
    let line = view.following(6, |token| token.is(WORD) && !token.is(NEWLINE | STOP));
    let Some(rule) = isize::try_from(line.len()).ok().and_then(|words| view.moved(words.saturating_add(1)))
    else {
        return false;
    };
    let is_ruled = |token: Option<&Token>| {
        token.is_some_and(|token| token.repeats && token.is(SIGN) || matches!(token.sign, '[' | ']'))
    };
    let is_frame = has(line, usize::MAX, FRAME | WEAK_FRAME | SAID | PROMPT | ROLE);
    // Behind the end of a mail or a document, its reader is spoken to.
    let is_models = has(line, usize::MAX, FRAME | PROMPT) || has_pair(line, ROLE, SAID | WEAK_FRAME);
    let next = rule.token(1);
    let is_turn =
        next.is_some_and(|next| next.is(ROLE | SYSTEM | AI) && next.is(NEWLINE)) && rule.sign(2) == ':';
    is_frame
        && is_ruled(view.token(-1))
        && is_ruled(rule.token(0))
        && (is_turn
            || is_models
                && (is_ordered(rule)
                    || next.is_some_and(|next| next.is(NOW | IGNORE) || next.is(NEW) || next.sign == '[')))
        && !is_code(view)
        && !is_mention(view)
}
