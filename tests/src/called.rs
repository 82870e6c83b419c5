//! How the calls of tools stand in each provider's answers.
//! Written from the providers' documentation, not from the filter's code: it is the other side of the test.

use serde_json::Value;

use crate::Dialect;
use crate::provider::event_stream;

impl Dialect {
    /// The calls of an answer, whether JSON or a stream: id (empty where there is none), name, arguments.
    pub fn answer_calls(self, answer: &[u8]) -> Vec<(String, String, Value)> {
        let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        // Arguments as text, which may come in pieces.
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

/// The text of an object; of an empty one none, for what comes in pieces.
fn whole(arguments: &Value) -> String {
    if arguments.as_object().is_some_and(|members| !members.is_empty()) {
        arguments.to_string()
    } else {
        String::new()
    }
}
