//! Requests: `messages` of the roles user and assistant, and `system`, a string or a list of blocks.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    dialect::{
        history::{Scan, Walk, is_word},
        reading::{BodyIds, Reading, Tail, content_text, count, model, parts},
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
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

/// A content block, as far as steps are concerned.
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
}

pub fn read(body: &str, scan: Scan) -> Result<Reading<'_>, Unreadable> {
    let request: Request = serde_json::from_str(body)?;
    let messages = &request.messages;
    let walk = Walk::over(
        messages,
        scan,
        |message| message.role == "assistant",
        |message| message.role == "user" && is_word(message.content),
        |walk, message| step(walk, message, scan),
    )?;
    let tail = match messages.last() {
        Some(Message { role, content: Some(content) }) if role == "user" && !walk.ends_with_observation => {
            tail(content)?
        }
        _ => Tail::Other,
    };
    let has_history = messages.iter().any(|message| message.role == "assistant");
    let first_user = messages.iter().find(|message| message.role == "user");
    let head = first_user.and_then(|message| message.content).map(|content| digest(content.get().as_bytes()));
    Ok(Reading {
        model: model(request.model),
        stream: json::is_true(request.stream),
        include_usage: false,
        turns: count(messages.len()),
        run: head.filter(|_| has_history),
        tail,
        remote: None,
        turns_alone: walk.turns,
        done: walk.done(),
        steps: walk.steps.finish(),
        // `metadata.user_id` is what the other dialects call `user`.
        ids: BodyIds { user: user_id(request.metadata), safety_identifier: None, metadata: request.metadata },
    })
}

fn user_id(metadata: Option<&RawValue>) -> Option<&RawValue> {
    #[derive(Deserialize)]
    struct Metadata<'a> {
        #[serde(borrow, default)]
        user_id: Option<&'a RawValue>,
    }
    serde_json::from_str::<Metadata>(metadata?.get()).ok()?.user_id
}

fn step(walk: &mut Walk, message: &Message<'_>, scan: Scan) -> Result<(), Unreadable> {
    let Some(content) = message.content else { return Ok(()) };
    let blocks: Vec<Block> = serde_json::from_str(content.get()).unwrap_or_default();
    if message.role == "assistant" {
        walk.turn();
        let mut calls = blocks.iter().filter(|block| block.kind == "tool_use").peekable();
        if calls.peek().is_none() {
            walk.text(&content_text(content, &["text"]).unwrap_or_default(), scan);
        }
        calls.for_each(|call| walk.steps.call(&call.id, &call.name, &arguments(call.input)));
    } else if message.role == "user" {
        for result in blocks.iter().filter(|block| block.kind == "tool_result") {
            walk.steps.result(&result.tool_use_id, result.content, json::is_true(result.is_error));
        }
        walk.tail(tail(content)?);
    }
    Ok(())
}

/// After the tool results of the last message.
pub fn hint_in_result(body: &str, text: &str) -> Result<Splice, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        messages: Vec<&'a RawValue>,
    }
    let outer: Outer = serde_json::from_str(body)?;
    let message: Message = json::object(outer.messages.last().ok_or(Unreadable::Shape)?)?;
    let content = message.content.filter(|_| message.role == "user");
    json::extend_text(body, content.ok_or(Unreadable::Shape)?, text, "text")
}

/// A text beside tool results is no prompt of its own.
fn tail(content: &RawValue) -> Result<Tail, Unreadable> {
    let text = content_text(content, &["text"]).ok_or(Unreadable::Shape)?;
    let has_results = content.get().starts_with('[')
        && parts(content).is_some_and(|parts| parts.iter().any(|part| part.is(&["tool_result"])));
    Ok(match (has_results, text.is_empty()) {
        (false, _) => Tail::Prompt(text),
        (true, false) => Tail::Aside(text),
        (true, true) => Tail::Other,
    })
}

/// Into `system`: a string is extended, a list of blocks gets one more at its end, after what the cache may hold.
pub fn hint(body: &str, text: &str) -> Result<Splice, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow, default, deserialize_with = "json::present")]
        system: Option<&'a RawValue>,
    }
    let outer: Outer = serde_json::from_str(body)?;
    match outer.system {
        None => json::insert_key(body, "system", &json::quoted(text)),
        Some(raw) if raw.get() == "null" => json::replace(body, raw, json::quoted(text)),
        Some(raw) if raw.get().starts_with('[') => {
            json::append(body, raw, &format!(r#"{{"type":"text","text":{}}}"#, json::quoted(text)))
        }
        Some(raw) => json::extend_string(body, raw, text),
    }
}
