//! Gemini `generateContent` and `streamGenerateContent`, on Google's own API and on Vertex AI.

mod answer;
mod outline;
mod repeatable;
mod reply;
mod request;
mod spoken;
mod tools;

use std::borrow::Cow;

use crate::{
    answer::Answer,
    conversation::Conversation,
    dialect::{Dialect, FinalMessage, LocalReply, Position},
    edit::Edit,
    framing::Framing,
    json::Unreadable,
    outline::Outline,
    path::{PathFacts, model_before_method, other_method},
    repeatable::{Repeatable, Said},
    spoken::{Block, Visit},
    tools::{May, Offer},
};

#[derive(Debug)]
pub struct Gemini;

impl Dialect for Gemini {
    fn label(&self) -> &'static str {
        "gemini"
    }

    fn is_served_on(&self, path: &str) -> bool {
        path.ends_with(":generatecontent") || path.ends_with(":streamgeneratecontent")
    }

    fn facts_of_path(&self, path: &str, query: &str) -> PathFacts {
        let (model, method) = model_before_method(path);
        let is_stream = method.eq_ignore_ascii_case("streamGenerateContent");
        let framing = match is_stream {
            true if query.split('&').any(|pair| pair == "alt=sse") => Framing::Sse,
            true => Framing::JsonArray,
            false => Framing::Json,
        };
        PathFacts { framing: Some(framing), model }
    }

    fn without_stream<'a>(&self, target: &'a str) -> Cow<'a, str> {
        other_method(target, "streamGenerateContent", "generateContent")
    }

    fn read<'a>(&self, body: &'a str) -> Result<Conversation<'a>, Unreadable> {
        request::read(body)
    }

    fn hint(&self, body: &str, text: &str, _position: Position) -> Result<Edit, Unreadable> {
        request::hint(body, text)
    }

    fn hint_in_result(&self, body: &str, text: &str) -> Result<Edit, Unreadable> {
        request::hint_in_result(body, text)
    }

    fn offer(&self, body: &str, may: May<'_>) -> Result<Offer, Unreadable> {
        tools::offer(body, may)
    }

    fn outline<'a>(&self, body: &'a str) -> Result<Outline<'a>, Unreadable> {
        outline::outline(body)
    }

    fn takes_objects_as_results(&self) -> bool {
        true
    }

    fn whole_answer(&self, json: &str, answer: &mut Answer) -> Option<()> {
        answer::whole(json, answer)
    }

    fn event(&self, _kind: &str, json: &str, answer: &mut Answer) -> Option<()> {
        answer::event(json, answer)
    }

    fn look(&self, said: Said<'_>, answer: &mut Repeatable) -> Option<()> {
        repeatable::look(said, answer)
    }

    fn spoken<'a>(&self, json: &'a str, visit: Visit<'_, 'a>) {
        spoken::whole(json, visit);
    }

    fn spoken_in_event<'a>(&self, _kind: &str, json: &'a str, visit: Visit<'_, 'a>) {
        spoken::event(json, visit);
    }

    fn event_of(&self, like: &str, block: Block, text: &str) -> Option<String> {
        spoken::event_of(like, block, text)
    }

    fn takes_empty_texts(&self) -> bool {
        false
    }

    fn error(&self, status: u16, message: &str) -> LocalReply {
        reply::error(status, message)
    }

    fn final_message(&self, message: &FinalMessage<'_>) -> LocalReply {
        reply::final_message(message)
    }
}
