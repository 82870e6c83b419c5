//! Requests: `input`, a string or a list of items, and `instructions`.

use std::{borrow::Cow, ops::Range};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    conversation::{
        BodyIds, Call, CallRef, Conversation, History, Kept, Messages, Part, Role, ToolResult, arguments,
        model, texts,
    },
    edit::{self, Edit},
    json::{self, Unreadable},
};

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    input: &'a RawValue,
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stream: Option<&'a RawValue>,
    #[serde(borrow, default)]
    instructions: Option<&'a RawValue>,
    #[serde(borrow, default)]
    conversation: Option<&'a RawValue>,
    #[serde(borrow, default)]
    previous_response_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    user: Option<&'a RawValue>,
    #[serde(borrow, default)]
    safety_identifier: Option<&'a RawValue>,
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    call_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    action: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
}

impl Item<'_> {
    fn is_message(&self) -> bool {
        matches!(self.kind.as_ref(), "" | "message")
    }

    fn is_user(&self) -> bool {
        self.is_message() && self.role == "user"
    }

    fn is_call(&self) -> bool {
        self.kind.ends_with("_call")
    }

    fn is_output(&self) -> bool {
        self.kind.ends_with("_call_output")
    }

    fn role(&self) -> Role {
        match self.role.as_ref() {
            _ if self.is_call() => Role::Assistant,
            _ if self.is_output() => Role::Tool,
            "user" if self.is_message() => Role::User,
            "assistant" if self.is_message() => Role::Assistant,
            "system" | "developer" if self.is_message() => Role::Instruction,
            _ => Role::Other,
        }
    }
}

pub fn read(body: &str) -> Result<Conversation<'_>, Unreadable> {
    let request: Request = json::read(body)?;
    let history: Box<dyn History<'_>> = if request.input.get().starts_with('"') {
        Box::new(OneText(request.input))
    } else {
        Box::new(Turns::of(json::read_raw::<Messages<Item>>(request.input)?.0))
    };
    let is_kept = request.conversation.is_some() || request.previous_response_id.is_some();
    Ok(Conversation {
        model: model(request.model),
        stream: json::is_true(request.stream),
        include_usage: false,
        instructions: request.instructions,
        history,
        kept: is_kept.then(|| Kept {
            thread: request.conversation.map(conversation_id),
            // Each response has an id of its own: a chain of them names no thread.
            follows: request.previous_response_id.and_then(json::string),
        }),
        ids: BodyIds {
            user: request.user,
            safety_identifier: request.safety_identifier,
            metadata: request.metadata,
        },
    })
}

/// An `input` that is a string: one user message.
struct OneText<'a>(&'a RawValue);

impl<'a> History<'a> for OneText<'a> {
    fn len(&self) -> usize {
        1
    }

    fn role(&self, at: usize) -> Role {
        if at == 0 { Role::User } else { Role::Other }
    }

    fn content(&self, at: usize) -> Option<&'a RawValue> {
        (at == 0).then_some(self.0)
    }

    fn has_calls(&self, _at: usize) -> bool {
        false
    }

    fn parts(&self, at: usize, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
        self.content(at).map_or(Ok(()), |text| texts(text, &[], visit))
    }
}

/// Items, put together to messages: the calls and texts that follow each other without an output or a user's word
/// between them are one turn.
struct Turns<'a> {
    items: Vec<Item<'a>>,
    messages: Vec<(Role, Range<usize>)>,
}

impl<'a> Turns<'a> {
    fn of(items: Vec<Item<'a>>) -> Self {
        let mut messages: Vec<(Role, Range<usize>)> = Vec::with_capacity(items.len());
        let is_message =
            |at: Option<usize>| at.and_then(|at| items.get(at)).is_some_and(|item| item.is_message());
        for (at, item) in (0_usize..).zip(&items) {
            let end = at.saturating_add(1);
            match (messages.last_mut(), item.role()) {
                // Reasoning and instructions do not end a turn; a text after a text is another.
                (Some((Role::Assistant, turn)), Role::Assistant | Role::Other)
                    if !(item.is_message() && is_message(at.checked_sub(1))) =>
                {
                    turn.end = end;
                }
                (_, role) => messages.push((role, at..end)),
            }
        }
        Self { items, messages }
    }

    fn items_of(&self, at: usize) -> &[Item<'a>] {
        self.messages.get(at).and_then(|(_, range)| self.items.get(range.clone())).unwrap_or_default()
    }
}

impl<'a> History<'a> for Turns<'a> {
    fn len(&self) -> usize {
        self.messages.len()
    }

    fn role(&self, at: usize) -> Role {
        self.messages.get(at).map_or(Role::Other, |(role, _)| *role)
    }

    fn content(&self, at: usize) -> Option<&'a RawValue> {
        self.items_of(at).first()?.content
    }

    fn has_calls(&self, at: usize) -> bool {
        self.items_of(at).iter().any(|item| item.is_call() || item.is_output())
    }

    fn parts(&self, at: usize, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
        self.items_of(at).iter().try_for_each(|item| parts(item, visit))
    }
}

fn parts<'a>(item: &Item<'a>, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
    let id = || item.call_id.and_then(json::string).unwrap_or_default();
    let output = || Part::Result(ToolResult { of: CallRef::Id(id()), content: item.output, is_error: false });
    if item.is_call() {
        let name = item.name.and_then(json::string).unwrap_or_else(|| item.kind.clone());
        let given = item.arguments.or(item.input).or(item.action);
        visit(Part::Call(Call { id: id(), name, arguments: arguments(given) }));
        // Tools that the provider runs bring their output along.
        if item.output.is_some() {
            visit(output());
        }
    } else if item.is_output() {
        visit(output());
    } else if let Some(content) = item.content {
        if item.role == "assistant" {
            // What the model itself wrote must not make the rest unreadable.
            let _ = texts(content, &["output_text", "text"], visit);
        } else {
            texts(content, &["input_text", "text"], visit)?;
        }
    }
    Ok(())
}

/// Into the last tool's output, where the model reads it with the output.
pub fn hint_in_result(body: &str, text: &str) -> Result<Edit, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        input: Vec<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    let item: Item = json::object(outer.input.last().ok_or(Unreadable::Shape)?)?;
    let told = if item.is_output() {
        item.output
    } else if item.is_user() {
        item.content
    } else {
        None
    };
    edit::extend_text(body, told.ok_or(Unreadable::Shape)?, text, "input_text")
}

/// `conversation` is an id, or an object with an id.
fn conversation_id(raw: &RawValue) -> Cow<'_, str> {
    #[derive(Deserialize)]
    struct Object<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
    }
    match json::read::<Object>(raw.get()) {
        Ok(object) => object.id,
        Err(_) => json::string(raw).unwrap_or(Cow::Borrowed(raw.get())),
    }
}

/// Into `instructions`: extended where there are some.
pub fn hint(body: &str, text: &str) -> Result<Edit, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow, default, deserialize_with = "json::present")]
        instructions: Option<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    edit::extend_key(body, "instructions", outer.instructions, text)
}
