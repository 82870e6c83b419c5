//! Answers: an interaction with its `steps`, whole or in events. Where the client asks for the older form of the API the steps
//! are `outputs`, and the events have other names for the same things.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{answer::Answer, json, usage::Report};

#[derive(Deserialize)]
struct Interaction<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    total_input_tokens: Option<u64>,
    #[serde(default)]
    total_cached_tokens: Option<u64>,
    #[serde(default)]
    total_output_tokens: Option<u64>,
    #[serde(default)]
    total_thought_tokens: Option<u64>,
}

/// The input has the cached tokens in it, the output has not the thinking.
impl From<Usage> for Report {
    fn from(usage: Usage) -> Self {
        let cached = usage.total_cached_tokens.unwrap_or(0);
        let thoughts = usage.total_thought_tokens.unwrap_or(0);
        Self {
            input: usage.total_input_tokens.map(|input| input.saturating_sub(cached)),
            cached,
            output: usage.total_output_tokens.unwrap_or(0).saturating_add(thoughts),
        }
    }
}

/// A step, or one piece of its content.
#[derive(Deserialize)]
struct Step<'a> {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(borrow, default)]
    content: Vec<Step<'a>>,
    #[serde(default)]
    text: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    /// An object, or a piece of its text.
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

impl Step<'_> {
    fn add_text(&self, answer: &mut Answer) {
        match self.kind.as_str() {
            "text" => answer.push_text(&self.text),
            "model_output" => self.content.iter().for_each(|content| content.add_text(answer)),
            _ => {}
        }
    }

    fn is_call(&self) -> bool {
        self.kind == "function_call"
    }
}

pub fn whole(json: &str, answer: &mut Answer) -> Option<()> {
    #[derive(Deserialize)]
    struct Steps<'a> {
        #[serde(borrow, alias = "outputs")]
        steps: Vec<Step<'a>>,
    }
    let said: Steps = json::read(json).ok()?;
    add_interaction(json::read(json).ok()?, answer);
    for step in said.steps {
        step.add_text(answer);
        if step.is_call() {
            answer.add_call(&step.name, step.arguments.map_or("{}", RawValue::get));
            answer.set_call_id(&step.id);
        }
    }
    Some(())
}

/// Text comes in deltas. A call is opened with its id and its name; its arguments come in deltas too.
pub fn event(json: &str, answer: &mut Answer) -> Option<()> {
    #[derive(Deserialize)]
    struct Event<'a> {
        event_type: String,
        #[serde(borrow, default)]
        interaction: Option<Interaction<'a>>,
        #[serde(default)]
        index: u64,
        #[serde(borrow, default, alias = "content")]
        step: Option<Step<'a>>,
        #[serde(borrow, default)]
        delta: Option<Step<'a>>,
    }
    let event: Event = json::read(json).ok()?;
    if let Some(interaction) = event.interaction {
        add_interaction(interaction, answer);
    }
    match event.event_type.as_str() {
        "interaction.completed" | "interaction.complete" => answer.has_ended = true,
        "step.start" | "content.start" => {
            let step = event.step?;
            step.add_text(answer);
            if step.is_call() {
                open_call(event.index, &step, answer);
            }
        }
        "step.delta" | "content.delta" => {
            let delta = event.delta?;
            delta.add_text(answer);
            if delta.is_call() {
                open_call(event.index, &delta, answer);
            } else if delta.kind == "arguments_delta" {
                let piece = delta.arguments.and_then(json::string).unwrap_or_default();
                answer.push_call(event.index, "", &piece);
            }
        }
        "step.stop" | "content.stop" => answer.end_call(event.index),
        _ => {}
    }
    Some(())
}

fn add_interaction(interaction: Interaction<'_>, answer: &mut Answer) {
    answer.set_id(interaction.id);
    answer.set_model(interaction.model);
    answer.add_usage(interaction.usage);
}

/// The empty object that a call is opened with stands for what will come.
fn open_call(index: u64, step: &Step<'_>, answer: &mut Answer) {
    let arguments = step.arguments.map(RawValue::get).filter(|arguments| *arguments != "{}");
    answer.push_call(index, &step.name, arguments.unwrap_or_default());
    answer.set_call_id(&step.id);
}
