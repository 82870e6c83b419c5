//! Requests: `contents` of the roles user and model, and `systemInstruction`. Both spellings of a name are read, as
//! the provider does.

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
struct Request<'a> {
    #[serde(borrow)]
    contents: Messages<Content<'a>>,
    #[serde(borrow, default)]
    labels: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "system_instruction", rename = "systemInstruction")]
    instruction: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    parts: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawPart<'a> {
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "function_call", rename = "functionCall")]
    function_call: Option<Function<'a>>,
    #[serde(borrow, default, alias = "function_response", rename = "functionResponse")]
    function_response: Option<Function<'a>>,
    #[serde(borrow, default, alias = "inline_data", rename = "inlineData")]
    inline_data: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "file_data", rename = "fileData")]
    file_data: Option<&'a RawValue>,
}

/// A call or a response: older ones have no id and are paired by name.
#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
}

pub fn read(body: &str) -> Result<Conversation<'_>, Unreadable> {
    let request: Request = json::read(body)?;
    Ok(Conversation {
        // The path names the model and the form of the answer.
        model: Cow::Borrowed(""),
        stream: false,
        include_usage: false,
        instructions: request.instruction,
        history: History::of(request.contents),
        kept: None,
        ids: BodyIds { metadata: request.labels, ..BodyIds::default() },
    })
}

impl<'a> MessageList<'a> for Messages<Content<'a>> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn role(&self, at: usize) -> Role {
        match self.0.get(at).map(|content| content.role.as_ref()) {
            Some("" | "user") => Role::User,
            Some("model") => Role::Assistant,
            Some("function") => Role::Tool,
            _ => Role::Other,
        }
    }

    fn content(&self, at: usize) -> Option<&'a RawValue> {
        self.0.get(at)?.parts
    }

    fn has_calls(&self, at: usize) -> bool {
        const KEYS: [&str; 4] = ["unctionCall", "unctionResponse", "function_call", "function_response"];
        self.content(at).is_some_and(|content| KEYS.iter().any(|key| content.get().contains(key)))
    }

    fn parts(&self, at: usize, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
        let Some(raw) = self.content(at) else { return Ok(()) };
        each_part(raw, visit, &mut |part: RawPart<'a>, visit| {
            if let Some(text) = part.text {
                visit(Part::Text(json::text(text).ok_or(Unreadable::Shape)?));
            }
            let media = [part.inline_data, part.file_data];
            media.into_iter().flatten().for_each(|media| visit(Part::Media(media)));
            if let Some(call) = part.function_call {
                let id = call.id.and_then(json::string).unwrap_or_default();
                visit(Part::Call(Call { id, name: call.name, arguments: arguments(call.args) }));
            }
            if let Some(response) = part.function_response {
                let id = response.id.and_then(json::string);
                let of = id.map_or(CallRef::Tool(response.name), CallRef::Id);
                visit(Part::Result(ToolResult { of, content: response.response, is_error: false }));
            }
            Ok(())
        })
    }
}

/// Into the last function's response: as one more member, so that the number of parts stays what it was.
pub fn hint_in_result(body: &str, text: &str) -> Result<Edit, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        contents: Vec<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    let content: Content = json::object(outer.contents.last().ok_or(Unreadable::Shape)?)?;
    let parts: Vec<&RawValue> = json::read(content.parts.ok_or(Unreadable::Shape)?.get())?;
    let last: RawPart = json::object(parts.last().ok_or(Unreadable::Shape)?)?;
    if let Some(response) = last.function_response.and_then(|function| function.response) {
        return edit::insert_key_into(body, response, "sentinel_hint", &json::quoted(text));
    }
    edit::extend_string(body, last.text.ok_or(Unreadable::Shape)?, text)
}

/// One more part at the end of `systemInstruction`.
pub fn hint(body: &str, text: &str) -> Result<Edit, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(
            borrow,
            default,
            rename = "systemInstruction",
            alias = "system_instruction",
            deserialize_with = "json::present"
        )]
        instruction: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Instruction<'a> {
        #[serde(borrow, default, deserialize_with = "json::present")]
        parts: Option<&'a RawValue>,
    }
    let part = format!(r#"{{"text":{}}}"#, json::quoted(text));
    let whole = format!(r#"{{"parts":[{part}]}}"#);
    let outer: Outer = json::read(body)?;
    let Some(raw) = outer.instruction else {
        return edit::insert_key(body, "systemInstruction", &whole);
    };
    if raw.get() == "null" {
        return edit::replace(body, raw, whole);
    }
    let instruction: Instruction = json::object(raw)?;
    match instruction.parts {
        None => edit::insert_key_into(body, raw, "parts", &format!("[{part}]")),
        Some(parts) if parts.get() == "null" => edit::replace(body, parts, format!("[{part}]")),
        // The provider reads a lone part as a list of one.
        Some(parts) if parts.get().starts_with('{') => {
            edit::replace(body, parts, format!("[{},{part}]", parts.get()))
        }
        Some(parts) => edit::append(body, parts, &part),
    }
}
