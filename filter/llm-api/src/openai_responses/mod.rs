//! OpenAI Responses.

mod answer;
mod outline;
mod repeatable;
mod reply;
mod request;
mod spoken;
mod tools;

use crate::{
    answer::Answer,
    conversation::Conversation,
    dialect::{Dialect, FinalMessage, LocalReply, Position},
    edit::Edit,
    json::Unreadable,
    outline::Outline,
    path::retry_count,
    repeatable::{Repeatable, Said},
    spoken::Visit,
    tools::{May, Offer},
};

#[derive(Debug)]
pub struct OpenAiResponses;

impl Dialect for OpenAiResponses {
    fn label(&self) -> &'static str {
        "openai_responses"
    }

    fn is_served_on(&self, path: &str) -> bool {
        path.ends_with("/v1/responses")
    }

    fn is_retry(&self, header: &dyn Fn(&str) -> Option<Vec<u8>>) -> bool {
        retry_count(header, "x-stainless-retry-count")
    }

    fn keeps_answers(&self) -> bool {
        true
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

    fn error(&self, status: u16, message: &str) -> LocalReply {
        crate::openai_chat::error(status, message)
    }

    fn refusal(&self, status: u16, message: &str) -> LocalReply {
        crate::openai_chat::refusal(status, message)
    }

    fn final_message(&self, message: &FinalMessage<'_>) -> LocalReply {
        reply::final_message(message)
    }
}
