//! Requests: `contents` of the roles user and model, and `systemInstruction`. Calls and responses are parts of a
//! content, and there must be as many responses as calls. As the provider does, this accepts both spellings of a name,
//! and an object in place of a list of one.

use super::tools;
use crate::{
    conversation::{BodyIds, Conversation, Role},
    dialect::Position,
    edit::Slot,
    format::Format,
    item_part::{Finder, ItemCall, ItemPart, ItemResult, Tool},
    items::{Body, Item},
    json::{Raw, Unreadable, members::Names, name, quoted},
    outline::{Form, Placing},
};

const INSTRUCTION: [&str; 2] = ["systemInstruction", "system_instruction"];
const TEXT: [&str; 2] = [r#"{"text":"#, "}"];

const FORMAT: Format = Format {
    role,
    content: |item| item.fields.get(1).copied().flatten(),
    has_calls: |item| {
        const KEYS: [&str; 4] = ["unctionCall", "unctionResponse", "function_call", "function_response"];
        let content = item.fields.get(1).copied().flatten();
        content.is_some_and(|content| KEYS.iter().any(|key| content.get().contains(key)))
    },
    find,
    joint: None,
    hint,
    hint_in_result,
    offer: tools::offer,
    tools: &["tools", "toolConfig", "tool_config"],
    has_agents: false,
    keeps_answers: false,
    takes_objects_as_results: true,
    form: Form {
        placing: Placing::Within,
        has_unique_ids: false,
        has_results_first: false,
        may_end_open: true,
        is_counted: true,
        leads: |_| false,
        result: |id, name, _, text| {
            let id = if id.is_empty() { String::new() } else { format!(r#""id":{},"#, quoted(id)) };
            let (name, text) = (quoted(name), quoted(text));
            format!(r#"{{"functionResponse":{{{id}"name":{name},"response":{{"output":{text}}}}}}}"#)
        },
        message: |elements| format!(r#"{{"role":"user","parts":[{elements}]}}"#),
        text: |text| format!(r#"{{"text":{}}}"#, quoted(text)),
        content: |_, text| format!(r#"{{"output":{}}}"#, quoted(text)),
    },
};

/// The path names the model and the framing of the answer.
pub fn read(body: &str) -> Result<Conversation<'_>, Unreadable> {
    let mut body = Body::read(body, "contents", &["role", "parts"], &["labels"])?;
    if let Some(lone) = body.top.get("contents").filter(|contents| contents.is_object()) {
        body.items.lone(lone)?;
    }
    let read = Conversation::of(body.with("contents")?, "contents", &FORMAT)?;
    let [instruction, cached] =
        [INSTRUCTION, ["cachedContent", "cached_content"]].map(|names| read.top.either(names));
    Ok(Conversation {
        instructions: instruction?,
        is_part: cached?.is_some(),
        ids: BodyIds { metadata: read.top.get("labels"), ..BodyIds::default() },
        ..read
    })
}

fn role(item: Item<'_, '_>) -> Result<Role, Unreadable> {
    Ok(match &*name(item.fields.first().copied().flatten()) {
        "" | "user" => Role::User,
        "model" => Role::Assistant,
        "function" => Role::Tool,
        _ => Role::Other,
    })
}

/// A part, in both spellings.
struct Part<'a> {
    text: Option<Raw<'a>>,
    call: Option<Raw<'a>>,
    response: Option<Raw<'a>>,
    media: [Option<Raw<'a>>; 4],
}

const PART: [&str; 9] = [
    "text",
    "functionCall",
    "function_call",
    "functionResponse",
    "function_response",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
];

impl<'a> Part<'a> {
    fn of(picked: [Option<Raw<'a>>; PART.len()]) -> Result<Self, Unreadable> {
        let [text, call, call_too, response, response_too, media @ ..] = picked;
        Ok(Self { text, call: one_of(call, call_too)?, response: one_of(response, response_too)?, media })
    }
}

/// The value of a name that may be spelled in two ways. Returns an error when both occur, because readers differ in
/// which one they take.
fn one_of<'a>(one: Option<Raw<'a>>, other: Option<Raw<'a>>) -> Result<Option<Raw<'a>>, Unreadable> {
    if one.is_some() && other.is_some() { Err(Unreadable::Shape) } else { Ok(one.or(other)) }
}

fn find<'a>(item: Item<'_, 'a>, finder: &mut Finder<'_, 'a>) -> Result<(), Unreadable> {
    let &[_, Some(parts)] = item.fields else { return Ok(()) };
    finder.content(parts, Names::of(&PART), &mut |finder, _, picked| {
        let Part { text, call, response, media } = Part::of(picked)?;
        text.into_iter().for_each(|text| finder.give(ItemPart::Text(text)));
        media.into_iter().flatten().for_each(|media| finder.give(ItemPart::Media(media)));
        let tool = Tool::Function;
        // Older responses have no id and are paired by name.
        if let Some(call) = call {
            let [id, called, arguments] = call.pick(["id", "name", "args"])?;
            finder.give(ItemPart::Call(ItemCall { id, name: name(called), arguments, tool }));
        }
        if let Some(response) = response {
            let [id, name, content] = response.pick(["id", "name", "response"])?;
            finder.give(ItemPart::Result(ItemResult { id, name, content, is_error: false, tool }));
            // Pictures and files beside it.
            if let [Some(parts)] = response.pick(["parts"])? {
                finder.give(ItemPart::Around(parts));
            }
        }
        Ok(())
    })
}

/// A new member in the last function's response, so that the number of parts stays the same.
fn hint_in_result(read: &Conversation<'_>) -> Option<Slot> {
    let (item, _) = read.history.last_item()?;
    let &[_, Some(parts)] = item.fields else { return None };
    let last = if parts.is_object() { parts } else { parts.elements().last()? };
    let Part { text, response, .. } = Part::of(last.pick(PART).ok()?).ok()?;
    match response.and_then(|response| response.pick(["response"]).ok()?[0]) {
        Some(response) => Slot::member(read.body, response, "sentinel_hint", ["", ""]),
        None => Slot::end_of(read.body, text?),
    }
}

/// A new part at the end of `systemInstruction`.
fn hint(read: &Conversation<'_>, _: Position) -> Option<Slot> {
    const WHOLE: [&str; 2] = [r#"{"parts":[{"text":"#, "}]}"];
    let body = read.body;
    let Some(raw) = INSTRUCTION.iter().find_map(|name| read.top.present(name)) else {
        return read.new_member("systemInstruction", WHOLE);
    };
    if raw.is_null() {
        return Slot::instead_of(body, raw, WHOLE);
    }
    let parts = raw.is_object().then(|| raw.members().find(|(key, _)| key.is("parts")))?;
    match parts.map(|(_, parts)| parts) {
        None => Slot::first(body, raw, [r#""parts":[{"text":"#, "}]"]),
        Some(parts) if parts.is_null() => Slot::instead_of(body, parts, [r#"[{"text":"#, "}]"]),
        // The provider accepts a single part in place of a list.
        Some(parts) if parts.is_object() => {
            Slot::instead_of(body, parts, [&format!(r#"[{},{{"text":"#, parts.get()), "}]"])
        }
        Some(parts) => Slot::last(body, parts, TEXT),
    }
}
