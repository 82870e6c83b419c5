//! Requests: `contents` of the roles user and model, and `systemInstruction`. Both spellings of a name are read, as
//! the provider does.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    dialect::{
        history::{Scan, Walk},
        reading::{BodyIds, Reading, Tail, count},
    },
    json::{self, Splice, Unreadable},
    prompt::digest,
    step::arguments,
};

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    contents: Vec<Content<'a>>,
    #[serde(borrow, default)]
    labels: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    parts: Option<&'a RawValue>,
}

impl Content<'_> {
    fn is_user(&self) -> bool {
        matches!(self.role.as_ref(), "" | "user")
    }
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "function_call", rename = "functionCall")]
    function_call: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "function_response", rename = "functionResponse")]
    function_response: Option<&'a RawValue>,
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

pub fn read(body: &str, scan: Scan) -> Result<Reading<'_>, Unreadable> {
    let request: Request = serde_json::from_str(body)?;
    let contents = &request.contents;
    let is_turn = |content: &Content<'_>| content.role == "model";
    let walk = Walk::over(contents, scan, is_turn, |_| false, |walk, content| step(walk, content, scan))?;
    let tail = match contents.last() {
        Some(content @ Content { parts: Some(parts), .. })
            if content.is_user() && !walk.ends_with_observation =>
        {
            tail(parts)?
        }
        _ => Tail::Other,
    };
    let has_history = contents.iter().any(|content| content.role == "model");
    let first_user = contents.iter().find(|content| content.is_user());
    let head = first_user.and_then(|content| content.parts).map(|parts| digest(parts.get().as_bytes()));
    Ok(Reading {
        turns: count(contents.len()),
        run: head.filter(|_| has_history),
        tail,
        turns_alone: walk.turns,
        done: walk.done(),
        steps: walk.steps.finish(),
        ids: BodyIds { metadata: request.labels, ..BodyIds::default() },
        ..Reading::default()
    })
}

fn step(walk: &mut Walk, content: &Content<'_>, scan: Scan) -> Result<(), Unreadable> {
    let Some(raw) = content.parts else { return Ok(()) };
    let parts: Vec<Part> = serde_json::from_str(raw.get())?;
    if content.role == "model" {
        walk.turn();
        let calls: Vec<Function> = parts.iter().filter_map(|part| function(part.function_call)).collect();
        if calls.is_empty() {
            walk.text(&text_of(&parts)?, scan);
        }
        for call in calls {
            let id = call.id.and_then(json::string).unwrap_or_default();
            walk.steps.call(&id, &call.name, &arguments(call.args));
        }
        return Ok(());
    }
    for response in parts.iter().filter_map(|part| function(part.function_response)) {
        match response.id.and_then(json::string) {
            Some(id) => walk.steps.result(&id, response.response, false),
            None => walk.steps.result_of_tool(&response.name, response.response),
        }
    }
    walk.tail(tail(raw)?);
    Ok(())
}

fn function(raw: Option<&RawValue>) -> Option<Function<'_>> {
    json::object(raw?).ok()
}

/// Into the last function's response: as one more member, so that the number of parts stays what it was.
pub fn hint_in_result(body: &str, text: &str) -> Result<Splice, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        contents: Vec<&'a RawValue>,
    }
    let outer: Outer = serde_json::from_str(body)?;
    let content: Content = json::object(outer.contents.last().ok_or(Unreadable::Shape)?)?;
    let parts: Vec<&RawValue> = serde_json::from_str(content.parts.ok_or(Unreadable::Shape)?.get())?;
    let last: Part = json::object(parts.last().ok_or(Unreadable::Shape)?)?;
    if let Some(response) = function(last.function_response).and_then(|function| function.response) {
        return json::insert_key_into(body, response, "sentinel_hint", &json::quoted(text));
    }
    json::extend_string(body, last.text.ok_or(Unreadable::Shape)?, text)
}

fn text_of(parts: &[Part<'_>]) -> Result<String, Unreadable> {
    let mut texts = Vec::new();
    for text in parts.iter().filter_map(|part| part.text) {
        texts.push(json::string(text).ok_or(Unreadable::Shape)?);
    }
    Ok(texts.join("\n"))
}

fn tail(parts: &RawValue) -> Result<Tail, Unreadable> {
    let parts: Vec<Part> = serde_json::from_str(parts.get())?;
    let has_results = parts.iter().any(|part| part.function_response.is_some());
    let text = text_of(&parts)?;
    Ok(match (has_results, text.is_empty()) {
        (false, _) => Tail::Prompt(text),
        (true, false) => Tail::Aside(text),
        (true, true) => Tail::Other,
    })
}

/// One more part at the end of `systemInstruction`.
pub fn hint(body: &str, text: &str) -> Result<Splice, Unreadable> {
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
    let outer: Outer = serde_json::from_str(body)?;
    let Some(raw) = outer.instruction else {
        return json::insert_key(body, "systemInstruction", &whole);
    };
    if raw.get() == "null" {
        return json::replace(body, raw, whole);
    }
    let instruction: Instruction = json::object(raw)?;
    match instruction.parts {
        None => json::insert_key_into(body, raw, "parts", &format!("[{part}]")),
        Some(parts) if parts.get() == "null" => json::replace(body, parts, format!("[{part}]")),
        // The provider reads a lone part as a list of one.
        Some(parts) if parts.get().starts_with('{') => {
            json::replace(body, parts, format!("[{},{part}]", parts.get()))
        }
        Some(parts) => json::append(body, parts, &part),
    }
}
