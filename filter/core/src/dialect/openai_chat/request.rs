//! Requests: `messages` with `role` and `content`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    config::HintPosition,
    dialect::reading::{BodyIds, Reading, Tail, content_text, count, model},
    json::{self, Splice, Unreadable},
    prompt::digest,
};

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
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
}

impl Message<'_> {
    fn is_instruction(&self) -> bool {
        matches!(self.role.as_ref(), "system" | "developer")
    }
}

pub fn read(body: &str) -> Result<Reading<'_>, Unreadable> {
    #[derive(Default, Deserialize)]
    struct StreamOptions {
        #[serde(default)]
        include_usage: bool,
    }
    let request: Request = serde_json::from_str(body)?;
    let messages = &request.messages;
    let tail = match messages.iter().rev().find(|message| !message.is_instruction()) {
        Some(Message { role, content: Some(content) }) if role == "user" => {
            Tail::Prompt(content_text(content, &["text"]).ok_or(Unreadable::Shape)?)
        }
        _ => Tail::Other,
    };
    let has_history = messages.iter().any(|message| message.role == "assistant");
    let first_user = messages.iter().find(|message| message.role == "user");
    let head = first_user.and_then(|message| message.content).map(|content| digest(content.get().as_bytes()));
    Ok(Reading {
        model: model(request.model),
        stream: json::is_true(request.stream),
        include_usage: request
            .stream_options
            .and_then(json::parsed::<StreamOptions>)
            .is_some_and(|options| options.include_usage),
        turns: count(messages.len()),
        run: head.filter(|_| has_history),
        tail,
        ids: BodyIds {
            user: request.user,
            safety_identifier: request.safety_identifier,
            metadata: request.metadata,
        },
    })
}

/// A system message, before or after all others.
pub fn hint(body: &str, text: &str, position: HintPosition) -> Result<Splice, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        messages: &'a RawValue,
    }
    let outer: Outer = serde_json::from_str(body)?;
    let message = format!(r#"{{"role":"system","content":{}}}"#, json::quoted(text));
    match position {
        HintPosition::Start => json::prepend(body, outer.messages, &message),
        HintPosition::End => json::append(body, outer.messages, &message),
    }
}
