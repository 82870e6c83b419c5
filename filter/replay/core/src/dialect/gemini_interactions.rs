//! Gemini Interactions: `system_instruction`, and a list of steps in which calls and results stand beside the messages.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{as_object, instructions, object, raw, text};
use crate::history::{MessageContent, RecordedMessage};

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "String::is_empty")]
    system_instruction: String,
    input: Vec<Box<RawValue>>,
    /// The history is in the body: nothing is kept at the provider.
    store: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a str,
    object: &'a str,
    status: &'a str,
    model: &'a str,
    steps: Vec<Box<RawValue>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StepItem<'a> {
    UserInput { content: [Content<'a>; 1] },
    ModelOutput { content: [Content<'a>; 1] },
    FunctionCall { id: &'a str, name: &'a str, arguments: Box<RawValue> },
    FunctionResult { call_id: &'a str, name: &'a str, result: Box<RawValue> },
}

#[derive(Serialize)]
struct Content<'a> {
    r#type: &'a str,
    text: &'a str,
}

const MODEL: &str = "gemini-3-flash-preview";

pub fn request(history: &[RecordedMessage]) -> String {
    let input = history.iter().flat_map(steps).collect();
    text(&Request { model: MODEL, system_instruction: instructions(history), input, store: false })
}

pub fn answer(turn: &RecordedMessage) -> String {
    let (_, calls) = super::turn(turn);
    let status = if calls.is_empty() { "completed" } else { "requires_action" };
    text(&Answer { id: "v1_replay", object: "interaction", status, model: MODEL, steps: steps(turn) })
}

fn steps(message: &RecordedMessage) -> Vec<Box<RawValue>> {
    let content = |text| [Content { r#type: "text", text }];
    match &message.said {
        MessageContent::Instruction(_) => Vec::new(),
        MessageContent::User(text) => vec![raw(&StepItem::UserInput { content: content(text) })],
        MessageContent::Assistant { text, calls } => {
            let said = (!text.is_empty()).then(|| raw(&StepItem::ModelOutput { content: content(text) }));
            let calls = calls.iter().map(|call| {
                let arguments = object(&call.arguments);
                raw(&StepItem::FunctionCall { id: &call.id, name: &call.name, arguments })
            });
            said.into_iter().chain(calls).collect()
        }
        MessageContent::Result { call, name, text } => {
            let result = as_object(text).unwrap_or_else(|| raw(text.as_str()));
            vec![raw(&StepItem::FunctionResult { call_id: call, name, result })]
        }
    }
}
