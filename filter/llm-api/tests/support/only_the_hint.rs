//! The law of edits: for any bytes, either there is no change, or the result parses and differs from the input by what
//! was put in alone. Shared by the property tests and the fuzz target.

use sentinel_llm_api::{
    dialect::{Dialect, Position},
    edit,
    registry::{ALL, read},
};
use serde_json::{Value, value::RawValue};

#[path = "only_the_bounds.rs"]
mod only_the_bounds;
#[path = "only_the_edits.rs"]
mod only_the_edits;

pub const HINT: &str = "Try something \"else\".\n\u{1F501}";

/// Checks the law for `body` in every dialect and position; says what broke it.
pub fn check(body: &[u8]) -> Result<(), String> {
    for dialect in ALL {
        // Reading must end well, whatever it says.
        if let Ok(conversation) = read(dialect, body) {
            for at in 0..conversation.history.len() {
                let _ = conversation.history.parts(at, &mut |_| {});
            }
        }
        let Ok(text) = std::str::from_utf8(body) else { continue };
        if !text.trim_start().starts_with('{') {
            continue;
        }
        let label = dialect.label();
        let in_result = dialect.hint_in_result(text, HINT);
        let hint = dialect.hint(text, HINT, Position::Start).ok();
        for hint in [hint.as_ref(), in_result.as_ref().ok()] {
            only_the_edits::check(dialect, text, hint)
                .map_err(|problem| format!("{label}: {problem}\n{text}"))?;
        }
        let tools = dialect.offer(text, &|_| false).map(|offer| offer.edits).unwrap_or_default();
        let others: Vec<_> = tools.iter().chain(&hint).chain(&in_result).cloned().collect();
        only_the_bounds::check(dialect, text, &others)
            .map_err(|problem| format!("{label}: {problem}\n{text}"))?;
        for position in [Position::Start, Position::End] {
            let Ok(hint) = dialect.hint(text, HINT, position) else { continue };
            if let Ok(other) = &in_result {
                only_the_edits::all_at_once(text, &[hint.clone(), other.clone()])
                    .map_err(|problem| format!("{label} {position:?} and in a result: {problem}\n{text}"))?;
            }
            let Some(changed) = edit::apply(text, &[hint]) else { continue };
            let remove = |before: &mut Value, after: &mut Value| remove_hint(dialect, before, after);
            differs_by_the_hint_alone(text, &changed, remove)
                .map_err(|problem| format!("{label} {position:?}: {problem}\n{text}"))?;
        }
        if let Ok(edit) = in_result
            && let Some(changed) = edit::apply(text, &[edit])
        {
            let remove = |_: &mut Value, after: &mut Value| remove_from_result(dialect, after);
            differs_by_the_hint_alone(text, &changed, remove)
                .map_err(|problem| format!("{label} in a result: {problem}\n{text}"))?;
        }
    }
    Ok(())
}

fn differs_by_the_hint_alone(
    before: &str,
    after: &[u8],
    remove_hint: impl Fn(&mut Value, &mut Value) -> Option<()>,
) -> Result<(), String> {
    serde_json::from_slice::<&RawValue>(after).map_err(|error| format!("the result is no JSON: {error}"))?;
    // Numbers beyond f64 are JSON, but no `Value`: there the syntax is all that can be compared.
    let Ok(mut before) = serde_json::from_str::<Value>(before) else { return Ok(()) };
    let mut after: Value = serde_json::from_slice(after).map_err(|error| error.to_string())?;
    remove_hint(&mut before, &mut after).ok_or("the hint is not where it belongs")?;
    if before == after { Ok(()) } else { Err(format!("more than the hint differs: {after}")) }
}

/// Takes the hint out of `after`. A place that the hint had to make is made in `before` too.
fn remove_hint(dialect: &dyn Dialect, before: &mut Value, after: &mut Value) -> Option<()> {
    match dialect.label() {
        "openai_chat" => {
            let is_hint = |message: &Value| {
                message.get("role").and_then(Value::as_str) == Some("system")
                    && message.get("content").and_then(Value::as_str) == Some(HINT)
            };
            let messages = after.get_mut("messages")?.as_array_mut()?;
            let at = if messages.first().is_some_and(is_hint) { 0 } else { messages.len().checked_sub(1)? };
            is_hint(messages.get(at)?).then(|| messages.remove(at))?;
        }
        "openai_responses" => remove_from_text(before, after, "instructions")?,
        "gemini_interactions" => remove_from_text(before, after, "system_instruction")?,
        "anthropic" | "vertex_anthropic" if before.get("thread").is_some_and(|thread| !thread.is_null()) => {
            remove_from_result(dialect, after)?;
        }
        "anthropic" | "vertex_anthropic" if after.get("system")?.is_array() => {
            let block = after.get_mut("system")?.as_array_mut()?.pop()?;
            (block.get("text")?.as_str()? == HINT).then_some(())?;
        }
        "anthropic" | "vertex_anthropic" => remove_from_text(before, after, "system")?,
        "bedrock" => {
            let system = after.get_mut("system")?.as_array_mut()?;
            let block = system.pop()?;
            (block.get("text")?.as_str()? == HINT).then_some(())?;
            if !before.get("system").is_some_and(Value::is_array) {
                system.is_empty().then_some(())?;
                before.as_object_mut()?.insert("system".into(), Value::Array(Vec::new()));
            }
        }
        _ => {
            let key = ["systemInstruction", "system_instruction"]
                .into_iter()
                .find(|key| after.get(key).is_some())?;
            let parts = after.get_mut(key)?.get_mut("parts")?.as_array_mut()?;
            let part = parts.pop()?;
            (part.get("text")?.as_str()? == HINT).then_some(())?;
            let parts = Value::Array(std::mem::take(parts));
            match before.get_mut(key) {
                Some(Value::Object(old)) if matches!(old.get("parts"), Some(Value::Array(_))) => {}
                // A lone part stands for a list of one.
                Some(Value::Object(old)) if old.get("parts").is_some_and(Value::is_object) => {
                    let part = old.remove("parts")?;
                    old.insert("parts".into(), Value::Array(vec![part]));
                }
                Some(Value::Object(old)) => {
                    old.insert("parts".into(), Value::Array(Vec::new()));
                }
                _ => {
                    before.as_object_mut()?.insert(key.into(), serde_json::json!({"parts": []}));
                }
            }
            *after.get_mut(key)?.get_mut("parts")? = parts;
        }
    }
    Some(())
}

/// Takes the hint out of the last message's tool result.
fn remove_from_result(dialect: &dyn Dialect, after: &mut Value) -> Option<()> {
    if dialect.label() == "gemini_interactions" {
        return remove_from_step(after.get_mut("input")?);
    }
    let list = match dialect.label() {
        "openai_responses" => "input",
        "gemini" => "contents",
        _ => "messages",
    };
    let last = after.get_mut(list)?.as_array_mut()?.last_mut()?;
    if dialect.label() == "bedrock" {
        let block = last.get_mut("content")?.as_array_mut()?.last_mut()?;
        let told = block.get_mut("toolResult").and_then(|result| result.get_mut("content"));
        return match told.and_then(Value::as_array_mut) {
            Some(told)
                if told
                    .last()
                    .is_some_and(|block| block.get("text").and_then(Value::as_str) == Some(HINT)) =>
            {
                told.pop().map(|_| ())
            }
            _ => cut(block.get_mut("text")?),
        };
    }
    if dialect.label() == "gemini" {
        let part = last.get_mut("parts")?.as_array_mut()?.last_mut()?;
        let function =
            ["functionResponse", "function_response"].into_iter().find(|key| part.get(key).is_some());
        if let Some(response) =
            function.and_then(|key| part.get_mut(key)?.get_mut("response")?.as_object_mut())
            && let Some(name) = name_of_hint(response)
        {
            return response.remove(&name).map(|_| ());
        }
        return cut(part.get_mut("text")?);
    }
    match ["output", "content"].into_iter().find(|key| last.get(key).is_some_and(ends_with_hint))? {
        key if last.get(key)?.is_array() => last.get_mut(key)?.as_array_mut()?.pop().map(|_| ()),
        key => cut(last.get_mut(key)?),
    }
}

/// A step may stand alone where a list of them is meant.
fn remove_from_step(input: &mut Value) -> Option<()> {
    let step = if input.is_object() { input } else { input.as_array_mut()?.last_mut()? };
    if let Some(result) = step.get_mut("result").and_then(Value::as_object_mut)
        && let Some(name) = name_of_hint(result)
    {
        return result.remove(&name).map(|_| ());
    }
    let key =
        ["result", "content", "text"].into_iter().find(|key| step.get(key).is_some_and(ends_with_hint))?;
    match step.get_mut(key)? {
        Value::Array(contents) => contents.pop().map(|_| ()),
        text => cut(text),
    }
}

/// The member that holds the hint. A name that the result has already is not taken.
fn name_of_hint(result: &serde_json::Map<String, Value>) -> Option<String> {
    let name = |(name, value): (&String, &Value)| {
        let is_name = name.strip_prefix("sentinel_hint").is_some_and(|rest| rest.chars().all(|c| c == '_'));
        (is_name && value.as_str() == Some(HINT)).then(|| name.clone())
    };
    result.iter().find_map(name)
}

fn ends_with_hint(content: &Value) -> bool {
    match content {
        Value::Array(parts) => {
            parts.last().and_then(|part| part.get("text")).and_then(Value::as_str) == Some(HINT)
        }
        other => other.as_str().is_some_and(|text| text.ends_with(HINT)),
    }
}

/// The hint off the end of a text.
fn cut(text: &mut Value) -> Option<()> {
    let kept = text.as_str()?.strip_suffix(HINT)?;
    let kept = kept.strip_suffix("\n\n").unwrap_or(kept).to_owned();
    *text = kept.into();
    Some(())
}

/// The hint is the whole of the text, or its last paragraph.
fn remove_from_text(before: &mut Value, after: &mut Value, key: &str) -> Option<()> {
    let text = after.get(key)?.as_str()?.strip_suffix(HINT)?.to_owned();
    match before.get(key) {
        Some(Value::String(_)) => {
            let text = text.strip_suffix("\n\n").unwrap_or(&text).to_owned();
            *after.get_mut(key)? = text.into();
        }
        _ => {
            text.is_empty().then_some(())?;
            before.as_object_mut()?.remove(key);
            after.as_object_mut()?.remove(key);
        }
    }
    Some(())
}
