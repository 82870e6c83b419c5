//! Requests: `messages` of the roles user and assistant, and `system`, a string or a list of blocks.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    conversation::{
        BodyIds, Call, CallRef, Conversation, Kept, Messages, Part, Role, ToolResult, arguments, each_part,
        model, texts,
    },
    edit::{self, Edit},
    history::{History, MessageList},
    json::{self, Unreadable},
};

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    messages: Messages<Message<'a>>,
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stream: Option<&'a RawValue>,
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow, default)]
    system: Option<&'a RawValue>,
    #[serde(borrow, default)]
    thread: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

/// A content block, as far as calls and results are concerned.
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_id: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    /// What an image or a document is made of.
    #[serde(borrow, default)]
    source: Option<&'a RawValue>,
}

pub fn read(body: &str) -> Result<Conversation<'_>, Unreadable> {
    let request: Request = json::read(body)?;
    Ok(Conversation {
        model: model(request.model),
        stream: json::is_true(request.stream),
        include_usage: false,
        instructions: request.system,
        history: History::of(request.messages),
        kept: kept(request.thread),
        // `metadata.user_id` is what the other dialects call `user`.
        ids: BodyIds { user: user_id(request.metadata), safety_identifier: None, metadata: request.metadata },
    })
}

impl<'a> MessageList<'a> for Messages<Message<'a>> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn role(&self, at: usize) -> Role {
        match self.0.get(at).map_or("", |message| message.role.as_ref()) {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::Instruction,
            _ => Role::Other,
        }
    }

    fn content(&self, at: usize) -> Option<&'a RawValue> {
        self.0.get(at)?.content
    }

    fn has_calls(&self, at: usize) -> bool {
        const KEYS: [&str; 2] = ["\"tool_use\"", "\"tool_result\""];
        self.content(at).is_some_and(|content| KEYS.iter().any(|key| content.get().contains(key)))
    }

    fn parts(&self, at: usize, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
        let Some(Message { role, content: Some(content) }) = self.0.get(at) else { return Ok(()) };
        let read = parts(content, visit);
        // What the model itself wrote must not make the rest unreadable.
        if role == "assistant" { Ok(()) } else { read }
    }
}

fn parts<'a>(content: &'a RawValue, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
    if content.get().starts_with('"') {
        return texts(content, &[], visit);
    }
    each_part(content, visit, &mut |block: Block<'a>, visit| {
        match block.kind.as_ref() {
            "text" => visit(Part::Text(block.text.and_then(json::text).ok_or(Unreadable::Shape)?)),
            "tool_use" => {
                visit(Part::Call(Call { id: block.id, name: block.name, arguments: arguments(block.input) }))
            }
            "tool_result" => visit(Part::Result(ToolResult {
                of: CallRef::Id(block.tool_use_id),
                content: block.content,
                is_error: json::is_true(block.is_error),
            })),
            _ => block.source.into_iter().for_each(|source| visit(Part::Media(source))),
        }
        Ok(())
    })
}

/// `thread` asks the provider to keep the conversation under the answer's id, or names the answer that this request follows.
fn kept(thread: Option<&RawValue>) -> Option<Kept<'_>> {
    #[derive(Deserialize)]
    struct Thread<'a> {
        #[serde(borrow, default)]
        previous_message_id: Option<&'a RawValue>,
    }
    let previous = json::object::<Thread>(thread?).ok()?.previous_message_id?;
    // Each answer has an id of its own: a chain of them names no thread.
    Some(Kept { thread: None, follows: json::string(previous) })
}

fn user_id(metadata: Option<&RawValue>) -> Option<&RawValue> {
    #[derive(Deserialize)]
    struct Metadata<'a> {
        #[serde(borrow, default)]
        user_id: Option<&'a RawValue>,
    }
    json::read::<Metadata>(metadata?.get()).ok()?.user_id
}

/// After the tool results of the last message.
pub fn hint_in_result(body: &str, text: &str) -> Result<Edit, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        messages: Vec<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    let message: Message = json::object(outer.messages.last().ok_or(Unreadable::Shape)?)?;
    // The provider takes no message without content: an empty list is no place for a block.
    let is_filled =
        |content: &&RawValue| content.get().chars().any(|c| !matches!(c, '[' | ']') && !c.is_whitespace());
    let content = message.content.filter(|_| message.role == "user").filter(is_filled);
    edit::extend_text(body, content.ok_or(Unreadable::Shape)?, text, "text")
}

/// Into `system`: a string is extended, a list of blocks gets one more at its end, after what the cache may hold. A thread has the
/// `system` that it began with and takes no other: there the hint goes behind what the user says.
pub fn hint(body: &str, text: &str) -> Result<Edit, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow, default, deserialize_with = "json::present")]
        system: Option<&'a RawValue>,
        #[serde(borrow, default)]
        thread: Option<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    if outer.thread.is_some() {
        return hint_in_result(body, text);
    }
    match outer.system {
        Some(raw) if raw.get().starts_with('[') => {
            edit::append(body, raw, &format!(r#"{{"type":"text","text":{}}}"#, json::quoted(text)))
        }
        system => edit::extend_key(body, "system", system, text),
    }
}
