//! What a JSON value says by its structure: that it is empty, merely acknowledges, or that something is still
//! to come. No value is built.

use sentinel_llm_api::json::{self, Raw};

use super::{
    Kind, MAX_RESULT,
    known::is_one_of,
    member::{Acknowledgement, Leaf, tells_nothing},
    states,
};
use crate::words::formats;

/// A JSON value that is empty or merely acknowledges is not longer than this (bytes).
const MAX_STRUCTURE: usize = 1_024;
/// In a value with more members than this, a state is one information among many.
const MAX_LEAVES: usize = 12;

/// A value with so few members is about the state in it, whatever the state is.
const FEW_LEAVES: usize = 3;
/// Deepest nesting of objects and lists. Each of them is read once for every level that it lies in.
const MAX_DEPTH: usize = 32;

/// What is known of a JSON value.
#[derive(Debug, Default)]
pub(super) struct Structure {
    length: usize,
    /// Strings, numbers and the like: one more than `MAX_LEAVES` at most.
    leaves: usize,
    /// One of them says that something is still to come.
    waits: bool,
    /// One of them tells a state in words that are not known here.
    stands: bool,
    /// The code of its error says that something is still to come.
    fails_for_now: bool,
    /// It holds nothing but empty lists and objects.
    is_empty: bool,
    acknowledgement: Acknowledgement,
}

impl Structure {
    /// `None` if `text` is no list or object, or is too long.
    pub fn of(text: &str) -> Option<Self> {
        if text.len() > MAX_RESULT || !text.starts_with(['{', '[']) {
            return None;
        }
        let mut structure = Self { length: text.len(), ..Self::default() };
        let raw = Raw::read(text).ok()?;
        let lists = Member { structure: &mut structure, key: "", depth: 0 }.read(raw).ok()?;
        structure.is_empty = lists.is_some_and(|lists| lists > 0);
        Some(structure)
    }

    /// Whether it says that something is still to come. In a value with many members, a state is one information among many.
    pub fn waits(&self) -> bool {
        self.leaves <= MAX_LEAVES && self.waits || self.leaves <= FEW_LEAVES && self.stands
    }

    /// `{"error": "authorization_pending"}` is no failure, but an answer to an agent that waits.
    pub fn fails_for_now(&self) -> bool {
        self.leaves <= MAX_LEAVES && self.fails_for_now
    }

    pub fn is_small(&self) -> bool {
        self.leaves <= MAX_LEAVES
    }

    /// Empty or an acknowledgement. `None` if the words must decide.
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

/// Reads one value. Returns how many empty lists and objects it holds, if it holds nothing else.
struct Member<'s> {
    structure: &'s mut Structure,
    /// Empty in lists.
    key: &'s str,
    /// How deep the value is nested; 0 for the whole value.
    depth: usize,
}

/// How many empty lists and objects there are in a value that holds nothing else.
type Lists = Option<usize>;

impl Member<'_> {
    fn read(self, raw: Raw<'_>) -> Result<Lists, TooOdd> {
        if raw.is_object() {
            return self.object(raw);
        }
        if raw.is_list() {
            return self.list(raw);
        }
        let said;
        let leaf = match raw.get() {
            "null" => Leaf::Null,
            "true" => Leaf::Bool(true),
            "false" => Leaf::Bool(false),
            _ if raw.is_string() => {
                said = json::string(raw).ok_or(TooOdd)?;
                Leaf::Text(&said)
            }
            number => number.parse().map_or(Leaf::Number, Leaf::Unsigned),
        };
        Ok(self.leaf(&leaf).then_some(0))
    }

    fn leaf(self, value: &Leaf<'_>) -> bool {
        let Self { structure, key, depth } = self;
        let is_counted = structure.leaves <= MAX_LEAVES;
        structure.leaves = structure.leaves.saturating_add(usize::from(is_counted));
        if let Leaf::Text(text) = value {
            structure.stands |= states::stands(key, text);
            structure.fails_for_now |= is_one_of(key, formats::ERROR) && states::is_code_of_waiting(text);
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

    fn list(self, raw: Raw<'_>) -> Result<Lists, TooOdd> {
        let Self { structure, key, depth } = self;
        let mut is_empty = true;
        for element in raw.elements() {
            is_empty = false;
            // More leaves change nothing.
            if structure.leaves > MAX_LEAVES {
                break;
            }
            Member { structure: &mut *structure, key: "", depth: deeper(depth)? }.read(element)?;
        }
        if depth == 1 && structure.acknowledgement.is_object {
            structure.member(key, &Leaf::List);
        }
        Ok(is_empty.then_some(1))
    }

    fn object(self, raw: Raw<'_>) -> Result<Lists, TooOdd> {
        let Self { structure, key, depth } = self;
        structure.acknowledgement.is_object |= depth == 0;
        let mut is_empty = true;
        let mut lists = Some(0_usize);
        for (name, value) in raw.members() {
            is_empty = false;
            let name = name.text();
            let member = Member { structure: &mut *structure, key: &name, depth: deeper(depth)? };
            lists = lists.zip(member.read(value)?).map(|(sum, more)| sum.saturating_add(more));
        }
        if depth == 1 && structure.acknowledgement.is_object {
            structure.member(key, &Leaf::Object);
        }
        Ok(if is_empty { Some(1) } else { lists })
    }
}

/// A value that is nested too deeply, or a string that holds half of a surrogate pair. What such a value says is not looked at.
struct TooOdd;

fn deeper(depth: usize) -> Result<usize, TooOdd> {
    if depth < MAX_DEPTH { Ok(depth.saturating_add(1)) } else { Err(TooOdd) }
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
