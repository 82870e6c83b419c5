//! Where messages, calls and results stand: a result is a message of the role tool behind the calls' message.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    conversation::Role,
    json::{Unreadable, quoted},
    members::{Fields, elements},
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

pub fn outline(body: &str) -> Result<Outline<'_>, Unreadable> {
    let messages = Fields::of_body(body)?.get("messages").ok_or(Unreadable::Shape)?;
    Outline::of_list(body, messages, &FORM, entry)
}

fn entry(raw: &RawValue) -> Result<Entry<'_>, Unreadable> {
    let message = Fields::of(raw)?;
    let role = match &*message.text("role") {
        "system" | "developer" => Role::Instruction,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => Role::Other,
    };
    let mut entry = Entry::new(raw, role);
    match (role, message.get("content")) {
        (Role::Tool, content) => {
            entry.result(Outcome::new(None, message.get("tool_call_id"), Cow::Borrowed(""), content));
        }
        (_, Some(content)) => entry.said(content, &["text"])?,
        _ => {}
    }
    if role == Role::Assistant {
        for call in message.get("tool_calls").map(elements).unwrap_or_default() {
            let id = Fields::of(call)?.get("id");
            entry.call(MadeCall { id, name: Cow::Borrowed(""), is_custom: false });
        }
    }
    Ok(entry)
}
