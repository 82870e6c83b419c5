//! The texts of a tool result, wherever they stand in it.

use std::borrow::Cow;

use crate::{
    item_part::{ItemResult, Tool},
    json::{self, Raw},
};

/// A tool's result in an entry.
#[derive(Debug)]
pub struct EntryResult<'a> {
    /// Its texts, as JSON strings.
    pub texts: Vec<Raw<'a>>,
    /// Whether it holds images, sounds or files.
    pub has_media: bool,
    pub(super) content: Option<Raw<'a>>,
    /// The index of its element in the entry's content. `None` if it is the whole entry.
    pub(super) element: Option<usize>,
    pub(super) id: Option<Raw<'a>>,
    pub(super) name: Cow<'a, str>,
    /// Whether it is of a function or a custom tool of the client.
    pub(super) is_clients: bool,
}

impl<'a> EntryResult<'a> {
    /// `element`: the index of the result's element in the entry's content, if it stands within it.
    pub(super) fn new(element: Option<usize>, made: ItemResult<'a>) -> Self {
        let ItemResult { id, name, content, tool, .. } = made;
        let (name, is_clients) = (json::name(name), tool != Tool::Other);
        let mut result = Self { texts: Vec::new(), has_media: false, content, element, id, name, is_clients };
        if let Some(content) = content {
            result.read(content);
        }
        result
    }

    /// Reads a text, a list of texts and media, or an object, whose strings are its texts.
    fn read(&mut self, content: Raw<'a>) {
        match content.get().as_bytes().first() {
            Some(b'"') => self.texts.push(content),
            Some(b'[') => content.elements().for_each(|element| self.part(element)),
            Some(b'{') => within(content, DEPTH, &mut self.texts),
            _ => {}
        }
    }

    fn part(&mut self, part: Raw<'a>) {
        if part.is_string() {
            self.texts.push(part);
            return;
        }
        let before = self.texts.len();
        for (key, value) in part.members() {
            match &*key.text() {
                "text" if value.is_string() => self.texts.push(value),
                "json" => within(value, DEPTH, &mut self.texts),
                _ => {}
            }
        }
        self.has_media |= self.texts.len() == before;
    }

    /// Whether its content can be replaced with a text.
    pub fn can_be_cleared(&self) -> bool {
        self.content.is_some() && !self.has_media
    }
}

impl EntryResult<'_> {
    /// The id of its call. Empty if it names none.
    #[inline(never)]
    pub(super) fn of(&self) -> Cow<'_, str> {
        json::name(self.id)
    }
}

/// Most levels of objects and lists that are searched for texts. Each level is read once more for each level above it.
const DEPTH: u8 = 8;

/// Collects the strings in a value, without names of members.
fn within<'a>(value: Raw<'a>, depth: u8, texts: &mut Vec<Raw<'a>>) {
    let Some(below) = depth.checked_sub(1) else { return };
    match value.get().as_bytes().first() {
        Some(b'"') => texts.push(value),
        Some(b'[') => value.elements().for_each(|element| within(element, below, texts)),
        Some(b'{') => value.members().for_each(|(_, value)| within(value, below, texts)),
        _ => {}
    }
}
