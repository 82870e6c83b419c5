//! The assistant's text in answers: the contents of type `text` of the model's outputs.

use crate::spoken::{Object, Spoken, Visit};

fn each<'a>(interaction: &Object<'a>, visit: Visit<'_, 'a>) {
    let steps = interaction.list("steps").chain(interaction.list("outputs"));
    for (at, step) in steps {
        match step.string("type").as_ref() {
            "text" => step.give("text", (at, 0), visit),
            "model_output" => {
                let texts = step.list("content").filter(|(_, content)| content.string("type") == "text");
                texts.for_each(|(part, content)| content.give("text", (at, part), visit));
            }
            _ => {}
        }
    }
}

pub fn whole<'a>(json: &'a str, visit: Visit<'_, 'a>) {
    each(&Object::read(json), visit);
}

/// The last event may say all texts once more.
pub fn event<'a>(json: &'a str, visit: Visit<'_, 'a>) {
    let event = Object::read(json);
    let block = (event.number("index").unwrap_or(0), 0);
    match event.string("event_type").as_ref() {
        "step.delta" | "content.delta" => {
            let delta = event.object("delta");
            if delta.string("type") == "text" {
                delta.give("text", block, visit);
            }
        }
        "step.stop" | "content.stop" => visit(Spoken::End(Some(block))),
        "interaction.completed" | "interaction.complete" => {
            visit(Spoken::End(None));
            each(&event.object("interaction"), &mut |spoken| {
                visit(match spoken {
                    Spoken::Piece { text, .. } => Spoken::Copy { text },
                    other => other,
                });
            });
        }
        "error" => visit(Spoken::End(None)),
        _ if json == "[DONE]" => visit(Spoken::End(None)),
        _ => {}
    }
}
