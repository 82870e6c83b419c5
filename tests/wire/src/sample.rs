//! Sample answers with a text and a call, whole and in pieces, for tests of whatever changes the text of an answer.
//! Written from the providers' documentation, not from the filter's code: it is the other side of the test.

use crate::{Dialect, event_stream::Frame};

impl Dialect {
    /// A whole answer with a text and a call. Its reasoning and the arguments of its call have tags that are not text.
    pub fn sample(self, text: &str) -> String {
        let text = quoted(text);
        match self {
            Self::OpenaiChat => format!(
                r#"{{ "id":"c","choices":[{{"index":0, "message":{{"role":"assistant","content":{text},"tool_calls":[{{"id":"t","type":"function","function":{{"name":"f","arguments":"{{\"a\":\"<think>x</think>\"}}"}}}}]}},"finish_reason":"tool_calls"}}],"usage":{{"prompt_tokens":1}}}}"#
            ),
            Self::OpenaiResponses => format!(
                r#"{{"id":"r","output":[{{"type":"reasoning","summary":[{{"type":"summary_text","text":"<think>x</think>"}}]}},{{"type":"message","content":[{{"type":"output_text","text":{text} ,"annotations":[]}}]}},{{"type":"function_call","call_id":"t","name":"f","arguments":"{{\"a\":\"<think>x</think>\"}}"}}]}}"#
            ),
            Self::Gemini => format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"text":"<think>x</think>","thought":true}},{{"text":{text}}},{{"functionCall":{{"name":"f","args":{{"a":"<think>x</think>"}}}}}}]}},"finishReason":"STOP"}}]}}"#
            ),
            Self::GeminiInteractions => format!(
                r#"{{"id":"v1_i","steps":[{{"type":"thought","summary":"<think>x</think>"}},{{"type":"model_output","content":[{{"type":"text","text":{text}}}]}},{{"type":"function_call","id":"t","name":"f","arguments":{{"a":"<think>x</think>"}}}}]}}"#
            ),
            Self::Bedrock => format!(
                r#"{{"output":{{"message":{{"content":[{{"reasoningContent":{{"text":"<think>x</think>"}}}},{{"text":{text}}},{{"toolUse":{{"toolUseId":"t","name":"f","input":{{"a":"<think>x</think>"}}}}}}]}}}}}}"#
            ),
            Self::Anthropic | Self::VertexAnthropic => format!(
                r#"{{"id":"msg_1","content":[{{"type":"thinking","thinking":"<think>x</think>"}},{{"type":"text","text":{text}}},{{"type":"tool_use","id":"t","name":"f","input":{{"a":"<think>x</think>"}}}}]}}"#
            ),
        }
    }

    /// The frames of a stream with a text in these pieces, followed by a call.
    pub fn sample_frames(self, pieces: &[&str]) -> Vec<Vec<u8>> {
        let whole = quoted(&pieces.concat());
        let pieces = pieces.iter().map(|piece| quoted(piece));
        let named = |kind: &str, json: String| format!("event: {kind}\ndata: {json}\n\n").into_bytes();
        let bare = |json: String| format!("data: {json}\r\n\r\n").into_bytes();
        let mut frames: Vec<Vec<u8>> = vec![b": ping\n\n".to_vec()];
        match self {
            Self::OpenaiChat => {
                let chunk = |delta: &str, reason: &str| {
                    bare(format!(
                        r#"{{"id":"c","model":"m","choices":[{{"index":0,"delta":{delta},"finish_reason":{reason}}}]}}"#
                    ))
                };
                frames.extend(pieces.map(|piece| chunk(&format!(r#"{{"content":{piece}}}"#), "null")));
                let call = r#"{"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":"{\"a\":\"<think>x</think>\"}"}}]}"#;
                frames.push(chunk(call, "null"));
                frames.push(chunk("{}", "\"tool_calls\""));
                frames.push(bare("[DONE]".into()));
            }
            Self::OpenaiResponses => {
                let event = |kind: &str, rest: &str| {
                    named(kind, format!(r#"{{"type":"{kind}","output_index":0,"content_index":0,{rest}}}"#))
                };
                let part = format!(r#"{{"type":"output_text","text":{whole}}}"#);
                let item = format!(r#"{{"type":"message","content":[{part}]}}"#);
                frames
                    .push(event("response.content_part.added", r#""part":{"type":"output_text","text":""}"#));
                frames.extend(
                    pieces.map(|piece| event("response.output_text.delta", &format!(r#""delta":{piece}"#))),
                );
                frames.push(event("response.output_text.done", &format!(r#""text":{whole}"#)));
                frames.push(event("response.content_part.done", &format!(r#""part":{part}"#)));
                frames.push(event("response.output_item.done", &format!(r#""item":{item}"#)));
                let call = r#"{"type":"function_call","call_id":"t","name":"f","arguments":"{\"a\":\"<think>x</think>\"}"}"#;
                frames.push(event("response.output_item.done", &format!(r#""item":{call}"#)));
                frames.push(event(
                    "response.completed",
                    &format!(r#""response":{{"id":"r","output":[{item},{call}]}}"#),
                ));
            }
            Self::Gemini => {
                let chunk = |part: &str, reason: &str| {
                    bare(format!(
                        r#"{{"candidates":[{{"content":{{"parts":[{part}],"role":"model"}}{reason}}}],"modelVersion":"m"}}"#
                    ))
                };
                frames.push(chunk(r#"{"text":"<think>x</think>","thought":true}"#, ""));
                frames.extend(pieces.map(|piece| chunk(&format!(r#"{{"text":{piece}}}"#), "")));
                frames.push(chunk(
                    r#"{"functionCall":{"name":"f","args":{"a":"<think>x</think>"}}}"#,
                    r#","finishReason":"STOP""#,
                ));
            }
            Self::GeminiInteractions => {
                let event = |kind: &str, rest: &str| {
                    named(kind, format!(r#"{{"event_type":"{kind}","index":1,{rest}}}"#))
                };
                frames.push(event("step.start", r#""step":{"type":"model_output"}"#));
                frames.extend(pieces.map(|piece| {
                    event("step.delta", &format!(r#""delta":{{"type":"text","text":{piece}}}"#))
                }));
                frames.push(event("step.stop", r#""x":0"#));
                frames.push(event("step.start", r#""step":{"type":"function_call","id":"t","name":"f","arguments":{"a":"<think>x</think>"}}"#));
                let steps = format!(
                    r#""interaction":{{"id":"v1_i","steps":[{{"type":"model_output","content":[{{"type":"text","text":{whole}}}]}}]}}"#
                );
                frames.push(event("interaction.completed", &steps));
                frames.push(b"event: done\ndata: [DONE]\n\n".to_vec());
            }
            Self::Bedrock => {
                frames.clear();
                let event = |kind: &str, json: &str| Frame::event_of_text(kind, json).bytes().to_vec();
                frames.push(event("messageStart", r#"{"role":"assistant"}"#));
                frames.extend(pieces.map(|piece| {
                    event(
                        "contentBlockDelta",
                        &format!(r#"{{"contentBlockIndex":0,"delta":{{"text":{piece}}}}}"#),
                    )
                }));
                frames.push(event("contentBlockStop", r#"{"contentBlockIndex":0}"#));
                frames.push(event(
                    "contentBlockStart",
                    r#"{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t","name":"f"}}}"#,
                ));
                frames.push(event(
                    "contentBlockDelta",
                    r#"{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{\"a\":\"<think>x</think>\"}"}}}"#,
                ));
                frames.push(event("contentBlockStop", r#"{"contentBlockIndex":1}"#));
                frames.push(event("messageStop", r#"{"stopReason":"tool_use"}"#));
                frames.push(event("metadata", r#"{"usage":{"inputTokens":1}}"#));
            }
            Self::Anthropic | Self::VertexAnthropic => {
                let event =
                    |kind: &str, rest: &str| named(kind, format!(r#"{{"type":"{kind}","index":0,{rest}}}"#));
                frames.push(event("content_block_start", r#""content_block":{"type":"text","text":""}"#));
                frames.extend(pieces.map(|piece| {
                    event(
                        "content_block_delta",
                        &format!(r#""delta":{{"type":"text_delta","text":{piece}}}"#),
                    )
                }));
                frames.push(event("content_block_stop", r#""x":0"#));
                frames.push(named("content_block_start", r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#.into()));
                frames.push(named("content_block_delta", r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":\"<think>x</think>\"}"}}"#.into()));
                frames.push(named("content_block_stop", r#"{"type":"content_block_stop","index":1}"#.into()));
                frames.push(event("message_stop", r#""x":0"#));
            }
        }
        frames
    }
}

/// The text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
