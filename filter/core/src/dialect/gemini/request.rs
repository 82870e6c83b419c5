//! Requests: `contents` of the roles user and model, and `systemInstruction`. Both spellings of a name are read, as
//! the provider does.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    dialect::reading::{BodyIds, Reading, Tail, count},
    json::{self, Splice, Unreadable},
    prompt::digest,
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
    #[serde(borrow, default, alias = "function_response", rename = "functionResponse")]
    function_response: Option<&'a RawValue>,
}

pub fn read(body: &str) -> Result<Reading<'_>, Unreadable> {
    let request: Request = serde_json::from_str(body)?;
    let contents = &request.contents;
    let tail = match contents.last() {
        Some(content @ Content { parts: Some(parts), .. }) if content.is_user() => tail(parts)?,
        _ => Tail::Other,
    };
    let has_history = contents.iter().any(|content| content.role == "model");
    let first_user = contents.iter().find(|content| content.is_user());
    let head = first_user.and_then(|content| content.parts).map(|parts| digest(parts.get().as_bytes()));
    Ok(Reading {
        turns: count(contents.len()),
        run: head.filter(|_| has_history),
        tail,
        ids: BodyIds { metadata: request.labels, ..BodyIds::default() },
        ..Reading::default()
    })
}

fn tail(parts: &RawValue) -> Result<Tail, Unreadable> {
    let parts: Vec<Part> = serde_json::from_str(parts.get())?;
    let has_results = parts.iter().any(|part| part.function_response.is_some());
    let mut texts = Vec::new();
    for text in parts.iter().filter_map(|part| part.text) {
        texts.push(json::string(text).ok_or(Unreadable::Shape)?);
    }
    let text = texts.join("\n");
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
    json::must_be_object(raw.get())?;
    let instruction: Instruction = serde_json::from_str(raw.get())?;
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
