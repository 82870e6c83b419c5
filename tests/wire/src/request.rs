//! How an agent asks each provider: requests, and where a text stands in them.
//! Written from the providers' documentation, not from the filter's code: it is the other side of the test.

use serde_json::{Value, json};

use crate::{Dialect, VERTEX_VERSION, answer::all_texts};

impl Dialect {
    /// The field of a request that holds the history.
    pub fn turns(self) -> &'static str {
        match self {
            Self::OpenaiChat | Self::Anthropic | Self::Bedrock | Self::VertexAnthropic => "messages",
            Self::OpenaiResponses | Self::GeminiInteractions => "input",
            Self::Gemini => "contents",
        }
    }

    /// The header with which the client library marks attempt `number`, counted from 0, and its value.
    pub fn attempt(self, number: usize) -> (&'static str, String) {
        match self {
            Self::Bedrock => ("amz-sdk-request", format!("attempt={}; max=5", number + 1)),
            _ => ("x-stainless-retry-count", number.to_string()),
        }
    }

    /// Whether an error that must not be retried says so in a header. Clients made by Stainless read `x-should-retry`;
    /// those of AWS decide by the type of the error.
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
            // Content must not be a string here.
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
        // In the other dialects the path says it.
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

    /// The system texts of a request, where a hint of this dialect belongs, joined by line ends.
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

    /// Whether a request may have instructions. One that continues a thread of the provider may not.
    pub fn takes_instructions(self, body: &Value) -> bool {
        let has_thread = body.get("thread").is_some_and(|thread| !thread.is_null());
        !(matches!(self, Self::Anthropic | Self::VertexAnthropic) && has_thread)
    }

    /// A text as a part of a user's message, or of a tool result.
    pub fn text_part(self, text: &str) -> Value {
        match self {
            Self::OpenaiResponses => json!({"type": "input_text", "text": text}),
            Self::Gemini | Self::Bedrock => json!({"text": text}),
            _ => json!({"type": "text", "text": text}),
        }
    }

    /// A picture as a part of a user's message. `data` is base64.
    pub fn picture_part(self, data: &str) -> Value {
        match self {
            Self::OpenaiChat => {
                json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}")}})
            }
            Self::OpenaiResponses => {
                json!({"type": "input_image", "image_url": format!("data:image/png;base64,{data}")})
            }
            Self::Anthropic | Self::VertexAnthropic => {
                json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
            }
            Self::Gemini => json!({"inlineData": {"mimeType": "image/png", "data": data}}),
            Self::GeminiInteractions => json!({"type": "image", "mime_type": "image/png", "data": data}),
            Self::Bedrock => json!({"image": {"format": "png", "source": {"bytes": data}}}),
        }
    }

    /// File number `n` as a part of a user's message: by id or address, as each provider keeps files.
    pub fn file_part(self, n: usize) -> Value {
        match self {
            Self::OpenaiChat => json!({"type": "file", "file": {"file_id": format!("file-{n}")}}),
            Self::OpenaiResponses => json!({"type": "input_file", "file_id": format!("file-{n}")}),
            Self::Anthropic | Self::VertexAnthropic => {
                json!({"type": "document", "source": {"type": "url", "url": format!("https://example.com/{n}.pdf")}})
            }
            Self::Gemini => {
                json!({"fileData": {"mimeType": "audio/mpeg", "fileUri": format!("https://example.com/v1beta/files/{n}")}})
            }
            Self::GeminiInteractions => {
                json!({"type": "document", "mime_type": "application/pdf", "uri": format!("https://example.com/files/{n}")})
            }
            Self::Bedrock => {
                json!({"document": {"format": "pdf", "name": "scan", "source": {"s3Location": {"uri": format!("s3://scans/{n}.pdf")}}}})
            }
        }
    }

    /// A user's message of these parts.
    pub fn message_of(self, parts: &[Value]) -> Value {
        match self {
            Self::Gemini => json!({"role": "user", "parts": parts}),
            Self::GeminiInteractions => json!({"type": "user_input", "content": parts}),
            _ => json!({"role": "user", "content": parts}),
        }
    }

    /// Adds instructions to a request.
    pub fn with_instructions(self, mut body: Value, text: &str) -> Value {
        match self {
            Self::OpenaiChat => {
                let messages = body["messages"].as_array_mut().expect("messages");
                messages.insert(0, json!({"role": "system", "content": text}));
            }
            Self::OpenaiResponses => body["instructions"] = json!(text),
            Self::Anthropic | Self::VertexAnthropic => body["system"] = json!(text),
            Self::Gemini => body["systemInstruction"] = json!({"parts": [{"text": text}]}),
            Self::GeminiInteractions => body["system_instruction"] = json!(text),
            Self::Bedrock => body["system"] = json!([{"text": text}]),
        }
        body
    }
}
