//! The wire formats of the providers: how a request reads, where a hint goes, what a kill looks like, how an answer
//! reads. One folder a dialect; nothing here judges.

mod answer;
mod anthropic;
mod gemini;
mod history;
mod openai_chat;
mod openai_responses;
mod reading;
mod route;
mod usage;

pub use answer::{Answer, AnswerReader};
pub use history::Scan;
pub use reading::{Reading, Tail};
pub use route::{Form, Route};
pub use usage::Usage;

use serde_json::value::RawValue;

use crate::{
    config::HintPosition,
    json::{self, Splice, Unreadable},
};

/// One provider wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    OpenAiChat,
    OpenAiResponses,
    Anthropic,
    Gemini,
}

impl Dialect {
    pub const ALL: [Self; 4] = [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Gemini];

    /// Name in metrics, logs and the configuration.
    pub fn label(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai_chat",
            Self::OpenAiResponses => "openai_responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// What a request body says. Borrows from it. `scan` says how much of the history is looked at.
    pub fn read(self, body: &[u8], scan: Scan) -> Result<Reading<'_>, Unreadable> {
        let body = std::str::from_utf8(body).map_err(|_| Unreadable::InvalidUtf8)?;
        if json::must_be_object(body).is_err() {
            return Err(if serde_json::from_str::<&RawValue>(body).is_ok() {
                Unreadable::Shape
            } else {
                Unreadable::NotJson
            });
        }
        match self {
            Self::OpenAiChat => openai_chat::request::read(body, scan),
            Self::OpenAiResponses => openai_responses::request::read(body, scan),
            Self::Anthropic => anthropic::request::read(body, scan),
            Self::Gemini => gemini::request::read(body, scan),
        }
    }

    /// The change that puts `text` into a request body as a hint to the model.
    pub fn hint(self, body: &str, text: &str, position: HintPosition) -> Result<Splice, Unreadable> {
        json::must_be_object(body)?;
        match self {
            Self::OpenAiChat => openai_chat::request::hint(body, text, position),
            Self::OpenAiResponses => openai_responses::request::hint(body, text),
            Self::Anthropic => anthropic::request::hint(body, text),
            Self::Gemini => gemini::request::hint(body, text),
        }
    }

    /// The change that puts `text` into the last tool result, where the model reads it with the result; nothing where
    /// the history does not end with one.
    pub fn hint_in_result(self, body: &str, text: &str) -> Result<Splice, Unreadable> {
        json::must_be_object(body)?;
        match self {
            Self::OpenAiChat => openai_chat::request::hint_in_result(body, text),
            Self::OpenAiResponses => openai_responses::request::hint_in_result(body, text),
            Self::Anthropic => anthropic::request::hint_in_result(body, text),
            Self::Gemini => gemini::request::hint_in_result(body, text),
        }
    }

    /// An error in the form that the provider's SDK raises as its own.
    pub fn error(self, status: u16, message: &str) -> String {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => openai_chat::reply::error(message),
            Self::Anthropic => anthropic::reply::error(status, message),
            Self::Gemini => gemini::reply::error(status, message),
        }
    }

    /// A whole assistant message that ends the run in good order.
    pub fn final_message(self, message: &FinalMessage<'_>) -> String {
        match self {
            Self::OpenAiChat => openai_chat::reply::final_message(message),
            Self::OpenAiResponses => openai_responses::reply::final_message(message),
            Self::Anthropic => anthropic::reply::final_message(message),
            Self::Gemini => gemini::reply::final_message(message),
        }
    }
}

/// What a final message is made of.
#[derive(Clone, Copy, Debug)]
pub struct FinalMessage<'a> {
    pub text: &'a str,
    pub model: &'a str,
    pub form: Form,
    /// Unique for the reply; becomes part of its ids.
    pub id: u64,
    /// Seconds since 1970.
    pub created: u64,
    /// The client asked for a last chunk with the usage (OpenAI chat streams).
    pub include_usage: bool,
}
