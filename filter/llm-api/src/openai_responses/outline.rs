//! Where items stand: a call and its output are items of their own, the output anywhere behind the call. Tools that the
//! provider runs bring their output along, and those that have a form of their own (computer, shell) are left alone.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    conversation::Role,
    json::{self, Unreadable, quoted},
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

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    call_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
}

pub fn outline(body: &str) -> Result<Outline<'_>, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        input: &'a RawValue,
        #[serde(borrow, default)]
        conversation: Option<&'a RawValue>,
        #[serde(borrow, default)]
        previous_response_id: Option<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    let is_kept = outer.conversation.is_some() || outer.previous_response_id.is_some();
    if outer.input.get().starts_with('"') {
        return Ok(Outline::of_text(body, outer.input, &FORM).kept(is_kept));
    }
    // What an item stands for that only the provider knows.
    let has_reference =
        ["\"item_reference\"", "\"compaction\""].iter().any(|kind| outer.input.get().contains(kind));
    Ok(Outline::of_list(body, outer.input, &FORM, entry)?.kept(is_kept || has_reference))
}

fn entry(raw: &RawValue) -> Result<Entry<'_>, Unreadable> {
    let item: Item = json::object(raw)?;
    let kind = item.kind.and_then(json::string).unwrap_or_default();
    let role = item.role.and_then(json::string).unwrap_or_default();
    let is_custom = kind.starts_with("custom_tool_call");
    match &*kind {
        "function_call" | "custom_tool_call" => {
            let mut entry = Entry::new(raw, Role::Assistant);
            entry.call(MadeCall { id: item.call_id, name: "".into(), is_custom });
            Ok(entry)
        }
        "function_call_output" | "custom_tool_call_output" => {
            let mut entry = Entry::new(raw, Role::Tool);
            entry.result(Outcome::new(None, item.call_id, "".into(), item.output));
            Ok(entry)
        }
        "" | "message" => {
            let role = match &*role {
                "user" => Role::User,
                "assistant" => Role::Assistant,
                "system" | "developer" => Role::Instruction,
                _ => Role::Other,
            };
            let mut entry = Entry::new(raw, role);
            match item.content {
                Some(text) if text.get().starts_with('"') => entry.say(text),
                Some(content) => entry.each_element(content, part)?,
                None => {}
            }
            Ok(entry)
        }
        kind => {
            let role = match () {
                () if kind.ends_with("_call_output") => Role::Tool,
                () if kind.ends_with("_call") => Role::Assistant,
                () => Role::Other,
            };
            Ok(Entry::new(raw, role))
        }
    }
}

fn part<'a>(entry: &mut Entry<'a>, _: usize, element: &'a RawValue) -> Result<(), Unreadable> {
    let part: Part = json::object(element)?;
    match (part.kind.and_then(json::string).as_deref(), part.text) {
        (Some("input_text" | "text" | "output_text"), Some(text)) => entry.say(text),
        _ => entry.show(element),
    }
    Ok(())
}
