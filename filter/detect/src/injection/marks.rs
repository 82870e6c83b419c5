//! Marks of a text that talks the model out of its limits at length: each of them is harmless alone, several of them
//! together in one user text are not. Only what they are is kept, and where the first stood.

use super::{
    Found, Pattern,
    mention::is_mention,
    view::{View, has},
    vocabulary::{
        ARTICLE, ETHICS, FILLER, IDENTITY, LIMIT, NEGATION, NO, REFUSE, ROLEPLAY, TO, UNBOUND, WITHIN,
    },
};

const NO_LIMITS: u8 = 1;
const NEVER_REFUSES: u8 = 2;
const RIGHT_AND_WRONG: u8 = 4;
const IN_CHARACTER: u8 = 8;
const UNBOUND_MODEL: u8 = 16;
const PLAYS: u8 = 32;

/// Marks seen so far.
#[derive(Default)]
pub struct Marks {
    seen: u8,
    first: Option<usize>,
}

/// Tokens that a mark begins with.
pub const ANCHORS: u64 = NO | NEGATION | UNBOUND | IDENTITY | ETHICS | ROLEPLAY;

pub fn judge(view: View<'_>, marks: &mut Marks, found: &mut Found) {
    let Some(token) = view.token(0).filter(|token| token.is(ANCHORS)) else { return };
    if found.has(Pattern::RoleOverride) {
        return;
    }
    let mut seen = 0;
    if token.is(NO | NEGATION) {
        let ahead = view.words(6);
        seen |= if has(ahead, 5, LIMIT) { NO_LIMITS } else { 0 };
        seen |= if has(ahead, 3, REFUSE) { NEVER_REFUSES } else { 0 };
        seen |= if has(ahead, 3, IDENTITY) { IN_CHARACTER } else { 0 };
    }
    seen |= if token.is(ETHICS) { RIGHT_AND_WRONG } else { 0 };
    seen |= if token.is(UNBOUND) { UNBOUND_MODEL } else { 0 };
    seen |= if token.is(ROLEPLAY) && view.is(1, FILLER | ARTICLE | TO) { PLAYS } else { 0 };
    seen |= if token.is(IDENTITY) && view.is(-1, WITHIN) { IN_CHARACTER } else { 0 };
    if seen == 0 || is_mention(view) {
        return;
    }
    marks.seen |= seen;
    let first = *marks.first.get_or_insert(view.offset());
    let has_reason = marks.seen & (NO_LIMITS | RIGHT_AND_WRONG) != 0;
    if marks.seen & NEVER_REFUSES != 0 && has_reason && marks.seen.count_ones() >= 3 {
        found.add(Pattern::RoleOverride, first);
    }
}
