//! OpenAI chat completions, and the many providers that speak it.

mod answer;
mod reply;
mod request;
mod tools;

pub(crate) use reply::error_event;

use crate::{
    answer_event::{Block, EventSink, Payload},
    conversation::Conversation,
    dialect::{Dialect, FinalMessage, Header, LocalReply},
    json::Unreadable,
    path::retry_count,
};

#[derive(Debug)]
pub struct OpenAiChat;

impl Dialect for OpenAiChat {
    fn label(&self) -> &'static str {
        "openai_chat"
    }

    fn is_served_on(&self, path: &str) -> bool {
        path.ends_with("/chat/completions")
    }

    fn is_retry(&self, header: Header<'_>) -> bool {
        retry_count(header, "x-stainless-retry-count")
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

    fn refusal(&self, status: u16, message: &str) -> LocalReply {
        reply::refusal(status, message)
    }

    fn stream_error(&self, _: u16, message: &str) -> Vec<u8> {
        reply::stream_error(message)
    }

    fn final_message(&self, message: &FinalMessage<'_>) -> LocalReply {
        reply::final_message(message)
    }
}
