//! Gemini `generateContent` and `streamGenerateContent`.

pub mod answer;
pub mod reply;
pub mod request;
