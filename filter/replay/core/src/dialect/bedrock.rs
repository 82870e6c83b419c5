//! Bedrock Converse: `system` is a list of blocks, and each block of a message is told by its one key. Messages of user and
//! assistant in turns, results before whatever the user says. The model is in the path.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Utterance, as_object, in_turns, instructions, object, text};
use crate::history::{MessageContent, RecordedMessage};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Instruction>,
    messages: Vec<Utterance<Block<'a>>>,
    inference_config: Limits,
}

#[derive(Serialize)]
struct Instruction {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Limits {
    max_tokens: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    output: Output<'a>,
    stop_reason: &'a str,
}

#[derive(Serialize)]
struct Output<'a> {
    message: Utterance<Block<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Block<'a> {
    Text(&'a str),
    #[serde(rename_all = "camelCase")]
    ToolUse {
        tool_use_id: String,
        name: &'a str,
        input: Box<RawValue>,
    },
    #[serde(rename_all = "camelCase")]
    ToolResult {
        tool_use_id: String,
        content: [Content<'a>; 1],
    },
}

/// What a tool gave: an object as it is, all else as text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Content<'a> {
    Text(&'a str),
    Json(Box<RawValue>),
}

pub fn request(history: &[RecordedMessage]) -> String {
    let instructions = instructions(history);
    let system = Some(Instruction { text: instructions }).filter(|system| !system.text.is_empty());
    text(&Request {
        system: system.into_iter().collect(),
        messages: in_turns(history, blocks),
        inference_config: Limits { max_tokens: 1024 },
    })
}

pub fn answer(turn: &RecordedMessage) -> String {
    let stop_reason = if super::turn(turn).1.is_empty() { "end_turn" } else { "tool_use" };
    let message = Utterance { role: "assistant", content: blocks(turn) };
    text(&Answer { output: Output { message }, stop_reason })
}

fn blocks(message: &RecordedMessage) -> Vec<Block<'_>> {
    let text_of = |text| Some(Block::Text(text)).filter(|_| !text.is_empty());
    match &message.said {
        MessageContent::Instruction(_) => Vec::new(),
        MessageContent::User(text) => text_of(text).into_iter().collect(),
        MessageContent::Assistant { text, calls } => {
            let calls = calls.iter().map(|call| Block::ToolUse {
                tool_use_id: id(&call.id),
                name: &call.name,
                input: object(&call.arguments),
            });
            text_of(text).into_iter().chain(calls).collect()
        }
        MessageContent::Result { call, text, .. } => {
            let content = as_object(text).map_or(Content::Text(text), Content::Json);
            vec![Block::ToolResult { tool_use_id: id(call), content: [content] }]
        }
    }
}

/// Ids hold letters, digits, `_`, `.`, `:` and `-` only.
fn id(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || ".:-".contains(c) { c } else { '_' }).collect()
}
