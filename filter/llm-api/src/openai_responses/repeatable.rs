//! Which answers can be given again: at most one message with one text in it, calls behind it, and no word of what the model
//! thought.

use crate::{
    object::Object,
    repeatable::{Repeatable, Said},
};

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

pub fn look(said: Said<'_>, answer: &mut Repeatable) -> Option<()> {
    match said {
        Said::Whole(json) => {
            whole(&Object::read(json)?, answer)?;
            end(answer)
        }
        Said::Event { json, .. } => {
            let event = Object::read(json)?;
            event.is_first("content_index")?;
            match event.word("type")? {
                "response.created" | "response.in_progress" | "response.queued" => Some(()),
                "response.output_item.added" => {
                    let item = event.object("item")?;
                    match item.word("type")? {
                        "message" => Some(()),
                        "function_call" => answer.takes_calls().then_some(()),
                        _ => hidden(&item, answer),
                    }
                }
                "response.output_item.done" => {
                    let item = event.object("item")?;
                    match item.word("type")? {
                        "message" => Some(()),
                        "function_call" => call(&item, answer),
                        _ => hidden(&item, answer),
                    }
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
                    answer.push(&event.text("delta")?)
                }
                // What they bring comes whole when the item is done.
                "response.output_text.done"
                | "response.function_call_arguments.delta"
                | "response.function_call_arguments.done" => Some(()),
                // Everything once more, as a whole answer.
                "response.completed" => {
                    let mut again = answer.anew();
                    whole(&event.object("response")?, &mut again)?;
                    if !answer.is_broken() && again.content() != answer.content() {
                        return None;
                    }
                    end(answer)
                }
                _ => None,
            }
        }
    }
}

/// That functions are to be called is said by the calls alone.
fn end(answer: &mut Repeatable) -> Option<()> {
    answer.finish(!answer.content().calls.is_empty())?;
    answer.end()
}

fn whole(response: &Object<'_>, answer: &mut Repeatable) -> Option<()> {
    response.only(&ENVELOPE)?;
    response.is("status", "completed")?;
    for item in response.list("output")? {
        let item = Object::of(item)?;
        match item.word("type")? {
            "message" => {
                item.only(&["id", "type", "status", "role", "content"])?;
                item.may_be("status", "completed")?;
                item.may_be("role", "assistant")?;
                let part = item.only_element("content")?;
                part.only(&["type", "text"])?;
                part.is("type", "output_text")?;
                answer.begin()?;
                answer.push(&part.text("text")?)?;
            }
            "function_call" => call(&item, answer)?,
            _ => hidden(&item, answer)?,
        }
    }
    Some(())
}

/// The model has thought, and says nothing of it.
fn hidden(item: &Object<'_>, answer: &mut Repeatable) -> Option<()> {
    answer.think()?;
    item.is("type", "reasoning")?;
    item.only(&["id", "type", "status"])
}

fn call(item: &Object<'_>, answer: &mut Repeatable) -> Option<()> {
    item.only(&["id", "type", "status", "call_id", "name", "arguments", "caller"])?;
    item.may_be("status", "completed")?;
    item.has_id("call_id", "call_")?;
    item.is_called_directly()?;
    answer.call(item.word("name")?, &item.text("arguments")?)
}
