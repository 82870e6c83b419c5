//! Requests: `messages` with `role` and `content`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    conversation::{
        BodyIds, Call, CallRef, Conversation, Messages, Part, Role, ToolResult, arguments, each_part, model,
        texts,
    },
    dialect::Position,
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
    stream_options: Option<&'a RawValue>,
    #[serde(borrow, default)]
    user: Option<&'a RawValue>,
    #[serde(borrow, default)]
    safety_identifier: Option<&'a RawValue>,
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow, default)]
    function_call: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    function: Function<'a>,
}

#[derive(Default, Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

pub fn read(body: &str) -> Result<Conversation<'_>, Unreadable> {
    #[derive(Default, Deserialize)]
    struct StreamOptions {
        #[serde(default)]
        include_usage: bool,
    }
    let request: Request = json::read(body)?;
    Ok(Conversation {
        model: model(request.model),
        stream: json::is_true(request.stream),
        include_usage: request
            .stream_options
            .and_then(json::parsed::<StreamOptions>)
            .is_some_and(|options| options.include_usage),
        // System messages stand among the others.
        instructions: None,
        history: History::of(request.messages),
        kept: None,
        ids: BodyIds {
            user: request.user,
            safety_identifier: request.safety_identifier,
            metadata: request.metadata,
        },
    })
}

impl<'a> MessageList<'a> for Messages<Message<'a>> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn role(&self, at: usize) -> Role {
        match self.0.get(at).map_or("", |message| message.role.as_ref()) {
            "system" | "developer" => Role::Instruction,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" | "function" => Role::Tool,
            _ => Role::Other,
        }
    }

    fn content(&self, at: usize) -> Option<&'a RawValue> {
        self.0.get(at)?.content
    }

    fn has_calls(&self, at: usize) -> bool {
        self.0.get(at).is_some_and(|message| {
            message.tool_calls.is_some()
                || message.function_call.is_some()
                || matches!(message.role.as_ref(), "tool" | "function")
        })
    }

    fn parts(&self, at: usize, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
        let Some(message) = self.0.get(at) else { return Ok(()) };
        let of = match message.role.as_ref() {
            "assistant" => {
                turn(message, visit);
                return Ok(());
            }
            "tool" => CallRef::Id(message.tool_call_id.and_then(json::string).unwrap_or_default()),
            "function" => CallRef::Tool(message.name.and_then(json::string).unwrap_or_default()),
            _ => return message.content.map_or(Ok(()), |content| texts(content, &["text"], visit)),
        };
        visit(Part::Result(ToolResult { of, content: message.content, is_error: false }));
        Ok(())
    }
}

/// What the model itself wrote must not make the rest unreadable.
fn turn<'a>(message: &Message<'a>, visit: &mut dyn FnMut(Part<'a>)) {
    if let Some(content) = message.content {
        let _ = texts(content, &["text"], visit);
    }
    let mut call = |call: ToolCall<'a>, visit: &mut dyn FnMut(Part<'a>)| {
        let ToolCall { id, function } = call;
        visit(Part::Call(Call { id, name: function.name, arguments: arguments(function.arguments) }));
        Ok(())
    };
    if let Some(calls) = message.tool_calls {
        // Calls behind those that are read are no texts.
        let mut visit = |part: Part<'a>| {
            if matches!(part, Part::Call(_)) {
                visit(part)
            }
        };
        let _ = each_part(calls, &mut visit, &mut call);
    }
    let function = message.function_call.and_then(|raw| json::read::<Function>(raw.get()).ok());
    if let Some(function) = function {
        let _ = call(ToolCall { id: Cow::Borrowed(""), function }, visit);
    }
}

/// Into the last tool's result, where the model reads it with the result.
pub fn hint_in_result(body: &str, text: &str) -> Result<Edit, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        messages: Vec<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    let last = outer.messages.last().ok_or(Unreadable::Shape)?;
    let message: Message = json::object(last)?;
    if !matches!(message.role.as_ref(), "tool" | "function" | "user") {
        return Err(Unreadable::Shape);
    }
    edit::extend_text(body, message.content.ok_or(Unreadable::Shape)?, text, "text")
}

/// A system message, before or after all others.
pub fn hint(body: &str, text: &str, position: Position) -> Result<Edit, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        messages: &'a RawValue,
    }
    let outer: Outer = json::read(body)?;
    let message = format!(r#"{{"role":"system","content":{}}}"#, json::quoted(text));
    match position {
        Position::Start => edit::prepend(body, outer.messages, &message),
        Position::End => edit::append(body, outer.messages, &message),
    }
}
