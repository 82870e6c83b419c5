//! OpenAI chat completions: the form that the runs are recorded in, so their messages go as they are.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{raw, text};
use crate::history::{MessageContent, RecordedCall, RecordedMessage};

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: Vec<&'a RawValue>,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a str,
    object: &'a str,
    model: &'a str,
    choices: [Choice<'a>; 1],
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    message: &'a RawValue,
    finish_reason: &'a str,
}

#[derive(Default, Serialize)]
struct Chat<'a> {
    role: &'a str,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

#[derive(Serialize)]
struct ToolCall<'a> {
    id: &'a str,
    r#type: &'a str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

pub fn request(history: &[RecordedMessage]) -> String {
    let messages = history.iter().map(|message| message.raw.as_ref()).collect();
    text(&Request { model: "gpt-4o-mini", messages })
}

pub fn answer(turn: &RecordedMessage) -> String {
    let finish_reason = if super::turn(turn).1.is_empty() { "stop" } else { "tool_calls" };
    let choice = Choice { index: 0, message: &turn.raw, finish_reason };
    text(&Answer {
        id: "chatcmpl-replay",
        object: "chat.completion",
        model: "gpt-4o-mini",
        choices: [choice],
    })
}

/// A message in this form.
pub fn message(said: &MessageContent) -> Box<RawValue> {
    let chat = match said {
        MessageContent::Instruction(text) => Chat { role: "system", content: Some(text), ..Chat::default() },
        MessageContent::User(text) => Chat { role: "user", content: Some(text), ..Chat::default() },
        MessageContent::Assistant { text, calls } => Chat {
            role: "assistant",
            content: Some(text.as_str()).filter(|text| !text.is_empty()),
            tool_calls: calls.iter().map(call).collect(),
            ..Chat::default()
        },
        MessageContent::Result { call, text, .. } => {
            Chat { role: "tool", content: Some(text), tool_call_id: Some(call), ..Chat::default() }
        }
    };
    raw(&chat)
}

fn call(call: &RecordedCall) -> ToolCall<'_> {
    let RecordedCall { id, name, arguments } = call;
    ToolCall { id, r#type: "function", function: Function { name, arguments } }
}

impl RecordedMessage {
    /// A message that no file had, in the chat form.
    pub fn new(said: MessageContent) -> Self {
        let raw = message(&said);
        Self { raw, said }
    }
}
