//! Where steps stand: a call and its result are steps of their own. Tools of the provider are left alone.

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

#[derive(Deserialize)]
struct Step<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<&'a RawValue>,
    /// In the older form of a message, which has no type.
    #[serde(borrow, default)]
    role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    call_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
}

pub fn outline(body: &str) -> Result<Outline<'_>, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        input: &'a RawValue,
        #[serde(borrow, default)]
        previous_interaction_id: Option<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    let outline = match outer.input.get().as_bytes().first() {
        Some(b'"') => Outline::of_text(body, outer.input, &FORM),
        Some(b'{') => Outline::new(body, None, vec![entry(outer.input)?], &FORM),
        _ => Outline::of_list(body, outer.input, &FORM, entry)?,
    };
    Ok(outline.kept(outer.previous_interaction_id.is_some()))
}

fn entry(raw: &RawValue) -> Result<Entry<'_>, Unreadable> {
    let step: Step = json::object(raw)?;
    let kind = step.kind.and_then(json::string).unwrap_or_default();
    let role = step.role.and_then(json::string).unwrap_or_default();
    let name = step.name.and_then(json::string).unwrap_or_default();
    let mut entry = match (&*kind, &*role) {
        ("function_call", _) => {
            let mut entry = Entry::new(raw, Role::Assistant);
            entry.call(MadeCall { id: step.id, name, is_custom: false });
            return Ok(entry);
        }
        ("function_result", _) => {
            let mut entry = Entry::new(raw, Role::Tool);
            entry.result(Outcome::new(None, step.call_id, name, step.result));
            return Ok(entry);
        }
        ("model_output", _) | ("", "model") => Entry::new(raw, Role::Assistant),
        ("user_input", _) | ("", "user") => Entry::new(raw, Role::User),
        ("text", _) => {
            let mut entry = Entry::new(raw, Role::User);
            entry.say(step.text.unwrap_or(raw));
            return Ok(entry);
        }
        ("image" | "audio" | "video" | "document", _) => {
            let mut entry = Entry::new(raw, Role::User);
            entry.show(raw);
            return Ok(entry);
        }
        (kind, _) if kind.ends_with("_call") => Entry::new(raw, Role::Assistant),
        (kind, _) if kind.ends_with("_result") => Entry::new(raw, Role::Tool),
        _ => Entry::new(raw, Role::Other),
    };
    match step.content {
        Some(text) if text.get().starts_with('"') => entry.say(text),
        Some(lone) if lone.get().starts_with('{') => part(&mut entry, 0, lone)?,
        Some(list) => entry.each_element(list, part)?,
        None => {}
    }
    Ok(entry)
}

fn part<'a>(entry: &mut Entry<'a>, _: usize, element: &'a RawValue) -> Result<(), Unreadable> {
    let part: Step = json::object(element)?;
    match (part.kind.and_then(json::string).as_deref(), part.text) {
        (Some("text"), Some(text)) => entry.say(text),
        _ => entry.show(element),
    }
    Ok(())
}
