//! The assistant's text in answers: the blocks of type `text`.

use crate::spoken::{Object, Spoken, Visit};

pub fn whole<'a>(json: &'a str, visit: Visit<'_, 'a>) {
    for (at, block) in Object::read(json).list("content").filter(|(_, block)| block.string("type") == "text")
    {
        block.give("text", (at, 0), visit);
    }
}

/// A block opens with an empty text.
pub fn event<'a>(json: &'a str, visit: Visit<'_, 'a>) {
    let event = Object::read(json);
    let block = (event.number("index").unwrap_or(0), 0);
    match event.string("type").as_ref() {
        "content_block_delta" => {
            let delta = event.object("delta");
            if delta.string("type") == "text_delta" {
                delta.give("text", block, visit);
            }
        }
        "content_block_stop" => visit(Spoken::End(Some(block))),
        "message_delta" | "message_stop" | "error" => visit(Spoken::End(None)),
        _ => {}
    }
}
