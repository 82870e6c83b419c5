//! Whether a text speaks to the model: what follows a tag or a heading is an order to its reader.

use super::{
    view::View,
    vocabulary::{
        ACT, ALL, ARE, BEFORE, FOLLOW, IGNORE, INSTRUCTION, MODAL, NEGATION, NEW, NOW, PRIOR, REVEAL, ROLE,
        ROLEPLAY, YOU, YOUR,
    },
};

/// Tokens behind a tag in which the model is spoken to.
const SPEECH: usize = 30;

/// Whether what follows tells somebody what to do.
#[inline(never)]
pub fn is_ordered(view: View<'_>) -> bool {
    view.onward(1, SPEECH).windows(2).any(|pair| match pair {
        [first, second] => {
            first.is(YOU) && second.is(ARE | NOW | MODAL)
                || first.is(IGNORE) && second.is(PRIOR | YOUR | ALL) && !first.is(ROLE)
                || first.is(YOUR) && second.is(NEW | INSTRUCTION | ROLEPLAY)
                || first.is(NEW) && second.is(INSTRUCTION)
                || first.is(REVEAL) && second.is(YOUR)
        }
        _ => false,
    })
}

/// Whether what follows speaks to the model at all.
#[inline(never)]
pub fn is_spoken_to(view: View<'_>) -> bool {
    is_ordered(view)
        || view.onward(4, 10).iter().any(|token| token.is(NOW | IGNORE) || token.is(NEW) && token.is_loud)
}

/// What an order to an agent begins with: "send ..", "you must ..", "do not ..".
pub const ORDER: u64 = ACT | REVEAL | IGNORE | FOLLOW | NEGATION | YOU | BEFORE;
