//! Requests: `input`, a string or a list of items, and `instructions`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    dialect::reading::{BodyIds, Reading, Tail, content_text, count, model},
    json::{self, Splice, Unreadable},
    prompt::digest,
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
}

impl Item<'_> {
    fn is_message(&self) -> bool {
        matches!(self.kind.as_ref(), "" | "message")
    }

    fn is_user(&self) -> bool {
        self.is_message() && self.role == "user"
    }

    fn is_instruction(&self) -> bool {
        self.is_message() && matches!(self.role.as_ref(), "system" | "developer")
    }
}

pub fn read(body: &str) -> Result<Reading<'_>, Unreadable> {
    let request: Request = serde_json::from_str(body)?;
    let (turns, tail, head) = if request.input.get().starts_with('"') {
        let text = json::string(request.input).ok_or(Unreadable::Shape)?;
        (1, Tail::Prompt(text.into_owned()), None)
    } else {
        let items: Vec<Item> = serde_json::from_str(request.input.get()).map_err(Unreadable::from)?;
        let tail = match items.iter().rev().find(|item| !item.is_instruction()) {
            Some(item) if item.is_user() => match item.content {
                Some(content) => {
                    Tail::Prompt(content_text(content, &["input_text", "text"]).ok_or(Unreadable::Shape)?)
                }
                None => Tail::Other,
            },
            _ => Tail::Other,
        };
        let has_history = items.iter().any(|item| !item.is_user() && !item.is_instruction());
        let first_user = items.iter().find(|item| item.is_user()).and_then(|item| item.content);
        let head = first_user.map(|content| digest(content.get().as_bytes())).filter(|_| has_history);
        (count(items.len()), tail, head)
    };
    // A history that the provider keeps has its head there: a chain of `previous_response_id` names no run.
    let run = match (request.conversation, request.previous_response_id) {
        (Some(conversation), _) => Some(digest(conversation_id(conversation).as_bytes())),
        (None, Some(_)) => None,
        (None, None) => head,
    };
    Ok(Reading {
        model: model(request.model),
        stream: json::is_true(request.stream),
        include_usage: false,
        turns,
        run,
        tail,
        ids: BodyIds {
            user: request.user,
            safety_identifier: request.safety_identifier,
            metadata: request.metadata,
        },
    })
}

/// `conversation` is an id, or an object with an id.
fn conversation_id(raw: &RawValue) -> Cow<'_, str> {
    #[derive(Deserialize)]
    struct Object<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
    }
    match serde_json::from_str::<Object>(raw.get()) {
        Ok(object) => object.id,
        Err(_) => json::string(raw).unwrap_or(Cow::Borrowed(raw.get())),
    }
}

/// Into `instructions`: extended where there are some.
pub fn hint(body: &str, text: &str) -> Result<Splice, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow, default, deserialize_with = "json::present")]
        instructions: Option<&'a RawValue>,
    }
    let outer: Outer = serde_json::from_str(body)?;
    match outer.instructions {
        None => json::insert_key(body, "instructions", &json::quoted(text)),
        Some(raw) if raw.get() == "null" => json::replace(body, raw, json::quoted(text)),
        Some(raw) => json::extend_string(body, raw, text),
    }
}
