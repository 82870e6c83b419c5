//! Where contents, calls and responses stand: both are parts of a content. Of responses there must be as many as calls.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    conversation::Role,
    json::{self, Unreadable, quoted},
    outline::{Entry, Form, MadeCall, Outcome, Outline, Placing},
};

const FORM: Form = Form {
    placing: Placing::Within,
    has_unique_ids: false,
    has_results_first: false,
    may_end_open: true,
    is_counted: true,
    result: |id, name, _, text| {
        let id = if id.is_empty() { String::new() } else { format!(r#""id":{},"#, quoted(id)) };
        format!(
            r#"{{"functionResponse":{{{id}"name":{},"response":{{"output":{}}}}}}}"#,
            quoted(name),
            quoted(text)
        )
    },
    message: |elements| format!(r#"{{"role":"user","parts":[{elements}]}}"#),
    text: |text| format!(r#"{{"text":{}}}"#, quoted(text)),
    content: |_, text| format!(r#"{{"output":{}}}"#, quoted(text)),
};

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    parts: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "function_call", rename = "functionCall")]
    call: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "function_response", rename = "functionResponse")]
    response: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "inline_data", rename = "inlineData")]
    inline_data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
}

impl<'a> Function<'a> {
    fn name(&self) -> Cow<'a, str> {
        self.name.and_then(json::string).unwrap_or_default()
    }
}

pub fn outline(body: &str) -> Result<Outline<'_>, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        contents: &'a RawValue,
        #[serde(borrow, default, alias = "cached_content", rename = "cachedContent")]
        cached: Option<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    let is_part = outer.cached.is_some();
    Ok(Outline::of_list(body, outer.contents, &FORM, entry)?.kept(is_part))
}

fn entry(raw: &RawValue) -> Result<Entry<'_>, Unreadable> {
    let content: Content = json::object(raw)?;
    let role = content.role.and_then(json::string).unwrap_or_default();
    let role = match &*role {
        "" | "user" => Role::User,
        "model" => Role::Assistant,
        "function" => Role::Tool,
        _ => Role::Other,
    };
    let mut entry = Entry::new(raw, role);
    let Some(parts) = content.parts else { return Ok(entry) };
    entry.each_element(parts, |entry, at, element| {
        let part: Part = json::object(element)?;
        if let Some(call) = part.call {
            let call: Function = json::object(call)?;
            entry.call(MadeCall { id: call.id, name: call.name(), is_custom: false });
        } else if let Some(response) = part.response {
            let response: Function = json::object(response)?;
            entry.result(Outcome::new(Some(at), response.id, response.name(), response.response));
        } else if let Some(text) = part.text {
            entry.say(text);
        } else if let Some(data) = part.inline_data {
            entry.show(data);
        } else {
            entry.hold();
        }
        Ok(())
    })?;
    Ok(entry)
}
