//! The assistant's text in answers: the parts of type `output_text`. A stream says each text three times more when it is over.

use crate::spoken::{Object, Spoken, Visit};

fn is_text(part: &Object<'_>) -> bool {
    part.string("type") == "output_text"
}

pub fn whole<'a>(json: &'a str, visit: Visit<'_, 'a>) {
    for (output, item) in Object::read(json).list("output") {
        for (at, part) in item.list("content").filter(|(_, part)| is_text(part)) {
            part.give("text", (output, at), visit);
        }
    }
}

pub fn event<'a>(json: &'a str, visit: Visit<'_, 'a>) {
    let event = Object::read(json);
    let index = |key| event.number(key).unwrap_or(0);
    let block = (index("output_index"), index("content_index"));
    match event.string("type").as_ref() {
        "response.output_text.delta" => event.give("delta", block, visit),
        "response.output_text.done" => {
            visit(Spoken::End(Some(block)));
            copies(&event, visit);
        }
        "response.content_part.done" => part(&event.object("part"), visit),
        "response.output_item.done" => item(&event.object("item"), visit),
        "response.completed" | "response.incomplete" | "response.failed" => {
            visit(Spoken::End(None));
            event.object("response").list("output").for_each(|(_, output)| item(&output, visit));
        }
        _ => {}
    }
}

fn item<'a>(item: &Object<'a>, visit: Visit<'_, 'a>) {
    item.list("content").for_each(|(_, content)| part(&content, visit));
}

fn part<'a>(part: &Object<'a>, visit: Visit<'_, 'a>) {
    if is_text(part) {
        copies(part, visit);
    }
}

fn copies<'a>(object: &Object<'a>, visit: Visit<'_, 'a>) {
    if let Some(text) = object.get("text") {
        visit(Spoken::Copy { text });
    }
}
