//! Requests: `messages` of the roles user and assistant, and `system`, a list of blocks. A message's content is a list
//! of blocks, each with one key that tells its kind.

use super::tools;
use crate::{
    conversation::{BodyIds, Conversation, Role},
    dialect::Position,
    edit::Slot,
    format::Format,
    item_part::{Finder, ItemCall, ItemPart, ItemResult, Tool},
    items::{Body, Item},
    json::{Unreadable, members::Names, name, quoted},
    outline::{Form, Placing},
};

const FORMAT: Format = Format {
    role,
    content: |item| item.fields.get(1).copied().flatten(),
    has_calls: |item| {
        const KEYS: [&str; 2] = ["\"toolUse\"", "\"toolResult\""];
        let content = item.fields.get(1).copied().flatten();
        content.is_some_and(|content| KEYS.iter().any(|key| content.get().contains(key)))
    },
    find,
    joint: None,
    hint,
    hint_in_result,
    offer: tools::offer,
    tools: &["toolConfig"],
    has_agents: false,
    keeps_answers: false,
    takes_objects_as_results: false,
    form: Form {
        placing: Placing::Within,
        has_unique_ids: false,
        has_results_first: false,
        may_end_open: false,
        is_counted: false,
        leads: |_| false,
        result: |id, _, _, text| {
            let (id, text) = (quoted(id), quoted(text));
            format!(r#"{{"toolResult":{{"toolUseId":{id},"content":[{{"text":{text}}}]}}}}"#)
        },
        message: |elements| format!(r#"{{"role":"user","content":[{elements}]}}"#),
        text: |text| format!(r#"{{"text":{}}}"#, quoted(text)),
        content: |_, text| format!(r#"[{{"text":{}}}]"#, quoted(text)),
    },
};

/// The path names the model and the framing of the answer.
pub fn read(body: &str) -> Result<Conversation<'_>, Unreadable> {
    let mut body = Body::read(body, "messages", &["role", "content"], &["system", "requestMetadata"])?;
    // A prompt that the provider keeps has messages of its own.
    if body.top.has("messages") || !body.top.has("promptVariables") {
        body = body.with("messages")?;
    }
    let read = Conversation::of(body, "messages", &FORMAT)?;
    Ok(Conversation {
        instructions: read.top.get("system"),
        ids: BodyIds { metadata: read.top.get("requestMetadata"), ..BodyIds::default() },
        ..read
    })
}

fn role(item: Item<'_, '_>) -> Result<Role, Unreadable> {
    let role = item.fields.first().copied().flatten().filter(|role| role.is_string());
    Ok(match &*name(Some(role.ok_or(Unreadable::Shape)?)) {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => Role::Other,
    })
}

fn find<'a>(item: Item<'_, 'a>, finder: &mut Finder<'_, 'a>) -> Result<(), Unreadable> {
    let &[_, Some(content)] = item.fields else { return Ok(()) };
    // The content of a result is a list of `{"text": ..}` and `{"json": ..}`.
    const BLOCK: Names<'_> = Names {
        own: &["text", "image", "document", "video", "audio"],
        within: &[
            ("toolUse", &["toolUseId", "name", "input"]),
            ("toolResult", &["toolUseId", "content", "status"]),
        ],
    };
    finder.content(content, BLOCK, &mut |finder, _, fields| {
        let [text, image, document, video, audio, id, called, arguments, of, content, status] = fields;
        text.into_iter().for_each(|text| finder.give(ItemPart::Text(text)));
        let media = [image, document, video, audio];
        media.into_iter().flatten().for_each(|media| finder.give(ItemPart::Media(media)));
        let tool = Tool::Function;
        if called.is_some() || id.is_some() {
            finder.give(ItemPart::Call(ItemCall { id, name: name(called), arguments, tool }));
        }
        if of.is_some() || content.is_some() {
            let is_error = name(status) == "error";
            finder.give(ItemPart::Result(ItemResult { id: of, name: None, content, is_error, tool }));
        }
        Ok(())
    })
}

/// A new block at the end of `system`.
fn hint(read: &Conversation<'_>, _: Position) -> Option<Slot> {
    match read.top.present("system") {
        Some(system) if !system.is_null() => Slot::last(read.body, system, [r#"{"text":"#, "}"]),
        _ => read.new_member("system", [r#"[{"text":"#, "}]"]),
    }
}

/// A new block in the last tool result. If the last message ends with a text, behind that text.
fn hint_in_result(read: &Conversation<'_>) -> Option<Slot> {
    let (item, role) = read.history.last_item()?;
    let &[_, Some(content)] = item.fields else { return None };
    let last = content.elements().last().filter(|_| role == Role::User)?;
    let [text, result] = last.pick(["text", "toolResult"]).ok()?;
    let told = result.and_then(|result| result.pick(["content"]).ok()?[0]);
    match told {
        Some(told) => Slot::last(read.body, told, [r#"{"text":"#, "}"]),
        None => Slot::end_of(read.body, text?),
    }
}
