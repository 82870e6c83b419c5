//! Where texts, tool calls and error messages stand in each provider's answers.
//! Written from the providers' documentation, not from the filter's code: it is the other side of the test.

use serde_json::Value;

use crate::{Dialect, event_stream};

impl Dialect {
    /// The message of an error.
    pub fn error_message(self, body: &Value) -> String {
        let message = if self == Self::Bedrock { &body["message"] } else { &body["error"]["message"] };
        message.as_str().unwrap_or_default().to_owned()
    }

    /// The text of an answer, whole or a stream.
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
        let events = self.documents(answer).into_iter();
        events
            .map(|event| match self {
                Self::OpenaiChat => {
                    event["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned()
                }
                Self::OpenaiResponses if event["type"] == "response.output_text.delta" => {
                    event["delta"].as_str().unwrap_or_default().to_owned()
                }
                Self::OpenaiResponses => String::new(),
                Self::Anthropic | Self::VertexAnthropic | Self::GeminiInteractions | Self::Bedrock => {
                    event["delta"]["text"].as_str().unwrap_or_default().to_owned()
                }
                Self::Gemini => all_texts(&event["candidates"]),
            })
            .collect()
    }

    /// The calls of an answer, whole or a stream: id (empty if the dialect has none), name, arguments.
    pub fn answer_calls(self, answer: &[u8]) -> Vec<(String, String, Value)> {
        let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        // Arguments are collected as text, which may come in pieces.
        let mut calls: Vec<(String, String, String)> = Vec::new();
        for event in self.documents(answer) {
            let delta = &event["delta"];
            let piece = match self {
                Self::OpenaiChat => {
                    let choice = &event["choices"][0];
                    let made = list(&choice["message"]["tool_calls"]).into_iter();
                    for call in made.chain(list(&choice["delta"]["tool_calls"])) {
                        let function = &call["function"];
                        if call["id"].is_string() {
                            calls.push((said(&call["id"]), said(&function["name"]), String::new()));
                        }
                        calls.last_mut().expect("a call has begun").2 += &said(&function["arguments"]);
                    }
                    String::new()
                }
                Self::OpenaiResponses => {
                    let done = (event["type"] == "response.output_item.done").then(|| event["item"].clone());
                    for item in list(&event["output"]).into_iter().chain(done) {
                        if item["type"] == "function_call" {
                            calls.push((
                                said(&item["call_id"]),
                                said(&item["name"]),
                                said(&item["arguments"]),
                            ));
                        }
                    }
                    String::new()
                }
                Self::Anthropic | Self::VertexAnthropic => {
                    for block in list(&event["content"]).iter().chain([&event["content_block"]]) {
                        if block["type"] == "tool_use" {
                            calls.push((said(&block["id"]), said(&block["name"]), whole(&block["input"])));
                        }
                    }
                    said(&delta["partial_json"])
                }
                Self::Gemini => {
                    for part in list(&event["candidates"][0]["content"]["parts"]) {
                        let call = &part["functionCall"];
                        if call.is_object() {
                            calls.push((said(&call["id"]), said(&call["name"]), call["args"].to_string()));
                        }
                    }
                    String::new()
                }
                Self::GeminiInteractions => {
                    for step in list(&event["steps"]).iter().chain([&event["step"]]) {
                        if step["type"] == "function_call" {
                            calls.push((said(&step["id"]), said(&step["name"]), whole(&step["arguments"])));
                        }
                    }
                    said(&delta["arguments"])
                }
                Self::Bedrock => {
                    for block in list(&event["output"]["message"]["content"]).iter().chain([&event["start"]])
                    {
                        let call = &block["toolUse"];
                        if call.is_object() {
                            calls.push((
                                said(&call["toolUseId"]),
                                said(&call["name"]),
                                whole(&call["input"]),
                            ));
                        }
                    }
                    said(&delta["toolUse"]["input"])
                }
            };
            if let Some(call) = calls.last_mut() {
                call.2 += &piece;
            }
        }
        let parsed = |(id, name, arguments): (String, String, String)| {
            let arguments = serde_json::from_str(&arguments);
            (id, name, arguments.unwrap_or_else(|error| panic!("arguments of a call: {error}")))
        };
        calls.into_iter().map(parsed).collect()
    }

    /// Whether a final message, whole or as a stream, has everything that ends a turn normally.
    pub fn ends_normally(self, answer: &[u8]) -> bool {
        let text = String::from_utf8_lossy(answer);
        let has = |parts: &[&str]| parts.iter().all(|part| text.contains(part));
        let is_stream = serde_json::from_slice::<Value>(answer).is_err();
        match (self, is_stream) {
            (Self::OpenaiChat, true) => {
                has(&["\"finish_reason\":\"stop\""]) && text.ends_with("data: [DONE]\n\n")
            }
            (Self::OpenaiResponses, true) => has(&["event: response.created", "event: response.completed"]),
            (Self::Anthropic | Self::VertexAnthropic, true) => {
                has(&["event: message_start", "event: message_stop"])
            }
            (Self::GeminiInteractions, true) => {
                text.starts_with("event: interaction.created\n")
                    && has(&["event: interaction.completed\n"])
                    && text.ends_with("data: [DONE]\n\n")
            }
            (Self::Bedrock, true) => {
                let frames = event_stream::read(answer).expect("frames with their checksums");
                let kinds: Vec<&str> = frames.iter().map(|frame| frame.header(":event-type")).collect();
                kinds.first() == Some(&"messageStart") && kinds.ends_with(&["messageStop", "metadata"])
            }
            (Self::Gemini, _) => has(&["\"finishReason\":\"STOP\""]),
            (Self::OpenaiChat, false) => has(&["\"finish_reason\":\"stop\""]),
            (Self::OpenaiResponses | Self::GeminiInteractions, false) => has(&["\"status\":\"completed\""]),
            (Self::Anthropic | Self::VertexAnthropic, false) => has(&["\"stop_reason\":\"end_turn\""]),
            (Self::Bedrock, false) => has(&["\"stopReason\":\"end_turn\""]),
        }
    }

    /// Whether an error is the provider's error for a request that it does not take, with this message. `kind`: the value of the
    /// header `x-amzn-errortype`.
    pub fn is_bad_request(self, kind: Option<&str>, body: &Value, message: &str) -> bool {
        let error = &body["error"];
        self.error_message(body) == message
            && match self {
                Self::OpenaiChat | Self::OpenaiResponses => {
                    error["type"].is_string() && error.get("code").is_some()
                }
                Self::Anthropic | Self::VertexAnthropic => {
                    body["type"] == "error" && error["type"] == "invalid_request_error"
                }
                Self::Gemini => error["code"] == 400 && error["status"] == "INVALID_ARGUMENT",
                Self::GeminiInteractions => error["code"] == "invalid_request",
                Self::Bedrock => kind == Some("ValidationException"),
            }
    }

    /// The JSON texts of an answer: one, or those of its events.
    fn documents(self, answer: &[u8]) -> Vec<Value> {
        if let Ok(body) = serde_json::from_slice::<Value>(answer) {
            return vec![body];
        }
        if self == Self::Bedrock {
            let frames = event_stream::read(answer).expect("an event stream");
            return frames.iter().map(event_stream::Frame::json).collect();
        }
        let events = String::from_utf8_lossy(answer);
        let data = events.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok());
        data.collect()
    }
}

/// The text of an object. Empty for an empty object, whose content may follow in pieces.
fn whole(arguments: &Value) -> String {
    if arguments.as_object().is_some_and(|members| !members.is_empty()) {
        arguments.to_string()
    } else {
        String::new()
    }
}

/// The string itself, or all strings under `text` anywhere inside, joined.
pub(crate) fn all_texts(value: &Value) -> String {
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
