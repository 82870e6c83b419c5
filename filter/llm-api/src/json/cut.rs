//! Cuts members and elements out of a body, together with their commas. It knows no dialect.

use std::ops::Range;

use super::{Raw, Unreadable, members::Key, object::Object, span};
use crate::edit::{Edit, replace};

/// Appends `_` to `name` until the object has no such member. Readers differ in which of two equal names they take.
#[inline(never)]
pub(crate) fn free_name(object: Raw<'_>, name: &str) -> String {
    let mut free = name.to_owned();
    while object.members().any(|(key, _)| key.is(&free)) {
        free.push('_');
    }
    free
}

/// Cuts the members of `object`, a part of `body`, for which `is_cut` is true of their place, name and value. If it would cut all of
/// them, the first
/// stays with the value null, because an edit that inserts a member in front adds a comma and needs a member behind it.
#[inline(never)]
pub(crate) fn cut_members(
    body: &str,
    object: &Object<'_>,
    is_cut: &mut dyn FnMut(usize, &Key<'_>, Raw<'_>) -> bool,
) -> Result<Vec<Edit>, Unreadable> {
    let (mut places, mut cuts, mut edits) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (key, value)) in object.members().iter().enumerate() {
        let key_at = key.span(body).ok_or(Unreadable::Shape)?.start;
        places.push(key_at..span(body, *value).ok_or(Unreadable::Shape)?.end);
        cuts.push(is_cut(at, key, *value));
    }
    if let (true, Some((_, value))) = (cuts.iter().all(|is_cut| *is_cut), object.members().first()) {
        edits.push(replace(body, *value, "null".to_owned())?);
        cuts.iter_mut().take(1).for_each(|is_cut| *is_cut = false);
    }
    edits.extend(cut(&places, &cuts));
    Ok(edits)
}

/// Cuts the elements of `list`, parts of `body`, whose entry in `cuts` is true.
#[inline(never)]
pub(crate) fn cut_elements(body: &str, list: &[Raw<'_>], cuts: &[bool]) -> Result<Vec<Edit>, Unreadable> {
    let place = |element: &Raw<'_>| span(body, *element).ok_or(Unreadable::Shape);
    let places = list.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    Ok(cut(&places, cuts))
}

/// Elements before the first one that stays are cut up to the next element, and all others from the end of the element
/// before them. So no comma is left over.
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
        let list: Vec<Raw<'_>> = Raw::read(body).unwrap().elements().collect();
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
        let object = Object::read(body).unwrap();
        let changed = |keys: &[&str]| {
            let is_cut = &mut |_: usize, key: &Key<'_>, _: Raw<'_>| keys.iter().any(|wanted| key.is(wanted));
            let edits = cut_members(body, &object, is_cut).unwrap();
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
            let raw = Raw::read(text).unwrap();
            assert!(raw.members().next().is_none() && raw.elements().next().is_none(), "{text}");
        }
    }
}
