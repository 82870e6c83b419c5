//! Requests: `messages` of the roles user and assistant, whose content is a list of blocks told apart by their one key,
//! and `system`, a list of blocks.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    conversation::{
        BodyIds, Call, CallRef, Conversation, Messages, Part, Role, ToolResult, arguments, each_part,
    },
    edit::{self, Edit},
    history::{History, MessageList},
    json::{self, Unreadable},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(borrow)]
    messages: Messages<Message<'a>>,
    #[serde(borrow, default)]
    system: Option<&'a RawValue>,
    #[serde(borrow, default)]
    request_metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Block<'a> {
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use: Option<ToolUse<'a>>,
    #[serde(borrow, default)]
    tool_result: Option<Outcome<'a>>,
    #[serde(borrow, default)]
    image: Option<&'a RawValue>,
    #[serde(borrow, default)]
    document: Option<&'a RawValue>,
    #[serde(borrow, default)]
    video: Option<&'a RawValue>,
    #[serde(borrow, default)]
    audio: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolUse<'a> {
    #[serde(borrow, default)]
    tool_use_id: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    #[serde(borrow, default)]
    tool_use_id: Cow<'a, str>,
    /// A list of `{"text": ..}` and `{"json": ..}`.
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    status: Cow<'a, str>,
}

pub fn read(body: &str) -> Result<Conversation<'_>, Unreadable> {
    let request: Request = json::read(body)?;
    Ok(Conversation {
        // The path names the model and the form of the answer.
        model: Cow::Borrowed(""),
        stream: false,
        include_usage: false,
        instructions: request.system,
        history: History::of(request.messages),
        kept: None,
        ids: BodyIds { metadata: request.request_metadata, ..BodyIds::default() },
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
            _ => Role::Other,
        }
    }

    fn content(&self, at: usize) -> Option<&'a RawValue> {
        self.0.get(at)?.content
    }

    fn has_calls(&self, at: usize) -> bool {
        const KEYS: [&str; 2] = ["\"toolUse\"", "\"toolResult\""];
        self.content(at).is_some_and(|content| KEYS.iter().any(|key| content.get().contains(key)))
    }

    fn parts(&self, at: usize, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
        let Some(content) = self.content(at) else { return Ok(()) };
        let is_the_models = self.role(at) == Role::Assistant;
        each_part(content, visit, &mut |block: Block<'a>, visit| {
            if let Some(text) = block.text {
                match json::text(text) {
                    Some(text) => visit(Part::Text(text)),
                    // What the model itself wrote must not make the rest unreadable.
                    None if is_the_models => {}
                    None => return Err(Unreadable::Shape),
                }
            }
            let media = [block.image, block.document, block.video, block.audio];
            media.into_iter().flatten().for_each(|media| visit(Part::Media(media)));
            if let Some(call) = block.tool_use {
                let arguments = arguments(call.input);
                visit(Part::Call(Call { id: call.tool_use_id, name: call.name, arguments }));
            }
            if let Some(result) = block.tool_result {
                visit(Part::Result(ToolResult {
                    of: CallRef::Id(result.tool_use_id),
                    content: result.content,
                    is_error: result.status == "error",
                }));
            }
            Ok(())
        })
    }
}

/// One more block at the end of `system`.
pub fn hint(body: &str, text: &str) -> Result<Edit, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow, default, deserialize_with = "json::present")]
        system: Option<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    let block = format!(r#"{{"text":{}}}"#, json::quoted(text));
    match outer.system {
        None => edit::insert_key(body, "system", &format!("[{block}]")),
        Some(raw) if raw.get() == "null" => edit::replace(body, raw, format!("[{block}]")),
        Some(raw) => edit::append(body, raw, &block),
    }
}

/// One more block in the last tool result; where the last message ends with a text, after it.
pub fn hint_in_result(body: &str, text: &str) -> Result<Edit, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        messages: Vec<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    let message: Message = json::object(outer.messages.last().ok_or(Unreadable::Shape)?)?;
    let content = message.content.filter(|_| message.role == "user").ok_or(Unreadable::Shape)?;
    let blocks: Vec<&RawValue> = json::read(content.get())?;
    let last: Block = json::object(blocks.last().ok_or(Unreadable::Shape)?)?;
    match last.tool_result.and_then(|result| result.content) {
        Some(told) => edit::append(body, told, &format!(r#"{{"text":{}}}"#, json::quoted(text))),
        None => edit::extend_string(body, last.text.ok_or(Unreadable::Shape)?, text),
    }
}
