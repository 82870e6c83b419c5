//! Which answers can be given again: at most one text block, calls behind it, and the model's turn is over.

use crate::{
    object::Object,
    repeatable::{Repeatable, Said},
};

const MESSAGE: [&str; 7] = ["id", "type", "role", "model", "content", "stop_reason", "usage"];

pub fn look(said: Said<'_>, answer: &mut Repeatable) -> Option<()> {
    match said {
        Said::Whole(json) => {
            let message = Object::read(json)?;
            message.only(&MESSAGE)?;
            message.may_be("type", "message")?;
            message.may_be("role", "assistant")?;
            let to_call = ended_to_call(&message, answer)?;
            for block in message.list("content")? {
                let block = Object::of(block)?;
                if block.is("type", "text").is_some() {
                    text_of(&block, answer)?;
                } else {
                    block.only(&["type", "id", "name", "input", "caller"])?;
                    begin_call(&block, 0, answer)?;
                    answer.arguments(0, block.arguments("input")?)?;
                    answer.end_call(0, "")?;
                }
            }
            answer.finish(to_call)?;
            answer.end()
        }
        Said::Event { json, .. } => {
            let event = Object::read(json)?;
            let at = event.number("index")?;
            match event.word("type")? {
                "ping" => Some(()),
                "message_start" => {
                    let message = event.object("message")?;
                    message.only(&MESSAGE)?;
                    (message.list("content")?.is_empty() && message.get("stop_reason").is_none())
                        .then_some(())
                }
                "content_block_start" => {
                    let block = event.object("content_block")?;
                    if block.is("type", "text").is_some() {
                        event.is_first("index")?;
                        text_of(&block, answer)
                    } else {
                        // The input is an empty object, and its text comes in pieces.
                        block.only(&["type", "id", "name", "caller"])?;
                        begin_call(&block, at, answer)
                    }
                }
                "content_block_delta" => {
                    let delta = event.object("delta")?;
                    if delta.is("type", "input_json_delta").is_some() {
                        delta.only(&["type", "partial_json"])?;
                        return answer.arguments(at, &delta.text("partial_json")?);
                    }
                    event.is_first("index")?;
                    delta.only(&["type", "text"])?;
                    delta.is("type", "text_delta")?;
                    answer.push(&delta.text("text")?)
                }
                "content_block_stop" if answer.is_calling() => answer.end_call(at, "{}"),
                "content_block_stop" => event.is_first("index"),
                "message_delta" => {
                    event.only(&["type", "delta", "usage"])?;
                    let delta = event.object("delta")?;
                    delta.only(&["stop_reason"])?;
                    let to_call = ended_to_call(&delta, answer)?;
                    answer.finish(to_call)
                }
                "message_stop" => answer.end(),
                _ => None,
            }
        }
    }
}

fn ended_to_call(message: &Object<'_>, answer: &Repeatable) -> Option<bool> {
    answer.ended_to_call(message.word("stop_reason")?, ["end_turn", "tool_use"])
}

fn text_of(block: &Object<'_>, answer: &mut Repeatable) -> Option<()> {
    answer.begin()?;
    block.only(&["type", "text"])?;
    answer.push(&block.text("text")?)
}

fn begin_call(block: &Object<'_>, at: u64, answer: &mut Repeatable) -> Option<()> {
    block.is("type", "tool_use")?;
    block.has_id("id", "toolu_")?;
    block.is_called_directly()?;
    answer.begin_call(at, block.word("name")?)
}
