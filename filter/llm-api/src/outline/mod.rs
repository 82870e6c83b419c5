//! The outline of a request: the places of all messages, user texts, tool calls and tool results in the body. It is
//! used to cut, move and insert them (`changes`) and to pair calls with results as the provider requires (`pairing`).
//! The dialects know where these stand and how they are written.
//!
//! What must not live here: why something is cut.

use std::borrow::Cow;

use crate::{
    conversation::{Conversation, Role},
    format::Format,
    history::find,
    item_part::{Finder, ItemCall, ItemPart, Tool},
    items::Item,
    json::{self, Raw, Unreadable, span},
};

mod changes;
mod cutting;
mod pairing;
mod result;
mod strings;

pub use changes::Changes;
pub use cutting::{Cut, MeasuredTexts};
pub use pairing::{MISSING, Repaired, repair};
pub use result::EntryResult;

/// One request body, borrowed.
#[derive(Debug)]
pub struct Outline<'a> {
    /// The elements of the list of messages, oldest first, or the one string in its place.
    pub entries: Vec<OutlineEntry<'a>>,
    /// The provider keeps a part of the history, so this is not all of it.
    pub is_part: bool,
    body: &'a str,
    list: Option<Raw<'a>>,
    form: &'static Form,
}

/// One message, or one item if calls, results and texts are items of their own.
#[derive(Debug)]
pub struct OutlineEntry<'a> {
    pub role: Role,
    /// The texts of a user, as JSON strings. Empty for other roles.
    pub texts: Vec<Raw<'a>>,
    pub results: Vec<EntryResult<'a>>,
    /// Whether it holds anything besides calls and results.
    pub is_spoken: bool,
    calls: Vec<ItemCall<'a>>,
    raw: Raw<'a>,
    /// The content, a list or a string, if results stand within it.
    content: Option<Raw<'a>>,
    elements: Vec<Raw<'a>>,
    /// Bytes of images, sounds and files.
    media: usize,
}

/// Where the provider requires the results of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placing {
    /// As messages directly behind the message with the calls.
    Behind,
    /// Within the user's message that follows.
    Within,
    /// As items anywhere behind the call.
    Anywhere,
}

/// What a dialect requires of calls and results, and how it writes them.
#[derive(Debug)]
pub(crate) struct Form {
    pub placing: Placing,
    /// Whether an id must be unique in the whole history, and not only in its message.
    pub has_unique_ids: bool,
    /// Whether results must come first in their message.
    pub has_results_first: bool,
    /// Whether the history may end with calls.
    pub may_end_open: bool,
    /// Whether only the numbers of calls and results must be equal, whatever their ids.
    pub is_counted: bool,
    /// Whether the provider accepts the item only in front of another item of the model.
    pub leads: fn(Raw<'_>) -> bool,
    /// Writes a result: the id and name of the call, whether it is a custom tool's, the text.
    pub result: fn(&str, &str, bool, &str) -> String,
    /// Writes a user's message with these elements.
    pub message: fn(&str) -> String,
    /// Writes a text as an element of a message.
    pub text: fn(&str) -> String,
    /// Writes a text that replaces the given content of a result.
    pub content: fn(Raw<'_>, &str) -> String,
}

impl<'a> Outline<'a> {
    /// Built from the items of a conversation.
    pub(crate) fn of(conversation: &Conversation<'a>, format: &'static Format) -> Result<Self, Unreadable> {
        let list = conversation.list.filter(|list| list.is_list());
        let mut outline = Self {
            entries: Vec::with_capacity(conversation.history.len()),
            is_part: conversation.is_part,
            body: conversation.body,
            list,
            form: &format.form,
        };
        if conversation.list.is_none() {
            return Err(Unreadable::Shape);
        }
        for (item, role) in conversation.history.items() {
            let entry = outline.entry(item, role, format)?;
            outline.entries.push(entry);
        }
        Ok(outline)
    }

    fn entry(
        &mut self,
        item: Item<'_, 'a>,
        role: Role,
        format: &Format,
    ) -> Result<OutlineEntry<'a>, Unreadable> {
        let mut entry = OutlineEntry::new(item.raw, role);
        if self.form.placing == Placing::Within
            && let Some(content) = (format.content)(item)
        {
            entry.content = Some(content);
            entry.elements = content.elements().collect();
        }
        let (form, mut is_part) = (self.form, false);
        let mut give = |element: Option<usize>, found: ItemPart<'a>| match found {
            ItemPart::Text(text) => entry.say(text),
            ItemPart::Media(media) => entry.show(media),
            ItemPart::Call(call) if role == Role::Assistant && call.tool != Tool::Other => {
                entry.calls.push(call)
            }
            ItemPart::Result(made) if matches!(role, Role::User | Role::Tool) && made.tool != Tool::Other => {
                let element = element.filter(|_| form.placing == Placing::Within);
                entry.results.push(EntryResult::new(element, made));
            }
            ItemPart::Reference => is_part = true,
            ItemPart::Around(_) => {}
            _ => entry.is_spoken = true,
        };
        let found = find(item, format, &mut Finder::new(usize::MAX, &mut give));
        self.is_part |= is_part;
        // A fault in what the model wrote must not make the whole request unreadable.
        if !matches!(role, Role::Assistant | Role::Other) {
            found?;
        }
        Ok(entry)
    }

    /// Whether messages can be cut and inserted.
    pub fn is_list(&self) -> bool {
        self.list.is_some()
    }

    /// Bytes of the body outside of the messages.
    pub fn around(&self) -> usize {
        self.body.len().saturating_sub(self.list.map_or(0, |list| list.get().len()))
    }
}

impl<'a> OutlineEntry<'a> {
    #[inline(never)]
    fn new(raw: Raw<'a>, role: Role) -> Self {
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

    /// Its size in bytes, without images, sounds and files.
    pub fn size(&self) -> usize {
        self.raw.get().len().saturating_sub(self.media)
    }

    /// Whether a user says something here besides returning results.
    pub fn is_user_turn(&self) -> bool {
        self.role == Role::User && self.is_spoken && self.results.is_empty()
    }

    /// Adds a text. A value that is not a string counts as something said, but not as a text.
    #[inline(never)]
    fn say(&mut self, text: Raw<'a>) {
        self.is_spoken = true;
        if self.role == Role::User && text.is_string() {
            self.texts.push(text);
        }
    }

    /// Adds an image, a sound or a file.
    fn show(&mut self, media: Raw<'a>) {
        self.is_spoken = true;
        self.media = self.media.saturating_add(media.get().len());
    }
}

impl ItemCall<'_> {
    /// Empty if it has no id.
    #[inline(never)]
    fn id(&self) -> Cow<'_, str> {
        json::name(self.id)
    }

    /// Whether it takes and returns plain text (OpenAI).
    fn is_custom(&self) -> bool {
        self.tool == Tool::Custom
    }
}

/// The place of a part of the body.
#[inline(never)]
fn place(body: &str, part: Raw<'_>) -> std::ops::Range<usize> {
    span(body, part).unwrap_or_default()
}
