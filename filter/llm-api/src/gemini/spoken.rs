//! The assistant's text in answers: the parts of each candidate that are no thoughts. They are one text, whatever stands
//! between them; of a stream each chunk has some of them.

use crate::{
    members::{elements, whole as value},
    spoken::{Block, Object, Spoken, Visit, with_other},
};

/// One answer, or the array of them that a stream without `alt=sse` is.
pub fn whole<'a>(json: &'a str, visit: Visit<'_, 'a>) {
    match value(json) {
        Ok(list) if list.get().starts_with('[') => {
            elements(list).into_iter().for_each(|body| chunk(&Object::of(body), visit));
        }
        _ => event(json, visit),
    }
}

pub fn event<'a>(json: &'a str, visit: Visit<'_, 'a>) {
    chunk(&Object::read(json), visit);
}

fn chunk<'a>(body: &Object<'a>, visit: Visit<'_, 'a>) {
    let candidates: Vec<_> = body.list("candidates").collect();
    for (at, candidate) in &candidates {
        let block = (candidate.number("index").unwrap_or(*at), 0);
        let parts: Vec<_> = candidate.object("content").list("parts").collect();
        let has_ended = candidate.has("finishReason");
        for (_, part) in &parts {
            let Some(text) = part.get("text").filter(|text| text.get().starts_with('"')) else { continue };
            if part.get("thought").is_none_or(|is_thought| is_thought.get() != "true") {
                let is_all = candidates.len() == 1 && parts.len() == 1 && !has_ended;
                visit(Spoken::Piece { block, text, is_all });
            }
        }
        if has_ended {
            visit(Spoken::End(Some(block)));
        }
    }
}

/// A chunk may hold other candidates, and other parts beside a text.
pub fn event_of(like: &str, (index, _): Block, text: &str) -> Option<String> {
    let candidates = format!(
        r#""candidates":[{{"content":{{"parts":[{{"text":{text}}}],"role":"model"}},"index":{index}}}]"#
    );
    with_other(like, &["candidates", "usageMetadata"], &candidates)
}
