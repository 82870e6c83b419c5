//! Answers: `output` items, whole or in events.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{answer::Answer, json, usage::Report};

#[derive(Deserialize)]
struct Item {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    content: Option<Vec<Part>>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    call_id: String,
    #[serde(default)]
    arguments: String,
}

#[derive(Deserialize)]
struct Part {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
}

impl Item {
    fn add_call(&self, answer: &mut Answer) {
        if self.kind == "function_call" {
            answer.add_call(&self.name, &self.arguments);
            answer.set_call_id(&self.call_id);
        }
    }
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    input_tokens_details: Option<Details>,
}

#[derive(Default, Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

/// The input has the cached tokens in it.
impl From<Usage> for Report {
    fn from(usage: Usage) -> Self {
        let cached = usage.input_tokens_details.and_then(|details| details.cached_tokens).unwrap_or(0);
        Self {
            input: usage.input_tokens.map(|input| input.saturating_sub(cached)),
            cached,
            output: usage.output_tokens.unwrap_or(0),
        }
    }
}

pub fn whole(json: &str, answer: &mut Answer) -> Option<()> {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow, default)]
        id: Option<&'a RawValue>,
        #[serde(borrow, default)]
        model: Option<&'a RawValue>,
        output: Vec<Item>,
        #[serde(default)]
        usage: Option<Usage>,
    }
    let body: Body = json::read(json).ok()?;
    answer.set_id(body.id);
    answer.set_model(body.model);
    answer.add_usage(body.usage);
    for item in body.output {
        item.add_call(answer);
        for part in item.content.unwrap_or_default() {
            if part.kind == "output_text" {
                answer.push_text(&part.text);
            }
        }
    }
    Some(())
}

/// Text comes in deltas, a call whole when it is done; the last event's copy of everything is passed over.
pub fn event(json: &str, answer: &mut Answer) -> Option<()> {
    #[derive(Deserialize)]
    struct Event<'a> {
        #[serde(rename = "type")]
        kind: String,
        #[serde(default)]
        delta: String,
        #[serde(default)]
        item: Option<Item>,
        #[serde(borrow, default)]
        response: Option<Response<'a>>,
    }
    #[derive(Deserialize)]
    struct Response<'a> {
        #[serde(borrow, default)]
        id: Option<&'a RawValue>,
        #[serde(borrow, default)]
        model: Option<&'a RawValue>,
        #[serde(default)]
        usage: Option<Usage>,
    }
    let event: Event = json::read(json).ok()?;
    if let Some(response) = event.response {
        answer.set_id(response.id);
        answer.set_model(response.model);
        answer.add_usage(response.usage);
    }
    match event.kind.as_str() {
        "response.output_text.delta" => answer.push_text(&event.delta),
        "response.completed" | "response.incomplete" | "response.failed" => answer.has_ended = true,
        "response.output_item.done" => event.item?.add_call(answer),
        _ => {}
    }
    Some(())
}
