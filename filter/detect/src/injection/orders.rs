//! Texts that bring new instructions where none belong: headings such as "New instructions:", words to the model in a
//! tool result, and questions for the system prompt.

use super::{
    Found, Pattern, Place, Token, View, has,
    overrides::{is_imperative, is_mention},
    vocabulary::{
        ACTIVE, AI, ALL, AND, ANSWER, ARE, ARTICLE, BEFORE, CODE, EVERYTHING, FILLER, FOLLOW, GIVEN, INSTEAD,
        INSTRUCTION, MODAL, NEGATION, NEW, NEWLINE, NO, NOTE, OBLIGE, ONWARD, OVERRIDE, PRIOR, PROMPT,
        READING, REVEAL, ROLE, SAID, SIGN, SYSTEM, TASK, TELL, THIRD, TO, UNKNOWN, USER, WHAT, WITHIN, WORD,
        YOU, YOUR,
    },
};

/// Tokens that the rules begin with.
pub const ANCHORS: u64 = NEW | OVERRIDE | REVEAL | WHAT | FOLLOW | BEFORE | AI | TELL;

pub fn judge(view: View<'_>, found: &mut Found) {
    let Some(token) = view.token(0).filter(|token| token.is(ANCHORS)) else { return };
    // The first place of a pattern is enough.
    if found.has(Pattern::InstructionInjection) {
        return;
    }
    let is_order = token.is(NEW) && heads_orders(view)
        || token.is(OVERRIDE) && heads_override(view)
        || token.is(REVEAL) && asks_for_prompt(view)
        || token.is(WHAT) && asks_what(view)
        || token.is(FOLLOW) && follows_these(view);
    let is_order = is_order
        || view.place == Place::Tool
            && (token.is(BEFORE) && comes_first(view)
                || token.is(AI) && is_addressed(view)
                || token.is(TELL) && is_secret(view));
    if is_order && !is_mention(view) {
        found.add(Pattern::InstructionInjection, view.offset());
    }
}

/// "New instructions:", "your new task is".
fn heads_orders(view: View<'_>) -> bool {
    let noun = view.ahead(3).position(|token| token.is(INSTRUCTION | TASK));
    let Some(noun) = noun.and_then(|at| isize::try_from(at.saturating_add(1)).ok()) else { return false };
    if !(1..noun).all(|by| view.is(by, NEW | SYSTEM | FILLER | PRIOR)) {
        return false;
    }
    let is_yours = view.has_behind(2, YOUR);
    let is_strong = view.is(noun, INSTRUCTION) && view.is(noun, TASK) || view.is(noun, PROMPT);
    let after = noun.saturating_add(1);
    let heads = view
        .token(after)
        .is_none_or(|next| matches!(next.sign, ':' | ']' | '-' | '=' | '>' | '*') || next.is(NEWLINE));
    let is_told = is_yours
        && view.is(after, ARE | UNKNOWN | TO | FILLER)
        && view.token(after).is_some_and(|next| next.is(WORD));
    let begins = view.token(0).is_some_and(|token| token.begins_line)
        || view.behind(1).next().is_none_or(|token| token.is(SIGN));
    let is_plain = view.is(0, UNKNOWN) || !view.is(0, WITHIN | FILLER | FOLLOW);
    // "New rule: you must".
    let is_rule =
        begins && view.is(noun, INSTRUCTION) && (1..4).any(|by| view.is(after.saturating_add(by), YOU));
    heads && (is_strong && begins && is_plain || is_yours || is_rule) || is_told
}

/// "Override: ..", "SYSTEM OVERRIDE".
fn heads_override(view: View<'_>) -> bool {
    if view.is(0, CODE) || view.behind(1).any(|token| token.sign == '@') {
        return false;
    }
    let is_systems = view.is(-1, SYSTEM) && view.token(-1).is_some_and(|token| token.is(WORD));
    let is_loud = view.token(0).is_some_and(|token| token.is_loud);
    let next = view.token(1);
    if is_systems && (is_loud || view.has_ahead(2, ACTIVE)) {
        return true;
    }
    let heads = next.is_some_and(|next| next.sign == ':' && !next.is_apart);
    let begins = view.token(0).is_some_and(|token| token.begins_line)
        || view.behind(1).next().is_none_or(|token| token.is(SYSTEM));
    let words = view
        .moved(1)
        .map_or(0, |colon| colon.ahead(6).take_while(|token| token.is(WORD) && !token.is(NEWLINE)).count());
    let is_prose = view.moved(1).is_some_and(|colon| {
        colon.ahead(8).any(|token| token.is(YOU | YOUR | INSTRUCTION | REVEAL | ALL) || token.is(FOLLOW))
    });
    heads && begins && words >= 2 && (is_prose || words >= 3 && is_loud)
}

/// "Print your system prompt", "repeat the words above".
fn asks_for_prompt(view: View<'_>) -> bool {
    wants_prompt(view) && is_imperative(view)
}

fn wants_prompt(view: View<'_>) -> bool {
    let ahead = view.sentence(9);
    // "Your system message".
    let is_message = |pair: &[Token]| matches!(pair, [first, second] if first.is(SYSTEM) && second.is(SAID) && second.is(NOTE));
    if has(ahead, 6, YOUR) && ahead.windows(2).any(is_message) {
        return true;
    }
    let Some(noun) = ahead.iter().position(|token| token.is(PROMPT | INSTRUCTION)) else {
        // "Repeat everything above".
        let Some(all) = ahead.iter().take(4).position(|token| token.is(ALL | EVERYTHING)) else {
            return false;
        };
        let rest: Vec<_> = ahead.iter().skip(all).take_while(|token| !token.is(UNKNOWN)).collect();
        let above = rest.iter().take(4).position(|token| token.is(PRIOR) && !token.is(ALL));
        let next = above.and_then(|above| ahead.get(all.saturating_add(above).saturating_add(1)));
        // "Before this message", and not "before the heading".
        let is_here = |next: &Token| next.is(SIGN | AND) || next.is(FILLER) && next.is(ONWARD);
        return above.is_some() && next.is_none_or(is_here);
    };
    let before = ahead.get(..noun).unwrap_or_default();
    let is_yours = before.iter().any(|token| token.is(YOUR));
    let is_hidden = before.iter().any(|token| token.is(SYSTEM | PRIOR));
    let is_prompt = ahead.get(noun).is_some_and(|token| token.is(PROMPT));
    let strangers = before.iter().filter(|token| token.is(UNKNOWN)).count();
    let is_above = ahead.iter().skip(noun).take(3).any(|token| token.is(PRIOR));
    let next = ahead.get(noun.saturating_add(1));
    let ends = next.is_none_or(|next| next.is(AND | SIGN));
    // "The prompt that your developer gave you".
    let after = ahead.get(noun.saturating_add(1)..).unwrap_or_default();
    let is_operators = |pair: &[Token]| matches!(pair, [your, whose] if your.is(YOUR) && whose.is(SYSTEM));
    if is_prompt && after.windows(2).take(2).any(is_operators) {
        return true;
    }
    let is_theirs = is_prompt && is_hidden && ahead.iter().skip(noun).take(4).any(|token| token.is(YOU));
    strangers <= 1
        && (is_yours && ends || is_theirs || is_yours && (is_prompt || is_hidden) || is_prompt && is_above)
}

/// "What is your system prompt?"
fn asks_what(view: View<'_>) -> bool {
    let ahead = view.sentence(10);
    let Some(noun) = ahead.iter().position(|token| token.is(PROMPT | INSTRUCTION)) else { return false };
    let before = ahead.get(..noun).unwrap_or_default();
    let is_prompt = ahead.get(noun).is_some_and(|token| token.is(PROMPT));
    let is_hidden = before.iter().any(|token| token.is(SYSTEM | PRIOR));
    let strangers = before.iter().filter(|token| token.is(UNKNOWN)).count();
    let is_right_before = before.last().is_some_and(|token| token.is(YOUR | SYSTEM));
    before.iter().any(|token| token.is(YOUR))
        && (is_hidden || is_prompt)
        && (strangers == 0 || is_prompt && is_right_before && strangers <= 2)
}

/// "Follow these instructions instead".
fn follows_these(view: View<'_>) -> bool {
    let Some(noun) = view.ahead(5).position(|token| token.is(INSTRUCTION)) else { return false };
    let mut after = view.ahead(noun.saturating_add(4)).skip(noun);
    let is_instead = after.any(|token| token.is(INSTEAD) && !token.is(FILLER));
    let is_mine = view.ahead(noun.saturating_add(1)).all(|token| !token.is(UNKNOWN));
    is_mine && is_instead && is_imperative(view)
}

/// "Before you answer the user's question, do the following".
fn comes_first(view: View<'_>) -> bool {
    let ahead = view.sentence(16);
    let answer = ahead.iter().take(5).position(|token| token.is(ANSWER));
    let Some(answer) = answer else { return false };
    let rest = ahead.get(answer.saturating_add(1)..).unwrap_or_default();
    let is_task = rest.iter().take(6).any(|token| token.is(TASK | SAID) || token.is(USER));
    let is_theirs = rest.iter().take(9).any(|token| token.is(USER | GIVEN) || token.is(YOU))
        && ahead.iter().take(answer).all(|token| !token.is(UNKNOWN));
    is_task && is_theirs && has(rest, usize::MAX, YOU | FILLER | FOLLOW | ANSWER | TO)
}

/// "Note to the AI:", "if you are an LLM", "AI assistants reading this must".
fn is_addressed(view: View<'_>) -> bool {
    let before: Vec<_> = view.behind(7).take_while(|token| token.is(WORD | SIGN)).collect();
    let ahead = view.sentence(7);
    // What it is called ends here: "an AI language model, ..".
    let is_name = |token: &&Token| token.is(AI | THIRD | FILLER) && !token.is(READING);
    let called = ahead.iter().take_while(|token| is_name(token)).count();
    let next = ahead.get(called);
    let heads =
        next.is_some_and(|token| matches!(token.sign, ':' | ',')) || next.is_none() && view.is(1, SIGN);
    // "Reading this": not any that read something.
    let reads = ahead.windows(2).take(4).any(|pair| {
        matches!(pair, [reads, this] if reads.is(READING) && !reads.is(MODAL | OBLIGE | THIRD | FILLER)
            && (this.is(FILLER) && this.is(ONWARD) || !this.is(FILLER | UNKNOWN)))
    });
    let must = ahead.iter().any(|token| token.is(MODAL | OBLIGE) && !token.is(AND | NEGATION));
    // In a transcript the next line is another's.
    let greeted = before.first().is_some_and(|token| token.is(NOTE)) && !view.is(0, NEWLINE);
    let note = before.iter().take(5).position(|token| token.is(NOTE));
    let noted = note.is_some_and(|note| {
        let between = before.get(..note).unwrap_or_default();
        between.iter().all(|token| token.is(TO | ALL | ARTICLE | FILLER | WITHIN)) && !between.is_empty()
    });
    // "If you are", "as you are": a word stands in front of it.
    let you = before.iter().take(5).position(|token| token.is(YOU));
    let is_if = you.is_some_and(|you| {
        let between = before.get(..you).unwrap_or_default();
        between.iter().any(|token| token.is(ARE))
            && between.iter().all(|token| token.is(ARE | ARTICLE | AI | FILLER))
            && before.get(you.saturating_add(1)).is_some_and(|token| token.is(WORD) && !token.is(AND))
    });
    let to_you = before.first().is_some_and(|token| matches!(token.sign, ',') || token.is(YOU))
        && before.iter().take(2).any(|token| token.is(YOU))
        && before.iter().take(4).any(|token| token.is(TO))
        && heads;
    // "<!-- AI: ..", for a reader who sees no page.
    let sign = |by: isize| view.token(by).map_or(' ', |token| token.sign);
    let is_hidden = sign(-1) == '-' && sign(-2) == '!' && sign(-3) == '<' && heads;
    is_hidden
        || (greeted || noted) && (heads || reads)
        || is_if && (heads || next.is_some_and(|token| token.is(YOU)))
        || reads && must
        || to_you
}

/// "Do not tell the user about this".
fn is_secret(view: View<'_>) -> bool {
    let is_denied = view.behind(3).take_while(|token| token.is(WORD)).any(|token| token.is(NEGATION | NO));
    let ahead = view.sentence(8);
    let Some(user) = ahead.iter().position(|token| token.is(USER)) else { return false };
    // "Anyone" and "the customer" are people in letters too: there it is about this.
    let is_reader = ahead.get(user).is_some_and(|token| token.is(ROLE))
        || ahead.iter().any(|token| token.is(FILLER) && token.is(ONWARD));
    let subject = view.behind(5).any(|token| token.is(THIRD) && !token.is(AND | YOU));
    let after = ahead.get(user.saturating_add(1));
    let is_about = after.is_none_or(|after| !after.is(UNKNOWN | WHAT | ARTICLE) && after.sign != ':');
    is_denied && is_reader && !subject && is_about && ahead.iter().take(user).all(|token| !token.is(UNKNOWN))
}
