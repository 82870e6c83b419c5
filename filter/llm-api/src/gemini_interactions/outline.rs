//! Where steps stand: a call and its result are steps of their own. Tools of the provider are left alone.

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
    may_end_open: true,
    is_counted: false,
    result: |id, name, _, text| {
        let name = if name.is_empty() { String::new() } else { format!(r#""name":{},"#, quoted(name)) };
        format!(r#"{{"type":"function_result",{name}"call_id":{},"result":{}}}"#, quoted(id), quoted(text))
    },
    message: |elements| format!(r#"{{"type":"user_input","content":[{elements}]}}"#),
    text: |text| format!(r#"{{"type":"text","text":{}}}"#, quoted(text)),
    content: |old, text| match old.get().as_bytes().first() {
        Some(b'{') => format!(r#"{{"output":{}}}"#, quoted(text)),
        Some(b'[') => format!(r#"[{{"type":"text","text":{}}}]"#, quoted(text)),
        _ => quoted(text),
    },
};

pub fn outline(body: &str) -> Result<Outline<'_>, Unreadable> {
    let fields = Fields::of_body(body)?;
    let input = fields.get("input").ok_or(Unreadable::Shape)?;
    let outline = match input.get().as_bytes().first() {
        Some(b'"') => Outline::of_text(body, input, &FORM),
        Some(b'{') => Outline::new(body, None, vec![entry(input)?], &FORM),
        _ => Outline::of_list(body, input, &FORM, entry)?,
    };
    Ok(outline.kept(fields.has("previous_interaction_id")))
}

fn entry(raw: &RawValue) -> Result<Entry<'_>, Unreadable> {
    let step = Fields::of(raw)?;
    let kind = step.text("type");
    // The older form of a message has a role and no type.
    let role = match (&*kind, &*step.text("role")) {
        ("model_output", _) | ("", "model") => Role::Assistant,
        ("user_input" | "text" | "image" | "audio" | "video" | "document", _) | ("", "user") => Role::User,
        (kind, _) if kind.ends_with("_call") => Role::Assistant,
        (kind, _) if kind.ends_with("_result") => Role::Tool,
        _ => Role::Other,
    };
    let mut entry = Entry::new(raw, role);
    match (&*kind, step.get("content")) {
        ("function_call", _) => {
            entry.call(MadeCall { id: step.get("id"), name: step.text("name"), is_custom: false });
        }
        ("function_result", _) => {
            let (id, told) = (step.get("call_id"), step.get("result"));
            entry.result(Outcome::new(None, id, step.text("name"), told));
        }
        ("text", _) => entry.say(step.get("text").unwrap_or(raw)),
        ("image" | "audio" | "video" | "document", _) => entry.show(raw),
        (_, Some(content)) => entry.said(content, &["text"])?,
        _ => {}
    }
    Ok(entry)
}
