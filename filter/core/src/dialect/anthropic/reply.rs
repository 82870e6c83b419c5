//! Kill responses.

use serde_json::{Value, json};

use crate::dialect::{FinalMessage, Form};

pub fn error(status: u16, message: &str) -> String {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        _ => "invalid_request_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
}

pub fn final_message(message: &FinalMessage<'_>) -> String {
    let usage = json!({"input_tokens": 0, "output_tokens": 0});
    let whole = |content: Value, stop: Value| {
        json!({
            "id": format!("msg_sentinel_{:016x}", message.id),
            "type": "message",
            "role": "assistant",
            "model": message.model,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": null,
            "usage": usage,
        })
    };
    if message.form == Form::Json {
        return whole(json!([{"type": "text", "text": message.text}]), "end_turn".into()).to_string();
    }
    let events = [
        json!({"type": "message_start", "message": whole(json!([]), Value::Null)}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": message.text}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": null},
            "usage": {"output_tokens": 0},
        }),
        json!({"type": "message_stop"}),
    ];
    events
        .iter()
        .map(|event| {
            let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
            format!("event: {kind}\ndata: {event}\n\n")
        })
        .collect()
}
