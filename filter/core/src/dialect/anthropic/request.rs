//! Requests: `messages` of the roles user and assistant, and `system`, a string or a list of blocks.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    dialect::reading::{BodyIds, Reading, Tail, content_text, count, model, parts},
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
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

pub fn read(body: &str) -> Result<Reading<'_>, Unreadable> {
    let request: Request = serde_json::from_str(body)?;
    let messages = &request.messages;
    let tail = match messages.last() {
        Some(Message { role, content: Some(content) }) if role == "user" => tail(content)?,
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
