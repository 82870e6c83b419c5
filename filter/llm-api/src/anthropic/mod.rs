//! Anthropic Messages.

mod answer;
mod reply;
mod request;
mod tools;

use crate::{
    answer_event::{EventSink, Payload},
    conversation::Conversation,
    dialect::{Dialect, FinalMessage, LocalReply},
    json::Unreadable,
    path::ends_with_version,
};

#[derive(Debug)]
pub struct Anthropic;

impl Dialect for Anthropic {
    fn label(&self) -> &'static str {
        "anthropic"
    }

    fn is_served_on(&self, path: &str) -> bool {
        // Other services have messages too: those of a thread, of a bot.
        path.strip_suffix("/messages")
            .is_some_and(|before| before.ends_with("/anthropic") || ends_with_version(before))
    }

    fn read<'a>(&self, body: &'a str) -> Result<Conversation<'a>, Unreadable> {
        request::read(body)
    }

    fn read_answer<'a>(&self, payload: Payload<'a>, sink: &mut EventSink<'_, 'a>) -> Option<()> {
        answer::read_answer(payload, sink)
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
