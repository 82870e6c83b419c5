//! Kill responses. The error form is shared with Responses.

use serde_json::{Value, json};

use crate::dialect::{FinalMessage, Form};

pub fn error(message: &str) -> String {
    json!({"error": {
        "message": message,
        "type": "agent_loop",
        "param": null,
        "code": "agent_loop_killed",
    }})
    .to_string()
}

pub fn final_message(message: &FinalMessage<'_>) -> String {
    let envelope = |object: &str, choice: Value| {
        json!({
            "id": format!("chatcmpl-sentinel-{:016x}", message.id),
            "object": object,
            "created": message.created,
            "model": message.model,
            "choices": [choice],
        })
    };
    let usage = json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0});
    if message.form == Form::Json {
        let mut whole = envelope(
            "chat.completion",
            json!({
                "index": 0,
                "message": {"role": "assistant", "content": message.text, "refusal": null},
                "logprobs": null,
                "finish_reason": "stop",
            }),
        );
        if let Some(whole) = whole.as_object_mut() {
            whole.insert("usage".into(), usage);
        }
        return whole.to_string();
    }
    let chunk = |delta: Value, finish: Value| {
        envelope("chat.completion.chunk", json!({"index": 0, "delta": delta, "finish_reason": finish}))
    };
    let mut chunks = vec![
        chunk(json!({"role": "assistant", "content": ""}), Value::Null),
        chunk(json!({"content": message.text}), Value::Null),
        chunk(json!({}), "stop".into()),
    ];
    if message.include_usage {
        let mut last = chunk(json!({}), Value::Null);
        if let Some(last) = last.as_object_mut() {
            last.insert("choices".into(), json!([]));
            last.insert("usage".into(), usage);
        }
        chunks.push(last);
    }
    let mut out: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    out.push_str("data: [DONE]\n\n");
    out
}
