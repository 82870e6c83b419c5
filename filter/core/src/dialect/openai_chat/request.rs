//! Requests: `messages` with `role` and `content`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    config::HintPosition,
    dialect::{
        history::{Scan, Walk, is_word},
        reading::{BodyIds, Reading, Tail, content_text, count, model},
    },
    json::{self, Splice, Unreadable},
    prompt::digest,
    step::arguments,
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

impl Message<'_> {
    fn is_instruction(&self) -> bool {
        matches!(self.role.as_ref(), "system" | "developer")
    }
}

pub fn read(body: &str, scan: Scan) -> Result<Reading<'_>, Unreadable> {
    #[derive(Default, Deserialize)]
    struct StreamOptions {
        #[serde(default)]
        include_usage: bool,
    }
    let request: Request = serde_json::from_str(body)?;
    let messages = &request.messages;
    let walk = Walk::over(
        messages,
        scan,
        |message| message.role == "assistant",
        |message| message.role == "user" && is_word(message.content),
        |walk, message| step(walk, message, scan),
    )?;
    let tail = match messages.iter().rev().find(|message| !message.is_instruction()) {
        Some(Message { role, content: Some(content), .. })
            if role == "user" && !walk.ends_with_observation =>
        {
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
        remote: None,
        turns_alone: walk.turns,
        done: walk.done(),
        steps: walk.steps.finish(),
        ids: BodyIds {
            user: request.user,
            safety_identifier: request.safety_identifier,
            metadata: request.metadata,
        },
    })
}

fn step(walk: &mut Walk, message: &Message<'_>, scan: Scan) -> Result<(), Unreadable> {
    match message.role.as_ref() {
        "assistant" => {
            walk.turn();
            calls(message, walk, scan);
        }
        "tool" => {
            let id = message.tool_call_id.and_then(json::string).unwrap_or_default();
            walk.steps.result(&id, message.content, false);
        }
        "function" => {
            let name = message.name.and_then(json::string).unwrap_or_default();
            walk.steps.result_of_tool(&name, message.content);
        }
        "user" => {
            let text = message.content.map(|content| content_text(content, &["text"]));
            walk.user(&text.unwrap_or_default().ok_or(Unreadable::Shape)?);
        }
        _ => {}
    }
    Ok(())
}

fn calls(message: &Message<'_>, walk: &mut Walk, scan: Scan) {
    let calls = message.tool_calls.and_then(|raw| serde_json::from_str::<Vec<ToolCall>>(raw.get()).ok());
    let function = message.function_call.and_then(|raw| serde_json::from_str::<Function>(raw.get()).ok());
    for ToolCall { id, function } in calls.iter().flatten() {
        walk.steps.call(id, &function.name, &arguments(function.arguments));
    }
    if let Some(function) = &function {
        walk.steps.call("", &function.name, &arguments(function.arguments));
    }
    if calls.is_none()
        && function.is_none()
        && let Some(text) = message.content.and_then(|content| content_text(content, &["text"]))
    {
        walk.text(&text, scan);
    }
}

/// Into the last tool's result, where the model reads it with the result.
pub fn hint_in_result(body: &str, text: &str) -> Result<Splice, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        messages: Vec<&'a RawValue>,
    }
    let outer: Outer = serde_json::from_str(body)?;
    let last = outer.messages.last().ok_or(Unreadable::Shape)?;
    let message: Message = json::object(last)?;
    if !matches!(message.role.as_ref(), "tool" | "function" | "user") {
        return Err(Unreadable::Shape);
    }
    json::extend_text(body, message.content.ok_or(Unreadable::Shape)?, text, "text")
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
