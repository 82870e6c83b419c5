//! Which answers are nothing but a text: one text block, and the model's turn is over.

use crate::plain::{Object, Plain, Said};

/// `p` is noise of changing length.
const CLOSING: [&str; 5] = ["usage", "metrics", "performanceConfig", "serviceTier", "p"];

pub fn look(said: Said<'_>, plain: &mut Plain) -> Option<()> {
    match said {
        Said::Whole(json) => {
            let body = Object::read(json)?;
            body.only(&["output", "stopReason", "usage", "metrics", "performanceConfig", "serviceTier"])?;
            body.is("stopReason", "end_turn")?;
            let output = body.object("output")?;
            output.only(&["message"])?;
            let message = output.object("message")?;
            message.only(&["role", "content"])?;
            message.may_be("role", "assistant")?;
            text_of(&message.only_element("content")?, plain)?;
            plain.finish()?;
            plain.end()
        }
        Said::Event { kind, json } => {
            let event = Object::read(json)?;
            event.is_first("contentBlockIndex")?;
            match kind {
                "messageStart" => event.may_be("role", "assistant"),
                // A block that is started with something in it is no text.
                "contentBlockStart" => event.only(&["contentBlockIndex", "p"]),
                "contentBlockStop" => Some(()),
                "contentBlockDelta" => {
                    event.only(&["contentBlockIndex", "delta", "p"])?;
                    event.object("delta").map_or(Some(()), |delta| text_of(&delta, plain))
                }
                "messageStop" => {
                    event.only(&["stopReason", "p"])?;
                    event.is("stopReason", "end_turn")?;
                    plain.finish()
                }
                "metadata" => {
                    event.only(&CLOSING)?;
                    plain.end()
                }
                _ => None,
            }
        }
    }
}

fn text_of(block: &Object<'_>, plain: &mut Plain) -> Option<()> {
    block.only(&["text"])?;
    plain.push(&block.text("text")?)
}
