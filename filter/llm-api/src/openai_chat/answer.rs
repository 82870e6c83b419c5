//! Answers: the first choice's message, whole or in deltas.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{answer::Answer, json, usage::Report};

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow, alias = "delta")]
    message: Message<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    tool_calls: Option<Vec<ToolCall>>,
}

/// One of the parts that servers of this format put thoughts and texts into.
#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ToolCall {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    function: Function,
}

#[derive(Default, Deserialize)]
struct Function {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
}

#[derive(Default, Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

/// The input has the cached tokens in it.
impl From<Usage> for Report {
    fn from(usage: Usage) -> Self {
        let cached = usage.prompt_tokens_details.and_then(|details| details.cached_tokens).unwrap_or(0);
        Self {
            input: usage.prompt_tokens.map(|input| input.saturating_sub(cached)),
            cached,
            output: usage.completion_tokens.unwrap_or(0),
        }
    }
}

/// A text, or a list of parts.
fn push_content(content: &RawValue, answer: &mut Answer) -> Option<()> {
    if content.get().starts_with('"') {
        answer.push_text(&json::string(content)?);
        return Some(());
    }
    let parts: Vec<Part<'_>> = json::read_raw(content).ok()?;
    for part in parts.iter().filter(|part| part.kind == "text") {
        answer.push_text(&json::string(part.text?)?);
    }
    Some(())
}

/// A whole answer or a chunk of a stream; a chunk has `delta` where a whole answer has `message`, and is otherwise the same.
pub fn event(json: &str, answer: &mut Answer) -> Option<()> {
    let body: Body = json::read(json).ok()?;
    answer.set_model(body.model);
    answer.add_usage(body.usage);
    for choice in body.choices.into_iter().filter(|choice| choice.index == 0) {
        if let Some(content) = choice.message.content {
            push_content(content, answer)?;
        }
        for call in choice.message.tool_calls.unwrap_or_default() {
            let name = call.function.name.as_deref().unwrap_or_default();
            let arguments = call.function.arguments.as_deref().unwrap_or_default();
            match call.index {
                Some(index) => answer.push_call(index, name, arguments),
                None => answer.add_call(name, arguments),
            }
        }
    }
    Some(())
}
