//! Where messages, calls and results stand: a result is a message of the role tool behind the calls' message.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    conversation::Role,
    json::{self, Unreadable, quoted},
    members::elements,
    outline::{Entry, Form, MadeCall, Outcome, Outline, Placing},
};

const FORM: Form = Form {
    placing: Placing::Behind,
    has_unique_ids: false,
    has_results_first: false,
    may_end_open: false,
    is_counted: false,
    result: |id, _, _, text| {
        format!(r#"{{"role":"tool","tool_call_id":{},"content":{}}}"#, quoted(id), quoted(text))
    },
    message: |elements| format!(r#"{{"role":"user","content":[{elements}]}}"#),
    text: |text| format!(r#"{{"type":"text","text":{}}}"#, quoted(text)),
    content: |_, text| quoted(text),
};

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_call_id: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
}

pub fn outline(body: &str) -> Result<Outline<'_>, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        messages: &'a RawValue,
    }
    let outer: Outer = json::read(body)?;
    Outline::of_list(body, outer.messages, &FORM, entry)
}

fn entry(raw: &RawValue) -> Result<Entry<'_>, Unreadable> {
    let message: Message = json::object(raw)?;
    let role = message.role.and_then(json::string).unwrap_or_default();
    let role = match &*role {
        "system" | "developer" => Role::Instruction,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => Role::Other,
    };
    let mut entry = Entry::new(raw, role);
    match (role, message.content) {
        (Role::Tool, content) => {
            entry.result(Outcome::new(None, message.tool_call_id, Cow::Borrowed(""), content));
        }
        (_, Some(content)) => said(&mut entry, content)?,
        _ => {}
    }
    if role == Role::Assistant {
        for call in message.tool_calls.map(elements).unwrap_or_default() {
            let id = json::object::<Call>(call)?.id;
            entry.call(MadeCall { id, name: Cow::Borrowed(""), is_custom: false });
        }
    }
    Ok(entry)
}

fn said<'a>(entry: &mut Entry<'a>, content: &'a RawValue) -> Result<(), Unreadable> {
    if content.get().starts_with('"') {
        entry.say(content);
    }
    entry.each_element(content, |entry, _, element| {
        let part: Part = json::object(element)?;
        match (part.kind.and_then(json::string).as_deref(), part.text) {
            (Some("text"), Some(text)) => entry.say(text),
            _ => entry.show(element),
        }
        Ok(())
    })
}
