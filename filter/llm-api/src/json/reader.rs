//! The reader: reads a JSON text once, checks all of it, and returns values as they stand in the text. A text that was
//! checked before is read without checking it again. It refuses what serde_json refuses; a property test compares the
//! two.
//!
//! Why not serde_json: compiled to WebAssembly, serde_json takes 1.46 times as long to read a body of 256 kB (282 µs
//! against 193 µs), 1.39 times as long for 16 kB (18.6 µs against 13.4 µs), and the same for 1 kB (`benches/reader.rs`
//! has the command). The whole filter may take 248 µs for 256 kB. sonic-rs, simd-json and jiter compile to WebAssembly
//! too, but none of them is clearly faster there than serde_json.

use super::{
    Escapes, Raw, Unreadable,
    members::{Key, Names},
    skip::after_space,
};

/// White space in front of a value is skipped by the method that looks at the value.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// The text was checked before.
    pub(super) is_sound: bool,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, is_sound: false }
    }

    /// Reads a value that was checked before. What is skipped is not checked again.
    pub fn of_raw(raw: Raw<'a>) -> Self {
        Self { is_sound: true, ..Self::new(raw.get()) }
    }

    /// Skips white space and returns the next byte.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        self.at = after_space(bytes, self.at);
        bytes.get(self.at).copied()
    }

    #[inline]
    pub(super) fn step(&mut self) {
        self.at = self.at.wrapping_add(1);
    }

    /// The text from `at` on.
    pub fn text_from(&self, at: usize) -> Option<&'a str> {
        self.text.get(at..)
    }

    /// The current position.
    pub fn place(&self) -> usize {
        self.at
    }

    /// The value that begins at `start` and was just skipped. It must not be a string.
    #[inline]
    pub fn since(&self, start: usize) -> Result<Raw<'a>, Unreadable> {
        let text = self.text.get(start..self.at).ok_or(Unreadable::NotJson)?;
        Ok(Raw { text, escapes: Escapes::None })
    }

    /// Goes past `value` if it is the one that is next: it stands at the same place of the same text.
    pub fn passes(&mut self, value: &Raw<'a>) -> bool {
        self.peek();
        let is_next = self.text.get(self.at..).is_some_and(|rest| rest.as_ptr() == value.get().as_ptr());
        self.at = self.at.wrapping_add(if is_next { value.get().len() } else { 0 });
        is_next
    }

    /// Reads the value that is next.
    #[inline(never)]
    pub fn raw(&mut self) -> Result<Raw<'a>, Unreadable> {
        let first = self.peek();
        let start = self.at;
        match first {
            // Most values are strings.
            Some(b'"') => {
                let escapes = self.skip_string()?;
                return self.since(start).map(|string| Raw { escapes, ..string });
            }
            _ if self.is_sound => self.skip_sound()?,
            _ => self.skip()?,
        }
        self.since(start)
    }

    /// Reads the object that is next, once. Members of these names are stored at their index in `picked`, except nulls.
    /// Returns an error when the value is not an object, or when one of the names occurs twice.
    #[inline(never)]
    pub fn pick(&mut self, names: Names<'_>, picked: &mut [Option<Raw<'a>>]) -> Result<Raw<'a>, Unreadable> {
        self.peek();
        let start = self.at;
        self.pick_members(names, picked)?;
        self.since(start)
    }

    fn pick_members(&mut self, names: Names<'_>, picked: &mut [Option<Raw<'a>>]) -> Result<(), Unreadable> {
        let mut is_first = true;
        // Where the name is looked for first: behind the last one that was found.
        let mut expected = 0_usize;
        self.open(b'{')?;
        while let Some(key) = self.key(&mut is_first)? {
            let at = key.place_in(names.own, expected);
            expected = at.map_or(expected, |at| at.wrapping_add(1));
            if at.is_none() && !names.within.is_empty() && self.next() == Some(b'{') {
                // The places of inner members follow those of the object's own members.
                let mut place = names.own.len();
                let mut within = names.within.iter();
                let found = within.find(|(outer, inner)| {
                    let is_it = key.is(outer);
                    place = if is_it { place } else { place.wrapping_add(inner.len()) };
                    is_it
                });
                if let Some((_, own)) = found {
                    self.pick_members(
                        Names { own, within: &[] },
                        picked.get_mut(place..).unwrap_or_default(),
                    )?;
                    continue;
                }
            }
            let value = self.raw()?;
            let Some(at) = at.filter(|_| !value.is_null()) else { continue };
            match picked.get_mut(at) {
                Some(place @ None) => *place = Some(value),
                _ => return Err(Unreadable::Shape),
            }
        }
        Ok(())
    }

    /// Returns an error unless only white space follows.
    pub fn end(&mut self) -> Result<(), Unreadable> {
        if self.peek().is_none() { Ok(()) } else { Err(Unreadable::NotJson) }
    }

    /// Skips white space and this byte, which must be next.
    #[inline]
    pub fn open(&mut self, bracket: u8) -> Result<(), Unreadable> {
        if self.peek() != Some(bracket) {
            return Err(Unreadable::Shape);
        }
        self.step();
        Ok(())
    }

    /// Reads the name of the next member and the colon. Returns `None` at the end of the object. `is_first` must be
    /// true before the first member.
    #[inline(never)]
    pub fn key(&mut self, is_first: &mut bool) -> Result<Option<Key<'a>>, Unreadable> {
        let bytes = self.text.as_bytes();
        let mut at = after_space(bytes, self.at);
        match bytes.get(at) {
            Some(b'}') => {
                self.at = at.wrapping_add(1);
                return Ok(None);
            }
            Some(b',') if !*is_first => at = after_space(bytes, at.wrapping_add(1)),
            _ if *is_first => *is_first = false,
            _ => return Err(Unreadable::NotJson),
        }
        if bytes.get(at) != Some(&b'"') {
            return Err(Unreadable::NotJson);
        }
        self.at = at;
        let escapes = self.skip_string()?;
        let inside = bytes.get(at.wrapping_add(1)..self.at.wrapping_sub(1)).ok_or(Unreadable::NotJson)?;
        // Mostly there is no white space around the colon.
        match bytes.get(self.at..) {
            Some([b':', next, ..]) if *next > b' ' => self.step(),
            _ => self.colon()?,
        }
        Ok(Some(Key { inside, escapes }))
    }

    /// Skips the comma before the next element of a list, or its closing bracket. Returns whether an element follows.
    /// `is_first` must be true before the first element.
    #[inline(never)]
    pub fn goes_on(&mut self, is_first: &mut bool) -> Result<bool, Unreadable> {
        let next = self.peek().ok_or(Unreadable::NotJson)?;
        if next == b']' {
            self.step();
            return Ok(false);
        }
        if std::mem::take(is_first) {
            return Ok(true);
        }
        if next != b',' {
            return Err(Unreadable::NotJson);
        }
        self.step();
        if self.peek() == Some(b']') { Err(Unreadable::NotJson) } else { Ok(true) }
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
