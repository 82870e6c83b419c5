//! The outline of a request: where each message, user text, tool call and tool result stands in the body, so that they can
//! be cut, moved and made (`changes`), and calls and results be paired as the provider wants it (`pairing`). Where these
//! stand and how they are written is known to the dialects.
//!
//! What must not live here: why something is cut.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    conversation::Role,
    json::{self, Unreadable, span},
    members::{Fields, elements},
};

mod changes;
mod cutting;
mod pairing;
mod result;
mod strings;

pub use changes::Changes;
pub use cutting::{Counted, Cut};
pub use pairing::{MISSING, Repaired, repair};
pub use result::Outcome;

/// One request body, borrowed.
#[derive(Debug)]
pub struct Outline<'a> {
    /// The elements of the list of messages, oldest first; one where a text stands in the list's place.
    pub entries: Vec<Entry<'a>>,
    /// The provider keeps some of the history, so that what is here is no whole.
    pub is_part: bool,
    body: &'a str,
    list: Option<&'a RawValue>,
    form: &'static Form,
}

/// One message, or one item of a list in which a call, its result and a text are items of their own.
#[derive(Debug)]
pub struct Entry<'a> {
    pub role: Role,
    /// What a user says, as JSON strings. Empty for other roles.
    pub texts: Vec<&'a RawValue>,
    pub results: Vec<Outcome<'a>>,
    /// It holds something beside calls and results.
    pub is_spoken: bool,
    calls: Vec<MadeCall<'a>>,
    raw: &'a RawValue,
    /// A list or a string, where results stand in it.
    content: Option<&'a RawValue>,
    elements: Vec<&'a RawValue>,
    /// Bytes of images, sounds and files.
    media: usize,
}

/// A tool call in an entry.
#[derive(Debug)]
pub(crate) struct MadeCall<'a> {
    pub id: Option<&'a RawValue>,
    pub name: Cow<'a, str>,
    /// It takes plain text (OpenAI Responses), and so does its result.
    pub is_custom: bool,
}

/// Where the provider wants the results of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placing {
    /// As messages right behind the one with the calls.
    Behind,
    /// Within the user's message that follows.
    Within,
    /// As items anywhere behind the call.
    Anywhere,
}

/// What a dialect wants of calls and results, and how it writes them.
#[derive(Debug)]
pub(crate) struct Form {
    pub placing: Placing,
    /// An id names one call of the whole history, not of its message alone.
    pub has_unique_ids: bool,
    /// Results come before all else of their message.
    pub has_results_first: bool,
    /// The history may end with calls.
    pub may_end_open: bool,
    /// Only the number of results must be that of the calls, whatever their ids.
    pub is_counted: bool,
    /// A result of a call: id, name, whether it is a custom tool's, text.
    pub result: fn(&str, &str, bool, &str) -> String,
    /// A user's message of these elements.
    pub message: fn(&str) -> String,
    /// A text as an element of a message.
    pub text: fn(&str) -> String,
    /// A text in the place of what a result says.
    pub content: fn(&RawValue, &str) -> String,
}

impl<'a> Outline<'a> {
    pub(crate) fn new(
        body: &'a str,
        list: Option<&'a RawValue>,
        entries: Vec<Entry<'a>>,
        form: &'static Form,
    ) -> Self {
        Self { entries, is_part: false, body, list, form }
    }

    /// The same where the provider keeps something of the history.
    pub(crate) fn kept(mut self, is_part: bool) -> Self {
        self.is_part |= is_part;
        self
    }

    /// Of a list whose elements `read` understands.
    pub(crate) fn of_list(
        body: &'a str,
        list: &'a RawValue,
        form: &'static Form,
        read: fn(&'a RawValue) -> Result<Entry<'a>, Unreadable>,
    ) -> Result<Self, Unreadable> {
        if !list.get().starts_with('[') {
            return Err(Unreadable::Shape);
        }
        let elements = elements(list);
        let mut entries = Vec::with_capacity(elements.len());
        for element in elements {
            entries.push(read(element)?);
        }
        Ok(Self::new(body, Some(list), entries, form))
    }

    /// Of a text in the list's place.
    pub(crate) fn of_text(body: &'a str, text: &'a RawValue, form: &'static Form) -> Self {
        let mut entry = Entry::new(text, Role::User);
        entry.say(text);
        Self::new(body, None, vec![entry], form)
    }

    /// Whether messages can be cut and put in.
    pub fn is_list(&self) -> bool {
        self.list.is_some()
    }

    /// Bytes of the body beside the messages.
    pub fn around(&self) -> usize {
        self.body.len().saturating_sub(self.list.map_or(0, |list| list.get().len()))
    }
}

impl<'a> Entry<'a> {
    #[inline(never)]
    pub(crate) fn new(raw: &'a RawValue, role: Role) -> Self {
        Self {
            role,
            texts: Vec::new(),
            results: Vec::new(),
            is_spoken: false,
            calls: Vec::new(),
            raw,
            content: None,
            elements: Vec::new(),
            media: 0,
        }
    }

    /// Bytes, without images, sounds and files.
    pub fn size(&self) -> usize {
        self.raw.get().len().saturating_sub(self.media)
    }

    /// Where a user takes a turn of his own: not where he brings results.
    pub fn is_user_turn(&self) -> bool {
        self.role == Role::User && self.is_spoken && self.results.is_empty()
    }

    /// A text of this role. What is no string is something all the same.
    #[inline(never)]
    pub(crate) fn say(&mut self, text: &'a RawValue) {
        self.is_spoken = true;
        if self.role == Role::User && text.get().starts_with('"') {
            self.texts.push(text);
        }
    }

    /// An image, a sound or a file.
    pub(crate) fn show(&mut self, media: &'a RawValue) {
        self.is_spoken = true;
        self.media = self.media.saturating_add(media.get().len());
    }

    /// Something else.
    pub(crate) fn hold(&mut self) {
        self.is_spoken = true;
    }

    #[inline(never)]
    pub(crate) fn call(&mut self, call: MadeCall<'a>) {
        self.calls.push(call);
    }

    #[inline(never)]
    pub(crate) fn result(&mut self, result: Outcome<'a>) {
        self.results.push(result);
    }

    /// What somebody says: a text, a content, or a list of contents, of which those of the types `kinds` are text.
    pub(crate) fn said(&mut self, content: &'a RawValue, kinds: &[&str]) -> Result<(), Unreadable> {
        match content.get().as_bytes().first() {
            Some(b'"') => self.say(content),
            Some(b'{') => self.part(content, kinds)?,
            _ => elements(content).into_iter().try_for_each(|element| self.part(element, kinds))?,
        }
        Ok(())
    }

    fn part(&mut self, part: &'a RawValue, kinds: &[&str]) -> Result<(), Unreadable> {
        let fields = Fields::of(part)?;
        match fields.get("text").filter(|_| kinds.contains(&&*fields.text("type"))) {
            Some(text) => self.say(text),
            None => self.show(part),
        }
        Ok(())
    }

    /// The content, and its elements, each given to `read` with its number.
    pub(crate) fn each_element(
        &mut self,
        content: &'a RawValue,
        read: fn(&mut Self, usize, &'a RawValue) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        self.content = Some(content);
        self.elements = elements(content);
        for (at, element) in self.elements.clone().into_iter().enumerate() {
            read(self, at, element)?;
        }
        Ok(())
    }
}

impl MadeCall<'_> {
    /// Empty where it has none.
    #[inline(never)]
    fn id(&self) -> Cow<'_, str> {
        self.id.and_then(json::string).unwrap_or_default()
    }
}

/// Where a part of the body stands in it.
#[inline(never)]
fn place(body: &str, part: &RawValue) -> std::ops::Range<usize> {
    span(body, part).unwrap_or_default()
}
