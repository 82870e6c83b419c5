//! Which answers can be given again: one choice that stopped by itself, with a text, calls of functions, or both.

use crate::{
    object::Object,
    repeatable::{Repeatable, Said},
};

/// What stands around the choices: ids, counts, who answered.
const ENVELOPE: [&str; 10] = [
    "id",
    "object",
    "created",
    "model",
    "choices",
    "usage",
    "system_fingerprint",
    "service_tier",
    // Noise of changing length beside the chunks of a stream.
    "obfuscation",
    "x_groq",
];
const CHOICE: [&str; 3] = ["index", "message", "finish_reason"];
const CHUNK: [&str; 3] = ["index", "delta", "finish_reason"];
const MESSAGE: [&str; 3] = ["role", "content", "tool_calls"];
const ENDS: [&str; 2] = ["stop", "tool_calls"];

pub fn look(said: Said<'_>, answer: &mut Repeatable) -> Option<()> {
    match said {
        Said::Whole(json) => {
            let choice = envelope(json, "chat.completion")?.only_element("choices")?;
            choice.only(&CHOICE)?;
            choice.is_first("index")?;
            let to_call = answer.ended_to_call(choice.word("finish_reason")?, ENDS)?;
            let message = choice.object("message")?;
            text_of(&message, answer)?;
            for (at, made) in (0..).zip(message.list("tool_calls")?) {
                call(&Object::of(made)?, at, answer)?;
            }
            answer.close_call()?;
            answer.finish(to_call)?;
            answer.end()
        }
        Said::Event { json: "[DONE]", .. } => answer.end(),
        Said::Event { json, .. } => {
            let body = envelope(json, "chat.completion.chunk")?;
            if body.list("choices")?.is_empty() {
                // The usage.
                return Some(());
            }
            let choice = body.only_element("choices")?;
            choice.only(&CHUNK)?;
            choice.is_first("index")?;
            if let Some(delta) = choice.object("delta") {
                text_of(&delta, answer)?;
                for made in delta.list("tool_calls")? {
                    let made = Object::of(made)?;
                    call(&made, made.number("index")?, answer)?;
                }
            }
            let reason = choice.word("finish_reason")?;
            if reason.is_empty() {
                return Some(());
            }
            let to_call = answer.ended_to_call(reason, ENDS)?;
            answer.close_call()?;
            answer.finish(to_call)
        }
    }
}

fn envelope<'a>(json: &'a str, object: &str) -> Option<Object<'a>> {
    let body = Object::read(json)?;
    body.only(&ENVELOPE)?;
    body.may_be("object", object)?;
    Some(body)
}

fn text_of(message: &Object<'_>, answer: &mut Repeatable) -> Option<()> {
    message.only(&MESSAGE)?;
    message.may_be("role", "assistant")?;
    answer.push(&message.text("content")?)
}

/// A call or a part of it, at this place among the calls. With its id it begins.
fn call(made: &Object<'_>, at: u64, answer: &mut Repeatable) -> Option<()> {
    made.only(&["index", "id", "type", "function"])?;
    made.may_be("type", "function")?;
    let function = made.object("function")?;
    function.only(&["name", "arguments"])?;
    if made.get("id").is_some() {
        made.has_id("id", "call_")?;
        answer.close_call()?;
        let is_next = usize::try_from(at) == Ok(answer.content().calls.len());
        is_next.then_some(())?;
        answer.begin_call(at, function.word("name")?)?;
    } else if function.get("name").is_some() {
        return None;
    }
    answer.arguments(at, &function.text("arguments")?)
}
