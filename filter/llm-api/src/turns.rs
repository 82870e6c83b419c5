//! Histories that are lists of items, in which a call, its result and a text are separate items. This module joins the
//! items into messages. What an item is, is known to the dialects.

use std::ops::Range;

use serde_json::value::RawValue;

use crate::{
    conversation::{Part, Role, texts},
    history::MessageList,
    json::Unreadable,
};

/// One item of such a list.
pub(crate) trait Item<'a> {
    fn role(&self) -> Role;

    fn content(&self) -> Option<&'a RawValue>;

    fn parts(&self, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable>;

    /// Whether it is a call or a result, or holds one.
    fn has_calls(&self) -> bool;

    /// Whether it is a whole text of one side.
    fn is_text(&self) -> bool;

    /// Whether it is a part of what the user says, and not all of it.
    fn is_fragment(&self) -> bool {
        false
    }

    /// Whether it belongs to the message of `before`, which has this role. Reasoning and instructions do not end a turn; a text
    /// after a text is another.
    fn continues(&self, message: Role, before: &Self) -> bool {
        match message {
            Role::Assistant => {
                matches!(self.role(), Role::Assistant | Role::Other) && !(self.is_text() && before.is_text())
            }
            Role::User => self.is_fragment() && before.is_fragment(),
            _ => false,
        }
    }
}

/// Items, put together to messages: the calls and texts that follow each other without an output or a user's word
/// between them are one turn.
pub(crate) struct Turns<T> {
    items: Vec<T>,
    messages: Vec<(Role, Range<usize>)>,
}

impl<'a, T: Item<'a>> Turns<T> {
    pub fn of(items: Vec<T>) -> Self {
        let mut messages: Vec<(Role, Range<usize>)> = Vec::with_capacity(items.len());
        for (at, item) in (0_usize..).zip(&items) {
            let end = at.saturating_add(1);
            let before = at.checked_sub(1).and_then(|before| items.get(before));
            match (messages.last_mut(), before) {
                (Some((role, message)), Some(before)) if item.continues(*role, before) => message.end = end,
                _ => messages.push((item.role(), at..end)),
            }
        }
        Self { items, messages }
    }

    fn items_of(&self, at: usize) -> &[T] {
        self.messages.get(at).and_then(|(_, range)| self.items.get(range.clone())).unwrap_or_default()
    }
}

impl<'a, T: Item<'a>> MessageList<'a> for Turns<T> {
    fn len(&self) -> usize {
        self.messages.len()
    }

    fn role(&self, at: usize) -> Role {
        self.messages.get(at).map_or(Role::Other, |(role, _)| *role)
    }

    fn content(&self, at: usize) -> Option<&'a RawValue> {
        self.items_of(at).first()?.content()
    }

    fn has_calls(&self, at: usize) -> bool {
        self.items_of(at).iter().any(Item::has_calls)
    }

    fn parts(&self, at: usize, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
        self.items_of(at).iter().try_for_each(|item| item.parts(visit))
    }
}

/// A string in the place of the list: one user message.
pub(crate) struct OneText<'a>(pub &'a RawValue);

impl<'a> MessageList<'a> for OneText<'a> {
    fn len(&self) -> usize {
        1
    }

    fn role(&self, at: usize) -> Role {
        if at == 0 { Role::User } else { Role::Other }
    }

    fn content(&self, at: usize) -> Option<&'a RawValue> {
        (at == 0).then_some(self.0)
    }

    fn has_calls(&self, _at: usize) -> bool {
        false
    }

    fn parts(&self, at: usize, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
        self.content(at).map_or(Ok(()), |text| texts(text, &[], visit))
    }
}
