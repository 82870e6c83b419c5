//! OpenAI chat completions, and the many providers that speak it.

pub mod answer;
pub mod reply;
pub mod request;
