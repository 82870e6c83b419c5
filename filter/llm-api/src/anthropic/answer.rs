//! Answers: content blocks, whole or in events.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{answer::Answer, json, usage::Report};

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

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
}

/// The input has neither what was read from the cache nor what was written to it.
impl From<Usage> for Report {
    fn from(usage: Usage) -> Self {
        let written = usage.cache_creation_input_tokens.unwrap_or(0);
        Self {
            input: usage.input_tokens.map(|input| input.saturating_add(written)),
            cached: usage.cache_read_input_tokens.unwrap_or(0),
            output: usage.output_tokens.unwrap_or(0),
        }
    }
}

pub fn whole(json: &str, answer: &mut Answer) -> Option<()> {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow, default)]
        model: Option<&'a RawValue>,
        content: Vec<Block>,
        #[serde(default)]
        usage: Option<Usage>,
    }
    let body: Body = json::read(json).ok()?;
    answer.set_model(body.model);
    answer.add_usage(body.usage);
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
        usage: Option<Usage>,
    }
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow, default)]
        model: Option<&'a RawValue>,
        #[serde(default)]
        usage: Option<Usage>,
    }
    #[derive(Default, Deserialize)]
    struct Delta {
        #[serde(default)]
        text: String,
        #[serde(default)]
        partial_json: String,
    }
    let event: Event = json::read(json).ok()?;
    if let Some(message) = event.message {
        answer.set_model(message.model);
        answer.add_usage(message.usage);
    }
    answer.add_usage(event.usage);
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
        "message_stop" => answer.has_ended = true,
        _ => {}
    }
    Some(())
}
