//! What a tool's result says: its texts, wherever they stand in it.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    json,
    members::{elements, members},
};

/// A tool's result in an entry.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// What it says, as JSON strings.
    pub texts: Vec<&'a RawValue>,
    /// It holds images, sounds or files.
    pub has_media: bool,
    pub(super) content: Option<&'a RawValue>,
    /// The element of the entry's content that it is; none where it is the whole entry.
    pub(super) element: Option<usize>,
    pub(super) id: Option<&'a RawValue>,
    pub(super) name: Cow<'a, str>,
}

impl<'a> Outcome<'a> {
    pub(crate) fn new(
        element: Option<usize>,
        id: Option<&'a RawValue>,
        name: Cow<'a, str>,
        content: Option<&'a RawValue>,
    ) -> Self {
        let mut result = Self { texts: Vec::new(), has_media: false, content, element, id, name };
        if let Some(content) = content {
            result.read(content);
        }
        result
    }

    /// A text, a list of texts and media, or an object whose strings are what it says.
    fn read(&mut self, content: &'a RawValue) {
        match content.get().as_bytes().first() {
            Some(b'"') => self.texts.push(content),
            Some(b'[') => elements(content).into_iter().for_each(|element| self.part(element)),
            Some(b'{') => within(content, DEPTH, &mut self.texts),
            _ => {}
        }
    }

    fn part(&mut self, part: &'a RawValue) {
        if part.get().starts_with('"') {
            self.texts.push(part);
            return;
        }
        let before = self.texts.len();
        for member in members(part) {
            match &*member.key {
                "text" if member.value.get().starts_with('"') => self.texts.push(member.value),
                "json" => within(member.value, DEPTH, &mut self.texts),
                _ => {}
            }
        }
        self.has_media |= self.texts.len() == before;
    }

    /// Whether a text can stand in the place of what it says.
    pub fn can_be_cleared(&self) -> bool {
        self.content.is_some() && !self.has_media
    }
}

impl Outcome<'_> {
    /// The id of its call; empty where it has none.
    #[inline(never)]
    pub(super) fn of(&self) -> Cow<'_, str> {
        self.id.and_then(json::string).unwrap_or_default()
    }
}

/// Levels of objects and lists in which texts of a result are looked for: each is read once more for the one above it.
const DEPTH: u8 = 8;

/// The strings in a value, keys apart.
fn within<'a>(value: &'a RawValue, depth: u8, texts: &mut Vec<&'a RawValue>) {
    let Some(below) = depth.checked_sub(1) else { return };
    match value.get().as_bytes().first() {
        Some(b'"') => texts.push(value),
        Some(b'[') => elements(value).into_iter().for_each(|element| within(element, below, texts)),
        Some(b'{') => members(value).into_iter().for_each(|member| within(member.value, below, texts)),
        _ => {}
    }
}
