//! The dialects, the paths that they are served on, and how their answers are streamed.
//! Written from the providers' documentation, not from the filter's code: it is the other side of the test.

use serde_json::{Value, json};

use strum::{Display, EnumCount, EnumString, IntoStaticStr, VariantArray};

use crate::event_stream;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumCount, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Dialect {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
    GeminiInteractions,
    Bedrock,
    VertexAnthropic,
}

/// How an answer is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Server-sent events.
    Events,
    /// One JSON array, element by element.
    Array,
    /// Messages of [`event_stream`].
    Frames,
}

impl Stream {
    /// The ending of its golden files.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Events => ".sse",
            Self::Array => ".array",
            Self::Frames => ".eventstream",
        }
    }
}

/// The version that Anthropic's documentation requires in each body for Vertex AI.
pub const VERTEX_VERSION: &str = "vertex-2023-10-16";

impl Dialect {
    pub const ALL: [Self; Self::COUNT] = *Self::VARIANTS.first_chunk().unwrap();

    /// As the filter's metrics name it.
    pub fn label(self) -> &'static str {
        self.into()
    }

    /// The dialect with this label.
    pub fn of_label(label: &str) -> Option<Self> {
        label.parse().ok()
    }

    /// The name of the event that ends a stream with an error: an event of server-sent events, or an exception of an event stream. Empty
    /// if the provider gives its events no names.
    pub fn error_event(self) -> &'static str {
        match self {
            Self::OpenaiChat | Self::Gemini => "",
            Self::Bedrock => "exception",
            Self::OpenaiResponses | Self::Anthropic | Self::GeminiInteractions | Self::VertexAnthropic => {
                "error"
            }
        }
    }

    pub fn path(self, stream: bool) -> &'static str {
        match (self, stream) {
            (Self::OpenaiChat, _) => "/v1/chat/completions",
            (Self::OpenaiResponses, _) => "/v1/responses",
            (Self::Anthropic, _) => "/v1/messages",
            (Self::Gemini, false) => "/v1beta/models/gemini-2.5-flash:generateContent",
            (Self::Gemini, true) => "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
            (Self::GeminiInteractions, _) => "/v1beta/interactions",
            // AWS clients escape the colon.
            (Self::Bedrock, false) => "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
            (Self::Bedrock, true) => "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream",
            (Self::VertexAnthropic, false) => {
                "/v1/projects/acme/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict"
            }
            (Self::VertexAnthropic, true) => {
                "/v1/projects/acme/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict"
            }
        }
    }

    pub fn of_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        if path.ends_with("/chat/completions") {
            Some(Self::OpenaiChat)
        } else if path.ends_with("/responses") {
            Some(Self::OpenaiResponses)
        } else if path.ends_with("/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            Some(Self::Gemini)
        } else if path.ends_with("/interactions") {
            Some(Self::GeminiInteractions)
        } else if path.ends_with("/converse") || path.ends_with("/converse-stream") {
            Some(Self::Bedrock)
        } else if path.ends_with(":rawPredict") || path.ends_with(":streamRawPredict") {
            Some(Self::VertexAnthropic)
        } else {
            None
        }
    }

    pub fn wants_stream(self, path: &str, body: &[u8]) -> bool {
        match self {
            Self::Gemini => path.contains(":streamGenerateContent"),
            Self::Bedrock => path.contains("/converse-stream"),
            Self::VertexAnthropic => path.contains(":streamRawPredict"),
            _ => serde_json::from_slice::<Value>(body).is_ok_and(|body| body["stream"] == json!(true)),
        }
    }

    /// The ways in which its answers are streamed.
    pub fn streams(self) -> &'static [Stream] {
        match self {
            Self::Bedrock => &[Stream::Frames],
            Self::Gemini => &[Stream::Events, Stream::Array],
            Self::OpenaiChat
            | Self::OpenaiResponses
            | Self::Anthropic
            | Self::GeminiInteractions
            | Self::VertexAnthropic => &[Stream::Events],
        }
    }

    /// The content type of a streamed answer.
    pub fn stream_type(self) -> &'static str {
        if self == Self::Bedrock { event_stream::CONTENT_TYPE } else { "text/event-stream" }
    }
}
