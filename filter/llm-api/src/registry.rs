//! The list of dialects. A new one is a folder beside this file and one line in `ALL`.

use crate::{
    conversation::Conversation,
    dialect::DialectRef,
    json::{Raw, Unreadable, must_be_object},
};

/// Every dialect. If two are served on one path, the first one is used.
pub static ALL: [DialectRef; 7] = [
    &crate::openai_chat::OpenAiChat,
    &crate::openai_responses::OpenAiResponses,
    &crate::anthropic::Anthropic,
    &crate::gemini::Gemini,
    &crate::gemini_interactions::GeminiInteractions,
    &crate::bedrock::Bedrock,
    &crate::vertex::VertexAnthropic,
];

/// The dialect with this label.
pub fn by_label(label: &str) -> Option<DialectRef> {
    ALL.into_iter().find(|dialect| dialect.label() == label)
}

/// Reads a request body in any dialect.
pub fn read(dialect: DialectRef, body: &[u8]) -> Result<Conversation<'_>, Unreadable> {
    let body = simdutf8::basic::from_utf8(body).map_err(|_| Unreadable::InvalidUtf8)?;
    if must_be_object(body).is_err() {
        return Raw::read(body).and(Err(Unreadable::Shape));
    }
    dialect.read(body)
}
