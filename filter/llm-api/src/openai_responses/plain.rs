//! Which answers are nothing but a text: one message with one text in it, and no word of what the model thought.

use crate::plain::{Object, Plain, Said};

/// Ids, counts, and what the request said, said again.
const ENVELOPE: [&str; 30] = [
    "id",
    "object",
    "created_at",
    "completed_at",
    "status",
    "model",
    "output",
    "usage",
    "billing",
    "instructions",
    "metadata",
    "parallel_tool_calls",
    "temperature",
    "tool_choice",
    "tools",
    "top_p",
    "top_logprobs",
    "max_output_tokens",
    "max_tool_calls",
    "reasoning",
    "service_tier",
    "store",
    "text",
    "truncation",
    "user",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "frequency_penalty",
    "presence_penalty",
];

pub fn look(said: Said<'_>, plain: &mut Plain) -> Option<()> {
    match said {
        Said::Whole(json) => {
            let text = text_of(&Object::read(json)?)?;
            plain.push(&text)?;
            plain.finish()?;
            plain.end()
        }
        Said::Event { json, .. } => {
            let event = Object::read(json)?;
            event.is_first("content_index")?;
            match event.text("type")?.as_ref() {
                "response.created" | "response.in_progress" | "response.queued" => Some(()),
                "response.output_item.added" | "response.output_item.done" => {
                    let item = event.object("item")?;
                    if is_hidden(&item) { Some(()) } else { item.is("type", "message") }
                }
                "response.content_part.added" | "response.content_part.done" => {
                    event.object("part")?.is("type", "output_text")
                }
                "response.output_text.delta" => {
                    event.only(&[
                        "type",
                        "sequence_number",
                        "item_id",
                        "output_index",
                        "content_index",
                        "delta",
                        "obfuscation",
                    ])?;
                    plain.push(&event.text("delta")?)
                }
                "response.output_text.done" => Some(()),
                // Everything once more, as a whole answer.
                "response.completed" => {
                    let text = text_of(&event.object("response")?)?;
                    if !plain.is_broken() && text != plain.text() {
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

/// The model has thought, and says nothing of it.
fn is_hidden(item: &Object<'_>) -> bool {
    item.is("type", "reasoning").is_some() && item.only(&["id", "type", "status"]).is_some()
}

fn text_of(response: &Object<'_>) -> Option<String> {
    response.only(&ENVELOPE)?;
    response.is("status", "completed")?;
    let item = response.only_element_but("output", is_hidden)?;
    item.only(&["id", "type", "status", "role", "content"])?;
    item.is("type", "message")?;
    item.may_be("status", "completed")?;
    item.may_be("role", "assistant")?;
    let part = item.only_element("content")?;
    part.only(&["type", "text"])?;
    part.is("type", "output_text")?;
    part.text("text").map(Into::into)
}
