//! Edits that cut the middle or the end of texts, and elements of a list.

use std::ops::Range;

use super::{
    place,
    strings::{count, offset},
};
use crate::{
    edit::Edit,
    json::{Raw, cut::cut, escaped},
};

/// The texts of a message or a result, and their number of characters.
#[derive(Debug)]
pub struct MeasuredTexts<'a> {
    texts: Vec<(Raw<'a>, usize)>,
    pub characters: usize,
}

impl<'a> MeasuredTexts<'a> {
    /// Returns `None` when there are no more than `least` characters.
    pub fn over(texts: &[Raw<'a>], least: usize) -> Option<Self> {
        let bytes: usize = texts.iter().map(|text| text.get().len()).sum();
        if bytes <= least {
            return None;
        }
        let texts: Vec<_> =
            texts.iter().map(|text| (*text, count(text.inside().unwrap_or_default()))).collect();
        let characters = texts.iter().map(|(_, characters)| characters).sum();
        Some(Self { texts, characters }).filter(|counted| counted.characters > least)
    }
}

/// What stays of a text, in characters: the first and the last ones, with a mark between them.
#[derive(Clone, Copy, Debug)]
pub struct Cut<'m> {
    pub first: usize,
    pub last: usize,
    pub mark: &'m str,
}

/// The edits that cut texts as `cut` says.
pub(super) fn cut_texts(body: &str, texts: &MeasuredTexts<'_>, cut: Cut<'_>) -> Vec<Edit> {
    const GOES_ON: &str = "...";
    let (from, to) = (cut.first, texts.characters.saturating_sub(cut.last));
    let (mut edits, mut before) = (Vec::new(), 0_usize);
    for (text, characters) in &texts.texts {
        let first = from.saturating_sub(before).min(*characters);
        let end = to.saturating_sub(before).min(*characters);
        before = before.saturating_add(*characters);
        if first >= end {
            continue;
        }
        let said = text.inside().unwrap_or_default();
        let start = offset(said, first);
        let length = offset(said.get(start..).unwrap_or_default(), end.saturating_sub(first));
        let quote = place(body, *text).start.saturating_add(1);
        let at = quote.saturating_add(start)..quote.saturating_add(start).saturating_add(length);
        let mark = escaped(if edits.is_empty() { cut.mark } else { GOES_ON });
        edits.push(Edit { at, with: mark });
    }
    edits
}

/// The edits of a list: cuts the elements whose entry in `cuts` is true, and inserts texts before the elements of these
/// indexes.
pub(super) fn list_edits(
    list: &Range<usize>,
    places: &[Range<usize>],
    cuts: &[bool],
    put: Vec<(usize, String)>,
) -> Vec<Edit> {
    let Some(first_kept) = cuts.iter().position(|is_cut| !is_cut) else {
        if put.is_empty() && places.is_empty() {
            return Vec::new();
        }
        let at = list.start.saturating_add(1)..list.end.saturating_sub(1);
        let with = put.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(",");
        return vec![Edit { at, with }];
    };
    let mut edits = cut(places, cuts);
    // For each element, the last element before it that stays.
    let mut kept_before: Vec<Option<usize>> = Vec::with_capacity(places.len().saturating_add(1));
    let mut last = None;
    for (at, is_cut) in cuts.iter().enumerate() {
        kept_before.push(last);
        last = if *is_cut { last } else { Some(at) };
    }
    kept_before.push(last);
    for (before, text) in put {
        let anchor = kept_before.get(before).copied().flatten().and_then(|at| places.get(at));
        edits.push(match (anchor, places.get(first_kept)) {
            (Some(anchor), _) => Edit { at: anchor.end..anchor.end, with: format!(",{text}") },
            (None, Some(next)) => Edit { at: next.start..next.start, with: format!("{text},") },
            (None, None) => continue,
        });
    }
    edits
}
