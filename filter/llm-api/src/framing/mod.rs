//! How an answer is framed on the wire: one JSON text, server-sent events, AWS event stream. This module finds frames
//! in bytes and writes them. The dialects know what a frame means.

pub mod event_stream;
pub mod passing;
pub mod rewrite;
mod sse;
mod sse_rewrite;

pub(crate) use sse::Lines;

/// The byte order mark. Clients pass over one before an answer.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// How an answer is framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One JSON text.
    Json,
    /// `text/event-stream`.
    Sse,
    /// A JSON array of chunks: Gemini's stream without `alt=sse`.
    JsonArray,
    /// Binary frames with checksums: Amazon Bedrock.
    AwsEventStream,
}

impl Framing {
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Json | Self::JsonArray => "application/json",
            Self::Sse => "text/event-stream",
            Self::AwsEventStream => event_stream::CONTENT_TYPE,
        }
    }

    /// The framing of a response of this content type. Returns `None` when that type cannot hold an answer.
    pub fn of(content_type: &[u8]) -> Option<Self> {
        let media = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        // An array is recognised later, by its first character.
        [Self::Sse, Self::Json, Self::AwsEventStream]
            .into_iter()
            .find(|framing| media.eq_ignore_ascii_case(framing.content_type().as_bytes()))
    }
}
