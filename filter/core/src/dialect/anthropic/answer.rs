//! Answers: content blocks, whole or in events.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::dialect::{Answer, usage::Reported};

#[derive(Deserialize)]
struct Block {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    input: Option<Box<RawValue>>,
}

pub fn whole(json: &str, answer: &mut Answer) -> Option<()> {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow, default)]
        model: Option<&'a RawValue>,
        content: Vec<Block>,
        #[serde(default)]
        usage: Option<Reported>,
    }
    let body: Body = serde_json::from_str(json).ok()?;
    answer.note_model(body.model);
    answer.note_usage(body.usage.as_ref());
    for block in body.content {
        match block.kind.as_str() {
            "text" => answer.push_text(&block.text),
            "tool_use" => answer.add_call(&block.name, block.input.as_deref().map_or("{}", RawValue::get)),
            _ => {}
        }
    }
    Some(())
}

/// A call's arguments come as pieces of JSON after the block has started with an empty `input`.
pub fn event(json: &str, answer: &mut Answer) -> Option<()> {
    #[derive(Deserialize)]
    struct Event<'a> {
        #[serde(rename = "type")]
        kind: String,
        #[serde(default)]
        index: u64,
        #[serde(default)]
        content_block: Option<Block>,
        #[serde(default)]
        delta: Delta,
        #[serde(borrow, default)]
        message: Option<Message<'a>>,
        #[serde(default)]
        usage: Option<Reported>,
    }
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow, default)]
        model: Option<&'a RawValue>,
        #[serde(default)]
        usage: Option<Reported>,
    }
    #[derive(Default, Deserialize)]
    struct Delta {
        #[serde(default)]
        text: String,
        #[serde(default)]
        partial_json: String,
    }
    let event: Event = serde_json::from_str(json).ok()?;
    if let Some(message) = &event.message {
        answer.note_model(message.model);
        answer.note_usage(message.usage.as_ref());
    }
    answer.note_usage(event.usage.as_ref());
    match event.kind.as_str() {
        "content_block_start" => {
            let block = event.content_block?;
            if block.kind == "tool_use" {
                answer.push_call(event.index, &block.name, "");
            }
        }
        "content_block_delta" => {
            answer.push_text(&event.delta.text);
            if !event.delta.partial_json.is_empty() {
                answer.push_call(event.index, "", &event.delta.partial_json);
            }
        }
        "message_stop" => answer.is_over = true,
        _ => {}
    }
    Some(())
}
