//! Anthropic Messages: `system`, and messages of user and assistant in turns. Results are blocks of a user message, before
//! whatever the user says.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Utterance, in_turns, instructions, object, text};
use crate::history::{MessageContent, RecordedMessage};

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    #[serde(flatten)]
    body: Body<'a>,
}

/// All but the model.
#[derive(Serialize)]
pub struct Body<'a> {
    max_tokens: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    system: String,
    messages: Vec<Utterance<Block<'a>>>,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a str,
    r#type: &'a str,
    role: &'a str,
    model: &'a str,
    content: Vec<Block<'a>>,
    stop_reason: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text { text: &'a str },
    ToolUse { id: String, name: &'a str, input: Box<RawValue> },
    ToolResult { tool_use_id: String, content: &'a str },
}

pub fn request(history: &[RecordedMessage]) -> String {
    text(&Request { model: "claude-sonnet-4-5", body: Body::of(history) })
}

impl<'a> Body<'a> {
    pub fn of(history: &'a [RecordedMessage]) -> Self {
        Self { max_tokens: 1024, system: instructions(history), messages: in_turns(history, blocks) }
    }
}

pub fn answer(turn: &RecordedMessage) -> String {
    let stop_reason = if super::turn(turn).1.is_empty() { "end_turn" } else { "tool_use" };
    text(&Answer {
        id: "msg_replay",
        r#type: "message",
        role: "assistant",
        model: "claude-sonnet-4-5",
        content: blocks(turn),
        stop_reason,
    })
}

fn blocks(message: &RecordedMessage) -> Vec<Block<'_>> {
    let told = |text: &'_ str| !text.is_empty();
    match &message.said {
        MessageContent::Instruction(_) => Vec::new(),
        MessageContent::User(text) => vec![Block::Text { text }].into_iter().filter(|_| told(text)).collect(),
        MessageContent::Assistant { text, calls } => {
            let text = told(text).then_some(Block::Text { text });
            let calls = calls.iter().map(|call| Block::ToolUse {
                id: id(&call.id),
                name: &call.name,
                input: object(&call.arguments),
            });
            text.into_iter().chain(calls).collect()
        }
        MessageContent::Result { call, text, .. } => {
            vec![Block::ToolResult { tool_use_id: id(call), content: text }]
        }
    }
}

/// Ids hold letters, digits, `_` and `-` only.
fn id(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}
