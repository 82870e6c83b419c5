//! How an answer is framed on the wire, in any dialect: one JSON text, server-sent events, AWS event stream. This
//! module finds the frames in the bytes and writes them. What a frame means is known to the dialects.

pub mod event_stream;
pub mod rewrite;
mod sse;
mod sse_rewrite;

pub(crate) use sse::Lines;

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

    /// How a response of this content type is framed; nothing where the type is not one that holds an answer.
    pub fn of(content_type: &[u8]) -> Option<Self> {
        let media = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        // An array is told from one text by its first character.
        [Self::Sse, Self::Json, Self::AwsEventStream]
            .into_iter()
            .find(|framing| media.eq_ignore_ascii_case(framing.content_type().as_bytes()))
    }
}
