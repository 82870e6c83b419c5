//! Where items stand: a call and its output are items of their own, the output anywhere behind the call. Tools that the
//! provider runs bring their output along, and those that have a form of their own (computer, shell) are left alone.

use serde_json::value::RawValue;

use crate::{
    conversation::Role,
    json::{Unreadable, quoted},
    members::Fields,
    outline::{Entry, Form, MadeCall, Outcome, Outline, Placing},
};

const FORM: Form = Form {
    placing: Placing::Anywhere,
    has_unique_ids: false,
    has_results_first: false,
    may_end_open: false,
    is_counted: false,
    result: |id, _, is_custom, text| {
        let kind = if is_custom { "custom_tool_call_output" } else { "function_call_output" };
        format!(r#"{{"type":"{kind}","call_id":{},"output":{}}}"#, quoted(id), quoted(text))
    },
    message: |elements| format!(r#"{{"role":"user","content":[{elements}]}}"#),
    text: |text| format!(r#"{{"type":"input_text","text":{}}}"#, quoted(text)),
    content: |_, text| quoted(text),
};

pub fn outline(body: &str) -> Result<Outline<'_>, Unreadable> {
    let fields = Fields::of_body(body)?;
    let input = fields.get("input").ok_or(Unreadable::Shape)?;
    let is_kept = fields.has("conversation") || fields.has("previous_response_id");
    if input.get().starts_with('"') {
        return Ok(Outline::of_text(body, input, &FORM).kept(is_kept));
    }
    // What an item stands for that only the provider knows.
    let has_reference =
        ["\"item_reference\"", "\"compaction\""].iter().any(|kind| input.get().contains(kind));
    Ok(Outline::of_list(body, input, &FORM, entry)?.kept(is_kept || has_reference))
}

fn entry(raw: &RawValue) -> Result<Entry<'_>, Unreadable> {
    let item = Fields::of(raw)?;
    let kind = item.text("type");
    let is_custom = kind.starts_with("custom_tool_call");
    let role = match &*kind {
        "" | "message" => match &*item.text("role") {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" | "developer" => Role::Instruction,
            _ => Role::Other,
        },
        kind if kind.ends_with("_call_output") => Role::Tool,
        kind if kind.ends_with("_call") => Role::Assistant,
        _ => Role::Other,
    };
    let mut entry = Entry::new(raw, role);
    let id = item.get("call_id");
    match (&*kind, item.get("content")) {
        ("function_call" | "custom_tool_call", _) => {
            entry.call(MadeCall { id, name: "".into(), is_custom });
        }
        ("function_call_output" | "custom_tool_call_output", _) => {
            entry.result(Outcome::new(None, id, "".into(), item.get("output")));
        }
        ("" | "message", Some(content)) => entry.said(content, &["input_text", "text", "output_text"])?,
        _ => {}
    }
    Ok(entry)
}
