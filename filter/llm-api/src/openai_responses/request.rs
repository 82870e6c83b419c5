//! Requests: `instructions` and `input`, a string or a list of items. Calls and outputs are items of their own, and an
//! output may stand anywhere behind its call. Calls of tools that the provider runs carry their own output.

use super::tools;
use crate::{
    conversation::{BodyIds, Conversation, Kept, Role},
    edit::Slot,
    format::{Format, Joint},
    item_part::{Finder, ItemCall, ItemPart, ItemResult, Tool},
    items::{Body, Item},
    json::{self, Raw, Unreadable, name, quoted},
    outline::{Form, Placing},
};

const NAMES: [&str; 13] = [
    "type",
    "role",
    "content",
    "call_id",
    "id",
    "name",
    "arguments",
    "input",
    "action",
    "code",
    "output",
    "outputs",
    "error",
];

const FORMAT: Format = Format {
    role: |item| Ok(ItemFields::of(item).role()),
    content: |item| ItemFields::of(item).content,
    has_calls: |item| {
        let item = ItemFields::of(item);
        item.is_call() || item.is_output()
    },
    find,
    joint: Some(|item| {
        let item = ItemFields::of(item);
        match item.is_message() {
            true => Joint::Text,
            false if item.is_call() && item.told().is_some() => Joint::Closed,
            false => Joint::Open,
        }
    }),
    hint: |read, _| read.text_member("instructions"),
    hint_in_result,
    offer: tools::offer,
    tools: &crate::tools::LISTS,
    has_agents: true,
    keeps_answers: true,
    takes_objects_as_results: false,
    form: Form {
        placing: Placing::Anywhere,
        has_unique_ids: false,
        has_results_first: false,
        may_end_open: false,
        is_counted: false,
        leads: |item| item.pick(["type"]).is_ok_and(|[kind]| name(kind) == "reasoning"),
        result: |id, _, is_custom, text| {
            let kind = if is_custom { "custom_tool_call_output" } else { "function_call_output" };
            format!(r#"{{"type":"{kind}","call_id":{},"output":{}}}"#, quoted(id), quoted(text))
        },
        message: |elements| format!(r#"{{"role":"user","content":[{elements}]}}"#),
        text: |text| format!(r#"{{"type":"input_text","text":{}}}"#, quoted(text)),
        content: |_, text| quoted(text),
    },
};

/// The members of an item.
struct ItemFields<'a> {
    kind: std::borrow::Cow<'a, str>,
    role: Option<Raw<'a>>,
    content: Option<Raw<'a>>,
    call_id: Option<Raw<'a>>,
    id: Option<Raw<'a>>,
    name: Option<Raw<'a>>,
    /// The arguments of a call: arguments, input, action or code.
    given: Option<Raw<'a>>,
    output: Option<Raw<'a>>,
    outputs: Option<Raw<'a>>,
    error: Option<Raw<'a>>,
}

impl<'a> ItemFields<'a> {
    fn of(item: Item<'_, 'a>) -> Self {
        let fields = item.fields.first_chunk().copied().unwrap_or([None; NAMES.len()]);
        let [
            kind,
            role,
            content,
            call_id,
            id,
            called,
            arguments,
            input,
            action,
            code,
            output,
            outputs,
            error,
        ] = fields;
        let given = arguments.or(input).or(action).or(code);
        Self { kind: name(kind), role, content, call_id, id, name: called, given, output, outputs, error }
    }

    fn is_message(&self) -> bool {
        matches!(&*self.kind, "" | "message") || self.role.is_some() && self.is_said()
    }

    fn is_call(&self) -> bool {
        self.kind.ends_with("_call") && !self.is_said()
    }

    /// Some servers (LiteLLM) have a type of their own for it.
    fn is_output(&self) -> bool {
        self.kind.ends_with("_call_output") || self.kind.ends_with("_result")
    }

    /// Whether it has a text beside its type. Some servers (LiteLLM) take that for a message, whatever the type is.
    fn is_said(&self) -> bool {
        let is_known = self.kind == "reasoning"
            || self.is_output()
            || self.kind == "function_call" && self.role.is_none();
        !is_known && self.content.is_some_and(|content| !matches!(content.get(), "\"\"" | "[]"))
    }

    fn role(&self) -> Role {
        if self.is_call() {
            return Role::Assistant;
        } else if self.is_output() {
            return Role::Tool;
        }
        match &*name(self.role.filter(|_| self.is_message())) {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" | "developer" => Role::Instruction,
            _ => Role::Other,
        }
    }

    /// The output that a call of a provider's tool carries.
    fn told(&self) -> Option<Raw<'a>> {
        self.output.or(self.outputs).or(self.error)
    }

    fn tool(&self) -> Tool {
        match self.kind.strip_suffix("_output").unwrap_or(&self.kind) {
            "function_call" => Tool::Function,
            "custom_tool_call" => Tool::Custom,
            _ => Tool::Other,
        }
    }
}

pub fn read(body: &str) -> Result<Conversation<'_>, Unreadable> {
    const ONCE: [&str; 9] = [
        "model",
        "stream",
        "instructions",
        "conversation",
        "previous_response_id",
        "user",
        "safety_identifier",
        "metadata",
        "store",
    ];
    let mut body = Body::read(body, "input", &NAMES, &ONCE)?;
    // A prompt that the provider keeps may be all that the request needs.
    let is_kept = body.top.get("prompt").is_some_and(Raw::is_object)
        || body.top.has("conversation")
        || body.top.has("previous_response_id");
    match body.top.get("input") {
        Some(input) if input.is_string() => body.items.lone(input)?,
        Some(input) if input.is_list() => {}
        None if is_kept => {}
        _ => return Err(Unreadable::Shape),
    }
    let read = Conversation::of(body, "input", &FORMAT)?;
    let (thread, previous) = (read.top.get("conversation"), read.top.get("previous_response_id"));
    let is_kept = thread.is_some() || previous.is_some();
    Ok(Conversation {
        model: read.text("model"),
        stream: read.is_true("stream"),
        instructions: read.top.get("instructions"),
        kept: is_kept.then(|| Kept {
            // An id, or an object with an id.
            thread: thread.map(|thread| match thread.pick(["id"]) {
                Ok([Some(id)]) if id.is_string() => name(Some(id)),
                _ => json::string(thread).unwrap_or_else(|| thread.get().into()),
            }),
            // Each response has a new id, so a chain of them does not identify the thread.
            follows: previous.and_then(json::string),
        }),
        is_part: is_kept,
        ids: BodyIds {
            user: read.top.get("user"),
            safety_identifier: read.top.get("safety_identifier"),
            metadata: read.top.get("metadata"),
        },
        ..read
    })
}

fn find<'a>(item: Item<'_, 'a>, finder: &mut Finder<'_, 'a>) -> Result<(), Unreadable> {
    let raw = item.raw;
    let item = ItemFields::of(item);
    let tool = item.tool();
    if item.is_call() {
        let told = item.told();
        // Items of the provider's own tools have only the id of the item.
        let id = item.call_id.or(item.id.filter(|_| told.is_some()));
        let called = if item.name.is_some() { name(item.name) } else { item.kind };
        finder.give(ItemPart::Call(ItemCall { id, name: called, arguments: item.given, tool }));
        if told.is_some() {
            let is_error = item.error.is_some();
            finder.give(ItemPart::Result(ItemResult {
                id,
                name: None,
                content: told,
                is_error,
                tool: Tool::Other,
            }));
        }
    } else if item.is_output() {
        // The content beside an output may be an output too.
        let (output, content) = (item.output.or(item.content), item.output.and(item.content));
        finder.give(ItemPart::Result(ItemResult {
            id: item.call_id,
            name: None,
            content: output,
            is_error: false,
            tool,
        }));
        content.into_iter().for_each(|content| finder.give(ItemPart::Other(content)));
    } else if item.kind == "reasoning" && item.role.is_none_or(|role| name(Some(role)) == "assistant") {
        // It is the model's.
    } else if let Some(content) = item.content {
        let kinds: &[&str] =
            if item.role() == Role::Assistant { &["output_text", "text"] } else { &["input_text", "text"] };
        finder.texts(content, kinds)?;
    } else if matches!(&*item.kind, "item_reference" | "compaction") {
        finder.give(ItemPart::Reference);
    } else {
        finder.give(ItemPart::Other(raw));
    }
    Ok(())
}

/// In the last tool output, where the model reads it together with the output.
fn hint_in_result(read: &Conversation<'_>) -> Option<Slot> {
    let (item, role) = read.history.last_item()?;
    let item = ItemFields::of(item);
    let told = if item.is_output() { item.output } else { item.content.filter(|_| role == Role::User) };
    Slot::after(read.body, told?, "input_text")
}
