//! Kill responses. The error form is that of chat completions.

use serde_json::{Value, json};

use crate::dialect::{FinalMessage, Form};

pub fn final_message(message: &FinalMessage<'_>) -> String {
    let item_id = format!("msg_sentinel_{:016x}", message.id);
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
    let item = |status: &str, content: Value| json!({"type": "message", "id": item_id, "status": status, "role": "assistant", "content": content});
    let response = |status: &str, output: Value, usage: Value| {
        json!({
            "id": format!("resp_sentinel_{:016x}", message.id),
            "object": "response",
            "created_at": message.created,
            "status": status,
            "error": null,
            "incomplete_details": null,
            "instructions": null,
            "metadata": {},
            "model": message.model,
            "output": output,
            "parallel_tool_calls": true,
            "temperature": null,
            "tool_choice": "auto",
            "tools": [],
            "top_p": null,
            "usage": usage,
        })
    };
    let done_item = item("completed", json!([part(message.text)]));
    let usage = json!({
        "input_tokens": 0, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 0, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 0,
    });
    let done = response("completed", json!([done_item]), usage);
    if message.form == Form::Json {
        return done.to_string();
    }
    let started = response("in_progress", json!([]), Value::Null);
    let at = json!({"item_id": item_id, "output_index": 0, "content_index": 0});
    let events = [
        ("response.created", json!({"response": started})),
        ("response.in_progress", json!({"response": started})),
        ("response.output_item.added", json!({"output_index": 0, "item": item("in_progress", json!([]))})),
        ("response.content_part.added", with(&at, json!({"part": part("")}))),
        ("response.output_text.delta", with(&at, json!({"delta": message.text, "logprobs": []}))),
        ("response.output_text.done", with(&at, json!({"text": message.text, "logprobs": []}))),
        ("response.content_part.done", with(&at, json!({"part": part(message.text)}))),
        ("response.output_item.done", json!({"output_index": 0, "item": done_item})),
        ("response.completed", json!({"response": done})),
    ];
    events
        .into_iter()
        .zip(0_u32..)
        .map(|((kind, data), number)| {
            let data = with(&data, json!({"type": kind, "sequence_number": number}));
            format!("event: {kind}\ndata: {data}\n\n")
        })
        .collect()
}

/// The members of both objects.
fn with(object: &Value, more: Value) -> Value {
    let mut object = object.clone();
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}
