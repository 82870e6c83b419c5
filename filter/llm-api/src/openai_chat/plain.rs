//! Which answers are nothing but a text: one choice that stopped by itself.

use crate::plain::{Object, Plain, Said};

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
const MESSAGE: [&str; 2] = ["role", "content"];

pub fn look(said: Said<'_>, plain: &mut Plain) -> Option<()> {
    match said {
        Said::Whole(json) => {
            let choice = envelope(json, "chat.completion")?.only_element("choices")?;
            choice.only(&CHOICE)?;
            choice.is_first("index")?;
            choice.is("finish_reason", "stop")?;
            text_of(&choice.object("message")?, plain)?;
            plain.finish()?;
            plain.end()
        }
        Said::Event { json: "[DONE]", .. } => plain.end(),
        Said::Event { json, .. } => {
            let body = envelope(json, "chat.completion.chunk")?;
            if body.list("choices").is_empty() {
                // The usage.
                return Some(());
            }
            let choice = body.only_element("choices")?;
            choice.only(&CHUNK)?;
            choice.is_first("index")?;
            if let Some(delta) = choice.object("delta") {
                text_of(&delta, plain)?;
            }
            match choice.text("finish_reason")?.as_ref() {
                "" => Some(()),
                "stop" => plain.finish(),
                _ => None,
            }
        }
    }
}

fn envelope<'a>(json: &'a str, object: &str) -> Option<Object<'a>> {
    let body = Object::read(json)?;
    body.only(&ENVELOPE)?;
    body.may_be("object", object)?;
    Some(body)
}

fn text_of(message: &Object<'_>, plain: &mut Plain) -> Option<()> {
    message.only(&MESSAGE)?;
    message.may_be("role", "assistant")?;
    plain.push(&message.text("content")?)
}
