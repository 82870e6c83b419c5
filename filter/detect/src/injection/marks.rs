//! Marks of a text that talks the model out of its limits at length: each of them is harmless alone, several of them
//! together in one user text are not. Only what they are is kept, and where the first stood.

use super::{
    Found, Pattern,
    mention::is_mention,
    roles::refuses_all,
    view::{View, find, has},
    vocabulary::{
        ARTICLE, ETHICS, FILLER, IDENTITY, LIMIT, NEGATION, NO, ROLEPLAY, TO, UNBOUND, UNKNOWN, WITHIN, YOU,
    },
};

const NO_LIMITS: u8 = 1;
const NEVER_REFUSES: u8 = 2;
const RIGHT_AND_WRONG: u8 = 4;
const IN_CHARACTER: u8 = 8;
const UNBOUND_MODEL: u8 = 16;
const PLAYS: u8 = 32;

/// Marks of somebody who is to be played. Without one, a contract says as much: nobody may refuse, without limitation.
const SOMEBODY: u8 = IN_CHARACTER | UNBOUND_MODEL | PLAYS;

/// Bytes in which marks stand together.
const SPAN: usize = 1_500;

/// Where each mark was seen last.
#[derive(Default)]
pub struct Marks([Option<usize>; 6]);

impl Marks {
    fn add(&mut self, seen: u8, offset: usize) {
        for (bit, place) in self.0.iter_mut().enumerate() {
            if seen >> bit & 1 == 1 {
                *place = Some(offset);
            }
        }
    }

    /// The marks in the span that ends here, and where the first of them is.
    fn near(&self, offset: usize) -> (u8, usize) {
        let near = |place: &usize| offset.saturating_sub(*place) <= SPAN;
        self.0.iter().enumerate().fold((0, offset), |(marks, first), (bit, place)| {
            place.filter(near).map_or((marks, first), |place| (marks | 1 << bit, first.min(place)))
        })
    }
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
        let limit = find(ahead, 5, LIMIT);
        seen |= if limit.is_some_and(|limit| !has(ahead, limit, UNKNOWN)) { NO_LIMITS } else { 0 };
        seen |= if refuses_all(view.sentence(6)) { NEVER_REFUSES } else { 0 };
        seen |= if has(ahead, 3, IDENTITY) { IN_CHARACTER } else { 0 };
    }
    seen |= if token.is(ETHICS) { RIGHT_AND_WRONG } else { 0 };
    seen |= if token.is(UNBOUND) { UNBOUND_MODEL } else { 0 };
    let plays = token.is(ROLEPLAY) && view.is(1, FILLER | ARTICLE | TO);
    seen |= if plays && (view.begins_sentence() || view.has_behind(4, YOU)) { PLAYS } else { 0 };
    seen |= if token.is(IDENTITY) && view.is(-1, WITHIN) { IN_CHARACTER } else { 0 };
    if seen == 0 || is_mention(view) {
        return;
    }
    marks.add(seen, view.offset());
    let (near, first) = marks.near(view.offset());
    let has_reason = near & (NO_LIMITS | RIGHT_AND_WRONG) != 0 && near & SOMEBODY != 0;
    if near & NEVER_REFUSES != 0 && has_reason && near.count_ones() >= 3 {
        found.add(Pattern::RoleOverride, first);
    }
}
