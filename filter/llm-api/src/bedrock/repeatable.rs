//! Which answers can be given again: at most one text block, calls behind it, and the model's turn is over.

use crate::{
    object::Object,
    repeatable::{Repeatable, Said},
};

/// `p` is noise of changing length.
const CLOSING: [&str; 5] = ["usage", "metrics", "performanceConfig", "serviceTier", "p"];

pub fn look(said: Said<'_>, answer: &mut Repeatable) -> Option<()> {
    match said {
        Said::Whole(json) => {
            let body = Object::read(json)?;
            body.only(&["output", "stopReason", "usage", "metrics", "performanceConfig", "serviceTier"])?;
            let to_call = ended_to_call(&body, answer)?;
            let output = body.object("output")?;
            output.only(&["message"])?;
            let message = output.object("message")?;
            message.only(&["role", "content"])?;
            message.may_be("role", "assistant")?;
            for block in message.list("content")? {
                let block = Object::of(block)?;
                if let Some(call) = tool_use(&block) {
                    begin_call(&call, 0, &["toolUseId", "name", "input"], answer)?;
                    answer.arguments(0, call.arguments("input")?)?;
                    answer.end_call(0, "")?;
                } else {
                    answer.begin()?;
                    text_of(&block, answer)?;
                }
            }
            answer.finish(to_call)?;
            answer.end()
        }
        Said::Event { kind, json } => {
            let event = Object::read(json)?;
            let at = event.number("contentBlockIndex")?;
            match kind {
                "messageStart" => event.may_be("role", "assistant"),
                "contentBlockStart" => {
                    event.only(&["contentBlockIndex", "start", "p"])?;
                    match event.object("start") {
                        Some(start) => begin_call(&tool_use(&start)?, at, &["toolUseId", "name"], answer),
                        // A text that is started has nothing in it.
                        None => (event.get("start").is_none() && at == 0).then_some(()),
                    }
                }
                "contentBlockStop" if answer.is_calling() => answer.end_call(at, "{}"),
                "contentBlockStop" => event.is_first("contentBlockIndex"),
                "contentBlockDelta" => {
                    event.only(&["contentBlockIndex", "delta", "p"])?;
                    let Some(delta) = event.object("delta") else { return Some(()) };
                    if let Some(call) = tool_use(&delta) {
                        call.only(&["input"])?;
                        return answer.arguments(at, &call.text("input")?);
                    }
                    event.is_first("contentBlockIndex")?;
                    text_of(&delta, answer)
                }
                "messageStop" => {
                    event.only(&["stopReason", "p"])?;
                    let to_call = ended_to_call(&event, answer)?;
                    answer.finish(to_call)
                }
                "metadata" => {
                    event.only(&CLOSING)?;
                    answer.end()
                }
                _ => None,
            }
        }
    }
}

fn ended_to_call(message: &Object<'_>, answer: &Repeatable) -> Option<bool> {
    answer.ended_to_call(message.word("stopReason")?, ["end_turn", "tool_use"])
}

/// The call that is all that a block says.
fn tool_use<'a>(block: &Object<'a>) -> Option<Object<'a>> {
    block.only(&["toolUse"])?;
    block.object("toolUse")
}

fn begin_call(call: &Object<'_>, at: u64, members: &[&str], answer: &mut Repeatable) -> Option<()> {
    call.only(members)?;
    call.has_id("toolUseId", "tooluse_")?;
    answer.begin_call(at, call.word("name")?)
}

fn text_of(block: &Object<'_>, answer: &mut Repeatable) -> Option<()> {
    block.only(&["text"])?;
    answer.push(&block.text("text")?)
}
