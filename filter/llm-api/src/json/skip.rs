//! Skipping: the part of the reader that goes over a value and, unless the text was checked before, checks it.

use super::{
    Escapes, Unreadable,
    reader::Reader,
    scan::{short_string_end, sound_string_end, string_end},
};

impl Reader<'_> {
    /// Skips the string whose opening quote is next. Returns whether it has escapes.
    #[inline]
    pub(super) fn skip_string(&mut self) -> Result<Escapes, Unreadable> {
        let inside = self.at.wrapping_add(1);
        let bytes = self.text.as_bytes();
        // Most strings are short and have no escapes.
        if let Some(end) = short_string_end(bytes, inside) {
            self.at = end;
            return Ok(Escapes::None);
        }
        let ends = if self.is_sound { sound_string_end(bytes, inside) } else { string_end(bytes, inside) };
        let (end, has_escapes) = ends.ok_or(Unreadable::NotJson)?;
        self.at = end;
        Ok(has_escapes.into())
    }

    /// Skips the number that is next.
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
        // A leading zero must not be followed by digits.
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
    pub(super) fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn is_next(&self, byte: u8) -> bool {
        self.next() == Some(byte)
    }

    /// Skips the value that is next, at any depth, without recursion.
    #[inline(never)]
    pub(super) fn skip(&mut self) -> Result<(), Unreadable> {
        if self.is_sound {
            return self.skip_sound();
        }
        // The position is a local variable, because there may be very many short values.
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        let mut open = Brackets::default();
        loop {
            at = after_space(bytes, at);
            at = match *bytes.get(at).ok_or(Unreadable::NotJson)? {
                b'"' => self.at_end(at, |reader| reader.skip_string().map(drop))?,
                b'0'..=b'9' if is_digit_alone(bytes, at) => at.wrapping_add(1),
                b'-' | b'0'..=b'9' => match integer_end(bytes, at) {
                    Some(end) => end,
                    None => self.at_end(at, Self::skip_number)?,
                },
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
                    // The last of them may be closed at once, so it is left to the code below.
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
                b't' | b'f' | b'n' => word_end(bytes, at).ok_or(Unreadable::NotJson)?,
                _ => return Err(Unreadable::NotJson),
            };
            // After a value, the containers around it may end too.
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

    /// Sets the position, calls `go_on`, and returns the new position.
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

    /// Skips the value that is next, in a text that was checked before.
    #[inline(never)]
    pub(super) fn skip_sound(&mut self) -> Result<(), Unreadable> {
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

    /// Skips the colon behind a name, and white space up to the value.
    #[inline]
    pub(super) fn colon(&mut self) -> Result<(), Unreadable> {
        let bytes = self.text.as_bytes();
        let at = after_space(bytes, self.at);
        if bytes.get(at) != Some(&b':') {
            return Err(Unreadable::NotJson);
        }
        self.at = after_space(bytes, at.wrapping_add(1));
        Ok(())
    }
}

/// The first position from `at` on that is not white space.
#[inline]
pub(super) fn after_space(bytes: &[u8], at: usize) -> usize {
    // Usually there is no white space.
    if bytes.get(at).is_some_and(|byte| *byte > b' ') { at } else { after_some_space(bytes, at) }
}

#[inline(never)]
fn after_some_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\t' | b'\r')) {
        at = at.wrapping_add(1);
    }
    at
}

/// The end of the number at `at`, if it is an integer with a comma or a bracket behind it, as most are.
#[inline]
fn integer_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_valid = digits == 1 || digits > 1 && rest.first() != Some(&b'0');
    (is_valid && matches!(rest.get(digits), Some(b',' | b']' | b'}'))).then(|| at.wrapping_add(digits))
}

/// The end of the `true`, `false` or `null` at `at`.
#[inline]
fn word_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    match rest.first_chunk()? {
        b"true" | b"null" => Some(at.wrapping_add(4)),
        b"fals" if rest.get(4) == Some(&b'e') => Some(at.wrapping_add(5)),
        _ => None,
    }
}

/// Whether the number at `at` is a single digit.
#[inline]
fn is_digit_alone(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at.wrapping_add(1)), Some(b',' | b']' | b'}'))
}

/// Whether `RUN` bytes of this value begin at `at`.
#[inline]
fn is_run(bytes: &[u8], at: usize, byte: u8) -> bool {
    let next = bytes.get(at..).and_then(|rest| rest.first_chunk::<RUN>());
    next.is_some_and(|next| *next == [byte; RUN])
}

/// Number of opening or closing brackets of lists that are skipped together.
const RUN: usize = 16;

/// The kinds of the open brackets: one bit each, true for an object.
#[derive(Default)]
struct Brackets {
    /// The innermost 64. The last one is the lowest bit.
    last: u64,
    depth: usize,
    /// The outer ones, 64 in each word.
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

    /// Pushes `RUN - 1` lists if the innermost word has room for them. Returns whether it has.
    fn push_lists(&mut self) -> bool {
        let used = self.depth % 64;
        let has_room = (used > 0 || self.depth == 0) && used <= 64 - RUN;
        if has_room {
            self.last <<= RUN - 1;
            self.depth = self.depth.wrapping_add(RUN - 1);
        }
        has_room
    }

    /// Pops `RUN` lists if the innermost brackets are lists in one word that keeps at least one more. Returns whether
    /// they are.
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
