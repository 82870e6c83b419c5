//! Which answers can be given again: at most one output of the model with one text in it, and calls behind it. An answer in the
//! older form of the API is none: what is written again has the newer.

use serde_json::value::RawValue;

use crate::{
    object::Object,
    repeatable::{Repeatable, Said},
};

const INTERACTION: [&str; 9] =
    ["id", "status", "object", "model", "role", "created", "updated", "usage", "steps"];
const ENDS: [&str; 2] = ["completed", "requires_action"];

pub fn look(said: Said<'_>, answer: &mut Repeatable) -> Option<()> {
    match said {
        Said::Whole(json) => {
            let interaction = Object::read(json)?;
            let to_call = ended_to_call(&interaction, answer)?;
            for step in interaction.list("steps")? {
                let step = Object::of(step)?;
                match step.word("type")? {
                    "thought" => hidden(&step, answer)?,
                    "model_output" => text_of(&step, answer)?,
                    _ => {
                        begin_call(&step, 0, answer)?;
                        answer.arguments(0, step.arguments("arguments")?)?;
                        answer.end_call(0, "")?;
                    }
                }
            }
            answer.finish(to_call)?;
            answer.end()
        }
        Said::Event { json: "[DONE]", .. } => answer.has_ended().then_some(()),
        Said::Event { json, .. } => event(&Object::read(json)?, answer),
    }
}

fn event(event: &Object<'_>, answer: &mut Repeatable) -> Option<()> {
    let at = event.number("index")?;
    match event.word("event_type")? {
        "interaction.created" => Some(()),
        "interaction.status_update" => {
            let status = event.word("status")?;
            (status == "in_progress" || answer.ended_to_call(status, ENDS).is_some()).then_some(())
        }
        "step.start" => {
            let step = event.object("step")?;
            match step.word("type")? {
                "thought" => hidden(&step, answer),
                "function_call" => {
                    begin_call(&step, at, answer)?;
                    // The empty object that a call begins with stands for what will come.
                    step.get("arguments").map_or(Some(()), |all| answer.arguments(at, RawValue::get(all)))
                }
                _ => text_of(&step, answer),
            }
        }
        "step.delta" => {
            let delta = event.object("delta")?;
            match delta.word("type")? {
                "text" => text_of(&delta, answer),
                "arguments_delta" => {
                    delta.only(&["type", "arguments"])?;
                    answer.arguments(at, &delta.text("arguments")?)
                }
                "thought_signature" => {
                    answer.think()?;
                    delta.only(&["type", "signature"])
                }
                _ => None,
            }
        }
        "step.stop" if answer.is_calling() => answer.end_call(at, "{}"),
        "step.stop" => Some(()),
        "interaction.completed" => {
            let interaction = event.object("interaction")?;
            let to_call = ended_to_call(&interaction, answer)?;
            if interaction.get("steps").is_some() {
                return None;
            }
            answer.finish(to_call)?;
            answer.end()
        }
        _ => None,
    }
}

fn ended_to_call(interaction: &Object<'_>, answer: &Repeatable) -> Option<bool> {
    interaction.only(&INTERACTION)?;
    answer.ended_to_call(interaction.word("status")?, ENDS)
}

/// The model has thought, and says nothing of it.
fn hidden(step: &Object<'_>, answer: &mut Repeatable) -> Option<()> {
    answer.think()?;
    step.only(&["type", "signature"])
}

fn begin_call(step: &Object<'_>, at: u64, answer: &mut Repeatable) -> Option<()> {
    step.is("type", "function_call")?;
    step.only(&["type", "id", "name", "arguments"])?;
    answer.begin_call(at, step.word("name")?)
}

/// Of a content, or of a step that has at most one.
fn text_of(said: &Object<'_>, answer: &mut Repeatable) -> Option<()> {
    match said.word("type")? {
        "text" => {
            said.only(&["type", "text"])?;
            answer.push(&said.text("text")?)
        }
        "model_output" => {
            said.only(&["type", "content"])?;
            answer.begin()?;
            if said.get("content").is_none() {
                return Some(());
            }
            let content = said.only_element("content")?;
            content.is("type", "text")?;
            text_of(&content, answer)
        }
        _ => None,
    }
}
