//! What a JSON value says by its structure: that it is empty, merely acknowledges, or that something is still
//! to come. All of it is taken from one reading, and no value is built.

use std::{borrow::Cow, fmt};

use sentinel_llm_api::json;
use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::{
    Kind, MAX_RESULT,
    member::{Acknowledgement, Leaf, tells_nothing},
    states,
};

/// A JSON value that is empty or merely acknowledges is not longer than this (bytes).
const MAX_STRUCTURE: usize = 1_024;
/// A value of more members is information, of which a state is one.
const MAX_LEAVES: usize = 12;

/// A value of so few is about the state in it, whatever that is.
const FEW_LEAVES: usize = 3;

/// What is known of a JSON value.
#[derive(Debug, Default)]
pub(super) struct Structure {
    length: usize,
    /// Strings, numbers and the like: one more than `MAX_LEAVES` at most.
    leaves: usize,
    /// One of them says that something is still to come.
    waits: bool,
    /// One of them says how something stands, in words that nobody knows.
    stands: bool,
    /// There is nothing in it, and nothing else said.
    is_empty: bool,
    acknowledgement: Acknowledgement,
}

impl Structure {
    /// Nothing where `text` is no list or object, or too long to be looked into.
    pub fn of(text: &str) -> Option<Self> {
        if text.len() > MAX_RESULT || !text.starts_with(['{', '[']) {
            return None;
        }
        let mut structure = Self { length: text.len(), ..Self::default() };
        let lists = json::read_with(text, Member { structure: &mut structure, key: "", depth: 0 }).ok()?;
        structure.is_empty = lists.is_some_and(|lists| lists > 0);
        Some(structure)
    }

    /// Of a value of few leaves, for in more a state is one information of many.
    pub fn waits(&self) -> bool {
        self.leaves <= MAX_LEAVES && self.waits || self.leaves <= FEW_LEAVES && self.stands
    }

    pub fn is_small(&self) -> bool {
        self.leaves <= MAX_LEAVES
    }

    /// Empty or an acknowledgement; nothing where its words must say it.
    pub fn kind(&self) -> Option<Kind> {
        if self.length > MAX_STRUCTURE {
            return None;
        }
        if self.is_empty {
            return Some(Kind::Empty);
        }
        self.acknowledgement.is_one().then_some(Kind::Acknowledgement)
    }

    /// A member of the whole value, which may be an acknowledgement.
    fn member(&mut self, key: &str, value: &Leaf<'_>) {
        if self.length <= MAX_STRUCTURE {
            self.acknowledgement.member(key, value);
        }
    }
}

/// A member's name.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads one value: gives how many empty lists and objects are in it, where there is nothing else.
struct Member<'s> {
    structure: &'s mut Structure,
    /// Empty in lists.
    key: &'s str,
    /// Of the object or list that it is in; 0: it is the whole value.
    depth: usize,
}

impl Member<'_> {
    fn leaf(self, value: &Leaf<'_>) -> bool {
        let Self { structure, key, depth } = self;
        let is_counted = structure.leaves <= MAX_LEAVES;
        structure.leaves = structure.leaves.saturating_add(usize::from(is_counted));
        if let Leaf::Text(text) = value {
            structure.stands |= states::stands(key, text);
        }
        if is_counted && !structure.waits {
            structure.waits = match value {
                Leaf::Text(text) => states::is_state_key(key) && states::waits(text),
                Leaf::Bool(is) => states::is_flag_of_waiting(key, *is),
                Leaf::Null => states::is_end(key),
                Leaf::Unsigned(number) => {
                    states::is_number_to_come(key, u32::try_from(*number).ok().map(f64::from))
                }
                _ => false,
            };
        }
        if depth == 1 && structure.acknowledgement.is_object {
            structure.member(key, value);
        }
        matches!(value, Leaf::Null | Leaf::Unsigned(0))
            || matches!(value, Leaf::Text(text) if text.is_empty())
            || tells_nothing(key, value)
    }
}

/// How many empty lists and objects there are in a value that holds nothing else.
type Lists = Option<usize>;

impl<'de> DeserializeSeed<'de> for Member<'_> {
    type Value = Lists;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Lists, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Lists;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Lists, E> {
        Ok(self.leaf(&Leaf::Null).then_some(0))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Lists, E> {
        Ok(self.leaf(&Leaf::Bool(value)).then_some(0))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Lists, E> {
        Ok(self.leaf(&Leaf::Unsigned(value)).then_some(0))
    }

    fn visit_i64<E>(self, _value: i64) -> Result<Lists, E> {
        Ok(self.leaf(&Leaf::Number).then_some(0))
    }

    fn visit_f64<E>(self, _value: f64) -> Result<Lists, E> {
        Ok(self.leaf(&Leaf::Number).then_some(0))
    }

    fn visit_str<E>(self, text: &str) -> Result<Lists, E> {
        Ok(self.leaf(&Leaf::Text(text)).then_some(0))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Lists, A::Error> {
        let Self { structure, key, depth } = self;
        let mut is_empty = true;
        loop {
            // Behind so much nothing matters but that it is JSON.
            let is_read = structure.leaves <= MAX_LEAVES;
            let has_more = if is_read {
                let item = Member { structure: &mut *structure, key: "", depth: depth.saturating_add(1) };
                items.next_element_seed(item)?.is_some()
            } else {
                items.next_element::<IgnoredAny>()?.is_some()
            };
            if !has_more {
                break;
            }
            is_empty = false;
        }
        if depth == 1 && structure.acknowledgement.is_object {
            structure.member(key, &Leaf::List);
        }
        Ok(is_empty.then_some(1))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Lists, A::Error> {
        let Self { structure, key, depth } = self;
        structure.acknowledgement.is_object |= depth == 0;
        let mut is_empty = true;
        let mut lists = Some(0_usize);
        while let Some(Name(name)) = members.next_key()? {
            is_empty = false;
            let member = Member { structure: &mut *structure, key: &name, depth: depth.saturating_add(1) };
            let of_member = members.next_value_seed(member)?;
            lists = lists.zip(of_member).map(|(sum, more)| sum.saturating_add(more));
        }
        if depth == 1 && structure.acknowledgement.is_object {
            structure.member(key, &Leaf::Object);
        }
        Ok(if is_empty { Some(1) } else { lists })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_json_to_its_end_has_no_structure() {
        for text in ["[]", "{}", r#"{"a":[1,2,{"b":null}]}"#] {
            assert!(Structure::of(text).is_some(), "{text}");
        }
        for text in
            ["", "x", "[", "[1,2", r#"{"a":1"#, "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 and so on", "[] x"]
        {
            assert!(Structure::of(text).is_none(), "{text}");
        }
    }
}
