//! Requests: `messages` with `role` and `content`. A result is a message of the role tool, directly behind the message
//! with the calls.

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

const NAMES: [&str; 6] = ["role", "content", "tool_calls", "function_call", "tool_call_id", "name"];

const CALL: Names<'_> =
    Names { own: &["id"], within: &[("function", &["name", "arguments"]), ("custom", &["name", "input"])] };

const FORMAT: Format = Format {
    role,
    content: |item| item.fields.get(1).copied().flatten(),
    has_calls,
    find,
    joint: None,
    hint,
    hint_in_result,
    offer: tools::offer,
    tools: &crate::tools::LISTS,
    has_agents: false,
    keeps_answers: false,
    takes_objects_as_results: false,
    form: Form {
        placing: Placing::Behind,
        has_unique_ids: false,
        has_results_first: false,
        may_end_open: false,
        is_counted: false,
        leads: |_| false,
        result: |id, _, _, text| {
            format!(r#"{{"role":"tool","tool_call_id":{},"content":{}}}"#, quoted(id), quoted(text))
        },
        message: |elements| format!(r#"{{"role":"user","content":[{elements}]}}"#),
        text: |text| format!(r#"{{"type":"text","text":{}}}"#, quoted(text)),
        content: |_, text| quoted(text),
    },
};

pub fn read(body: &str) -> Result<Conversation<'_>, Unreadable> {
    const ONCE: [&str; 6] = ["model", "stream", "stream_options", "user", "safety_identifier", "metadata"];
    let read = Conversation::of(
        Body::read(body, "messages", &NAMES, &ONCE)?.with("messages")?,
        "messages",
        &FORMAT,
    )?;
    Ok(Conversation {
        model: read.text("model"),
        stream: read.is_true("stream"),
        include_usage: read.top.object("stream_options").get("include_usage").is_some_and(Raw::is_true),
        ids: BodyIds {
            user: read.top.get("user"),
            safety_identifier: read.top.get("safety_identifier"),
            metadata: read.top.get("metadata"),
        },
        ..read
    })
}

fn role(item: Item<'_, '_>) -> Result<Role, Unreadable> {
    let role = item.fields.first().copied().flatten().filter(|role| role.is_string());
    Ok(match &*name(Some(role.ok_or(Unreadable::Shape)?)) {
        "system" | "developer" => Role::Instruction,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        _ => Role::Other,
    })
}

fn has_calls(item: Item<'_, '_>) -> bool {
    let &[role, _, calls, call, ..] = item.fields else { return false };
    calls.is_some() || call.is_some() || matches!(&*name(role), "tool" | "function")
}

fn find<'a>(item: Item<'_, 'a>, finder: &mut Finder<'_, 'a>) -> Result<(), Unreadable> {
    let &[role, content, calls, call, id, tool] = item.fields else { return Ok(()) };
    let role = name(role);
    if matches!(&*role, "tool" | "function") {
        let (id, name) = if role == "tool" { (id, None) } else { (None, tool) };
        finder.give(ItemPart::Result(ItemResult {
            id,
            name,
            content,
            is_error: false,
            tool: Tool::Function,
        }));
        return Ok(());
    }
    let said = content.map_or(Ok(()), |content| finder.texts(content, &["text"]));
    // Some servers render calls in any message.
    if calls.is_some() || call.is_some() {
        // An unreadable call must not hide the text.
        let _ = calls.map(|calls| {
            finder.each(calls, CALL, &mut |finder, _, [id, called, arguments, custom, input]| {
                let tool = if custom.is_some() { Tool::Custom } else { Tool::Function };
                let (name, arguments) = (name(called.or(custom)), arguments.or(input));
                finder.give(ItemPart::Call(ItemCall { id, name, arguments, tool }));
                Ok(())
            })
        });
        // The older form: one call without an id.
        if let Some(call) = call {
            let [called, arguments] = call.pick(["name", "arguments"])?;
            let tool = Tool::Function;
            finder.give(ItemPart::Call(ItemCall { id: None, name: name(called), arguments, tool }));
        }
    }
    said
}

/// A system message in front of or behind all others.
fn hint(read: &Conversation<'_>, position: Position) -> Option<Slot> {
    const MESSAGE: [&str; 2] = [r#"{"role":"system","content":"#, "}"];
    match position {
        Position::Start => Slot::first(read.body, read.list?, MESSAGE),
        Position::End => Slot::last(read.body, read.list?, MESSAGE),
    }
}

/// In the last tool result, where the model reads it together with the result.
fn hint_in_result(read: &Conversation<'_>) -> Option<Slot> {
    let (item, role) = read.history.last_item()?;
    let &[_, content, ..] = item.fields else { return None };
    Slot::after(read.body, content.filter(|_| matches!(role, Role::Tool | Role::User))?, "text")
}
