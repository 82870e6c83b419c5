//! The assistant's text in answers: `content` of each choice, a text or a list of parts.

use crate::spoken::{Block, Object, Spoken, Visit, with_other};

/// A whole answer or a chunk of a stream.
pub fn spoken<'a>(json: &'a str, visit: Visit<'_, 'a>) {
    if json == "[DONE]" {
        return visit(Spoken::End(None));
    }
    for (at, choice) in Object::read(json).list("choices") {
        let block = (choice.number("index").unwrap_or(at), 0);
        for message in ["message", "delta"].map(|key| choice.object(key)) {
            message.give("content", block, visit);
            // Servers that speak this format put thoughts and texts apart, as parts.
            let texts = message.list("content").filter(|(_, part)| part.string("type") == "text");
            texts.for_each(|(_, part)| part.give("text", block, visit));
        }
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
