//! Requests: `input`, a string or a list of items, and `instructions`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    dialect::{
        history::{Scan, Walk, is_word},
        reading::{BodyIds, Reading, Tail, content_text, count, model},
    },
    json::{self, Splice, Unreadable},
    prompt::digest,
    remote::RemoteTail,
    step::{StrayResult, arguments},
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

    fn is_instruction(&self) -> bool {
        self.is_message() && matches!(self.role.as_ref(), "system" | "developer")
    }
}

pub fn read(body: &str, scan: Scan) -> Result<Reading<'_>, Unreadable> {
    let request: Request = serde_json::from_str(body)?;
    let mut walk = Walk::default();
    let is_remote = request.conversation.is_some() || request.previous_response_id.is_some();
    let mut remote = RemoteTail::default();
    let (turns, tail, head) = if request.input.get().starts_with('"') {
        let text = json::string(request.input).ok_or(Unreadable::Shape)?;
        (1, Tail::Prompt(text.into_owned()), None)
    } else {
        let items: Vec<Item> = serde_json::from_str(request.input.get()).map_err(Unreadable::from)?;
        walk = walk_over(&items, scan)?;
        if is_remote {
            remote = remote_tail(&items);
        }
        let tail = match items.iter().rev().find(|item| !item.is_instruction()) {
            Some(item) if item.is_user() && !walk.ends_with_observation => match item.content {
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
        remote: is_remote.then_some(RemoteTail {
            has_user_word: remote.has_user_word || matches!(tail, Tail::Prompt(_)),
            ..remote
        }),
        tail,
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

/// Reads the steps: calls that follow each other without an output between them are one turn.
fn walk_over(items: &[Item<'_>], scan: Scan) -> Result<Walk, Unreadable> {
    let mut in_turn = false;
    let is_user_word = |item: &Item<'_>| item.is_user() && is_word(item.content);
    Walk::over(items, scan, Item::is_call, is_user_word, |walk, item| step(walk, item, scan, &mut in_turn))
}

fn step(walk: &mut Walk, item: &Item<'_>, scan: Scan, in_turn: &mut bool) -> Result<(), Unreadable> {
    let id = item.call_id.and_then(json::string).unwrap_or_default();
    if item.is_call() {
        if !std::mem::replace(in_turn, true) {
            walk.turn();
        }
        let name = item.name.and_then(json::string).unwrap_or(Cow::Borrowed(item.kind.as_ref()));
        let given = item.arguments.or(item.input).or(item.action);
        walk.steps.call(&id, &name, &arguments(given));
        // Tools that the provider runs bring their output along.
        if item.output.is_some() {
            walk.steps.result(&id, item.output, false);
        }
    } else if item.is_output() {
        *in_turn = false;
        walk.steps.result(&id, item.output, false);
    } else if item.is_user() {
        *in_turn = false;
        let text = item.content.map(|content| content_text(content, &["input_text", "text"]));
        walk.user(&text.unwrap_or_default().ok_or(Unreadable::Shape)?);
    } else if item.is_message() && item.role == "assistant" {
        if !std::mem::replace(in_turn, true) {
            walk.turn();
        }
        let text = item.content.and_then(|content| content_text(content, &["output_text", "text"]));
        walk.text(&text.unwrap_or_default(), scan);
    }
    Ok(())
}

/// The outputs whose calls the provider keeps.
fn remote_tail(items: &[Item<'_>]) -> RemoteTail {
    let outputs = items.iter().filter(|item| item.is_output());
    let result = |item: &Item<'_>| {
        StrayResult::of(&item.call_id.and_then(json::string).unwrap_or_default(), item.output)
    };
    RemoteTail { results: outputs.map(result).collect(), has_user_word: items.iter().any(Item::is_user) }
}

/// Into the last tool's output, where the model reads it with the output.
pub fn hint_in_result(body: &str, text: &str) -> Result<Splice, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        input: Vec<&'a RawValue>,
    }
    let outer: Outer = serde_json::from_str(body)?;
    let item: Item = json::object(outer.input.last().ok_or(Unreadable::Shape)?)?;
    let told = if item.is_output() {
        item.output
    } else if item.is_user() {
        item.content
    } else {
        None
    };
    json::extend_text(body, told.ok_or(Unreadable::Shape)?, text, "input_text")
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
