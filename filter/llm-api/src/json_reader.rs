//! Reads JSON into whatever can be deserialized, borrowing strings and raw values from the text. It takes and refuses what
//! serde_json does, and is faster on bodies: long strings are scanned many bytes at a time. A property test holds it
//! against serde_json.

use std::{borrow::Cow, fmt::Display, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor, value::BorrowedStrDeserializer},
    forward_to_deserialize_any,
};
use serde_json::value::RawValue;

use crate::{
    json::Unreadable,
    json_escape::unescaped,
    json_scan::{short_string_end, sound_string_end, string_end},
};

/// Lists and objects within each other that are read, as in serde_json. What is not read, or stays raw, may be deeper.
const MAX_DEPTH: u8 = 127;
/// The name by which serde_json's `RawValue` asks for itself.
const RAW: &str = "$serde_json::private::RawValue";

/// The whole of `text` as one value.
pub fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Unreadable> {
    read_with(text, PhantomData)
}

/// The whole of `text` as one value, which `seed` makes of it.
pub fn read_with<'a, S: DeserializeSeed<'a>>(text: &'a str, seed: S) -> Result<S::Value, Unreadable> {
    let mut reader = Reader::new(text);
    reader.peek();
    let value = seed.deserialize(&mut reader)?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(Unreadable::NotJson),
    }
}

impl de::Error for Unreadable {
    /// What a type says of a value that it cannot be.
    fn custom<T: Display>(_: T) -> Self {
        Self::Shape
    }
}

/// The whole of a raw value, which is JSON: what is passed over is not looked at again.
pub(crate) fn read_raw<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, Unreadable> {
    T::deserialize(&mut Reader::of_raw(raw))
}

/// White space before a value is skipped before the value is asked for.
pub(crate) struct Reader<'de> {
    text: &'de str,
    at: usize,
    depth: u8,
    /// The text was found to be JSON before.
    is_sound: bool,
}

impl<'de> Reader<'de> {
    pub fn new(text: &'de str) -> Self {
        Self { text, at: 0, depth: 0, is_sound: false }
    }

    pub fn of_raw(raw: &'de RawValue) -> Self {
        Self { is_sound: true, ..Self::new(raw.get()) }
    }

    /// The next byte that is no white space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.step();
        }
    }

    #[inline]
    fn step(&mut self) {
        self.at = self.at.wrapping_add(1);
    }

    /// Goes over `wanted`, which must be next.
    #[inline(never)]
    fn word(&mut self, wanted: &str) -> Result<(), Unreadable> {
        let is_next =
            self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(wanted.as_bytes()));
        self.at = self.at.wrapping_add(wanted.len());
        if is_next { Ok(()) } else { Err(Unreadable::NotJson) }
    }

    #[inline]
    fn since(&self, start: usize) -> Result<&'de str, Unreadable> {
        self.text.get(start..self.at).ok_or(Unreadable::NotJson)
    }

    /// Goes to the end of the string whose opening quote is next; says whether it has escapes.
    #[inline]
    fn skip_string(&mut self) -> Result<bool, Unreadable> {
        let inside = self.at.wrapping_add(1);
        let bytes = self.text.as_bytes();
        // Most are short, and have no escapes.
        if let Some(end) = short_string_end(bytes, inside) {
            self.at = end;
            return Ok(false);
        }
        let ends = if self.is_sound { sound_string_end(bytes, inside) } else { string_end(bytes, inside) };
        let (end, has_escapes) = ends.ok_or(Unreadable::NotJson)?;
        self.at = end;
        Ok(has_escapes)
    }

    /// Goes to the end of the number that is next.
    #[inline(never)]
    fn skip_number(&mut self) -> Result<(), Unreadable> {
        if self.is_next(b'-') {
            self.step();
        }
        if self.is_next(b'0') {
            self.step();
        } else {
            self.skip_digits()?;
        }
        if self.is_next(b'.') {
            self.step();
            self.skip_digits()?;
        }
        if self.is_next(b'e') || self.is_next(b'E') {
            self.step();
            if self.is_next(b'+') || self.is_next(b'-') {
                self.step();
            }
            self.skip_digits()?;
        }
        // A zero in front of other digits is no number.
        if self.next().is_some_and(|byte| byte.is_ascii_digit()) { Err(Unreadable::NotJson) } else { Ok(()) }
    }

    fn skip_digits(&mut self) -> Result<(), Unreadable> {
        let start = self.at;
        while self.next().is_some_and(|byte| byte.is_ascii_digit()) {
            self.step();
        }
        if self.at > start { Ok(()) } else { Err(Unreadable::NotJson) }
    }

    #[inline]
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn is_next(&self, byte: u8) -> bool {
        self.next() == Some(byte)
    }

    /// Goes over the value that is next, however deep it is.
    #[inline(never)]
    fn skip(&mut self) -> Result<(), Unreadable> {
        if self.is_sound {
            return self.skip_sound();
        }
        // What is passed over may be very many very short values: the place is kept at hand.
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        let mut open = Brackets::default();
        loop {
            at = after_space(bytes, at);
            at = match *bytes.get(at).ok_or(Unreadable::NotJson)? {
                b'"' => self.at_end(at, |reader| reader.skip_string().map(drop))?,
                b'0'..=b'9' if is_digit_alone(bytes, at) => at.wrapping_add(1),
                b'-' | b'0'..=b'9' => self.at_end(at, Self::skip_number)?,
                b'{' => {
                    let inside = after_space(bytes, at.wrapping_add(1));
                    if bytes.get(inside) == Some(&b'}') {
                        inside.wrapping_add(1)
                    } else {
                        open.push(true);
                        at = self.at_end(inside, Self::skip_key)?;
                        continue;
                    }
                }
                b'[' => {
                    // The last of many may be closed at once.
                    while is_run(bytes, at, b'[') && open.push_lists() {
                        at = at.wrapping_add(RUN - 1);
                    }
                    let inside = after_space(bytes, at.wrapping_add(1));
                    if bytes.get(inside) == Some(&b']') {
                        inside.wrapping_add(1)
                    } else {
                        open.push(false);
                        at = inside;
                        continue;
                    }
                }
                b't' => self.at_end(at, |reader| reader.word("true"))?,
                b'f' => self.at_end(at, |reader| reader.word("false"))?,
                b'n' => self.at_end(at, |reader| reader.word("null"))?,
                _ => return Err(Unreadable::NotJson),
            };
            // A value has ended: so may what it is in.
            loop {
                let Some(is_object) = open.last() else {
                    self.at = at;
                    return Ok(());
                };
                at = after_space(bytes, at);
                match (bytes.get(at), is_object) {
                    (Some(b','), false) => {
                        at = at.wrapping_add(1);
                        break;
                    }
                    (Some(b','), true) => {
                        at = self.at_end(at.wrapping_add(1), Self::skip_key)?;
                        break;
                    }
                    (Some(b']'), false) if is_run(bytes, at, b']') && open.pop_lists() => {
                        at = at.wrapping_add(RUN);
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        at = at.wrapping_add(1);
                        open.pop();
                    }
                    _ => return Err(Unreadable::NotJson),
                }
            }
        }
    }

    /// Where the reader is once it has gone on from here.
    #[inline]
    fn at_end(
        &mut self,
        at: usize,
        go_on: impl FnOnce(&mut Self) -> Result<(), Unreadable>,
    ) -> Result<usize, Unreadable> {
        self.at = at;
        go_on(self)?;
        Ok(self.at)
    }

    /// Goes over the value that is next, in a text that is JSON.
    #[inline(never)]
    fn skip_sound(&mut self) -> Result<(), Unreadable> {
        let mut depth = 0_usize;
        self.peek();
        loop {
            match self.next().ok_or(Unreadable::NotJson)? {
                b'"' => {
                    self.skip_string()?;
                }
                b'[' if is_run(self.text.as_bytes(), self.at, b'[') => {
                    depth = depth.wrapping_add(RUN);
                    self.at = self.at.wrapping_add(RUN);
                }
                b'[' | b'{' => {
                    depth = depth.wrapping_add(1);
                    self.step();
                }
                b']' if depth > RUN && is_run(self.text.as_bytes(), self.at, b']') => {
                    depth = depth.wrapping_sub(RUN);
                    self.at = self.at.wrapping_add(RUN);
                }
                b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    self.step();
                }
                _ if depth > 0 => {
                    self.step();
                    continue;
                }
                _ => {
                    while self.next().is_some_and(|byte| !matches!(byte, b',' | b']' | b'}' | ..=b' ')) {
                        self.step();
                    }
                }
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    #[inline(never)]
    fn skip_key(&mut self) -> Result<(), Unreadable> {
        if self.peek() != Some(b'"') {
            return Err(Unreadable::NotJson);
        }
        self.skip_string()?;
        self.colon()
    }

    /// Goes over the colon behind a key, to the value.
    #[inline(never)]
    fn colon(&mut self) -> Result<(), Unreadable> {
        if self.peek() != Some(b':') {
            return Err(Unreadable::NotJson);
        }
        self.step();
        self.peek();
        Ok(())
    }

    /// The string that is next, borrowed where it has no escapes. One function for all types: the module would be half as
    /// large again if each had its own.
    #[inline(never)]
    fn text(&mut self) -> Result<Cow<'de, str>, Unreadable> {
        if self.peek() != Some(b'"') {
            return Err(Unreadable::NotJson);
        }
        let start = self.at.wrapping_add(1);
        let has_escapes = self.skip_string()?;
        let inside = self.text.get(start..self.at.wrapping_sub(1)).ok_or(Unreadable::NotJson)?;
        if has_escapes {
            unescaped(inside).map(Cow::Owned).ok_or(Unreadable::NotJson)
        } else {
            Ok(Cow::Borrowed(inside))
        }
    }

    fn string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.text()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    /// The text of the value that is next.
    #[inline(never)]
    fn raw(&mut self) -> Result<&'de str, Unreadable> {
        let start = self.at;
        if self.is_sound { self.skip_sound() } else { self.skip() }?;
        self.since(start)
    }

    /// Why a value of another kind than is wanted cannot be read.
    #[inline(never)]
    fn other(&mut self) -> Unreadable {
        match self.next() {
            Some(b'-' | b'0'..=b'9') => self.number_of().map_or_else(|error| error, other_number),
            Some(b'"') => self.text().err().unwrap_or(Unreadable::Shape),
            // Nobody looks into it.
            Some(b'[' | b'{') => Unreadable::Shape,
            _ => self.skip().err().unwrap_or(Unreadable::Shape),
        }
    }

    /// The number that is next.
    #[inline(never)]
    fn number_of(&mut self) -> Result<&'de str, Unreadable> {
        self.peek();
        let start = self.at;
        self.skip_number()?;
        self.since(start)
    }

    /// Goes over an opening bracket.
    #[inline(never)]
    fn open(&mut self) -> Result<(), Unreadable> {
        if self.depth >= MAX_DEPTH {
            return Err(Unreadable::NotJson);
        }
        self.depth = self.depth.wrapping_add(1);
        self.step();
        Ok(())
    }

    /// Goes over a closing bracket.
    #[inline(never)]
    fn close(&mut self, bracket: u8) -> Result<(), Unreadable> {
        self.depth = self.depth.wrapping_sub(1);
        if self.peek() != Some(bracket) {
            return Err(Unreadable::NotJson);
        }
        self.step();
        Ok(())
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unreadable> {
        let start = self.at;
        self.skip_number()?;
        let number = self.since(start)?;
        match number.parse() {
            Ok(number) => visitor.visit_u64(number),
            Err(_) => Ok(serde_json::Deserializer::from_str(number).deserialize_any(visitor)?),
        }
    }

    /// Reads what is in the brackets of which the opening one is next.
    #[inline]
    fn within<T>(
        &mut self,
        close: u8,
        read: impl FnOnce(Members<'_, 'de>) -> Result<T, Unreadable>,
    ) -> Result<T, Unreadable> {
        self.open()?;
        let value = read(Members { reader: self, close, is_first: true })?;
        self.close(close)?;
        Ok(value)
    }
}

/// Why a number cannot be read as what is wanted. One that no `f64` can be is none.
#[inline(never)]
fn other_number(number: &str) -> Unreadable {
    serde_json::from_str::<f64>(number).map_or_else(Unreadable::from, |_| Unreadable::Shape)
}

/// The first place from `at` on that is no white space.
#[inline]
fn after_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\t' | b'\r')) {
        at = at.wrapping_add(1);
    }
    at
}

/// Whether the digit that stands here is the whole number.
#[inline]
fn is_digit_alone(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at.wrapping_add(1)), Some(b',' | b']' | b'}'))
}

/// Whether so many of this byte stand here that they are worth going over together.
#[inline]
fn is_run(bytes: &[u8], at: usize, byte: u8) -> bool {
    let next = bytes.get(at..).and_then(|rest| rest.first_chunk::<RUN>());
    next.is_some_and(|next| *next == [byte; RUN])
}

/// Brackets of lists that are gone over together.
const RUN: usize = 16;

/// The kinds of the brackets that are open: a bit each, true for an object.
#[derive(Default)]
struct Brackets {
    /// The innermost, the last of them lowest.
    last: u64,
    depth: usize,
    /// Those that found no room there, 64 at a time.
    outer: Vec<u64>,
}

impl Brackets {
    #[inline]
    fn push(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.outer.push(self.last);
        }
        self.last = (self.last << 1) | u64::from(is_object);
        self.depth = self.depth.wrapping_add(1);
    }

    /// All but one of a run of lists, where they find room in the innermost word.
    fn push_lists(&mut self) -> bool {
        let used = self.depth % 64;
        let has_room = (used > 0 || self.depth == 0) && used <= 64 - RUN;
        if has_room {
            self.last <<= RUN - 1;
            self.depth = self.depth.wrapping_add(RUN - 1);
        }
        has_room
    }

    /// A run of lists, where the innermost are lists and all in one word, which keeps one more.
    fn pop_lists(&mut self) -> bool {
        let are_lists = self.last.trailing_zeros() as usize >= RUN && self.depth.wrapping_sub(1) % 64 >= RUN;
        if are_lists {
            self.last >>= RUN;
            self.depth = self.depth.wrapping_sub(RUN);
        }
        are_lists
    }

    #[inline]
    fn last(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.last & 1 == 1)
    }

    #[inline]
    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.last >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.last = self.outer.pop().unwrap_or_default();
        }
    }
}

/// The elements of a list, or the members of an object.
struct Members<'r, 'de> {
    reader: &'r mut Reader<'de>,
    close: u8,
    is_first: bool,
}

impl<'de> Members<'_, 'de> {
    /// The name of the next member. One function for all types, as `Reader::text` is.
    #[inline(never)]
    fn key(&mut self) -> Result<Option<Cow<'de, str>>, Unreadable> {
        if self.has_next()? { self.reader.text().map(Some) } else { Ok(None) }
    }

    /// Whether there is one more; goes over the comma before it.
    #[inline(never)]
    fn has_next(&mut self) -> Result<bool, Unreadable> {
        match self.reader.peek() {
            Some(byte) if byte == self.close => Ok(false),
            Some(_) if self.is_first => {
                self.is_first = false;
                Ok(true)
            }
            Some(b',') => {
                self.reader.step();
                match self.reader.peek() {
                    Some(byte) if byte != self.close => Ok(true),
                    _ => Err(Unreadable::NotJson),
                }
            }
            _ => Err(Unreadable::NotJson),
        }
    }
}

impl<'de> SeqAccess<'de> for Members<'_, 'de> {
    type Error = Unreadable;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unreadable> {
        if self.has_next()? { seed.deserialize(&mut *self.reader).map(Some) } else { Ok(None) }
    }
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = Unreadable;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Unreadable> {
        match self.key()? {
            Some(key) => seed.deserialize(Key(key)).map(Some),
            None => Ok(None),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unreadable> {
        self.reader.colon()?;
        seed.deserialize(&mut *self.reader)
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.next().ok_or(Unreadable::NotJson)? {
            b'"' => self.string(visitor),
            b'{' => self.within(b'}', |members| visitor.visit_map(members)),
            b'[' => self.within(b']', |elements| visitor.visit_seq(elements)),
            b'-' | b'0'..=b'9' => self.number(visitor),
            b't' => {
                self.word("true")?;
                visitor.visit_bool(true)
            }
            b'f' => {
                self.word("false")?;
                visitor.visit_bool(false)
            }
            b'n' => {
                self.word("null")?;
                visitor.visit_unit()
            }
            _ => Err(Unreadable::NotJson),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if self.next() == Some(b'n') {
            self.word("null")?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        if name != RAW {
            return visitor.visit_newtype_struct(self);
        }
        visitor.visit_map(Raw(Some(self.raw()?)))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.skip()?;
        visitor.visit_unit()
    }

    // What is of one kind only is not read as any: that would bring serde_json's own reader into the module for each type.

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if self.next() == Some(b'[') {
            return self.within(b']', |elements| visitor.visit_seq(elements));
        }
        Err(self.other())
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if self.next() == Some(b'{') {
            return self.within(b'}', |members| visitor.visit_map(members));
        }
        Err(self.other())
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if self.next() == Some(b'"') {
            return self.string(visitor);
        }
        Err(self.other())
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.next() {
            Some(b't') => self.word("true").and_then(|()| visitor.visit_bool(true)),
            Some(b'f') => self.word("false").and_then(|()| visitor.visit_bool(false)),
            _ => Err(self.other()),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if !matches!(self.next(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.other());
        }
        let number = self.number_of()?;
        match number.parse() {
            Ok(number) => visitor.visit_u64(number),
            Err(_) => Err(other_number(number)),
        }
    }

    /// From an object only: serde_json takes a list of the fields' values too, which no provider does.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        if self.next() == Some(b'{') {
            return self.within(b'}', |members| visitor.visit_map(members));
        }
        self.skip()?;
        Err(Unreadable::Shape)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct enum identifier
    }
}

/// A member's name.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0 {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_str(&self.0)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        seq tuple tuple_struct map struct enum ignored_any
    }
}

/// A raw value, in the form in which it takes itself from a deserializer.
struct Raw<'de>(Option<&'de str>);

impl<'de> MapAccess<'de> for Raw<'de> {
    type Error = Unreadable;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Unreadable> {
        self.0.map(|_| seed.deserialize(BorrowedStrDeserializer::new(RAW))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unreadable> {
        seed.deserialize(BorrowedStrDeserializer::new(self.0.take().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests;
