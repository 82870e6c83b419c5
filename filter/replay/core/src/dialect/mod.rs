//! A run in the format of each provider: the request that carries a history, and the answer that is the next turn. It is written
//! from the providers' documentation and not from the filter's code, because it is the other side of the test. One file a
//! dialect; what they share is here.

pub mod anthropic;
pub mod bedrock;
pub mod gemini;
pub mod gemini_interactions;
pub mod openai_chat;
pub mod openai_responses;
pub mod vertex;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use sentinel_wire::Dialect;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::history::{MessageContent, RecordedCall, RecordedMessage};

/// The body of the request that an agent sends when this is its history.
pub fn request(dialect: Dialect, history: &[RecordedMessage]) -> String {
    match dialect {
        Dialect::OpenaiChat => openai_chat::request(history),
        Dialect::OpenaiResponses => openai_responses::request(history),
        Dialect::Anthropic => anthropic::request(history),
        Dialect::Gemini => gemini::request(history),
        Dialect::GeminiInteractions => gemini_interactions::request(history),
        Dialect::Bedrock => bedrock::request(history),
        Dialect::VertexAnthropic => vertex::request(history),
    }
}

/// The body of the answer in which the provider says an assistant's turn.
pub fn answer(dialect: Dialect, turn: &RecordedMessage) -> String {
    match dialect {
        Dialect::OpenaiChat => openai_chat::answer(turn),
        Dialect::OpenaiResponses => openai_responses::answer(turn),
        Dialect::Anthropic | Dialect::VertexAnthropic => anthropic::answer(turn),
        Dialect::Gemini => gemini::answer(turn),
        Dialect::GeminiInteractions => gemini_interactions::answer(turn),
        Dialect::Bedrock => bedrock::answer(turn),
    }
}

/// The instructions of a history, for the dialects that have one place for all of them.
fn instructions(history: &[RecordedMessage]) -> String {
    let texts = history.iter().filter_map(|message| match &message.said {
        MessageContent::Instruction(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Arguments as the object that some dialects require. The order of the model's keys is kept. A value that is no object becomes a
/// member of one.
fn object(arguments: &str) -> Box<RawValue> {
    #[derive(Serialize)]
    struct Wrapped<'a> {
        arguments: Cow<'a, RawValue>,
    }
    if arguments.trim().is_empty() {
        return raw(&serde_json::Map::new());
    }
    let parsed = |text: &str| serde_json::from_str::<Box<RawValue>>(text).ok();
    let Some(value) = parsed(arguments) else {
        return raw(&Wrapped { arguments: Cow::Owned(raw(arguments)) });
    };
    // JSON inside a string: the inner value was meant.
    let inner = serde_json::from_str::<String>(value.get()).ok().and_then(|text| parsed(&text));
    let value = inner.filter(|inner| inner.get().starts_with(['{', '['])).unwrap_or(value);
    if value.get().starts_with('{') { value } else { raw(&Wrapped { arguments: Cow::Owned(value) }) }
}

/// A JSON text as it is, if it is an object.
fn as_object(text: &str) -> Option<Box<RawValue>> {
    serde_json::from_str::<Box<RawValue>>(text).ok().filter(|value| value.get().starts_with('{'))
}

fn raw<T: Serialize + ?Sized>(value: &T) -> Box<RawValue> {
    to_raw_value(value).expect("nothing here refuses to become JSON")
}

fn text<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("nothing here refuses to become JSON")
}

/// A message of a user or an assistant.
#[derive(Serialize)]
struct Utterance<B> {
    role: &'static str,
    content: Vec<B>,
}

/// Messages of user and assistant in turns, with the blocks of each; none is empty.
fn in_turns<'a, B>(
    history: &'a [RecordedMessage],
    blocks: impl Fn(&'a RecordedMessage) -> Vec<B>,
) -> Vec<Utterance<B>> {
    let mut messages: Vec<Utterance<B>> = Vec::new();
    for message in history {
        let role = match &message.said {
            MessageContent::Instruction(_) => continue,
            MessageContent::Assistant { .. } => "assistant",
            MessageContent::User(_) | MessageContent::Result { .. } => "user",
        };
        let content = blocks(message);
        match messages.last_mut() {
            _ if content.is_empty() => {}
            Some(last) if last.role == role => last.content.extend(content),
            _ => messages.push(Utterance { role, content }),
        }
    }
    messages
}

/// An assistant's text and calls; nothing of any other message.
fn turn(message: &RecordedMessage) -> (&str, &[RecordedCall]) {
    match &message.said {
        MessageContent::Assistant { text, calls } => (text, calls),
        _ => ("", &[]),
    }
}
