//! The items of a request's history. An item is a message or, in some dialects, a call, a result or a text. They are
//! read in the same pass as the rest of the body. The dialects know how to read an item.

use crate::json::{
    Raw, Unreadable,
    members::{Key, Names},
    object::Object,
    reader::Reader,
};

/// Most items that a history may have. Longer histories are not read.
const MAX_ITEMS: usize = 16_384;
/// Initial capacity, in items.
const ROOM: usize = 16;

/// A request body that was read once: its members, and the items of one of them.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    pub text: &'a str,
    /// The whole body, an object.
    pub whole: Raw<'a>,
    pub top: Object<'a>,
    pub items: Items<'a>,
}

/// Objects, each with the members that its dialect asks for.
#[derive(Debug)]
pub(crate) struct Items<'a> {
    names: &'static [&'static str],
    raws: Vec<Raw<'a>>,
    /// For each item, one place for each name.
    fields: Vec<Option<Raw<'a>>>,
}

/// One item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'i, 'a> {
    pub raw: Raw<'a>,
    /// Its members, in the order of the names. `None` for a member that is absent or null.
    pub fields: &'i [Option<Raw<'a>>],
}

impl<'a> Item<'_, 'a> {
    /// Its members in order. Those that its dialect asks for are not read again.
    pub fn members(self) -> impl Iterator<Item = (Key<'a>, Raw<'a>)> {
        let mut members = self.raw.members();
        std::iter::from_fn(move || members.next_beside(self.fields))
    }
}

impl<'a> Body<'a> {
    /// Reads `text`, an object. The elements of its member `list` become items with the members `names`. If that member
    /// is not a list, it stays an ordinary member. `once` names further members that may occur only once.
    pub fn read(
        text: &'a str,
        list: &str,
        names: &'static [&'static str],
        once: &[&str],
    ) -> Result<Self, Unreadable> {
        let (mut top, mut items) = (Object::default(), Items::new(names));
        let mut reader = Reader::new(text);
        reader.peek();
        let (start, mut is_first) = (reader.place(), true);
        reader.open(b'{')?;
        while let Some(key) = reader.key(&mut is_first)? {
            let is_items = key.is(list) && reader.peek() == Some(b'[');
            let value = if is_items { items.read_list(&mut reader)? } else { reader.raw()? };
            top.push(key, value);
        }
        let whole = reader.since(start)?;
        reader.end()?;
        top.only_once(&[list])?;
        top.only_once(once)?;
        Ok(Self { text, whole, top, items })
    }
}

impl<'a> Body<'a> {
    /// Returns the body if its member `list` is a list or one object that was read as the only item, and an error
    /// otherwise.
    pub fn with(self, list: &str) -> Result<Self, Unreadable> {
        match self.top.get(list) {
            Some(raw) if raw.is_list() || raw.is_object() && self.items.len() == 1 => Ok(self),
            _ => Err(Unreadable::Shape),
        }
    }
}

impl<'a> Items<'a> {
    fn new(names: &'static [&'static str]) -> Self {
        Self {
            names,
            raws: Vec::with_capacity(ROOM),
            fields: Vec::with_capacity(ROOM.saturating_mul(names.len())),
        }
    }

    fn read_list(&mut self, reader: &mut Reader<'a>) -> Result<Raw<'a>, Unreadable> {
        let start = reader.place();
        reader.open(b'[')?;
        let mut is_first = true;
        while reader.goes_on(&mut is_first)? {
            if self.raws.len() >= MAX_ITEMS {
                return Err(Unreadable::Shape);
            }
            self.read_item(reader)?;
        }
        reader.since(start)
    }

    fn read_item(&mut self, reader: &mut Reader<'a>) -> Result<(), Unreadable> {
        let first = self.fields.len();
        self.fields.resize(first.saturating_add(self.names.len()), None);
        let fields = self.fields.get_mut(first..).unwrap_or_default();
        self.raws.push(reader.pick(Names::of(self.names), fields)?);
        Ok(())
    }

    /// Adds the item that stands in place of a list: an object, or a string, which has no members.
    pub fn lone(&mut self, raw: Raw<'a>) -> Result<(), Unreadable> {
        match raw.is_string() {
            true => self.raws.push(raw),
            false => self.read_item(&mut Reader::of_raw(raw))?,
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.raws.len()
    }

    pub fn get(&self, at: usize) -> Option<Item<'_, 'a>> {
        let first = at.saturating_mul(self.names.len());
        let fields = self.fields.get(first..first.saturating_add(self.names.len())).unwrap_or_default();
        Some(Item { raw: *self.raws.get(at)?, fields })
    }

    pub fn iter(&self) -> impl Iterator<Item = Item<'_, 'a>> {
        (0..self.len()).filter_map(|at| self.get(at))
    }
}
