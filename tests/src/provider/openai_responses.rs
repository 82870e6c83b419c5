//! How OpenAI's Responses look.

use serde_json::{Value, json};

use super::answer::{event, pieces_of};
use super::openai_chat;
use super::reply::Reply;

pub fn body(reply: &Reply) -> Value {
    match reply {
        Reply::Error(status) => openai_chat::error(*status),
        _ => response("completed", json!([item(reply, "completed")])),
    }
}

pub fn events(reply: &Reply) -> Vec<String> {
    let mut events: Vec<(&str, Value)> = vec![
        ("response.created", json!({"response": response("in_progress", json!([]))})),
        ("response.in_progress", json!({"response": response("in_progress", json!([]))})),
        ("response.output_item.added", json!({"output_index": 0, "item": opened(reply)})),
    ];
    match reply {
        Reply::Text(text) => {
            let at = |rest: Value| {
                merged(json!({"item_id": "msg_mock", "output_index": 0, "content_index": 0}), rest)
            };
            let part =
                |text: &str| json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
            events.push(("response.content_part.added", at(json!({"part": part("")}))));
            for piece in pieces_of(text) {
                events.push(("response.output_text.delta", at(json!({"delta": piece, "logprobs": []}))));
            }
            events.push(("response.output_text.done", at(json!({"text": text, "logprobs": []}))));
            events.push(("response.content_part.done", at(json!({"part": part(text)}))));
        }
        Reply::Tool { name, arguments } => {
            let at = |rest: Value| merged(json!({"item_id": "fc_mock", "output_index": 0}), rest);
            let arguments = arguments.to_string();
            events.push(("response.function_call_arguments.delta", at(json!({"delta": arguments}))));
            events.push((
                "response.function_call_arguments.done",
                at(json!({"name": name, "arguments": arguments})),
            ));
        }
        Reply::Error(status) => return vec![event("error", &openai_chat::error(*status))],
    }
    events.push(("response.output_item.done", json!({"output_index": 0, "item": item(reply, "completed")})));
    events.push(("response.completed", json!({"response": body(reply)})));
    let numbered = events.into_iter().enumerate();
    numbered
        .map(|(number, (name, data))| {
            event(name, &merged(json!({"type": name, "sequence_number": number}), data))
        })
        .collect()
}

fn response(status: &str, output: Value) -> Value {
    let usage = json!({"input_tokens": 12, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 21});
    json!({"id": "resp_mock", "object": "response", "created_at": 1_760_000_000, "status": status, "background": false, "error": null,
        "incomplete_details": null, "instructions": null, "max_output_tokens": null, "model": "gpt-4o-mini-2024-07-18",
        "output": output, "parallel_tool_calls": true, "previous_response_id": null, "reasoning": {"effort": null, "summary": null},
        "store": true, "temperature": 1.0, "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "truncation": "disabled", "usage": if status == "completed" { usage } else { Value::Null }, "user": null, "metadata": {}})
}

fn item(reply: &Reply, status: &str) -> Value {
    match reply {
        Reply::Tool { name, arguments } => {
            json!({"type": "function_call", "id": "fc_mock", "call_id": "call_mock_1", "name": name,
            "arguments": arguments.to_string(), "status": status})
        }
        Reply::Text(text) => {
            json!({"type": "message", "id": "msg_mock", "role": "assistant", "status": status,
            "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]})
        }
        Reply::Error(_) => Value::Null,
    }
}

/// The item as it begins: nothing said yet.
fn opened(reply: &Reply) -> Value {
    let mut item = item(reply, "in_progress");
    if let Some(content) = item.get_mut("content") {
        *content = json!([]);
    }
    if let Some(arguments) = item.get_mut("arguments") {
        *arguments = json!("");
    }
    item
}

fn merged(mut base: Value, rest: Value) -> Value {
    if let (Value::Object(base), Value::Object(rest)) = (&mut base, rest) {
        base.extend(rest);
    }
    base
}
