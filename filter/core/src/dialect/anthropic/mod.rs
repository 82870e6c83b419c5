//! Anthropic Messages.

pub mod answer;
pub mod reply;
pub mod request;
