//! The messages of a conversation. They are read one at a time and only where somebody asks. Of a message whose content is long,
//! the parts are kept where much was decoded: several passes ask for the same message, and a long text with many escapes is
//! slow to read. How a message is written is not known here, but by the dialects.

use std::cell::{Cell, OnceCell};

use serde_json::value::RawValue;

use crate::{
    conversation::{Part, Role},
    json::Unreadable,
};

/// The messages of a body as its dialect reads them, oldest first. What an assistant says in one turn is one message.
pub(crate) trait MessageList<'a> {
    /// Number of messages.
    fn len(&self) -> usize;

    /// Who speaks; `Role::Other` beyond the end.
    fn role(&self, at: usize) -> Role;

    /// The content as it stands in the body, where it is one JSON value.
    fn content(&self, at: usize) -> Option<&'a RawValue>;

    /// Whether the message may hold calls or results; false only where it surely holds none. Cheaper than its parts.
    fn has_calls(&self, at: usize) -> bool;

    /// Gives the parts of a message in their order. An error where a text that is not the model's own cannot be read.
    fn parts(&self, at: usize, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable>;
}

/// Parts are kept where so many bytes of them were decoded (bytes). Less is quickly read again.
const KEPT_FROM: usize = 1_024;
/// So many of these for each part: what is kept takes about as much memory as the body.
const BYTES_A_PART: usize = 64;

/// The messages of a conversation, oldest first.
pub struct History<'a> {
    messages: Box<dyn MessageList<'a> + 'a>,
    /// One place for each message.
    kept: Box<[OnceCell<Box<ReadParts<'a>>>]>,
    /// Room for parts of which it is not known yet whether they are kept.
    room: Cell<Vec<Part<'a>>>,
}

/// The parts of one message: those before the error, where there is one.
struct ReadParts<'a> {
    parts: Vec<Part<'a>>,
    end: Result<(), Unreadable>,
}

impl<'a> History<'a> {
    pub(crate) fn of(messages: impl MessageList<'a> + 'a) -> Self {
        let kept = std::iter::repeat_with(OnceCell::new).take(messages.len()).collect();
        Self { messages: Box::new(messages), kept, room: Cell::default() }
    }

    /// Number of messages.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Who speaks; `Role::Other` beyond the end.
    pub fn role(&self, at: usize) -> Role {
        self.messages.role(at)
    }

    /// The content as it stands in the body, where it is one JSON value.
    pub fn content(&self, at: usize) -> Option<&'a RawValue> {
        self.messages.content(at)
    }

    /// Whether the message may hold calls or results; false only where it surely holds none. Cheaper than its parts.
    pub fn has_calls(&self, at: usize) -> bool {
        self.messages.has_calls(at)
    }

    /// Gives the parts of a message in their order. An error where a text that is not the model's own cannot be read.
    pub fn parts<'h>(&'h self, at: usize, visit: &mut dyn FnMut(Part<'h>)) -> Result<(), Unreadable> {
        let is_long = self.content(at).is_some_and(|content| content.get().len() >= KEPT_FROM);
        let Some(kept) = self.kept.get(at).filter(|_| is_long) else {
            return self.messages.parts(at, &mut |part| visit(part));
        };
        if kept.get().is_none() {
            let mut parts = self.room.take();
            let end = self.messages.parts(at, &mut |part| parts.push(part));
            if !is_kept(&parts) {
                parts.drain(..).for_each(visit);
                self.room.set(parts);
                return end;
            }
            parts.shrink_to_fit();
            // It was empty.
            let _ = kept.set(Box::new(ReadParts { parts, end }));
        }
        let Some(read) = kept.get() else { return Ok(()) };
        read.parts.iter().map(Part::borrowed).for_each(visit);
        read.end
    }
}

fn is_kept(parts: &[Part<'_>]) -> bool {
    let decoded = parts.iter().map(Part::decoded).fold(0, usize::saturating_add);
    decoded >= KEPT_FROM.max(parts.len().saturating_mul(BYTES_A_PART))
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, rc::Rc};

    use super::*;
    use crate::json;

    /// Messages that are lists of texts; what is no string is an error. Notes which are read.
    struct Texts<'a>(Vec<&'a RawValue>, Rc<RefCell<Vec<usize>>>);

    impl<'a> MessageList<'a> for Texts<'a> {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn role(&self, _at: usize) -> Role {
            Role::User
        }

        fn content(&self, at: usize) -> Option<&'a RawValue> {
            self.0.get(at).copied()
        }

        fn has_calls(&self, _at: usize) -> bool {
            false
        }

        fn parts(&self, at: usize, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
            self.1.borrow_mut().push(at);
            let raw = self.content(at).ok_or(Unreadable::Shape)?;
            for part in json::read::<Vec<&RawValue>>(raw.get()).unwrap() {
                visit(Part::Text(json::string(part).ok_or(Unreadable::Shape)?));
            }
            Ok(())
        }
    }

    #[test]
    fn what_was_decoded_is_read_once_and_is_the_same_each_time() {
        let escapes = format!("[{:?}]", "\n".repeat(2_000));
        let broken = format!("[\"a\",{:?},7]", "\t".repeat(2_000));
        let plain = format!("[{:?}]", "a".repeat(4_000));
        let short = r#"["\n"]"#.to_owned();
        let wide = format!("[{:?}{}]", "\n".repeat(1_500), r#","\n""#.repeat(1_500));
        let bodies = [escapes, broken, plain, short, wide].map(|text| RawValue::from_string(text).unwrap());
        let read = Rc::new(RefCell::new(Vec::new()));
        let history = History::of(Texts(bodies.iter().map(|raw| &**raw).collect(), Rc::clone(&read)));
        let texts = |at: usize| {
            let mut texts = Vec::new();
            let end = history.parts(at, &mut |part| match part {
                Part::Text(text) => texts.push(text),
                other => panic!("{other:?}"),
            });
            (texts, end)
        };
        for at in 0..history.len() {
            let first = texts(at);
            assert_eq!(first, texts(at), "{at}");
            assert_eq!(first.1.is_err(), at == 1);
        }
        assert_eq!(texts(1).0.len(), 2, "what stands before the error");
        // The plain and the short one cost little, the wide one would take much memory.
        assert_eq!(*read.borrow(), [0, 1, 2, 2, 3, 3, 4, 4]);
    }
}
