//! How an agent speaks to each provider: paths, requests, and where in both a text stands.
//! Written from the providers' documentation, not from the filter's code: it is the other side of the test.

use serde_json::{Value, json};

use crate::provider::event_stream;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
    GeminiInteractions,
    Bedrock,
    VertexAnthropic,
}

/// What Anthropic's documentation puts into each body for Vertex AI.
pub const VERTEX_VERSION: &str = "vertex-2023-10-16";

impl Dialect {
    pub const ALL: [Self; 7] = [
        Self::OpenaiChat,
        Self::OpenaiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::GeminiInteractions,
        Self::Bedrock,
        Self::VertexAnthropic,
    ];

    /// As the filter's metrics name it.
    pub fn label(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai_chat",
            Self::OpenaiResponses => "openai_responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::GeminiInteractions => "gemini_interactions",
            Self::Bedrock => "bedrock",
            Self::VertexAnthropic => "vertex_anthropic",
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
            // AWS's clients escape the colon.
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

    /// The content type of a streamed answer.
    pub fn stream_type(self) -> &'static str {
        if self == Self::Bedrock { event_stream::CONTENT_TYPE } else { "text/event-stream" }
    }

    /// The field of a request that holds the history.
    pub fn turns(self) -> &'static str {
        match self {
            Self::OpenaiChat | Self::Anthropic | Self::Bedrock | Self::VertexAnthropic => "messages",
            Self::OpenaiResponses | Self::GeminiInteractions => "input",
            Self::Gemini => "contents",
        }
    }

    /// How the client library says that it sends a request again: a header, and its value for the first, second, ..
    /// attempt from 0.
    pub fn attempt(self, number: usize) -> (&'static str, String) {
        match self {
            Self::Bedrock => ("amz-sdk-request", format!("attempt={}; max=5", number + 1)),
            _ => ("x-stainless-retry-count", number.to_string()),
        }
    }

    /// Whether an error that must not be retried says so: the clients made by Stainless read `x-should-retry`, those of
    /// AWS know it from the error's kind.
    pub fn tells_its_retries(self) -> bool {
        self != Self::Bedrock
    }

    /// A request with one user message.
    pub fn ask(self, text: &str, stream: bool) -> Value {
        self.conversation(&[("user", text)], stream)
    }

    /// A message of this role, `user` or `assistant`.
    pub fn message(self, role: &str, text: &str) -> Value {
        match self {
            Self::Gemini => {
                let role = if role == "user" { "user" } else { "model" };
                json!({"role": role, "parts": [{"text": text}]})
            }
            Self::GeminiInteractions => {
                let kind = if role == "user" { "user_input" } else { "model_output" };
                json!({"type": kind, "content": [{"type": "text", "text": text}]})
            }
            // A string is no content here.
            Self::Bedrock => json!({"role": role, "content": [{"text": text}]}),
            _ => json!({"role": role, "content": text}),
        }
    }

    /// A request with this history; the roles are `user` and `assistant`.
    pub fn conversation(self, turns: &[(&str, &str)], stream: bool) -> Value {
        let turns: Vec<Value> = turns.iter().map(|(role, text)| self.message(role, text)).collect();
        self.with_turns(turns, stream)
    }

    /// A request with these messages, in the dialect's own form.
    pub fn with_turns(self, turns: Vec<Value>, stream: bool) -> Value {
        let mut body = match self {
            Self::OpenaiChat => json!({"model": "gpt-4o-mini", "messages": turns}),
            Self::OpenaiResponses => json!({"model": "gpt-4o-mini", "input": turns}),
            Self::Anthropic => json!({"model": "claude-sonnet-4-5", "max_tokens": 256, "messages": turns}),
            Self::Gemini => json!({"contents": turns}),
            Self::GeminiInteractions => {
                json!({"model": "gemini-3-flash-preview", "input": turns, "store": false})
            }
            Self::Bedrock => json!({"messages": turns, "inferenceConfig": {"maxTokens": 256}}),
            Self::VertexAnthropic => {
                json!({"anthropic_version": VERTEX_VERSION, "max_tokens": 256, "messages": turns})
            }
        };
        // The path says it in the others.
        if stream && !matches!(self, Self::Gemini | Self::Bedrock) {
            body["stream"] = json!(true);
        }
        body
    }

    pub fn last_user_text(self, body: &[u8]) -> Option<String> {
        let body: Value = serde_json::from_slice(body).ok()?;
        let turns = body.get(self.turns())?;
        if let Some(text) = turns.as_str() {
            return Some(text.to_owned());
        }
        let is_users = |turn: &&Value| {
            let role = turn.get("role").or_else(|| turn.get("type"));
            role.is_none_or(|role| role == "user" || role == "user_input")
        };
        let last = turns.as_array()?.iter().rev().find(is_users)?;
        let content = last.get("content").or_else(|| last.get("parts"))?;
        Some(content.as_str().map_or_else(|| all_texts(content), str::to_owned))
    }

    /// The texts that speak to the model as a system, where a hint of this dialect belongs; joined by line ends.
    pub fn system_text(self, body: &Value) -> String {
        let from = match self {
            Self::OpenaiChat => {
                let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
                let systems = messages
                    .iter()
                    .filter(|message| message["role"] == "system" || message["role"] == "developer");
                return systems.map(|message| all_texts(&message["content"])).collect::<Vec<_>>().join("\n");
            }
            Self::OpenaiResponses => &body["instructions"],
            Self::GeminiInteractions => &body["system_instruction"],
            Self::Anthropic | Self::Bedrock | Self::VertexAnthropic => &body["system"],
            Self::Gemini => body
                .get("systemInstruction")
                .or_else(|| body.get("system_instruction"))
                .unwrap_or(&Value::Null),
        };
        all_texts(from)
    }

    /// What an error says to people.
    pub fn error_message(self, body: &Value) -> String {
        let message = if self == Self::Bedrock { &body["message"] } else { &body["error"]["message"] };
        message.as_str().unwrap_or_default().to_owned()
    }

    /// What the model said in an answer, whether JSON or a stream.
    pub fn answer_text(self, answer: &[u8]) -> String {
        if let Ok(body) = serde_json::from_slice::<Value>(answer) {
            let from = match self {
                Self::OpenaiChat => &body["choices"][0]["message"]["content"],
                Self::OpenaiResponses | Self::Bedrock => &body["output"],
                Self::Anthropic | Self::VertexAnthropic => &body["content"],
                Self::Gemini => &body["candidates"],
                Self::GeminiInteractions => &body["steps"],
            };
            return all_texts(from);
        }
        if self == Self::Bedrock {
            let frames = event_stream::read(answer).expect("an event stream");
            let deltas = frames.iter().filter(|frame| frame.header(":event-type") == "contentBlockDelta");
            return deltas
                .map(|frame| frame.json()["delta"]["text"].as_str().unwrap_or_default().to_owned())
                .collect();
        }
        let events = String::from_utf8_lossy(answer).into_owned();
        let data = events
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
        data.map(|event| match self {
            Self::OpenaiChat => {
                event["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned()
            }
            Self::OpenaiResponses if event["type"] == "response.output_text.delta" => {
                event["delta"].as_str().unwrap_or_default().to_owned()
            }
            Self::OpenaiResponses | Self::Bedrock => String::new(),
            Self::Anthropic | Self::VertexAnthropic | Self::GeminiInteractions => {
                event["delta"]["text"].as_str().unwrap_or_default().to_owned()
            }
            Self::Gemini => all_texts(&event["candidates"]),
        })
        .collect()
    }
}

/// A string itself, or every string that stands under `text` somewhere inside.
fn all_texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(all_texts).collect::<Vec<_>>().join(""),
        Value::Object(fields) => {
            let inner = fields
                .iter()
                .filter(|(name, value)| *name == "text" || value.is_array() || value.is_object());
            inner.map(|(_, value)| all_texts(value)).collect::<Vec<_>>().join("")
        }
        _ => String::new(),
    }
}
