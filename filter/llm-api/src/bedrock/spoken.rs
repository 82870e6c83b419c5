//! The assistant's text in answers: the blocks that have one.

use crate::spoken::{Object, Spoken, Visit};

pub fn whole<'a>(json: &'a str, visit: Visit<'_, 'a>) {
    let message = Object::read(json).object("output").object("message");
    message.list("content").for_each(|(at, block)| block.give("text", (at, 0), visit));
}

pub fn event<'a>(kind: &str, json: &'a str, visit: Visit<'_, 'a>) {
    let event = Object::read(json);
    let block = (event.number("contentBlockIndex").unwrap_or(0), 0);
    match kind {
        "contentBlockDelta" => event.object("delta").give("text", block, visit),
        "contentBlockStop" => visit(Spoken::End(Some(block))),
        "messageStop" | "metadata" => visit(Spoken::End(None)),
        _ => {}
    }
}
