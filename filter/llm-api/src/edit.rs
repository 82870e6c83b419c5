//! Edits of a text: what is cut and what is put in its place, all applied to the original bytes in one go, so that
//! everything between them stays byte for byte as it was. The functions here make the edits that keep JSON what it is.

use std::ops::Range;

use serde_json::value::RawValue;

use crate::{
    json::{Unreadable, quoted, span},
    members::free_name,
};

/// A change of one place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Bytes that are replaced; empty for an insertion.
    pub at: Range<usize>,
    pub with: String,
}

impl Edit {
    fn insert(at: usize, with: String) -> Self {
        Self { at: at..at, with }
    }
}

/// `text` with all `edits` made, or nothing where one lies outside of it, within a character, or over another. Of two
/// insertions at one place the first in the list comes first.
pub fn apply(text: &str, edits: &[Edit]) -> Option<Vec<u8>> {
    let added: usize = edits.iter().map(|edit| edit.with.len()).sum();
    let mut changed = Vec::with_capacity(text.len().saturating_add(added));
    let mut from = 0;
    for edit in ordered(edits) {
        changed.extend_from_slice(text.get(from..edit.at.start)?.as_bytes());
        changed.extend_from_slice(edit.with.as_bytes());
        // A cut must not end before it begins, nor inside a character.
        text.get(edit.at.clone())?;
        from = edit.at.end;
    }
    changed.extend_from_slice(text.get(from..)?.as_bytes());
    Some(changed)
}

/// What of `edits` is left where they meet: an edit within what another one cuts goes with it, and of two equal cuts one is
/// made. An insertion at either end of a cut stays. This is the only rule there is for edits of several passes in one place.
pub fn settled(edits: &[Edit]) -> Vec<Edit> {
    let (mut left, mut cut) = (Vec::with_capacity(edits.len()), 0..0);
    let mut ordered = ordered(edits).into_iter().peekable();
    while let Some(edit) = ordered.next() {
        let is_within = if edit.at.is_empty() {
            edit.at.start > cut.start && edit.at.start < cut.end
        } else {
            // Of those that begin together the longest is the last.
            edit.at.end <= cut.end || ordered.peek().is_some_and(|next| next.at.start == edit.at.start)
        };
        if is_within {
            continue;
        }
        if !edit.at.is_empty() {
            cut = edit.at.clone();
        }
        left.push(edit.clone());
    }
    left
}

/// By their places: of those that begin together the shortest first.
fn ordered(edits: &[Edit]) -> Vec<&Edit> {
    let mut ordered: Vec<&Edit> = edits.iter().collect();
    ordered.sort_by_key(|edit| (edit.at.start, edit.at.end));
    ordered
}

/// Whether `edit` is left where it meets the others.
pub fn stays(edits: &[Edit], edit: &Edit) -> bool {
    edits.iter().all(|other| edit.at.end <= other.at.start || edit.at.start >= other.at.end)
}

/// A key and its value put first into the object that is the whole of `body`.
#[inline(never)]
pub fn insert_key(body: &str, key: &str, value: &str) -> Result<Edit, Unreadable> {
    let open = body.find('{').ok_or(Unreadable::Shape)?;
    Ok(insert_after_bracket(body, open, &format!("{}:{value}", quoted(key))))
}

/// A key and its value put first into the object `object`, a part of `body`. A key that is there already gets a `_`.
#[inline(never)]
pub fn insert_key_into(body: &str, object: &RawValue, key: &str, value: &str) -> Result<Edit, Unreadable> {
    let span = span(body, object).filter(|_| object.get().starts_with('{')).ok_or(Unreadable::Shape)?;
    Ok(insert_after_bracket(body, span.start, &format!("{}:{value}", quoted(&free_name(object, key)))))
}

/// An element put first into the array `array`, a part of `body`.
#[inline(never)]
pub fn prepend(body: &str, array: &RawValue, element: &str) -> Result<Edit, Unreadable> {
    let span = span(body, array).filter(|_| array.get().starts_with('[')).ok_or(Unreadable::Shape)?;
    Ok(insert_after_bracket(body, span.start, element))
}

/// An element put last into the array `array`, a part of `body`.
#[inline(never)]
pub fn append(body: &str, array: &RawValue, element: &str) -> Result<Edit, Unreadable> {
    let span = span(body, array).filter(|_| array.get().ends_with(']')).ok_or(Unreadable::Shape)?;
    let at = span.end.saturating_sub(1);
    let inside = array.get().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let is_empty = inside.is_some_and(|text| text.trim().is_empty());
    Ok(Edit::insert(at, if is_empty { element.to_owned() } else { format!(",{element}") }))
}

/// `text` put at the end of the string `string`, a part of `body`, after an empty line.
#[inline(never)]
pub fn extend_string(body: &str, string: &RawValue, text: &str) -> Result<Edit, Unreadable> {
    let span = span(body, string).filter(|_| string.get().starts_with('"')).ok_or(Unreadable::Shape)?;
    let text = if string.get() == "\"\"" { text.to_owned() } else { format!("\n\n{text}") };
    let quoted = quoted(&text);
    let inside = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
    Ok(Edit::insert(span.end.saturating_sub(1), inside.to_owned()))
}

/// `text` after what `content` says: at the end of a string, or as one more part of this type.
#[inline(never)]
pub fn extend_text(body: &str, content: &RawValue, text: &str, kind: &str) -> Result<Edit, Unreadable> {
    if content.get().starts_with('[') {
        return append(body, content, &format!(r#"{{"type":{},"text":{}}}"#, quoted(kind), quoted(text)));
    }
    extend_string(body, content, text)
}

/// The value `old`, a part of `body`, replaced.
#[inline(never)]
pub fn replace(body: &str, old: &RawValue, new: String) -> Result<Edit, Unreadable> {
    Ok(Edit { at: span(body, old).ok_or(Unreadable::Shape)?, with: new })
}

/// `text` as the value of `key` in the object that is the whole of `body`: where there is none, or a null, the whole
/// value; where there is a string, at its end.
#[inline(never)]
pub fn extend_key(body: &str, key: &str, old: Option<&RawValue>, text: &str) -> Result<Edit, Unreadable> {
    match old {
        None => insert_key(body, key, &quoted(text)),
        Some(raw) if raw.get() == "null" => replace(body, raw, quoted(text)),
        Some(raw) => extend_string(body, raw, text),
    }
}

fn insert_after_bracket(body: &str, bracket: usize, element: &str) -> Edit {
    let at = bracket.saturating_add(1);
    let next = body.get(at..).and_then(|rest| rest.trim_start().chars().next());
    let comma = if matches!(next, Some('}' | ']')) { "" } else { "," };
    Edit::insert(at, format!("{element}{comma}"))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        a: &'a RawValue,
    }

    fn changed(body: &str, change: impl Fn(&str, &RawValue) -> Result<Edit, Unreadable>) -> String {
        let parsed: Body = serde_json::from_str(body).unwrap();
        let edit = change(body, parsed.a).unwrap();
        String::from_utf8(apply(body, &[edit]).unwrap()).unwrap()
    }

    #[test]
    fn arrays_grow_at_both_ends() {
        for (before, first, last) in [
            (r#"{"a": [ ] }"#, r#"{"a": [9 ] }"#, r#"{"a": [ 9] }"#),
            (r#"{"a":[1, 2]}"#, r#"{"a":[9,1, 2]}"#, r#"{"a":[1, 2,9]}"#),
        ] {
            assert_eq!(changed(before, |body, a| prepend(body, a, "9")), first);
            assert_eq!(changed(before, |body, a| append(body, a, "9")), last);
        }
    }

    #[test]
    fn strings_are_extended_inside_their_quotes() {
        assert_eq!(
            changed(r#"{"a":"x\"" }"#, |body, a| extend_string(body, a, "é\"\n")),
            r#"{"a":"x\"\n\né\"\n" }"#
        );
        assert_eq!(changed(r#"{"a":""}"#, |body, a| extend_string(body, a, "y")), r#"{"a":"y"}"#);
    }

    #[test]
    fn keys_come_first() {
        assert_eq!(changed(r#" { "a":{}}"#, |body, _| insert_key(body, "k", "1")), r#" {"k":1, "a":{}}"#);
        for (before, after) in [
            (r#"{"a":{ }}"#, r#"{"a":{"k":1 }}"#),
            (r#"{"a":{"k":2,"\u006b_":3}}"#, r#"{"a":{"k__":1,"k":2,"\u006b_":3}}"#),
        ] {
            assert_eq!(changed(before, |body, a| insert_key_into(body, a, "k", "1")), after);
        }
    }

    #[test]
    fn another_type_is_another_shape() {
        let body = r#"{"a":7}"#;
        let parsed: Body = serde_json::from_str(body).unwrap();
        assert_eq!(append(body, parsed.a, "1"), Err(Unreadable::Shape));
        assert_eq!(prepend(body, parsed.a, "1"), Err(Unreadable::Shape));
        assert_eq!(extend_string(body, parsed.a, "1"), Err(Unreadable::Shape));
        assert_eq!(insert_key_into(body, parsed.a, "k", "1"), Err(Unreadable::Shape));
    }

    #[test]
    fn what_lies_within_a_cut_goes_with_it() {
        let edits = vec![
            edit(5..6, "inner"),
            edit(4..4, "before"),
            edit(8..8, "after"),
            edit(4..8, ""),
            edit(6..6, "inserted"),
            edit(4..8, ""),
            edit(4..5, "at its beginning"),
            edit(9..9, "!"),
        ];
        let left = settled(&edits);
        assert_eq!(apply("0123456789", &left).unwrap(), b"0123beforeafter8!9");
        assert_eq!(settled(&left), left);
        assert!(!stays(&edits, &edit(6..6, "x")) && stays(&edits, &edit(3..3, "x")));
        assert!(stays(&[edit(4..8, "")], &edit(8..8, "x")) && stays(&[edit(4..8, "")], &edit(4..4, "x")));
    }

    fn edit(at: Range<usize>, with: &str) -> Edit {
        Edit { at, with: with.to_owned() }
    }

    #[test]
    fn many_edits_are_made_in_one_go_whatever_their_order() {
        let edits = [edit(4..5, ""), edit(0..0, "<"), edit(2..3, "X"), edit(0..0, ">"), edit(6..6, "!")];
        assert_eq!(apply("abcdef", &edits).unwrap(), b"<>abXdf!");
        assert_eq!(apply("abc", &[]).unwrap(), b"abc");
        assert_eq!(apply("abc", &[edit(1..3, "x"), edit(3..3, "y")]).unwrap(), b"axy");
    }

    #[test]
    fn edits_over_each_other_or_beside_the_text_change_nothing() {
        for edits in [
            vec![edit(0..2, "x"), edit(1..3, "y")],
            vec![edit(0..9, "x")],
            vec![edit(2..9, "x"), edit(2..2, "y")],
            vec![edit(1..1, "inside a character")],
        ] {
            assert_eq!(apply("é.", &edits), None, "{edits:?}");
        }
    }
}
