//! Where messages, calls and results stand: both are blocks of a message's content.

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
    may_end_open: false,
    is_counted: false,
    result: |id, _, _, text| {
        format!(r#"{{"toolResult":{{"toolUseId":{},"content":[{{"text":{}}}]}}}}"#, quoted(id), quoted(text))
    },
    message: |elements| format!(r#"{{"role":"user","content":[{elements}]}}"#),
    text: |text| format!(r#"{{"text":{}}}"#, quoted(text)),
    content: |_, text| format!(r#"[{{"text":{}}}]"#, quoted(text)),
};

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Block<'a> {
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    #[serde(borrow, default)]
    tool_use_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
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
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => Role::Other,
    };
    let mut entry = Entry::new(raw, role);
    let Some(content) = message.content else { return Ok(entry) };
    entry.each_element(content, |entry, at, element| {
        let block: Block = json::object(element)?;
        if let Some(text) = block.text {
            entry.say(text);
        } else if let (Some(call), Role::Assistant) = (block.tool_use, role) {
            let id = json::object::<Tool>(call)?.tool_use_id;
            entry.call(MadeCall { id, name: Cow::Borrowed(""), is_custom: false });
        } else if let (Some(result), Role::User) = (block.tool_result, role) {
            let Tool { tool_use_id, content } = json::object(result)?;
            entry.result(Outcome::new(Some(at), tool_use_id, Cow::Borrowed(""), content));
        } else if element.get().contains("\"cachePoint\"") {
            entry.hold();
        } else {
            entry.show(element);
        }
        Ok(())
    })?;
    Ok(entry)
}
