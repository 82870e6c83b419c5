//! Where an answer holds the assistant's text: the places that the dialects give, one after the other. Thoughts, calls and
//! their arguments are none of it.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    json,
    members::{Member, elements, members},
};

/// Which text of an answer it is: its choice or output, and its part of that.
pub type Block = (u64, u64);

/// What one part of an answer says, or all of it.
#[derive(Debug)]
pub enum Spoken<'a> {
    /// More of a text.
    Piece {
        block: Block,
        text: &'a RawValue,
        /// Nothing is lost where the part of the answer does not come, once the piece is empty.
        is_all: bool,
    },
    /// The whole of a text that came in pieces.
    Copy { text: &'a RawValue },
    /// A text is over; without a block all of them are.
    End(Option<Block>),
}

/// Takes them in their order.
pub type Visit<'v, 'a> = &'v mut dyn FnMut(Spoken<'a>);

/// An object, to be asked for its members.
pub(crate) struct Object<'a>(Vec<Member<'a>>);

impl<'a> Object<'a> {
    pub fn of(raw: &'a RawValue) -> Self {
        Self(members(raw))
    }

    /// The whole of a text; without members where it is no object.
    pub fn read(json: &'a str) -> Self {
        json::read(json).map(Self::of).unwrap_or(Self(Vec::new()))
    }

    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|member| member.key == key).map(|member| member.value)
    }

    /// The string of this name; empty where there is none.
    pub fn string(&self, key: &str) -> Cow<'a, str> {
        self.get(key).and_then(json::string).unwrap_or_default()
    }

    /// The number of this name.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.get(key)?.get().parse().ok()
    }

    /// Whether there is something of this name that is no null.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.get() != "null")
    }

    pub fn object(&self, key: &str) -> Self {
        self.get(key).map_or(Self(Vec::new()), Self::of)
    }

    /// The objects in the list of this name, with their places.
    pub fn list(&self, key: &str) -> impl Iterator<Item = (u64, Self)> + use<'a> {
        let list = self.get(key).map(elements).unwrap_or_default();
        (0_u64..).zip(list.into_iter().map(Self::of))
    }

    /// The text of this name as a piece of `block`.
    pub fn give(&self, key: &str, block: Block, visit: Visit<'_, 'a>) {
        if let Some(text) = self.get(key).filter(|text| text.get().starts_with('"')) {
            visit(Spoken::Piece { block, text, is_all: false });
        }
    }
}

/// The object `like` without the members `keys`, and with `member` as its first.
pub(crate) fn with_other(like: &str, keys: &[&str], member: &str) -> Option<String> {
    let mut object = format!("{{{member}");
    for Member { key, value } in members(json::read(like).ok()?) {
        if !keys.contains(&key.as_ref()) {
            object.extend([",", &json::quoted(&key), ":", value.get()]);
        }
    }
    object.push('}');
    Some(object)
}
