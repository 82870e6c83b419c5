//! The assistant's text in answers: `content` of each choice.

use crate::spoken::{Block, Object, Spoken, Visit, with_other};

/// A whole answer or a chunk of a stream.
pub fn spoken<'a>(json: &'a str, visit: Visit<'_, 'a>) {
    if json == "[DONE]" {
        return visit(Spoken::End(None));
    }
    for (at, choice) in Object::read(json).list("choices") {
        let block = (choice.number("index").unwrap_or(at), 0);
        ["message", "delta"].iter().for_each(|key| choice.object(key).give("content", block, visit));
        if choice.has("finish_reason") {
            visit(Spoken::End(Some(block)));
        }
    }
}

/// A chunk may hold other choices, and calls beside a text.
pub fn event_of(like: &str, (index, _): Block, text: &str) -> Option<String> {
    let choices =
        format!(r#""choices":[{{"index":{index},"delta":{{"content":{text}}},"finish_reason":null}}]"#);
    with_other(like, &["choices", "usage"], &choices)
}
