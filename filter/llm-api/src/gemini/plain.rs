//! Which answers are nothing but a text: one candidate that stopped by itself. In a stream no event says that it was the last:
//! that is the end of the body.

use serde_json::value::RawValue;

use crate::{
    json,
    members::elements,
    plain::{Object, Plain, Said},
};

const ENVELOPE: [&str; 5] = ["candidates", "usageMetadata", "modelVersion", "responseId", "createTime"];
const CANDIDATE: [&str; 5] = ["content", "finishReason", "index", "safetyRatings", "avgLogprobs"];

pub fn look(said: Said<'_>, plain: &mut Plain) -> Option<()> {
    match said {
        Said::Whole(json) if json.trim_start().starts_with('[') => {
            let chunks = json::read::<&RawValue>(json).ok().map(elements)?;
            chunks.into_iter().try_for_each(|chunk| answer(&Object::of(chunk)?, plain))
        }
        Said::Whole(json) | Said::Event { json, .. } => answer(&Object::read(json)?, plain),
    }
}

fn answer(body: &Object<'_>, plain: &mut Plain) -> Option<()> {
    body.only(&ENVELOPE)?;
    if body.list("candidates").is_empty() {
        return Some(());
    }
    let candidate = body.only_element("candidates")?;
    candidate.only(&CANDIDATE)?;
    candidate.is_first("index")?;
    // A rating says nothing unless it blocks.
    for rating in candidate.list("safetyRatings") {
        if Object::of(rating)?.get("blocked").is_some() {
            return None;
        }
    }
    if let Some(content) = candidate.object("content") {
        content.only(&["role", "parts"])?;
        content.may_be("role", "model")?;
        for part in content.list("parts") {
            let part = Object::of(part)?;
            // A signature is of thoughts that are not told.
            part.only(&["text", "thoughtSignature"])?;
            plain.push(&part.text("text")?)?;
        }
    }
    match candidate.text("finishReason")?.as_ref() {
        "" => Some(()),
        "STOP" => plain.finish_with_body(),
        _ => None,
    }
}
