//! Which answers are nothing but a text: one output of the model with one text in it. An answer in the older form of the API
//! is none: what is written again has the newer.

use crate::plain::{Object, Plain, Said};

const INTERACTION: [&str; 9] =
    ["id", "status", "object", "model", "role", "created", "updated", "usage", "steps"];

pub fn look(said: Said<'_>, plain: &mut Plain) -> Option<()> {
    match said {
        Said::Whole(json) => {
            let interaction = completed(Object::read(json)?)?;
            text_of(&interaction.only_element_but("steps", is_hidden)?, plain)?;
            plain.finish()?;
            plain.end()
        }
        Said::Event { json: "[DONE]", .. } => plain.has_ended().then_some(()),
        Said::Event { json, .. } => {
            let event = Object::read(json)?;
            match event.text("event_type")?.as_ref() {
                "interaction.created" => Some(()),
                "interaction.status_update" => {
                    matches!(event.text("status")?.as_ref(), "in_progress" | "completed").then_some(())
                }
                "step.start" => {
                    let step = event.object("step")?;
                    if is_hidden(&step) { Some(()) } else { text_of(&step, plain) }
                }
                "step.delta" => {
                    let delta = event.object("delta")?;
                    match delta.text("type")?.as_ref() {
                        "text" => text_of(&delta, plain),
                        "thought_signature" => delta.only(&["type", "signature"]),
                        _ => None,
                    }
                }
                "step.stop" => Some(()),
                "interaction.completed" => {
                    let interaction = completed(event.object("interaction")?)?;
                    if interaction.get("steps").is_some() {
                        return None;
                    }
                    plain.finish()?;
                    plain.end()
                }
                _ => None,
            }
        }
    }
}

fn completed(interaction: Object<'_>) -> Option<Object<'_>> {
    interaction.only(&INTERACTION)?;
    interaction.is("status", "completed")?;
    Some(interaction)
}

/// The model has thought, and says nothing of it.
fn is_hidden(step: &Object<'_>) -> bool {
    step.is("type", "thought").is_some() && step.only(&["type", "signature"]).is_some()
}

/// Of a content, or of a step that has at most one.
fn text_of(said: &Object<'_>, plain: &mut Plain) -> Option<()> {
    match said.text("type")?.as_ref() {
        "text" => {
            said.only(&["type", "text"])?;
            plain.push(&said.text("text")?)
        }
        "model_output" => {
            said.only(&["type", "content"])?;
            plain.begin()?;
            if said.get("content").is_none() {
                return Some(());
            }
            let content = said.only_element("content")?;
            content.is("type", "text")?;
            text_of(&content, plain)
        }
        _ => None,
    }
}
