//! OpenAI Responses.

pub mod answer;
pub mod reply;
pub mod request;
