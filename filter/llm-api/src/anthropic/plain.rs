//! Which answers are nothing but a text: one text block, and the model's turn is over.

use crate::plain::{Object, Plain, Said};

const MESSAGE: [&str; 7] = ["id", "type", "role", "model", "content", "stop_reason", "usage"];

pub fn look(said: Said<'_>, plain: &mut Plain) -> Option<()> {
    match said {
        Said::Whole(json) => {
            let message = Object::read(json)?;
            message.only(&MESSAGE)?;
            message.may_be("type", "message")?;
            message.may_be("role", "assistant")?;
            message.is("stop_reason", "end_turn")?;
            text_of(&message.only_element("content")?, plain)?;
            plain.finish()?;
            plain.end()
        }
        Said::Event { json, .. } => {
            let event = Object::read(json)?;
            event.is_first("index")?;
            match event.text("type")?.as_ref() {
                "ping" | "content_block_stop" => Some(()),
                "message_start" => {
                    let message = event.object("message")?;
                    message.only(&MESSAGE)?;
                    (message.list("content").is_empty() && message.get("stop_reason").is_none()).then_some(())
                }
                "content_block_start" => {
                    plain.begin()?;
                    text_of(&event.object("content_block")?, plain)
                }
                "content_block_delta" => {
                    let delta = event.object("delta")?;
                    delta.only(&["type", "text"])?;
                    delta.is("type", "text_delta")?;
                    plain.push(&delta.text("text")?)
                }
                "message_delta" => {
                    event.only(&["type", "delta", "usage"])?;
                    let delta = event.object("delta")?;
                    delta.only(&["stop_reason"])?;
                    delta.is("stop_reason", "end_turn")?;
                    plain.finish()
                }
                "message_stop" => plain.end(),
                _ => None,
            }
        }
    }
}

fn text_of(block: &Object<'_>, plain: &mut Plain) -> Option<()> {
    block.only(&["type", "text"])?;
    block.is("type", "text")?;
    plain.push(&block.text("text")?)
}
