//! Requests: `input`, a string or a list of items, and `instructions`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    conversation::{
        BodyIds, Call, CallRef, Conversation, Kept, Messages, Part, Role, ToolResult, arguments, model, texts,
    },
    edit::{self, Edit},
    history::History,
    json::{self, Unreadable},
    turns::{self, OneText, Turns},
};

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    input: &'a RawValue,
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stream: Option<&'a RawValue>,
    #[serde(borrow, default)]
    instructions: Option<&'a RawValue>,
    #[serde(borrow, default)]
    conversation: Option<&'a RawValue>,
    #[serde(borrow, default)]
    previous_response_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    user: Option<&'a RawValue>,
    #[serde(borrow, default)]
    safety_identifier: Option<&'a RawValue>,
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    call_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    action: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
}

impl Item<'_> {
    fn is_message(&self) -> bool {
        matches!(self.kind.as_ref(), "" | "message")
    }

    fn is_user(&self) -> bool {
        self.is_message() && self.role == "user"
    }

    fn is_call(&self) -> bool {
        self.kind.ends_with("_call")
    }

    fn is_output(&self) -> bool {
        self.kind.ends_with("_call_output")
    }
}

pub fn read(body: &str) -> Result<Conversation<'_>, Unreadable> {
    let request: Request = json::read(body)?;
    let history = if request.input.get().starts_with('"') {
        History::of(OneText(request.input))
    } else {
        History::of(Turns::of(json::read_raw::<Messages<Item>>(request.input)?.0))
    };
    let is_kept = request.conversation.is_some() || request.previous_response_id.is_some();
    Ok(Conversation {
        model: model(request.model),
        stream: json::is_true(request.stream),
        include_usage: false,
        instructions: request.instructions,
        history,
        kept: is_kept.then(|| Kept {
            thread: request.conversation.map(conversation_id),
            // Each response has an id of its own: a chain of them names no thread.
            follows: request.previous_response_id.and_then(json::string),
        }),
        ids: BodyIds {
            user: request.user,
            safety_identifier: request.safety_identifier,
            metadata: request.metadata,
        },
    })
}

impl<'a> turns::Item<'a> for Item<'a> {
    fn role(&self) -> Role {
        match self.role.as_ref() {
            _ if self.is_call() => Role::Assistant,
            _ if self.is_output() => Role::Tool,
            "user" if self.is_message() => Role::User,
            "assistant" if self.is_message() => Role::Assistant,
            "system" | "developer" if self.is_message() => Role::Instruction,
            _ => Role::Other,
        }
    }

    fn content(&self) -> Option<&'a RawValue> {
        self.content
    }

    fn has_calls(&self) -> bool {
        self.is_call() || self.is_output()
    }

    fn is_text(&self) -> bool {
        self.is_message()
    }

    fn parts(&self, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
        parts(self, visit)
    }
}

fn parts<'a>(item: &Item<'a>, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
    let id = || item.call_id.and_then(json::string).unwrap_or_default();
    let output = || Part::Result(ToolResult { of: CallRef::Id(id()), content: item.output, is_error: false });
    if item.is_call() {
        let name = item.name.and_then(json::string).unwrap_or_else(|| item.kind.clone());
        let given = item.arguments.or(item.input).or(item.action);
        visit(Part::Call(Call { id: id(), name, arguments: arguments(given) }));
        // Tools that the provider runs bring their output along.
        if item.output.is_some() {
            visit(output());
        }
    } else if item.is_output() {
        visit(output());
    } else if let Some(content) = item.content {
        if item.role == "assistant" {
            // What the model itself wrote must not make the rest unreadable.
            let _ = texts(content, &["output_text", "text"], visit);
        } else {
            texts(content, &["input_text", "text"], visit)?;
        }
    }
    Ok(())
}

/// Into the last tool's output, where the model reads it with the output.
pub fn hint_in_result(body: &str, text: &str) -> Result<Edit, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        input: Vec<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    let item: Item = json::object(outer.input.last().ok_or(Unreadable::Shape)?)?;
    let told = if item.is_output() {
        item.output
    } else if item.is_user() {
        item.content
    } else {
        None
    };
    edit::extend_text(body, told.ok_or(Unreadable::Shape)?, text, "input_text")
}

/// `conversation` is an id, or an object with an id.
fn conversation_id(raw: &RawValue) -> Cow<'_, str> {
    #[derive(Deserialize)]
    struct Object<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
    }
    match json::read::<Object>(raw.get()) {
        Ok(object) => object.id,
        Err(_) => json::string(raw).unwrap_or(Cow::Borrowed(raw.get())),
    }
}

/// Into `instructions`: extended where there are some.
pub fn hint(body: &str, text: &str) -> Result<Edit, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow, default, deserialize_with = "json::present")]
        instructions: Option<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    edit::extend_key(body, "instructions", outer.instructions, text)
}
