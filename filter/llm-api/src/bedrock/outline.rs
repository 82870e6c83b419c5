//! Where messages, calls and results stand: both are blocks of a message's content.

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

pub fn outline(body: &str) -> Result<Outline<'_>, Unreadable> {
    let messages = Fields::of_body(body)?.get("messages").ok_or(Unreadable::Shape)?;
    Outline::of_list(body, messages, &FORM, entry)
}

fn entry(raw: &RawValue) -> Result<Entry<'_>, Unreadable> {
    let message = Fields::of(raw)?;
    let role = match &*message.text("role") {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => Role::Other,
    };
    let mut entry = Entry::new(raw, role);
    if let Some(content) = message.get("content") {
        entry.each_element(content, block)?;
    }
    Ok(entry)
}

fn block<'a>(entry: &mut Entry<'a>, at: usize, element: &'a RawValue) -> Result<(), Unreadable> {
    let block = Fields::of(element)?;
    if let Some(text) = block.get("text") {
        entry.say(text);
    } else if let (Some(call), Role::Assistant) = (block.get("toolUse"), entry.role) {
        let id = Fields::of(call)?.get("toolUseId");
        entry.call(MadeCall { id, name: Cow::Borrowed(""), is_custom: false });
    } else if let (Some(result), Role::User) = (block.get("toolResult"), entry.role) {
        let result = Fields::of(result)?;
        let (id, content) = (result.get("toolUseId"), result.get("content"));
        entry.result(Outcome::new(Some(at), id, Cow::Borrowed(""), content));
    } else if block.has("cachePoint") {
        entry.hold();
    } else {
        entry.show(element);
    }
    Ok(())
}
