//! Requests: `messages` of the roles user and assistant, and `system`, a string or a list of blocks. Calls and results
//! are blocks of a message's content. Results come first in the user message behind the calls.

use super::tools;
use crate::{
    conversation::{BodyIds, Conversation, Kept, Role},
    dialect::Position,
    edit::Slot,
    format::Format,
    item_part::{Finder, ItemCall, ItemPart, ItemResult, Tool},
    items::{Body, Item},
    json::{self, Raw, Unreadable, members::Names, name, quoted},
    outline::{Form, Placing},
};

const FORMAT: Format = Format {
    role,
    content: |item| item.fields.get(1).copied().flatten(),
    has_calls: |item| {
        const KEYS: [&str; 2] = ["\"tool_use\"", "\"tool_result\""];
        let content = item.fields.get(1).copied().flatten();
        content.is_some_and(|content| KEYS.iter().any(|key| content.get().contains(key)))
    },
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
        placing: Placing::Within,
        has_unique_ids: true,
        has_results_first: true,
        may_end_open: false,
        is_counted: false,
        leads: |_| false,
        result: |id, _, _, text| {
            format!(r#"{{"type":"tool_result","tool_use_id":{},"content":{}}}"#, quoted(id), quoted(text))
        },
        message: |elements| format!(r#"{{"role":"user","content":[{elements}]}}"#),
        text: |text| format!(r#"{{"type":"text","text":{}}}"#, quoted(text)),
        content: |_, text| quoted(text),
    },
};

pub fn read(body: &str) -> Result<Conversation<'_>, Unreadable> {
    const ONCE: [&str; 5] = ["model", "stream", "metadata", "system", "thread"];
    let body = Body::read(body, "messages", &["role", "content"], &ONCE)?.with("messages")?;
    let read = Conversation::of(body, "messages", &FORMAT)?;
    let metadata = read.top.get("metadata");
    let user = metadata.and_then(|metadata| metadata.pick(["user_id"]).ok()?[0]);
    Ok(Conversation {
        model: read.text("model"),
        stream: read.is_true("stream"),
        instructions: read.top.get("system"),
        kept: kept(read.top.get("thread")),
        is_part: read.top.has("thread"),
        // `metadata.user_id` corresponds to `user` in the other dialects.
        ids: BodyIds { user, safety_identifier: None, metadata },
        ..read
    })
}

fn role(item: Item<'_, '_>) -> Result<Role, Unreadable> {
    let role = item.fields.first().copied().flatten().filter(|role| role.is_string());
    Ok(match &*name(Some(role.ok_or(Unreadable::Shape)?)) {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::Instruction,
        _ => Role::Other,
    })
}

fn find<'a>(item: Item<'_, 'a>, finder: &mut Finder<'_, 'a>) -> Result<(), Unreadable> {
    let &[_, Some(content)] = item.fields else { return Ok(()) };
    if content.is_string() {
        finder.give(ItemPart::Text(content));
        return Ok(());
    }
    finder.content(content, Names::of(&BLOCK), &mut block)
}

const BLOCK: [&str; 9] =
    ["type", "text", "id", "name", "input", "tool_use_id", "content", "is_error", "source"];

fn block<'a>(
    finder: &mut Finder<'_, 'a>,
    block: Raw<'a>,
    [kind, text, id, called, input, of, content, is_error, source]: [Option<Raw<'a>>; BLOCK.len()],
) -> Result<(), Unreadable> {
    let tool = Tool::Function;
    match &*name(kind) {
        "text" => finder.give(ItemPart::Text(text.ok_or(Unreadable::Shape)?)),
        "tool_use" => {
            finder.give(ItemPart::Call(ItemCall { id, name: name(called), arguments: input, tool }))
        }
        "tool_result" => {
            let is_error = is_error.is_some_and(Raw::is_true);
            finder.give(ItemPart::Result(ItemResult { id: of, name: None, content, is_error, tool }));
        }
        // The words of these stand beside their source.
        "document" | "search_result" => finder.give(ItemPart::Media(block)),
        // Results of other tools, which are the model's in an answer alone.
        kind if kind.ends_with("_result") => {}
        _ => source.into_iter().for_each(|source| finder.give(ItemPart::Media(source))),
    }
    Ok(())
}

/// `thread` asks the provider to keep the conversation under the answer's id, or names the answer that this request
/// follows.
fn kept(thread: Option<Raw<'_>>) -> Option<Kept<'_>> {
    let [previous] = thread?.pick(["previous_message_id"]).ok()?;
    // Each answer has a new id, so a chain of them does not identify the thread.
    Some(Kept { thread: None, follows: json::string(previous?) })
}

/// Behind the tool results of the last message.
fn hint_in_result(read: &Conversation<'_>) -> Option<Slot> {
    let (item, role) = read.history.last_item()?;
    let &[_, Some(content)] = item.fields else { return None };
    // The provider refuses messages without content, so an empty list gets no block.
    let is_filled = content.is_string() || content.elements().next().is_some();
    Slot::after(read.body, Some(content).filter(|_| role == Role::User && is_filled)?, "text")
}

/// In `system`: a string is extended, and a list gets one more block at its end, behind the blocks that may be cached.
/// A thread keeps the `system` that it began with, so there the hint goes behind the user's text.
fn hint(read: &Conversation<'_>, _: Position) -> Option<Slot> {
    if read.top.has("thread") {
        return hint_in_result(read);
    }
    match read.top.present("system") {
        Some(system) if system.is_list() => Slot::last(read.body, system, [r#"{"type":"text","text":"#, "}"]),
        _ => read.text_member("system"),
    }
}
