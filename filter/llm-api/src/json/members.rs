//! Iterators over the members of an object and the elements of a list, as they stand in a text that was read before.
//! They know no dialect.

use std::{borrow::Cow, ops::Range};

use super::{
    Escapes, Raw, Unreadable,
    escape::{Halves, unescaped},
    object::Object,
    reader::Reader,
    span,
};

/// The names of the members to pick from an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'n> {
    pub own: &'n [&'n str],
    /// Members that are objects, and the names of the members to pick from each of them.
    pub within: &'n [(&'n str, &'n [&'n str])],
}

impl<'n> Names<'n> {
    pub const fn of(own: &'n [&'n str]) -> Self {
        Self { own, within: &[] }
    }
}

/// The name of a member.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// The text between its quotes, not decoded.
    pub(super) inside: &'a [u8],
    pub(super) escapes: Escapes,
}

impl<'a> Key<'a> {
    /// Whether this is `name`, with or without escapes. Most names differ in their length.
    #[inline]
    pub fn is(&self, name: &str) -> bool {
        (self.inside.len() == name.len() || self.escapes.are_some()) && self.says(name)
    }

    #[inline(never)]
    fn says(&self, name: &str) -> bool {
        if self.escapes.are_some() { self.text() == name } else { is_same(self.inside, name.as_bytes()) }
    }

    /// The same as `is`, for the loops that compare the most names.
    #[inline]
    pub(super) fn is_one(&self, name: &str) -> bool {
        let has_length = self.inside.len() == name.len();
        if self.escapes.are_some() {
            self.says(name)
        } else {
            has_length && is_same(self.inside, name.as_bytes())
        }
    }

    /// The place of this name among `names`, none of which occurs twice. Clients write members in the same order each time, and
    /// `names` are in that order: mostly it is at `expected`.
    #[inline]
    pub(super) fn place_in(&self, names: &[&str], expected: usize) -> Option<usize> {
        if self.escapes.are_some() {
            return names.iter().position(|name| self.says(name));
        }
        let is_it = |name: &&str| name.len() == self.inside.len() && is_same(self.inside, name.as_bytes());
        if names.get(expected).is_some_and(is_it) { Some(expected) } else { names.iter().position(is_it) }
    }

    /// The decoded name. Half of a surrogate pair reads as U+FFFD.
    pub fn text(&self) -> Cow<'a, str> {
        self.read(Halves::Replaced).unwrap_or_default()
    }

    /// The decoded name. Returns `None` when it holds half of a surrogate pair.
    pub fn exact(&self) -> Option<Cow<'a, str>> {
        self.read(Halves::Refused)
    }

    fn read(&self, halves: Halves) -> Option<Cow<'a, str>> {
        let inside = self.as_written()?;
        if self.escapes.are_some() {
            unescaped(inside, halves).map(Cow::Owned)
        } else {
            Some(Cow::Borrowed(inside))
        }
    }

    /// The place of the name in `whole`, with its quotes. Returns `None` when it is not borrowed from it.
    pub fn span(&self, whole: &str) -> Option<Range<usize>> {
        let inside = span(whole, Raw { text: self.as_written()?, escapes: self.escapes })?;
        Some(inside.start.checked_sub(1)?..inside.end.saturating_add(1))
    }

    /// The name. Returns `None` when it has escapes, which known names never have.
    pub fn plain(&self) -> Option<&'a str> {
        self.as_written().filter(|_| !self.escapes.are_some())
    }

    fn as_written(&self) -> Option<&'a str> {
        std::str::from_utf8(self.inside).ok()
    }
}

/// Whether two names of the same length are equal. They are short, and compiled to WebAssembly `==` compares one byte at a time.
#[inline]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let word = |bytes: &[u8; 4]| u32::from_ne_bytes(*bytes);
    let (Some(last), Some(other_last)) = (one.last_chunk(), other.last_chunk()) else {
        return one.iter().zip(other).all(|(one, other)| one == other);
    };
    let (ones, others) = (one.as_chunks().0.iter(), other.as_chunks().0.iter());
    word(last) == word(other_last) && ones.zip(others).all(|(one, other)| word(one) == word(other))
}

/// The members of an object in order.
#[derive(Debug)]
pub struct Members<'a> {
    reader: Reader<'a>,
    is_first: bool,
    /// There are no more.
    is_over: bool,
}

impl<'a> Members<'a> {
    pub(super) fn of(raw: Raw<'a>) -> Self {
        let mut reader = Reader::of_raw(raw);
        let is_over = reader.open(b'{').is_err();
        Self { reader, is_first: true, is_over }
    }

    /// The next member. Its value is not read if it is one of `known`, values of this object that were read before.
    pub(crate) fn next_beside(&mut self, known: &[Option<Raw<'a>>]) -> Option<(Key<'a>, Raw<'a>)> {
        let key = self.next_key()?;
        let mut known = known.iter().flatten();
        let value = known.find(|value| self.reader.passes(value)).copied();
        Some((key, value.map_or_else(|| self.reader.raw().ok(), Some)?))
    }

    fn next_key(&mut self) -> Option<Key<'a>> {
        if self.is_over {
            return None;
        }
        let key = self.reader.key(&mut self.is_first).ok().flatten();
        self.is_over = key.is_none();
        key
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Key<'a>, Raw<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        Some((self.next_key()?, self.reader.raw().ok()?))
    }
}

/// The elements of a list in order.
#[derive(Debug)]
pub struct Elements<'a> {
    reader: Reader<'a>,
    is_first: bool,
    is_over: bool,
}

impl<'a> Elements<'a> {
    pub(super) fn of(raw: Raw<'a>) -> Self {
        let mut reader = Reader::of_raw(raw);
        let is_over = reader.open(b'[').is_err();
        Self { reader, is_first: true, is_over }
    }

    /// Goes to the next element. Returns whether there is one.
    #[inline]
    fn has_next(&mut self) -> bool {
        self.is_over = self.is_over || !self.reader.goes_on(&mut self.is_first).unwrap_or(false);
        !self.is_over
    }

    /// Picks members from the next element, an object, as `Reader::pick` does. Returns `None` at the end of the list.
    #[inline(never)]
    pub(crate) fn pick(
        &mut self,
        names: Names<'_>,
        picked: &mut [Option<Raw<'a>>],
    ) -> Option<Result<Raw<'a>, Unreadable>> {
        self.has_next().then(|| self.reader.pick(names, picked))
    }

    /// The next element as an object. Returns `Some(None)` when it is something else, and `None` at the end of the list.
    #[inline(never)]
    pub(crate) fn next_object(&mut self) -> Option<Option<Object<'a>>> {
        if !self.has_next() {
            return None;
        }
        if self.reader.peek() == Some(b'{') {
            return Some(Object::next(&mut self.reader));
        }
        self.reader.raw().ok().map(|_| None)
    }

    /// The rest of the list, from the next element on, as it stands in the text. Returns `None` when no element
    /// follows.
    pub fn rest(mut self) -> Option<&'a str> {
        let next = self.next()?;
        self.reader.text_from(self.reader.place().checked_sub(next.get().len())?)
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Raw<'a>;

    #[inline]
    fn next(&mut self) -> Option<Raw<'a>> {
        if self.has_next() { self.reader.raw().ok() } else { None }
    }
}
