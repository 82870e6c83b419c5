//! Which answers can be given again: one candidate that stopped by itself, with a text and calls behind it. In a stream no event
//! says that it was the last: that is the end of the body.

use serde_json::value::RawValue;

use crate::{
    json,
    members::elements,
    object::Object,
    repeatable::{Repeatable, Said},
};

const ENVELOPE: [&str; 5] = ["candidates", "usageMetadata", "modelVersion", "responseId", "createTime"];
const CANDIDATE: [&str; 5] = ["content", "finishReason", "index", "safetyRatings", "avgLogprobs"];

pub fn look(said: Said<'_>, answer: &mut Repeatable) -> Option<()> {
    match said {
        Said::Whole(json) if json.trim_start().starts_with('[') => {
            let chunks = json::read::<&RawValue>(json).ok().map(elements)?;
            chunks.into_iter().try_for_each(|chunk| add(&Object::of(chunk)?, answer))
        }
        Said::Whole(json) | Said::Event { json, .. } => add(&Object::read(json)?, answer),
    }
}

fn add(body: &Object<'_>, answer: &mut Repeatable) -> Option<()> {
    body.only(&ENVELOPE)?;
    if body.list("candidates")?.is_empty() {
        return Some(());
    }
    let candidate = body.only_element("candidates")?;
    candidate.only(&CANDIDATE)?;
    candidate.is_first("index")?;
    // A rating says nothing unless it blocks.
    for rating in candidate.list("safetyRatings")? {
        if Object::of(rating)?.get("blocked").is_some() {
            return None;
        }
    }
    if let Some(content) = candidate.object("content") {
        content.only(&["role", "parts"])?;
        content.may_be("role", "model")?;
        for part in content.list("parts")? {
            let part = Object::of(part)?;
            part.only(&["text", "thoughtSignature", "functionCall"])?;
            // It is of thoughts that are not told.
            if part.get("thoughtSignature").is_some() {
                answer.think()?;
            }
            answer.push(&part.text("text")?)?;
            if part.get("functionCall").is_some() {
                let call = part.object("functionCall")?;
                call.only(&["id", "name", "args"])?;
                answer.call(call.word("name")?, call.arguments("args")?)?;
            }
        }
    }
    match candidate.word("finishReason")? {
        "" => Some(()),
        "STOP" => answer.finish_with_body(),
        _ => None,
    }
}
