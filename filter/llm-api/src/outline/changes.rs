//! The changes of a request, and the edits that make them. Edits within a message that is cut are dropped with it; the
//! rule for edits that overlap is in `edit::settled`.

use std::ops::Range;

use super::{
    Outline, OutlineEntry,
    cutting::{Cut, MeasuredTexts, cut_texts, list_edits},
    place,
};
use crate::{
    edit::{Edit, apply, settled},
    json::Raw,
};

/// The text of a message that became empty but must stay.
pub(super) const DROPPED: &str = "[Tool result dropped -- its call is missing]";

/// The changes of one request. Entries, results and elements are named by their indexes in the outline.
#[derive(Debug)]
pub struct Changes<'o, 'a> {
    outline: &'o Outline<'a>,
    /// One for each entry.
    entries: Vec<EntryChanges>,
    /// Edits within entries.
    leaves: Vec<Edit>,
}

/// The changes of one entry, without those of its texts.
#[derive(Debug, Default)]
struct EntryChanges {
    is_dropped: bool,
    /// For each element of its content, whether it is cut. Empty if no element is cut.
    cut: Vec<bool>,
    /// What is inserted in front of its content.
    front: Vec<Piece>,
    /// What is inserted behind it in the list.
    behind: Vec<Piece>,
}

/// Something that is inserted.
#[derive(Debug)]
pub(super) enum Piece {
    /// JSON.
    Made(String),
    /// A part of the body that is moved, with the edits within it.
    Moved(Range<usize>),
    /// The same, wrapped in a user's message of its own.
    Alone(Vec<Piece>),
}

impl<'o, 'a> Changes<'o, 'a> {
    pub fn of(outline: &'o Outline<'a>) -> Self {
        Self {
            outline,
            entries: outline.entries.iter().map(|_| EntryChanges::default()).collect(),
            leaves: Vec::new(),
        }
    }

    pub fn outline(&self) -> &'o Outline<'a> {
        self.outline
    }

    /// Drops an entry with everything in it.
    pub fn drop_entry(&mut self, at: usize) {
        if let Some(entry) = self.entries.get_mut(at) {
            entry.is_dropped = true;
        }
    }

    pub fn is_dropped(&self, at: usize) -> bool {
        self.entries.get(at).is_none_or(|entry| entry.is_dropped)
    }

    /// Cuts the middle out of texts. Returns the number of bytes saved. If the cut covers a whole further text, a short
    /// mark stays of it, because providers accept no empty texts.
    pub fn cut_texts(&mut self, texts: &MeasuredTexts<'_>, cut: Cut<'_>) -> usize {
        let edits = cut_texts(self.outline.body, texts, cut);
        let removed: usize = edits.iter().map(|edit| edit.at.len()).sum();
        let added: usize = edits.iter().map(|edit| edit.with.len()).sum();
        self.leaves.extend(edits);
        removed.saturating_sub(added)
    }

    /// The number of bytes that `cut_texts` would save.
    pub fn would_cut(&self, texts: &MeasuredTexts<'_>, cut: Cut<'_>) -> usize {
        let edits = cut_texts(self.outline.body, texts, cut);
        let added: usize = edits.iter().map(|edit| edit.with.len()).sum();
        edits.iter().map(|edit| edit.at.len()).sum::<usize>().saturating_sub(added)
    }

    /// Replaces the content of a result with a text.
    pub fn clear_result(&mut self, entry: usize, result: usize, text: &str) {
        let Some(result) = self.outline.entries.get(entry).and_then(|entry| entry.results.get(result)) else {
            return;
        };
        if let Some(content) = result.content {
            let with = (self.outline.form.content)(content, text);
            self.leaves.push(Edit { at: place(self.outline.body, content), with });
        }
    }

    /// Bytes of a result's content.
    pub fn bytes_of(&self, entry: usize, result: usize) -> usize {
        let entry = self.outline.entries.get(entry);
        let content = entry.and_then(|entry| entry.results.get(result)?.content);
        content.map_or(0, |content| content.get().len())
    }

    #[inline(never)]
    pub(super) fn replace(&mut self, old: Raw<'_>, with: String) {
        self.leaves.push(Edit { at: place(self.outline.body, old), with });
    }

    #[inline(never)]
    pub(super) fn cut_element(&mut self, entry: usize, element: usize) {
        let all = self.outline.entries.get(entry).map_or(0, |entry| entry.elements.len());
        let Some(entry) = self.entries.get_mut(entry) else { return };
        entry.cut.resize(all, false);
        if let Some(is_cut) = entry.cut.get_mut(element) {
            *is_cut = true;
        }
    }

    pub(super) fn is_cut(&self, entry: usize, element: usize) -> bool {
        self.entries.get(entry).is_some_and(|entry| entry.cut.get(element) == Some(&true))
    }

    /// Entries that became empty.
    pub(super) fn emptied(&self) -> Vec<usize> {
        let is_empty = |change: &EntryChanges| {
            !change.cut.is_empty() && change.cut.iter().all(|is_cut| *is_cut) && change.front.is_empty()
        };
        let all = self.entries.iter().enumerate();
        all.filter(|(_, change)| is_empty(change)).map(|(at, _)| at).collect()
    }

    #[inline(never)]
    pub(super) fn put_first(&mut self, entry: usize, piece: Piece) {
        if let Some(entry) = self.entries.get_mut(entry) {
            entry.front.push(piece);
        }
    }

    #[inline(never)]
    pub(super) fn put_behind(&mut self, entry: usize, piece: Piece) {
        if let Some(entry) = self.entries.get_mut(entry) {
            entry.behind.push(piece);
        }
    }

    /// Adds edits from elsewhere. They move with what is moved, and are dropped with what is cut.
    pub fn add(&mut self, edits: Vec<Edit>) {
        self.leaves.extend(edits);
    }

    /// The edits that make all changes, with those from elsewhere.
    pub fn edits(mut self) -> Vec<Edit> {
        let Self { outline, .. } = self;
        let dropped: Vec<bool> = self.entries.iter().map(|entry| entry.is_dropped).collect();
        if dropped.iter().all(|is_dropped| *is_dropped) && !dropped.is_empty() {
            return self.nothing_left();
        }
        self.leaves = settled(&self.leaves);
        let mut edits = Vec::new();
        if let Some(list) = outline.list {
            let places: Vec<_> = outline.entries.iter().map(|entry| place(outline.body, entry.raw)).collect();
            let behind = self.entries.iter().enumerate().filter(|(_, entry)| !entry.behind.is_empty());
            let put = behind.map(|(at, entry)| (at.saturating_add(1), self.text(&entry.behind))).collect();
            edits.extend(list_edits(&place(outline.body, list), &places, &dropped, put));
        }
        for (entry, change) in outline.entries.iter().zip(&self.entries) {
            let is_touched = !change.cut.is_empty() || !change.front.is_empty();
            if is_touched && !change.is_dropped {
                edits.extend(self.content_edits(entry, change));
            }
        }
        edits.append(&mut self.leaves);
        settled(&edits)
    }

    /// Providers accept no request without messages, so one with a notice is left.
    fn nothing_left(&self) -> Vec<Edit> {
        let Outline { body, list: Some(list), form, .. } = self.outline else {
            return self.leaves.clone();
        };
        let list = place(body, *list);
        let with = (form.message)(&(form.text)(DROPPED));
        let mut edits = self.leaves.clone();
        edits.push(Edit { at: list.start.saturating_add(1)..list.end.saturating_sub(1), with });
        settled(&edits)
    }

    /// The edits of one entry's content.
    fn content_edits(&self, entry: &OutlineEntry<'_>, change: &EntryChanges) -> Vec<Edit> {
        let Some(content) = entry.content else { return Vec::new() };
        let front = Some(self.text(&change.front)).filter(|_| !change.front.is_empty());
        let here = place(self.outline.body, content);
        if content.is_string() {
            let Some(front) = front else { return Vec::new() };
            if content.get() == "\"\"" {
                return vec![Edit { at: here, with: format!("[{front}]") }];
            }
            // The string becomes the last element of a list.
            let text = (self.outline.form.text)("");
            let (before, after) = text.split_once("\"\"").unwrap_or_default();
            let insert = |at: usize, with: String| Edit { at: at..at, with };
            return vec![
                insert(here.start, format!("[{front},{before}")),
                insert(here.end, format!("{after}]")),
            ];
        }
        let places: Vec<_> =
            entry.elements.iter().map(|element| place(self.outline.body, *element)).collect();
        let mut cuts = change.cut.clone();
        cuts.resize(places.len(), false);
        list_edits(&here, &places, &cuts, front.map(|front| (0, front)).into_iter().collect())
    }

    fn text(&self, pieces: &[Piece]) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Made(json) => json.clone(),
            Piece::Moved(at) => self.moved(at),
            Piece::Alone(pieces) => (self.outline.form.message)(&self.text(pieces)),
        };
        pieces.iter().map(text).collect::<Vec<_>>().join(",")
    }

    /// A part of the body, with its edits, for another place.
    fn moved(&self, at: &Range<usize>) -> String {
        let Some(text) = self.outline.body.get(at.clone()) else { return String::new() };
        let first = self.leaves.partition_point(|edit| edit.at.start < at.start);
        let inner: Vec<Edit> = self
            .leaves
            .iter()
            .skip(first)
            .take_while(|edit| edit.at.end <= at.end)
            .map(|edit| Edit {
                at: edit.at.start.saturating_sub(at.start)..edit.at.end.saturating_sub(at.start),
                with: edit.with.clone(),
            })
            .collect();
        let changed = apply(text, &inner).and_then(|changed| String::from_utf8(changed).ok());
        changed.unwrap_or_else(|| text.to_owned())
    }
}
