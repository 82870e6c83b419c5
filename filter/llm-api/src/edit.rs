//! Edits of a text. All edits are applied to the original bytes at once, so that everything between them stays as it
//! was, byte for byte. The functions here make edits that keep JSON valid.

use std::ops::Range;

use crate::json::{Raw, Unreadable, cut::free_name, escaped, quoted, span};

/// One change in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes that are replaced. Empty for an insertion.
    pub at: Range<usize>,
    pub with: String,
}

/// Applies all `edits` to `text`. Returns `None` when one lies outside of the text, within a character, or overlaps
/// another. Insertions at the same place keep the order of the list.
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

/// Resolves edits that overlap: an edit within a cut goes with it, and of two equal cuts one is made. An insertion at
/// either end of a cut stays. This is the only rule for edits of several passes in one place.
pub fn settled(edits: &[Edit]) -> Vec<Edit> {
    let (mut left, mut cut) = (Vec::with_capacity(edits.len()), 0..0);
    let mut ordered = ordered(edits).into_iter().peekable();
    while let Some(edit) = ordered.next() {
        let is_within = if edit.at.is_empty() {
            edit.at.start > cut.start && edit.at.start < cut.end
        } else {
            // Of edits with the same start, the longest comes last.
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

/// Sorted by place. Of edits with the same start, the shortest comes first.
fn ordered(edits: &[Edit]) -> Vec<&Edit> {
    let mut ordered: Vec<&Edit> = edits.iter().collect();
    ordered.sort_by_key(|edit| (edit.at.start, edit.at.end));
    ordered
}

/// Whether `edit` stays when it meets the others.
pub fn stays(edits: &[Edit], edit: &Edit) -> bool {
    edits.iter().all(|other| edit.at.end <= other.at.start || edit.at.start >= other.at.end)
}

/// A place in a body where one text can be inserted, and the JSON around that text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    at: Range<usize>,
    before: String,
    after: String,
    /// The place is inside a string, so the text is inserted without quotes.
    is_inside: bool,
}

/// What is inserted before and after a JSON string.
pub(crate) type Around<'t> = [&'t str; 2];

impl Slot {
    /// The edit that inserts `text`.
    #[inline(never)]
    pub fn edit(&self, text: &str) -> Edit {
        let text = if self.is_inside { escaped(text) } else { quoted(text) };
        Edit { at: self.at.clone(), with: [self.before.as_str(), &text, &self.after].concat() }
    }

    fn new(at: Range<usize>, [before, after]: Around<'_>) -> Self {
        Self { at, before: before.to_owned(), after: after.to_owned(), is_inside: false }
    }

    /// The value of a new first member of `object`, a part of `body`. `_` is appended to a name that is taken.
    #[inline(never)]
    pub(crate) fn member(
        body: &str,
        object: Raw<'_>,
        name: &str,
        [before, after]: Around<'_>,
    ) -> Option<Self> {
        let name = quoted(&free_name(object, name));
        Self::first(body, object, [&format!("{name}:{before}"), after])
    }

    /// The first element of `list`, a part of `body`, or the first member of an object. `before` then holds the name.
    #[inline(never)]
    pub(crate) fn first(body: &str, list: Raw<'_>, [before, after]: Around<'_>) -> Option<Self> {
        let at = span(body, list).filter(|_| list.is_list() || list.is_object())?.start.checked_add(1)?;
        let next = body.get(at..).and_then(|rest| rest.trim_start().chars().next());
        let comma = if matches!(next, Some('}' | ']')) { "" } else { "," };
        Some(Self::new(at..at, [before, &format!("{after}{comma}")]))
    }

    /// The last element of `list`, a part of `body`.
    #[inline(never)]
    pub(crate) fn last(body: &str, list: Raw<'_>, [before, after]: Around<'_>) -> Option<Self> {
        let at = span(body, list).filter(|_| list.is_list())?.end.checked_sub(1)?;
        let comma = if body.get(..at)?.trim_end().ends_with('[') { "" } else { "," };
        Some(Self::new(at..at, [&format!("{comma}{before}"), after]))
    }

    /// The end of `string`, a part of `body`, after an empty line.
    #[inline(never)]
    pub(crate) fn end_of(body: &str, string: Raw<'_>) -> Option<Self> {
        let at = span(body, string).filter(|_| string.is_string())?.end.checked_sub(1)?;
        let line = if string.get() == "\"\"" { "" } else { "\\n\\n" };
        Some(Self { is_inside: true, ..Self::new(at..at, [line, ""]) })
    }

    /// In place of `old`, a part of `body`.
    #[inline(never)]
    pub(crate) fn instead_of(body: &str, old: Raw<'_>, around: Around<'_>) -> Option<Self> {
        Some(Self::new(span(body, old)?, around))
    }

    /// After `content`: at the end of a string, or as one more part of type `kind`.
    pub(crate) fn after(body: &str, content: Raw<'_>, kind: &str) -> Option<Self> {
        if content.is_list() {
            return Self::last(body, content, [&format!(r#"{{"type":"{kind}","text":"#), "}"]);
        }
        Self::end_of(body, content)
    }
}

/// The edit that replaces the value `old`, a part of `body`.
#[inline(never)]
pub fn replace(body: &str, old: Raw<'_>, new: String) -> Result<Edit, Unreadable> {
    Ok(Edit { at: span(body, old).ok_or(Unreadable::Shape)?, with: new })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(body: &str, slot: impl Fn(&str, Raw<'_>) -> Option<Slot>, text: &str) -> String {
        let [a] = Raw::read(body).unwrap().pick(["a"]).unwrap();
        let edit = slot(body, a.unwrap()).unwrap().edit(text);
        String::from_utf8(apply(body, &[edit]).unwrap()).unwrap()
    }

    #[test]
    fn lists_grow_at_both_ends() {
        for (before, first, last) in [
            (r#"{"a": [ ] }"#, r#"{"a": ["9" ] }"#, r#"{"a": [ "9"] }"#),
            (r#"{"a":[1, 2]}"#, r#"{"a":["9",1, 2]}"#, r#"{"a":[1, 2,"9"]}"#),
        ] {
            assert_eq!(changed(before, |body, a| Slot::first(body, a, ["", ""]), "9"), first);
            assert_eq!(changed(before, |body, a| Slot::last(body, a, ["", ""]), "9"), last);
        }
    }

    #[test]
    fn strings_are_extended_inside_their_quotes() {
        assert_eq!(changed(r#"{"a":"x\"" }"#, Slot::end_of, "é\"\n"), r#"{"a":"x\"\n\né\"\n" }"#);
        assert_eq!(changed(r#"{"a":""}"#, Slot::end_of, "y"), r#"{"a":"y"}"#);
    }

    #[test]
    fn members_come_first_and_take_no_name_that_is_there() {
        for (before, after) in [
            (r#"{"a":{ }}"#, r#"{"a":{"k":"1" }}"#),
            (r#"{"a":{"k":2,"\u006b_":3}}"#, r#"{"a":{"k__":"1","k":2,"\u006b_":3}}"#),
        ] {
            assert_eq!(changed(before, |body, a| Slot::member(body, a, "k", ["", ""]), "1"), after);
        }
    }

    #[test]
    fn another_type_has_no_place() {
        let body = r#"{"a":7}"#;
        let [a] = Raw::read(body).unwrap().pick(["a"]).unwrap();
        let a = a.unwrap();
        assert_eq!([Slot::first(body, a, ["", ""]), Slot::last(body, a, ["", ""])], [None, None]);
        assert_eq!([Slot::end_of(body, a), Slot::member(body, a, "k", ["", ""])], [None, None]);
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
