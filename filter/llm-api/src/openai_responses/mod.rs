//! OpenAI Responses.

mod answer;
mod reply;
mod request;
mod tools;

use crate::{
    answer_event::{EventSink, Payload},
    conversation::Conversation,
    dialect::{Dialect, FinalMessage, LocalReply},
    json::Unreadable,
    openai_chat::error_event,
};

#[derive(Debug)]
pub struct OpenAiResponses;

impl Dialect for OpenAiResponses {
    fn label(&self) -> &'static str {
        "openai_responses"
    }

    fn is_served_on(&self, path: &str) -> bool {
        // OpenAI's, Azure's, those of gateways, and of others who speak it.
        path.ends_with("/responses")
    }

    fn read<'a>(&self, body: &'a str) -> Result<Conversation<'a>, Unreadable> {
        request::read(body)
    }

    fn read_answer<'a>(&self, payload: Payload<'a>, sink: &mut EventSink<'_, 'a>) -> Option<()> {
        answer::read_answer(payload, sink)
    }

    fn refusal(&self, status: u16, message: &str) -> LocalReply {
        self.like().refusal(status, message)
    }

    fn stream_error(&self, _: u16, message: &str) -> Vec<u8> {
        [b"event: error\ndata: ".as_slice(), &error_event(message), b"\n\n"].concat()
    }

    fn final_message(&self, message: &FinalMessage<'_>) -> LocalReply {
        reply::final_message(message)
    }
}
