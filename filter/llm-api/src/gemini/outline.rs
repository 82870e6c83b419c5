//! Where contents, calls and responses stand: both are parts of a content. Of responses there must be as many as calls.

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

pub fn outline(body: &str) -> Result<Outline<'_>, Unreadable> {
    let fields = Fields::of_body(body)?;
    let contents = fields.get("contents").ok_or(Unreadable::Shape)?;
    let is_part = fields.either("cachedContent", "cached_content").is_some();
    Ok(Outline::of_list(body, contents, &FORM, entry)?.kept(is_part))
}

fn entry(raw: &RawValue) -> Result<Entry<'_>, Unreadable> {
    let content = Fields::of(raw)?;
    let role = match &*content.text("role") {
        "" | "user" => Role::User,
        "model" => Role::Assistant,
        "function" => Role::Tool,
        _ => Role::Other,
    };
    let mut entry = Entry::new(raw, role);
    if let Some(parts) = content.get("parts") {
        entry.each_element(parts, part)?;
    }
    Ok(entry)
}

fn part<'a>(entry: &mut Entry<'a>, at: usize, element: &'a RawValue) -> Result<(), Unreadable> {
    let part = Fields::of(element)?;
    if let Some(call) = part.either("functionCall", "function_call") {
        let call = Fields::of(call)?;
        entry.call(MadeCall { id: call.get("id"), name: call.text("name"), is_custom: false });
    } else if let Some(response) = part.either("functionResponse", "function_response") {
        let response = Fields::of(response)?;
        let (id, content) = (response.get("id"), response.get("response"));
        entry.result(Outcome::new(Some(at), id, response.text("name"), content));
    } else if let Some(text) = part.get("text") {
        entry.say(text);
    } else if let Some(data) = part.either("inlineData", "inline_data") {
        entry.show(data);
    } else {
        entry.hold();
    }
    Ok(())
}
