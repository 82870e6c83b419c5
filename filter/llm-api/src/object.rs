//! An object that is looked at strictly: every member that says something must be known, and no name stands twice. Knows no
//! dialect.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    json,
    members::{Member, elements, members},
};

/// An object in which no name stands twice.
pub(crate) struct Object<'a>(Vec<(&'a str, &'a RawValue)>);

// Asked for in many places: what is copied into each makes the module large.
impl<'a> Object<'a> {
    #[inline(never)]
    pub fn of(raw: &'a RawValue) -> Option<Self> {
        let members = unique(raw)?;
        // A name that is known has no escapes.
        let plain = members.into_iter().map(|member| match member.key {
            Cow::Borrowed(key) => Some((key, member.value)),
            Cow::Owned(_) => None,
        });
        plain.collect::<Option<_>>().map(Self)
    }

    #[inline(never)]
    pub fn read(json: &'a str) -> Option<Self> {
        Self::of(json::read::<&RawValue>(json).ok()?)
    }

    /// What stands there, unless it says nothing.
    #[inline(never)]
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        let (_, value) = self.0.iter().find(|(name, _)| *name == key)?;
        (!says_nothing(value)).then_some(*value)
    }

    /// All that says something has one of these names.
    #[inline(never)]
    pub fn only(&self, known: &[&str]) -> Option<()> {
        let is_known = |(name, value): &(&str, &RawValue)| known.contains(name) || says_nothing(value);
        self.0.iter().all(is_known).then_some(())
    }

    /// A string; empty where there is none. Nothing where it is anything else.
    #[inline(never)]
    pub fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key).map_or(Some(Cow::Borrowed("")), json::string)
    }

    /// A string without escapes, as all words have that are known; empty where there is none. Nothing where it is anything else.
    #[inline(never)]
    pub fn word(&self, key: &str) -> Option<&'a str> {
        let Some(raw) = self.get(key) else { return Some("") };
        let inside = raw.get().strip_prefix('"')?.strip_suffix('"')?;
        (!inside.contains('\\')).then_some(inside)
    }

    /// Whether the string that stands there is this one.
    #[inline(never)]
    pub fn is(&self, key: &str, wanted: &str) -> Option<()> {
        (self.word(key)? == wanted).then_some(())
    }

    /// The same, where there is one.
    #[inline(never)]
    pub fn may_be(&self, key: &str, wanted: &str) -> Option<()> {
        matches!(self.word(key)?, said if said.is_empty() || said == wanted).then_some(())
    }

    /// The number is 0, or not there.
    #[inline(never)]
    pub fn is_first(&self, key: &str) -> Option<()> {
        self.get(key).is_none_or(|raw| raw.get() == "0").then_some(())
    }

    #[inline(never)]
    pub fn object(&self, key: &str) -> Option<Self> {
        Self::of(self.get(key)?)
    }

    /// A number from 0 on; 0 where there is none.
    #[inline(never)]
    pub fn number(&self, key: &str) -> Option<u64> {
        self.get(key).map_or(Some(0), |raw| raw.get().parse().ok())
    }

    /// Arguments of a call, which are an object; an empty one where there are none.
    #[inline(never)]
    pub fn arguments(&self, key: &str) -> Option<&'a str> {
        let member = self.0.iter().find(|(name, _)| *name == key);
        Some(member.map_or("{}", |(_, value)| value.get())).filter(|text| text.starts_with('{'))
    }

    /// The id of a call has the form that the provider's ids have, as far as it is known: ids of another form may follow rules of
    /// their own (Mistral takes none but nine letters and digits), and the provider would refuse one of ours.
    #[inline(never)]
    pub fn has_id(&self, key: &str, before: &str) -> Option<()> {
        let id = self.word(key)?;
        id.strip_prefix(before).is_some_and(|rest| !rest.is_empty()).then_some(())
    }

    /// The model itself has called, and no program that it wrote.
    #[inline(never)]
    pub fn is_called_directly(&self) -> Option<()> {
        if self.get("caller").is_none() {
            return Some(());
        }
        let caller = self.object("caller")?;
        caller.only(&["type"])?;
        caller.is("type", "direct")
    }

    /// The only element of a list.
    #[inline(never)]
    pub fn only_element(&self, key: &str) -> Option<Self> {
        match self.list(key)?.as_slice() {
            [one] => Self::of(one),
            _ => None,
        }
    }

    /// The elements of a list; none where there is no list. Nothing where it is anything else.
    #[inline(never)]
    pub fn list(&self, key: &str) -> Option<Vec<&'a RawValue>> {
        let Some(raw) = self.get(key) else { return Some(Vec::new()) };
        raw.get().starts_with('[').then(|| elements(raw))
    }
}

/// The members of an object, where no name stands twice.
#[inline(never)]
pub(crate) fn unique(raw: &RawValue) -> Option<Vec<Member<'_>>> {
    if !raw.get().starts_with('{') {
        return None;
    }
    let members = members(raw);
    let mut keys: Vec<&str> = members.iter().map(|member| member.key.as_ref()).collect();
    keys.sort_unstable();
    let has_twins = keys.iter().zip(keys.iter().skip(1)).any(|(key, next)| key == next);
    (!has_twins).then_some(members)
}

/// Providers write down much of what is not there.
fn says_nothing(raw: &RawValue) -> bool {
    matches!(raw.get(), "null" | "false" | "\"\"" | "[]" | "{}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_stands_twice_makes_no_object() {
        assert!(Object::read(r#"{"a":1,"b":2,"\u0061":3}"#).is_none());
        assert!(Object::read("[1]").is_none());
        let object = Object::read(r#"{"a":"x","b":null,"c":[],"d":0}"#).unwrap();
        assert!(object.only(&["a", "d"]).is_some() && object.only(&["a"]).is_none());
        assert!(object.is("a", "x").is_some() && object.may_be("b", "y").is_some());
        assert!(object.list("b").unwrap().is_empty() && object.list("a").is_none());
        assert!(object.is_first("d").is_some() && object.is_first("a").is_none());
        assert_eq!([object.number("d"), object.number("e"), object.number("a")], [Some(0), Some(0), None]);
    }

    #[test]
    fn arguments_are_an_object_and_ids_have_a_form() {
        let object = Object::read(r#"{"a":{"x":1},"b":null,"c":"{}","i":"call_1","j":"call_"}"#).unwrap();
        assert_eq!(object.arguments("a"), Some(r#"{"x":1}"#));
        assert_eq!(object.arguments("none"), Some("{}"));
        assert_eq!([object.arguments("b"), object.arguments("c")], [None, None]);
        assert!(object.has_id("i", "call_").is_some());
        assert!(object.has_id("j", "call_").is_none() && object.has_id("i", "toolu_").is_none());
    }

    #[test]
    fn a_program_that_calls_is_not_the_model() {
        let is_direct = |json| Object::read(json).unwrap().is_called_directly().is_some();
        assert!(is_direct("{}") && is_direct(r#"{"caller":null}"#));
        assert!(is_direct(r#"{"caller":{"type":"direct"}}"#));
        assert!(!is_direct(r#"{"caller":{"type":"program","caller_id":"c"}}"#));
        assert!(!is_direct(r#"{"caller":{"type":"direct","more":1}}"#));
    }
}
