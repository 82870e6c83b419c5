//! Answers of every dialect that say a text, whole and in pieces.

use sentinel_llm_api::{
    answer_reader::AnswerReader, framing::event_stream, json::quoted, registry::by_label,
};

pub struct Dialect {
    pub label: &'static str,
    pub path: &'static str,
    pub request: &'static str,
    /// Of a stream.
    pub content_type: &'static str,
    /// What is said where nothing is left of a text.
    pub nothing: &'static str,
}

const SSE: &str = "text/event-stream";
const CHAT: &str =
    r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"What is it worth?"}]}"#;
const TURNS: &str = r#"{"contents":[{"role":"user","parts":[{"text":"What is it worth?"}]}]}"#;

pub const DIALECTS: [Dialect; 7] = [
    dialect("openai_chat", "/v1/chat/completions", CHAT, SSE, ""),
    dialect("openai_responses", "/v1/responses", r#"{"model":"m","input":"What is it worth?"}"#, SSE, ""),
    dialect("anthropic", "/v1/messages", CHAT, SSE, "..."),
    dialect("gemini", "/v1beta/models/m:streamGenerateContent", TURNS, SSE, "..."),
    dialect(
        "gemini_interactions",
        "/v1beta/interactions",
        r#"{"model":"m","input":"What is it worth?"}"#,
        SSE,
        "",
    ),
    dialect(
        "bedrock",
        "/model/m/converse-stream",
        r#"{"messages":[{"role":"user","content":[{"text":"What is it worth?"}]}]}"#,
        event_stream::CONTENT_TYPE,
        "...",
    ),
    dialect(
        "vertex_anthropic",
        "/v1/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict",
        CHAT,
        SSE,
        "...",
    ),
];

const fn dialect(
    label: &'static str,
    path: &'static str,
    request: &'static str,
    content_type: &'static str,
    nothing: &'static str,
) -> Dialect {
    Dialect { label, path, request, content_type, nothing }
}

impl Dialect {
    /// A whole answer with a text and a call, whose arguments hold what is no text.
    pub fn whole(&self, text: &str) -> String {
        let text = quoted(text);
        match self.label {
            "openai_chat" => format!(
                r#"{{ "id":"c","choices":[{{"index":0, "message":{{"role":"assistant","content":{text},"tool_calls":[{{"id":"t","type":"function","function":{{"name":"f","arguments":"{{\"a\":\"<think>x</think>\"}}"}}}}]}},"finish_reason":"tool_calls"}}],"usage":{{"prompt_tokens":1}}}}"#
            ),
            "openai_responses" => format!(
                r#"{{"id":"r","output":[{{"type":"reasoning","summary":[{{"type":"summary_text","text":"<think>x</think>"}}]}},{{"type":"message","content":[{{"type":"output_text","text":{text} ,"annotations":[]}}]}},{{"type":"function_call","call_id":"t","name":"f","arguments":"{{\"a\":\"<think>x</think>\"}}"}}]}}"#
            ),
            "gemini" => format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"text":"<think>x</think>","thought":true}},{{"text":{text}}},{{"functionCall":{{"name":"f","args":{{"a":"<think>x</think>"}}}}}}]}},"finishReason":"STOP"}}]}}"#
            ),
            "gemini_interactions" => format!(
                r#"{{"id":"v1_i","steps":[{{"type":"thought","summary":"<think>x</think>"}},{{"type":"model_output","content":[{{"type":"text","text":{text}}}]}},{{"type":"function_call","id":"t","name":"f","arguments":{{"a":"<think>x</think>"}}}}]}}"#
            ),
            "bedrock" => format!(
                r#"{{"output":{{"message":{{"content":[{{"reasoningContent":{{"text":"<think>x</think>"}}}},{{"text":{text}}},{{"toolUse":{{"toolUseId":"t","name":"f","input":{{"a":"<think>x</think>"}}}}}}]}}}}}}"#
            ),
            _ => format!(
                r#"{{"id":"msg_1","content":[{{"type":"thinking","thinking":"<think>x</think>"}},{{"type":"text","text":{text}}},{{"type":"tool_use","id":"t","name":"f","input":{{"a":"<think>x</think>"}}}}]}}"#
            ),
        }
    }

    /// The frames of a stream that says these pieces and then calls a tool.
    pub fn frames(&self, pieces: &[&str]) -> Vec<Vec<u8>> {
        let whole = quoted(&pieces.concat());
        let pieces = pieces.iter().map(|piece| quoted(piece));
        let named = |kind: &str, json: String| format!("event: {kind}\ndata: {json}\n\n").into_bytes();
        let bare = |json: String| format!("data: {json}\r\n\r\n").into_bytes();
        let mut frames: Vec<Vec<u8>> = vec![b": ping\n\n".to_vec()];
        match self.label {
            "openai_chat" => {
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
            "openai_responses" => {
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
            "gemini" => {
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
            "gemini_interactions" => {
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
            "bedrock" => {
                frames.clear();
                let event = |kind: &str, json: &str| event_stream::written(kind, json);
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
            _ => {
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

    /// What a client reads: the text, and the arguments of the call.
    pub fn read(&self, content_type: &str, answer: &[u8]) -> (String, String) {
        let mut reader = AnswerReader::new(by_label(self.label).unwrap(), content_type.as_bytes()).unwrap();
        reader.push(answer);
        let mut answer = reader.into_answer().unwrap();
        (answer.text, answer.calls.pop().map(|call| call.arguments).unwrap_or_default())
    }
}
