//! Gemini `generateContent` and `streamGenerateContent`, on Google's own API and on Vertex AI.

mod answer;
mod reply;
mod request;
mod tools;

use crate::{
    answer_event::{Block, EventSink, Payload},
    conversation::Conversation,
    dialect::{Dialect, FinalMessage, Header, LocalReply},
    framing::Framing,
    json::Unreadable,
    path::{PathFacts, model_before_method},
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
        PathFacts {
            framing: Some(framing),
            model,
            methods: Some(["streamGenerateContent", "generateContent"]),
            ..PathFacts::default()
        }
    }

    /// Its client library does not mark retries.
    fn is_retry(&self, _header: Header<'_>) -> bool {
        false
    }

    fn read<'a>(&self, body: &'a str) -> Result<Conversation<'a>, Unreadable> {
        request::read(body)
    }

    fn read_answer<'a>(&self, payload: Payload<'a>, sink: &mut EventSink<'_, 'a>) -> Option<()> {
        answer::read_answer(payload, sink)
    }

    fn event_of(&self, like: &str, block: Block, text: &str) -> Option<String> {
        answer::event_of(like, block, text)
    }

    fn error(&self, status: u16, message: &str) -> LocalReply {
        reply::error(status, message)
    }

    fn stream_error(&self, status: u16, message: &str) -> Vec<u8> {
        reply::stream_error(status, message)
    }

    fn final_message(&self, message: &FinalMessage<'_>) -> LocalReply {
        reply::final_message(message)
    }
}
