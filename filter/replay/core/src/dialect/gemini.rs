//! Gemini `generateContent`: `systemInstruction`, and contents of user and model. Calls have no ids: the responses of a turn
//! stand together in one content, in the order of the calls.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{as_object, instructions, object, raw, text};
use crate::history::{MessageContent, RecordedCall, RecordedMessage};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction>,
    contents: Vec<Content<'a>>,
}

#[derive(Serialize)]
struct Instruction {
    parts: [Told; 1],
}

#[derive(Serialize)]
struct Told {
    text: String,
}

#[derive(Serialize)]
struct Content<'a> {
    role: &'a str,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Part<'a> {
    Text(&'a str),
    FunctionCall { name: &'a str, args: Box<RawValue> },
    FunctionResponse { name: &'a str, response: Box<RawValue> },
}

#[derive(Serialize)]
struct Answer<'a> {
    candidates: [Candidate<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    content: Content<'a>,
    finish_reason: &'a str,
    index: u32,
}

/// What a function returned that is no object by itself.
#[derive(Serialize)]
struct Returned<'a> {
    result: &'a str,
}

pub fn request(history: &[RecordedMessage]) -> String {
    let mut contents: Vec<Content> = Vec::new();
    let mut rest = history;
    while let Some((message, behind)) = rest.split_first() {
        rest = behind;
        match &message.said {
            MessageContent::Instruction(_) => {}
            MessageContent::User(text) => {
                contents.push(Content { role: "user", parts: vec![Part::Text(text)] })
            }
            MessageContent::Assistant { calls, .. } => {
                let parts = parts(message);
                if !parts.is_empty() {
                    contents.push(Content { role: "model", parts });
                }
                let results = rest
                    .iter()
                    .take_while(|message| matches!(message.said, MessageContent::Result { .. }))
                    .count();
                let (results, behind) = rest.split_at(results);
                rest = behind;
                contents.extend(responses(calls, results));
            }
            MessageContent::Result { .. } => contents.extend(responses(&[], std::slice::from_ref(message))),
        }
    }
    let instructions = instructions(history);
    let system_instruction =
        (!instructions.is_empty()).then_some(Instruction { parts: [Told { text: instructions }] });
    text(&Request { system_instruction, contents })
}

pub fn answer(turn: &RecordedMessage) -> String {
    let content = Content { role: "model", parts: parts(turn) };
    text(&Answer { candidates: [Candidate { content, finish_reason: "STOP", index: 0 }] })
}

fn parts(message: &RecordedMessage) -> Vec<Part<'_>> {
    let (text, calls) = super::turn(message);
    let text = (!text.is_empty()).then_some(Part::Text(text));
    let calls =
        calls.iter().map(|call| Part::FunctionCall { name: &call.name, args: object(&call.arguments) });
    text.into_iter().chain(calls).collect()
}

/// The results behind a turn as one content, in the order of its calls; those of no call of it come last.
fn responses<'a>(calls: &[RecordedCall], results: &'a [RecordedMessage]) -> Option<Content<'a>> {
    let place = |id: &str| calls.iter().position(|call| call.id == id).unwrap_or(usize::MAX);
    let mut told: Vec<_> = results
        .iter()
        .filter_map(|message| match &message.said {
            MessageContent::Result { call, name, text } => Some((place(call), name, text)),
            _ => None,
        })
        .collect();
    told.sort_by_key(|(place, ..)| *place);
    let parts: Vec<Part> = told
        .into_iter()
        .map(|(_, name, text)| {
            let response = as_object(text).unwrap_or_else(|| raw(&Returned { result: text }));
            Part::FunctionResponse { name, response }
        })
        .collect();
    (!parts.is_empty()).then_some(Content { role: "user", parts })
}
