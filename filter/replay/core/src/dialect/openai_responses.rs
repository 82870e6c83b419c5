//! OpenAI Responses: `instructions`, and a list of items in which calls and outputs stand beside the messages.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{raw, text};
use crate::history::{MessageContent, RecordedMessage};

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Vec<Box<RawValue>>,
    /// The history is in the body: nothing is kept at the provider.
    store: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a str,
    object: &'a str,
    status: &'a str,
    model: &'a str,
    output: Vec<Box<RawValue>>,
}

#[derive(Serialize)]
struct Told<'a> {
    r#type: &'a str,
    role: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    content: [Part<'a>; 1],
}

#[derive(Serialize)]
struct Part<'a> {
    r#type: &'a str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<[(); 0]>,
}

#[derive(Serialize)]
struct Called<'a> {
    r#type: &'a str,
    id: String,
    call_id: &'a str,
    name: &'a str,
    arguments: &'a str,
    status: &'a str,
}

#[derive(Serialize)]
struct Output<'a> {
    r#type: &'a str,
    call_id: &'a str,
    output: &'a str,
}

pub fn request(history: &[RecordedMessage]) -> String {
    let (instructions, history) = match history.split_first() {
        Some((RecordedMessage { said: MessageContent::Instruction(text), .. }, rest)) => {
            (Some(text.as_str()), rest)
        }
        _ => (None, history),
    };
    let input = history.iter().enumerate().flat_map(|(at, message)| items(at, message)).collect();
    text(&Request { model: "gpt-4o-mini", instructions, input, store: false })
}

pub fn answer(turn: &RecordedMessage) -> String {
    let output = items(0, turn);
    text(&Answer { id: "resp_replay", object: "response", status: "completed", model: "gpt-4o-mini", output })
}

/// The items that one message becomes; `at` makes their ids.
fn items(at: usize, message: &RecordedMessage) -> Vec<Box<RawValue>> {
    let told = |role, kind, text| Told {
        r#type: "message",
        role,
        id: None,
        status: None,
        content: [Part { r#type: kind, text, annotations: None }],
    };
    match &message.said {
        MessageContent::Instruction(text) => vec![raw(&told("developer", "input_text", text))],
        MessageContent::User(text) => vec![raw(&told("user", "input_text", text))],
        MessageContent::Assistant { text, calls } => {
            let mut items = Vec::new();
            if !text.is_empty() {
                let content = [Part { r#type: "output_text", text, annotations: Some([]) }];
                let id = Some(format!("msg_{at}"));
                items.push(raw(&Told {
                    id,
                    status: Some("completed"),
                    content,
                    ..told("assistant", "", "")
                }));
            }
            items.extend(calls.iter().enumerate().map(|(number, call)| {
                raw(&Called {
                    r#type: "function_call",
                    id: format!("fc_{at}_{number}"),
                    call_id: &call.id,
                    name: &call.name,
                    arguments: &call.arguments,
                    status: "completed",
                })
            }));
            items
        }
        MessageContent::Result { call, text, .. } => {
            vec![raw(&Output { r#type: "function_call_output", call_id: call, output: text })]
        }
    }
}
