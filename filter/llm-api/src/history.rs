//! The messages of a conversation, oldest first. A message's parts are read when somebody asks for them. Several passes ask for
//! the same message, and decoding a long text with many escapes is slow, so the parts of a long message are cached if enough of
//! them had to be decoded. The dialects know how to read an item (`format`).

use std::{
    cell::{Cell, OnceCell},
    ops::Range,
};

use crate::{
    conversation::{Part, Role, texts_of_media},
    format::{Format, Joint},
    item_part::{Finder, ItemCall, ItemPart, ItemResult},
    items::{Item, Items},
    json::{Raw, Unreadable},
};

/// Parts are cached if at least this much of them was decoded (bytes). Less is quickly read again.
const CACHED_FROM: usize = 1_024;
/// Parts are cached if at least this much was decoded for each part (bytes), so that the cache takes about as much memory as
/// the body.
const BYTES_A_PART: usize = 64;
/// Most parts of one message that are read one by one. The rest of the list is given as one text, as it stands in the body.
const MAX_PARTS: usize = 1_024;

/// The messages of a conversation.
pub struct History<'a> {
    items: Items<'a>,
    format: &'static Format,
    /// For each item, who speaks.
    roles: Vec<Role>,
    /// The items of each message. `None` if each item is a message.
    messages: Option<Vec<Range<usize>>>,
    /// The parts of each message, if they were read and are worth caching.
    cache: Box<[OnceCell<Box<ReadParts<'a>>>]>,
    /// Whether each message may hold calls or results, once somebody has asked.
    calls: Box<[OnceCell<bool>]>,
    /// A buffer for parts while they are read, before it is known whether they are cached.
    buffer: Cell<Vec<Part<'a>>>,
}

/// Texts in a message, as JSON: one value, or the last elements of a long list.
#[derive(Clone, Copy, Debug)]
pub enum Written<'a> {
    /// Payload by the message's role. The text of a document counts too.
    Text(&'a str),
    /// A tool result.
    Result(&'a str),
}

/// The parts of one message up to the first that cannot be read, and the error of that one.
struct ReadParts<'a> {
    parts: Vec<Part<'a>>,
    end: Result<(), Unreadable>,
}

impl<'a> History<'a> {
    pub(crate) fn of(items: Items<'a>, format: &'static Format) -> Result<Self, Unreadable> {
        let role = |item: Item<'_, '_>| {
            // A string instead of a list of messages is a message of the user.
            if item.raw.is_string() { Ok(Role::User) } else { (format.role)(item) }
        };
        let roles = items.iter().map(role).collect::<Result<Vec<_>, _>>()?;
        let messages = format.joint.map(|joint| messages(&items, &roles, joint));
        let length = messages.as_ref().map_or(items.len(), Vec::len);
        let cache = std::iter::repeat_with(OnceCell::new).take(length).collect();
        let calls = std::iter::repeat_with(OnceCell::new).take(length).collect();
        Ok(Self { items, format, roles, messages, cache, calls, buffer: Cell::default() })
    }

    /// Number of messages.
    pub fn len(&self) -> usize {
        self.cache.len()
    }

    /// Whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.cache.is_empty()
    }

    /// Who speaks; `Role::Other` beyond the end.
    pub fn role(&self, at: usize) -> Role {
        self.roles.get(self.items_of(at).start).copied().unwrap_or(Role::Other)
    }

    /// The content as it stands in the body, where it is one JSON value.
    pub fn content(&self, at: usize) -> Option<Raw<'a>> {
        let first = self.items.get(self.items_of(at).start)?;
        if first.raw.is_string() { Some(first.raw) } else { (self.format.content)(first) }
    }

    /// Whether the message may hold calls or results. If this is false, it holds none. Cheaper than reading its parts.
    pub fn has_calls(&self, at: usize) -> bool {
        let find = || self.items_of(at).any(|item| self.items.get(item).is_some_and(self.format.has_calls));
        self.calls.get(at).is_some_and(|known| *known.get_or_init(find))
    }

    /// Whether the message is one call alone, of a dialect where calls are items of their own.
    pub fn is_lone_call(&self, at: usize) -> bool {
        let is_lone = self.messages.is_some() && self.items_of(at).count() == 1;
        is_lone && self.role(at) == Role::Assistant && self.has_calls(at)
    }

    /// Gives the parts of a message to `visit`, in order. Returns an error when a text cannot be read, unless the model wrote it.
    pub fn parts<'h>(&'h self, at: usize, visit: &mut dyn FnMut(Part<'h>)) -> Result<(), Unreadable> {
        let is_long = self.content(at).is_some_and(|content| content.get().len() >= CACHED_FROM);
        let Some(cached) = self.cache.get(at).filter(|_| is_long) else {
            return self.read(at, &mut |part| visit(part));
        };
        if cached.get().is_none() {
            let mut parts = self.buffer.take();
            let end = self.read(at, &mut |part| parts.push(part));
            if !is_worth_caching(&parts) {
                parts.drain(..).for_each(visit);
                self.buffer.set(parts);
                return end;
            }
            parts.shrink_to_fit();
            // It was empty, so this cannot fail.
            let _ = cached.set(Box::new(ReadParts { parts, end }));
        }
        let Some(read) = cached.get() else { return Ok(()) };
        read.parts.iter().map(Part::borrowed).for_each(visit);
        read.end
    }

    /// Gives `visit` all texts of a message that are to be searched, as they stand in the body and not decoded. Of an answer,
    /// only what is not the model's. Returns an error when a part cannot be read.
    pub fn written(&self, at: usize, visit: &mut dyn FnMut(Written<'a>)) -> Result<(), Unreadable> {
        let is_answer = self.role(at) == Role::Assistant;
        let is_read = |at: &usize| !is_answer || self.roles.get(*at) == Some(&Role::Other);
        for item in self.items_of(at).filter(is_read).filter_map(|at| self.items.get(at)) {
            let (mut end, mut has_result) = (Ok(()), false);
            let mut give = |element: Option<usize>, found: ItemPart<'a>| match found {
                ItemPart::Text(raw) if !raw.is_string() => end = Err(Unreadable::Shape),
                ItemPart::Text(raw) => visit(Written::Text(raw.get())),
                // What is in the rest of a long list is not read element by element.
                ItemPart::Rest(rest) => {
                    visit(Written::Text(rest));
                    visit(Written::Result(rest));
                }
                // Only a provider may know what it is: a text, or a result of a tool.
                ItemPart::Other(raw) => {
                    visit(Written::Text(raw.get()));
                    visit(Written::Result(raw.get()));
                }
                // For a picture in a list, `Around` has everything that is said.
                ItemPart::Media(_) if element.is_none() => {
                    texts_of_media(item.raw.get(), &mut |text| visit(Written::Text(text)));
                }
                ItemPart::Around(raw) => texts_of_media(raw.get(), &mut |text| {
                    visit(if has_result { Written::Result(text) } else { Written::Text(text) });
                }),
                // The model did not write it: calls of the model are not asked for here.
                ItemPart::Call(ItemCall { arguments: Some(given), .. }) => visit(Written::Text(given.get())),
                ItemPart::Result(ItemResult { content: Some(content), .. }) => {
                    has_result = true;
                    visit(Written::Result(content.get()));
                }
                _ => {}
            };
            find(item, self.format, &mut Finder::new(MAX_PARTS, &mut give))?;
            end?;
        }
        Ok(())
    }

    /// All items, with who speaks.
    pub(crate) fn items(&self) -> impl Iterator<Item = (Item<'_, 'a>, Role)> {
        self.items.iter().zip(self.roles.iter().copied())
    }

    /// The last item.
    pub(crate) fn last_item(&self) -> Option<(Item<'_, 'a>, Role)> {
        Some((self.items.get(self.items.len().checked_sub(1)?)?, *self.roles.last()?))
    }

    fn items_of(&self, at: usize) -> Range<usize> {
        match &self.messages {
            Some(messages) => messages.get(at).cloned().unwrap_or(usize::MAX..usize::MAX),
            None => at..at.saturating_add(1),
        }
    }

    fn read(&self, at: usize, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
        for at in self.items_of(at) {
            let (Some(item), Some(role)) = (self.items.get(at), self.roles.get(at)) else { continue };
            let mut end = Ok(());
            let mut give = |_, found: ItemPart<'a>| match found.part() {
                Some(Ok(part)) => visit(part),
                Some(Err(error)) => end = Err(error),
                None => {}
            };
            let found = find(item, self.format, &mut Finder::new(MAX_PARTS, &mut give));
            // A fault in what the model wrote must not make the whole request unreadable.
            if !matches!(role, Role::Assistant | Role::Other) {
                found.and(end)?;
            }
        }
        Ok(())
    }
}

/// Gives everything in an item to `finder`.
pub(crate) fn find<'a>(
    item: Item<'_, 'a>,
    format: &Format,
    finder: &mut Finder<'_, 'a>,
) -> Result<(), Unreadable> {
    if item.raw.is_string() {
        finder.give(ItemPart::Text(item.raw));
        return Ok(());
    }
    (format.find)(item, finder)
}

/// The items of each message. The model's calls and texts are one message as long as no result and no user text comes between
/// them. Reasoning and instructions do not end a message. A text directly after a text begins a new one.
fn messages(items: &Items<'_>, roles: &[Role], joint: fn(Item<'_, '_>) -> Joint) -> Vec<Range<usize>> {
    let mut messages: Vec<Range<usize>> = Vec::with_capacity(items.len());
    let (mut message, mut before) = (Role::Other, Joint::Closed);
    for (at, (item, role)) in (0_usize..).zip(items.iter().zip(roles)) {
        let here = if item.raw.is_string() { Joint::Text } else { joint(item) };
        let continues = match (message, before) {
            (_, Joint::Closed) => false,
            (Role::Assistant, before) => {
                matches!(role, Role::Assistant | Role::Other) && (here, before) != (Joint::Text, Joint::Text)
            }
            (Role::User, Joint::Fragment) => here == Joint::Fragment,
            _ => false,
        };
        before = here;
        match messages.last_mut().filter(|_| continues) {
            Some(items) => items.end = at.saturating_add(1),
            None => {
                messages.push(at..at.saturating_add(1));
                message = *role;
            }
        }
    }
    messages
}

fn is_worth_caching(parts: &[Part<'_>]) -> bool {
    let decoded = parts.iter().map(Part::decoded).fold(0, usize::saturating_add);
    decoded >= CACHED_FROM.max(parts.len().saturating_mul(BYTES_A_PART))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{conversation::Conversation, registry};

    fn read(body: &str) -> Conversation<'_> {
        registry::read(registry::by_label("openai_chat").unwrap(), body.as_bytes()).unwrap()
    }

    #[test]
    fn decoded_parts_are_cached_and_the_same_each_time() {
        let part = |text: &str| format!(r#"{{"type":"text","text":{text:?}}}"#);
        let escapes = part(&"\n".repeat(2_000));
        let broken = format!("{},{}", part(&"\t".repeat(2_000)), r#"{"type":"text","text":7}"#);
        let plain = part(&"a".repeat(4_000));
        let wide = vec![part("\n"); 1_000].join(",");
        let contents = [escapes, broken, plain, part("\n"), wide];
        let messages =
            contents.map(|content| format!(r#"{{"role":"user","content":[{content}]}}"#)).join(",");
        let body = format!(r#"{{"messages":[{messages}]}}"#);
        let history = &read(&body).history;
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
        // The plain and the short message are cheap to read again, and the wide one would take too much memory.
        let cached: Vec<bool> = history.cache.iter().map(|parts| parts.get().is_some()).collect();
        assert_eq!(cached, [true, true, false, false, false]);
    }
}
