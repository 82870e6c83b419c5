//! Where messages, calls and results stand: both are blocks of a message's content, results first in the user's next.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    conversation::Role,
    json::{Unreadable, quoted},
    members::Fields,
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

pub fn outline(body: &str) -> Result<Outline<'_>, Unreadable> {
    let fields = Fields::of_body(body)?;
    let messages = fields.get("messages").ok_or(Unreadable::Shape)?;
    Ok(Outline::of_list(body, messages, &FORM, entry)?.kept(fields.has("thread")))
}

fn entry(raw: &RawValue) -> Result<Entry<'_>, Unreadable> {
    let message = Fields::of(raw)?;
    let role = match &*message.text("role") {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::Instruction,
        _ => Role::Other,
    };
    let mut entry = Entry::new(raw, role);
    let Some(content) = message.get("content") else { return Ok(entry) };
    if content.get().starts_with('"') {
        entry.say(content);
    }
    entry.each_element(content, block)?;
    Ok(entry)
}

fn block<'a>(entry: &mut Entry<'a>, at: usize, element: &'a RawValue) -> Result<(), Unreadable> {
    let block = Fields::of(element)?;
    match (&*block.text("type"), entry.role) {
        ("text", _) => entry.say(block.get("text").unwrap_or(element)),
        ("tool_use", Role::Assistant) => {
            entry.call(MadeCall { id: block.get("id"), name: Cow::Borrowed(""), is_custom: false });
        }
        ("tool_result", Role::User) => {
            let (id, content) = (block.get("tool_use_id"), block.get("content"));
            entry.result(Outcome::new(Some(at), id, Cow::Borrowed(""), content));
        }
        _ => match block.get("source") {
            Some(source) => entry.show(source),
            None => entry.hold(),
        },
    }
    Ok(())
}
