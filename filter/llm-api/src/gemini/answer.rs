//! Answers: the first candidate's parts; a stream is a row of such answers.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{answer::Answer, json, usage::Report};

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow, default, rename = "modelVersion")]
    model: Option<&'a RawValue>,
    #[serde(default)]
    candidates: Vec<Candidate>,
    #[serde(default, rename = "usageMetadata")]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Candidate {
    #[serde(default)]
    content: Content,
    #[serde(default, rename = "finishReason")]
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Content {
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: String,
    /// The text is the model's thinking, not its answer.
    #[serde(default)]
    thought: bool,
    #[serde(default, rename = "functionCall")]
    function_call: Option<FunctionCall>,
}

#[derive(Deserialize)]
struct FunctionCall {
    #[serde(default)]
    name: String,
    #[serde(default)]
    args: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    #[serde(default)]
    prompt_token_count: Option<u64>,
    #[serde(default)]
    candidates_token_count: Option<u64>,
    #[serde(default)]
    thoughts_token_count: Option<u64>,
    #[serde(default)]
    cached_content_token_count: Option<u64>,
}

/// The input has the cached tokens in it, the output has not the thinking.
impl From<Usage> for Report {
    fn from(usage: Usage) -> Self {
        let cached = usage.cached_content_token_count.unwrap_or(0);
        let thoughts = usage.thoughts_token_count.unwrap_or(0);
        Self {
            input: usage.prompt_token_count.map(|input| input.saturating_sub(cached)),
            cached,
            output: usage.candidates_token_count.unwrap_or(0).saturating_add(thoughts),
        }
    }
}

/// One answer, or the array of them that a stream without `alt=sse` is.
pub fn whole(json: &str, answer: &mut Answer) -> Option<()> {
    if json.trim_start().starts_with('[') {
        let bodies: Vec<Body> = json::read(json).ok()?;
        bodies.into_iter().for_each(|body| add(body, answer));
        return Some(());
    }
    event(json, answer)
}

pub fn event(json: &str, answer: &mut Answer) -> Option<()> {
    add(json::read(json).ok()?, answer);
    Some(())
}

fn add(body: Body<'_>, answer: &mut Answer) {
    answer.set_model(body.model);
    answer.add_usage(body.usage);
    let Some(candidate) = body.candidates.into_iter().next() else { return };
    answer.has_ended |= candidate.finish_reason.is_some();
    for part in candidate.content.parts {
        if !part.thought {
            answer.push_text(&part.text);
        }
        if let Some(call) = part.function_call {
            answer.add_call(&call.name, call.args.as_deref().map_or("{}", RawValue::get));
        }
    }
}
