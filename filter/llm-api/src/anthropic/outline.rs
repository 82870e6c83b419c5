//! Where messages, calls and results stand: both are blocks of a message's content, results first in the user's next.

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
    has_unique_ids: true,
    has_results_first: true,
    may_end_open: false,
    is_counted: false,
    result: |id, _, _, text| {
        format!(r#"{{"type":"tool_result","tool_use_id":{},"content":{}}}"#, quoted(id), quoted(text))
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
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    source: Option<&'a RawValue>,
}

pub fn outline(body: &str) -> Result<Outline<'_>, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        messages: &'a RawValue,
        #[serde(borrow, default)]
        thread: Option<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    let is_part = outer.thread.is_some();
    Ok(Outline::of_list(body, outer.messages, &FORM, entry)?.kept(is_part))
}

fn entry(raw: &RawValue) -> Result<Entry<'_>, Unreadable> {
    let message: Message = json::object(raw)?;
    let role = message.role.and_then(json::string).unwrap_or_default();
    let role = match &*role {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::Instruction,
        _ => Role::Other,
    };
    let mut entry = Entry::new(raw, role);
    let Some(content) = message.content else { return Ok(entry) };
    if content.get().starts_with('"') {
        entry.say(content);
    }
    entry.each_element(content, |entry, at, element| {
        let block: Block = json::object(element)?;
        let kind = block.kind.and_then(json::string).unwrap_or_default();
        match (&*kind, role) {
            ("text", _) => entry.say(block.text.unwrap_or(element)),
            ("tool_use", Role::Assistant) => {
                entry.call(MadeCall { id: block.id, name: Cow::Borrowed(""), is_custom: false });
            }
            ("tool_result", Role::User) => {
                let name = Cow::Borrowed("");
                entry.result(Outcome::new(Some(at), block.tool_use_id, name, block.content));
            }
            _ => match block.source {
                Some(source) => entry.show(source),
                None => entry.hold(),
            },
        }
        Ok(())
    })?;
    Ok(entry)
}
