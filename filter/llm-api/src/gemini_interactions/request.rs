//! Requests: `system_instruction` and `input`, which is a string, a content, or a list of contents or steps. Calls and
//! results are steps of their own.

use super::tools;
use crate::{
    conversation::{BodyIds, Conversation, Kept, Role},
    edit::Slot,
    format::{Format, Joint},
    item_part::{Finder, ItemCall, ItemPart, ItemResult, Tool},
    items::{Body, Item},
    json::{self, Raw, Unreadable, members::Names, name, quoted},
    outline::{Form, Placing},
};

const NAMES: [&str; 12] = [
    "type",
    "role",
    "content",
    "text",
    "data",
    "uri",
    "id",
    "name",
    "arguments",
    "call_id",
    "result",
    "is_error",
];

const FORMAT: Format = Format {
    role: |item| Ok(StepFields::of(item).role()),
    content: |item| {
        let step = StepFields::of(item);
        step.content.or(step.text)
    },
    has_calls: |item| {
        let step = StepFields::of(item);
        step.is_call() || step.is_result()
    },
    find,
    joint: Some(|item| {
        let step = StepFields::of(item);
        match &*step.kind {
            "model_output" | "" => Joint::Text,
            // Consecutive contents are one message of the user.
            _ if step.is_content() => Joint::Fragment,
            _ => Joint::Open,
        }
    }),
    hint: |read, _| read.text_member("system_instruction"),
    hint_in_result,
    offer: tools::offer,
    tools: &crate::tools::LISTS,
    has_agents: true,
    keeps_answers: true,
    takes_objects_as_results: true,
    form: Form {
        placing: Placing::Anywhere,
        has_unique_ids: false,
        has_results_first: false,
        may_end_open: true,
        is_counted: false,
        leads: |_| false,
        result: |id, name, _, text| {
            let name = if name.is_empty() { String::new() } else { format!(r#""name":{},"#, quoted(name)) };
            let (id, text) = (quoted(id), quoted(text));
            format!(r#"{{"type":"function_result",{name}"call_id":{id},"result":{text}}}"#)
        },
        message: |elements| format!(r#"{{"type":"user_input","content":[{elements}]}}"#),
        text: |text| format!(r#"{{"type":"text","text":{}}}"#, quoted(text)),
        content: |old, text| match old.get().as_bytes().first() {
            Some(b'{') => format!(r#"{{"output":{}}}"#, quoted(text)),
            Some(b'[') => format!(r#"[{{"type":"text","text":{}}}]"#, quoted(text)),
            _ => quoted(text),
        },
    },
};

/// A step, or a content in a list of steps, which is the user's.
struct StepFields<'a> {
    kind: std::borrow::Cow<'a, str>,
    /// Only in the older form of a message, which has no type.
    role: Option<Raw<'a>>,
    content: Option<Raw<'a>>,
    text: Option<Raw<'a>>,
    media: [Option<Raw<'a>>; 2],
    id: Option<Raw<'a>>,
    name: Option<Raw<'a>>,
    arguments: Option<Raw<'a>>,
    call_id: Option<Raw<'a>>,
    result: Option<Raw<'a>>,
    is_error: Option<Raw<'a>>,
}

impl<'a> StepFields<'a> {
    fn of(item: Item<'_, 'a>) -> Self {
        Self::of_fields(item.fields.first_chunk().copied().unwrap_or([None; NAMES.len()]))
    }

    fn of_fields(fields: [Option<Raw<'a>>; NAMES.len()]) -> Self {
        let [kind, role, content, text, data, uri, id, called, arguments, call_id, result, is_error] = fields;
        let (kind, media) = (name(kind), [data, uri]);
        Self { kind, role, content, text, media, id, name: called, arguments, call_id, result, is_error }
    }

    fn is_call(&self) -> bool {
        self.kind.ends_with("_call")
    }

    fn is_result(&self) -> bool {
        self.kind.ends_with("_result")
    }

    fn is_content(&self) -> bool {
        matches!(&*self.kind, "text" | "image" | "audio" | "video" | "document")
    }

    fn is_user_input(&self) -> bool {
        self.kind == "user_input" || self.kind.is_empty() && name(self.role) == "user"
    }

    fn role(&self) -> Role {
        match &*self.kind {
            "model_output" => Role::Assistant,
            "" if name(self.role) == "model" => Role::Assistant,
            _ if self.is_call() => Role::Assistant,
            _ if self.is_result() => Role::Tool,
            _ if self.is_user_input() || self.is_content() => Role::User,
            _ => Role::Other,
        }
    }

    fn give_content(&self, finder: &mut Finder<'_, 'a>) -> Result<(), Unreadable> {
        if self.kind == "text" {
            finder.give(ItemPart::Text(self.text.ok_or(Unreadable::Shape)?));
        }
        self.media.into_iter().flatten().for_each(|media| finder.give(ItemPart::Media(media)));
        Ok(())
    }
}

pub fn read(body: &str) -> Result<Conversation<'_>, Unreadable> {
    const ONCE: [&str; 6] =
        ["model", "agent", "stream", "system_instruction", "previous_interaction_id", "labels"];
    let mut body = Body::read(body, "input", &NAMES, &ONCE)?;
    // A request that continues a long answer has no input.
    match body.top.get("input") {
        Some(input) if input.is_string() || input.is_object() => body.items.lone(input)?,
        Some(input) if !input.is_list() => return Err(Unreadable::Shape),
        _ => {}
    }
    let read = Conversation::of(body, "input", &FORMAT)?;
    let previous = read.top.get("previous_interaction_id");
    Ok(Conversation {
        model: name(read.top.get("model").or(read.top.get("agent"))),
        stream: read.is_true("stream"),
        instructions: read.top.get("system_instruction"),
        // Each interaction has a new id, so a chain of them does not identify the thread.
        kept: previous.map(|previous| Kept { thread: None, follows: json::string(previous) }),
        is_part: previous.is_some(),
        ids: BodyIds { metadata: read.top.get("labels"), ..BodyIds::default() },
        ..read
    })
}

fn find<'a>(item: Item<'_, 'a>, finder: &mut Finder<'_, 'a>) -> Result<(), Unreadable> {
    let step = StepFields::of(item);
    let tool = match &*step.kind {
        "function_call" | "function_result" => Tool::Function,
        _ => Tool::Other,
    };
    if step.is_call() {
        // Tools of the provider have only a type and no name.
        let own = || step.kind.strip_suffix("_call").unwrap_or_default().to_owned().into();
        let called = if step.name.is_some() { name(step.name) } else { own() };
        finder.give(ItemPart::Call(ItemCall { id: step.id, name: called, arguments: step.arguments, tool }));
    } else if step.is_result() {
        let is_error = step.is_error.is_some_and(Raw::is_true);
        let StepFields { call_id: id, name, result: content, .. } = step;
        finder.give(ItemPart::Result(ItemResult { id, name, content, is_error, tool }));
    } else if step.is_content() {
        step.give_content(finder)?;
    } else if step.kind == "thought" {
        // It is the model's.
    } else if let Some(content) = step.content {
        contents(content, finder)?;
    } else {
        finder.give(ItemPart::Other(item.raw));
    }
    Ok(())
}

/// The content of a message: a string, a content, or a list of contents.
fn contents<'a>(raw: Raw<'a>, finder: &mut Finder<'_, 'a>) -> Result<(), Unreadable> {
    if raw.is_string() {
        finder.give(ItemPart::Text(raw));
        return Ok(());
    }
    finder.content(raw, Names::of(&NAMES), &mut |finder, _, fields| {
        StepFields::of_fields(fields).give_content(finder)
    })
}

/// In the last tool result: at the end of a text, as a new content of a list, or as a new member of an object.
fn hint_in_result(read: &Conversation<'_>) -> Option<Slot> {
    let body = read.body;
    let (item, _) = read.history.last_item().filter(|(item, _)| !item.raw.is_string())?;
    let step = StepFields::of(item);
    if step.is_result() {
        return match step.result? {
            result if result.is_object() => Slot::member(body, result, "sentinel_hint", ["", ""]),
            result => Slot::after(body, result, "text"),
        };
    }
    if step.is_user_input() {
        Slot::after(body, step.content?, "text")
    } else {
        Slot::end_of(body, step.text?)
    }
}
