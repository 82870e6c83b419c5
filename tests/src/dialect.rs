//! How an agent speaks to each provider: paths, requests, and where in both a text stands.
//! Written from the providers' documentation, not from the filter's code: it is the other side of the test.

use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
}

impl Dialect {
    pub const ALL: [Self; 4] = [Self::OpenaiChat, Self::OpenaiResponses, Self::Anthropic, Self::Gemini];

    /// As the filter's metrics name it.
    pub fn label(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai_chat",
            Self::OpenaiResponses => "openai_responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    pub fn path(self, stream: bool) -> &'static str {
        match (self, stream) {
            (Self::OpenaiChat, _) => "/v1/chat/completions",
            (Self::OpenaiResponses, _) => "/v1/responses",
            (Self::Anthropic, _) => "/v1/messages",
            (Self::Gemini, false) => "/v1beta/models/gemini-2.5-flash:generateContent",
            (Self::Gemini, true) => "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
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
        } else {
            None
        }
    }

    pub fn wants_stream(self, path: &str, body: &[u8]) -> bool {
        match self {
            Self::Gemini => path.contains(":streamGenerateContent"),
            _ => serde_json::from_slice::<Value>(body).is_ok_and(|body| body["stream"] == json!(true)),
        }
    }

    /// A request with one user message.
    pub fn ask(self, text: &str, stream: bool) -> Value {
        self.conversation(&[("user", text)], stream)
    }

    /// A request with this history; the roles are `user` and `assistant`.
    pub fn conversation(self, turns: &[(&str, &str)], stream: bool) -> Value {
        let plain: Vec<Value> =
            turns.iter().map(|(role, text)| json!({"role": role, "content": text})).collect();
        let mut body = match self {
            Self::OpenaiChat => json!({"model": "gpt-4o-mini", "messages": plain}),
            Self::OpenaiResponses => json!({"model": "gpt-4o-mini", "input": plain}),
            Self::Anthropic => json!({"model": "claude-sonnet-4-5", "max_tokens": 256, "messages": plain}),
            Self::Gemini => {
                let role = |role: &str| if role == "user" { "user" } else { "model" };
                let contents =
                    turns.iter().map(|(who, text)| json!({"role": role(who), "parts": [{"text": text}]}));
                json!({"contents": contents.collect::<Vec<_>>()})
            }
        };
        if stream && self != Self::Gemini {
            body["stream"] = json!(true);
        }
        body
    }

    pub fn last_user_text(self, body: &[u8]) -> Option<String> {
        let body: Value = serde_json::from_slice(body).ok()?;
        let turns = match self {
            Self::OpenaiChat | Self::Anthropic => body.get("messages")?,
            Self::OpenaiResponses => body.get("input")?,
            Self::Gemini => body.get("contents")?,
        };
        if let Some(text) = turns.as_str() {
            return Some(text.to_owned());
        }
        let last =
            turns.as_array()?.iter().rev().find(|turn| turn.get("role").is_none_or(|role| role == "user"))?;
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
            Self::Anthropic => &body["system"],
            Self::Gemini => body
                .get("systemInstruction")
                .or_else(|| body.get("system_instruction"))
                .unwrap_or(&Value::Null),
        };
        all_texts(from)
    }

    /// What the model said in an answer, whether JSON or server-sent events.
    pub fn answer_text(self, answer: &[u8]) -> String {
        if let Ok(body) = serde_json::from_slice::<Value>(answer) {
            let from = match self {
                Self::OpenaiChat => &body["choices"][0]["message"]["content"],
                Self::OpenaiResponses => &body["output"],
                Self::Anthropic => &body["content"],
                Self::Gemini => &body["candidates"],
            };
            return all_texts(from);
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
            Self::OpenaiResponses => String::new(),
            Self::Anthropic => event["delta"]["text"].as_str().unwrap_or_default().to_owned(),
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
