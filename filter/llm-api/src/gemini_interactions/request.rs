//! Requests: `input`, a string, a content, or a list of contents or steps, and `system_instruction`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    conversation::{
        BodyIds, Call, CallRef, Conversation, Kept, Messages, Part, Role, ToolResult, arguments, each_part,
        model,
    },
    edit::{self, Edit},
    history::History,
    json::{self, Unreadable},
    turns::{self, OneText, Turns},
};

#[derive(Deserialize)]
struct Request<'a> {
    /// Not there where a long answer is continued.
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    #[serde(borrow, default)]
    agent: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stream: Option<&'a RawValue>,
    #[serde(borrow, default)]
    system_instruction: Option<&'a RawValue>,
    #[serde(borrow, default)]
    previous_interaction_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    labels: Option<&'a RawValue>,
}

/// A step, or a content that stands in the list of steps as the user's.
#[derive(Deserialize)]
struct Step<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    /// In the older form of a message, which has no type.
    #[serde(borrow, default)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    call_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
}

impl<'a> Step<'a> {
    fn is_call(&self) -> bool {
        self.kind.ends_with("_call")
    }

    fn is_result(&self) -> bool {
        self.kind.ends_with("_result")
    }

    fn is_content(&self) -> bool {
        matches!(self.kind.as_ref(), "text" | "image" | "audio" | "video" | "document")
    }

    fn is_user_input(&self) -> bool {
        self.kind == "user_input" || self.kind.is_empty() && self.role == "user"
    }

    fn call(&self) -> Call<'a> {
        // Tools of the provider have no name beside their type.
        let kind = || self.kind.strip_suffix("_call").unwrap_or_default().to_owned();
        Call {
            id: self.id.and_then(json::string).unwrap_or_default(),
            name: self.name.and_then(json::string).unwrap_or_else(|| Cow::Owned(kind())),
            arguments: arguments(self.arguments),
        }
    }

    fn told(&self) -> ToolResult<'a> {
        let id = self.call_id.and_then(json::string).unwrap_or_default();
        ToolResult { of: CallRef::Id(id), content: self.result, is_error: json::is_true(self.is_error) }
    }

    fn give_content(&self, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
        if self.kind == "text" {
            visit(Part::Text(self.text.and_then(json::text).ok_or(Unreadable::Shape)?));
        }
        [self.data, self.uri].into_iter().flatten().for_each(|media| visit(Part::Media(media)));
        Ok(())
    }
}

impl<'a> turns::Item<'a> for Step<'a> {
    fn role(&self) -> Role {
        match self.kind.as_ref() {
            "model_output" => Role::Assistant,
            "" if self.role == "model" => Role::Assistant,
            _ if self.is_call() => Role::Assistant,
            _ if self.is_result() => Role::Tool,
            _ if self.is_user_input() || self.is_content() => Role::User,
            _ => Role::Other,
        }
    }

    fn content(&self) -> Option<&'a RawValue> {
        self.content.or(self.text)
    }

    fn parts(&self, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
        if self.is_call() {
            visit(Part::Call(self.call()));
        } else if self.is_result() {
            visit(Part::Result(self.told()));
        } else if self.is_content() {
            self.give_content(visit)?;
        } else if let Some(content) = self.content {
            let given = contents(content, visit);
            // What the model itself wrote must not make the rest unreadable.
            if self.is_user_input() {
                given?;
            }
        }
        Ok(())
    }

    fn has_calls(&self) -> bool {
        self.is_call() || self.is_result()
    }

    fn is_text(&self) -> bool {
        self.kind == "model_output" || self.kind.is_empty()
    }

    /// Contents that follow each other are one message of the user.
    fn is_fragment(&self) -> bool {
        self.is_content()
    }
}

/// What a message holds: a string, a content, or a list of contents.
fn contents<'a>(raw: &'a RawValue, visit: &mut dyn FnMut(Part<'a>)) -> Result<(), Unreadable> {
    if raw.get().starts_with('"') {
        visit(Part::Text(json::text(raw).ok_or(Unreadable::Shape)?));
        return Ok(());
    }
    if raw.get().starts_with('{') {
        return json::object::<Step>(raw)?.give_content(visit);
    }
    each_part(raw, visit, &mut |part: Step<'a>, visit| part.give_content(visit))
}

pub fn read(body: &str) -> Result<Conversation<'_>, Unreadable> {
    let request: Request = json::read(body)?;
    Ok(Conversation {
        model: model(request.model.or(request.agent)),
        stream: json::is_true(request.stream),
        include_usage: false,
        instructions: request.system_instruction,
        history: history(request.input)?,
        // Each interaction has an id of its own: a chain of them names no thread.
        kept: request
            .previous_interaction_id
            .map(|previous| Kept { thread: None, follows: json::string(previous) }),
        ids: BodyIds { metadata: request.labels, ..BodyIds::default() },
    })
}

fn history<'a>(input: Option<&'a RawValue>) -> Result<History<'a>, Unreadable> {
    let steps = match input {
        None => Vec::new(),
        Some(text) if text.get().starts_with('"') => return Ok(History::of(OneText(text))),
        Some(lone) if lone.get().starts_with('{') => vec![json::object::<Step>(lone)?],
        Some(list) => json::read_raw::<Messages<Step>>(list)?.0,
    };
    Ok(History::of(Turns::of(steps)))
}

/// Into the last tool's result, where the model reads it with the result: at its end where it is a text, as one more
/// content of a list, as one more member of an object.
pub fn hint_in_result(body: &str, text: &str) -> Result<Edit, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        input: &'a RawValue,
    }
    let outer: Outer = json::read(body)?;
    let last = if outer.input.get().starts_with('{') {
        outer.input
    } else {
        let steps: Vec<&RawValue> = json::read_raw(outer.input)?;
        steps.last().copied().ok_or(Unreadable::Shape)?
    };
    let step: Step = json::object(last)?;
    if step.is_result() {
        let result = step.result.ok_or(Unreadable::Shape)?;
        if result.get().starts_with('{') {
            return edit::insert_key_into(body, result, "sentinel_hint", &json::quoted(text));
        }
        return edit::extend_text(body, result, text, "text");
    }
    if step.is_user_input() {
        return edit::extend_text(body, step.content.ok_or(Unreadable::Shape)?, text, "text");
    }
    edit::extend_string(body, step.text.ok_or(Unreadable::Shape)?, text)
}

/// Into `system_instruction`, which each interaction brings anew: extended where there is one.
pub fn hint(body: &str, text: &str) -> Result<Edit, Unreadable> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow, default, deserialize_with = "json::present")]
        system_instruction: Option<&'a RawValue>,
    }
    let outer: Outer = json::read(body)?;
    edit::extend_key(body, "system_instruction", outer.system_instruction, text)
}
