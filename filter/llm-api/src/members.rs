//! The members of an object and the elements of a list, one by one, with their places in the body, because edits are
//! given as places. A key that occurs twice is given twice. Knows no dialect.

use std::{borrow::Cow, fmt, ops::Range};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    edit::{Edit, replace},
    json::{self, Unreadable, span},
};

/// One member of an object.
#[derive(Debug)]
pub(crate) struct Member<'a> {
    pub key: Cow<'a, str>,
    pub value: &'a RawValue,
}

struct Members<'a>(Vec<Member<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EachMember<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for EachMember<'a> {
            type Value = Vec<Member<'a>>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(Text(key)) = map.next_key::<Text<'a>>()? {
                    members.push(Member { key, value: map.next_value()? });
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(EachMember(std::marker::PhantomData)).map(Members)
    }
}

/// A key, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// `name`, with a `_` more for as long as the object has a member of that name: of two members of one name each reader takes
/// another.
#[inline(never)]
pub(crate) fn free_name(object: &RawValue, name: &str) -> String {
    let (members, mut free) = (members(object), name.to_owned());
    while members.iter().any(|member| member.key == free) {
        free.push('_');
    }
    free
}

/// The members of `raw` in their order; none where it is no object.
#[inline(never)]
pub(crate) fn members(raw: &RawValue) -> Vec<Member<'_>> {
    if !raw.get().starts_with('{') {
        return Vec::new();
    }
    json::read_raw::<Members<'_>>(raw).map(|members| members.0).unwrap_or_default()
}

/// The elements of `raw` in their order; none where it is no list.
#[inline(never)]
pub(crate) fn elements(raw: &RawValue) -> Vec<&RawValue> {
    if !raw.get().starts_with('[') {
        return Vec::new();
    }
    json::read_raw(raw).unwrap_or_default()
}

/// The members of an object, by name. Where a key stands twice the first is meant; a null is nothing.
pub(crate) struct Fields<'a>(Vec<Member<'a>>);

// Asked for in many places: what is copied into each makes the module large.
impl<'a> Fields<'a> {
    #[inline(never)]
    pub fn of(raw: &'a RawValue) -> Result<Self, Unreadable> {
        json::must_be_object(raw.get())?;
        Ok(Self(members(raw)))
    }

    pub fn of_body(body: &'a str) -> Result<Self, Unreadable> {
        Self::of(whole(body)?)
    }

    #[inline(never)]
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        let member = self.0.iter().find(|member| member.key == key);
        member.map(|member| member.value).filter(|value| value.get() != "null")
    }

    /// The first that is there of two spellings.
    pub fn either(&self, key: &str, other: &str) -> Option<&'a RawValue> {
        self.get(key).or_else(|| self.get(other))
    }

    /// A string; empty where it is none.
    #[inline(never)]
    pub fn text(&self, key: &str) -> Cow<'a, str> {
        self.get(key).and_then(json::string).unwrap_or_default()
    }

    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }
}

/// The whole body as one value.
pub(crate) fn whole(body: &str) -> Result<&RawValue, Unreadable> {
    json::read::<&RawValue>(body)
}

/// The members of this name, however often it stands there.
#[inline(never)]
pub(crate) fn named<'a>(members: &[Member<'a>], keys: &[&str]) -> Vec<&'a RawValue> {
    members.iter().filter(|member| keys.contains(&member.key.as_ref())).map(|member| member.value).collect()
}

/// Cuts those members of `object`, a part of `body`, of which `is_cut` is true, with the commas that are theirs. Where none
/// would stay, the first stays as a null: what is put in front of it counts on something that follows.
#[inline(never)]
pub(crate) fn cut_members(
    body: &str,
    object: &RawValue,
    is_cut: impl FnMut(&Member<'_>) -> bool,
) -> Result<Vec<Edit>, Unreadable> {
    let members = members(object);
    let mut cuts: Vec<bool> = members.iter().map(is_cut).collect();
    let mut edits = Vec::new();
    if let (true, Some(member)) = (cuts.iter().all(|is_cut| *is_cut), members.first()) {
        edits.push(replace(body, member.value, "null".to_owned())?);
        cuts.iter_mut().take(1).for_each(|is_cut| *is_cut = false);
    }
    let start = span(body, object).ok_or(Unreadable::Shape)?.start;
    let mut before = start.saturating_add(1);
    let mut places = Vec::with_capacity(members.len());
    for member in &members {
        let value = span(body, member.value).ok_or(Unreadable::Shape)?;
        // Between the value before and this one stand a comma, white space, the key and a colon.
        let between = body.get(before..value.start).ok_or(Unreadable::Shape)?;
        let key = between.find('"').ok_or(Unreadable::Shape)?;
        places.push(before.saturating_add(key)..value.end);
        before = value.end;
    }
    edits.extend(cut(&places, &cuts));
    Ok(edits)
}

/// Cuts those elements of `list`, a part of `body`, of which `cuts` says so, with the commas that are theirs.
#[inline(never)]
pub(crate) fn cut_elements(body: &str, list: &[&RawValue], cuts: &[bool]) -> Result<Vec<Edit>, Unreadable> {
    let place = |element: &&RawValue| span(body, element).ok_or(Unreadable::Shape);
    let places = list.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    Ok(cut(&places, cuts))
}

/// Those in front of the first that stays go up to the next, all others from the one before: so no comma is left over.
#[inline(never)]
pub(crate) fn cut(places: &[Range<usize>], cuts: &[bool]) -> Vec<Edit> {
    let first_kept = cuts.iter().position(|is_cut| !is_cut);
    let mut edits = Vec::new();
    for (at, (place, is_cut)) in places.iter().zip(cuts).enumerate() {
        if !is_cut {
            continue;
        }
        let range = if first_kept.is_none_or(|kept| at < kept) {
            place.start..places.get(at.saturating_add(1)).map_or(place.end, |next| next.start)
        } else {
            let before = at.checked_sub(1).and_then(|before| places.get(before));
            before.map_or(place.start, |before| before.end)..place.end
        };
        edits.push(Edit { at: range, with: String::new() });
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::apply;

    #[test]
    fn whatever_is_cut_the_rest_is_a_list_as_it_stood() {
        let body = r#"[ 1 , [2,"],"], {"a" : "}"} ,4 ]"#;
        let list = elements(whole(body).unwrap());
        assert_eq!(list.len(), 4);
        for bits in 0..16_u32 {
            let cuts: Vec<bool> = (0..4).map(|at| bits >> at & 1 == 1).collect();
            let changed = apply(body, &cut_elements(body, &list, &cuts).unwrap()).unwrap();
            let left: Vec<serde_json::Value> = serde_json::from_slice(&changed).unwrap();
            let expected: Vec<serde_json::Value> = list
                .iter()
                .zip(&cuts)
                .filter(|(_, is_cut)| !**is_cut)
                .map(|(raw, _)| serde_json::from_str(raw.get()).unwrap())
                .collect();
            assert_eq!(left, expected, "{cuts:?} {}", String::from_utf8_lossy(&changed));
        }
    }

    #[test]
    fn members_are_cut_with_their_keys_as_often_as_they_stand_there() {
        let body = r#" { "a" : 1, "b\"" : [2], "a":{ } , "c":3}"#;
        let object = whole(body).unwrap();
        let changed = |keys: &[&str]| {
            let edits = cut_members(body, object, |member| keys.contains(&member.key.as_ref())).unwrap();
            String::from_utf8(apply(body, &edits).unwrap()).unwrap()
        };
        assert_eq!(changed(&["a"]), r#" { "b\"" : [2] , "c":3}"#);
        assert_eq!(changed(&["b\"", "c"]), r#" { "a" : 1, "a":{ }}"#);
        assert_eq!(changed(&["a", "b\"", "c"]), r#" { "a" : null}"#);
        assert_eq!(changed(&[]), body);
    }

    #[test]
    fn what_is_neither_has_nothing() {
        for text in ["7", "\"[1]\"", "null", "true"] {
            let raw = whole(text).unwrap();
            assert!(members(raw).is_empty() && elements(raw).is_empty(), "{text}");
        }
    }
}
