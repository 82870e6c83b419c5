//! OpenAI Responses.

use serde_json::{Value, json};

use super::answer::{event, pieces_of};
use super::openai_chat;
use super::reply::Reply;

pub fn body(reply: &Reply) -> Value {
    match reply {
        Reply::Error(status) => openai_chat::error(*status),
        _ => response("completed", items(reply, "completed").into()),
    }
}

pub fn events(reply: &Reply) -> Vec<String> {
    if let Reply::Error(status) = reply {
        return vec![event("error", &openai_chat::error(*status))];
    }
    let mut events: Vec<(&str, Value)> = vec![
        ("response.created", json!({"response": response("in_progress", json!([]))})),
        ("response.in_progress", json!({"response": response("in_progress", json!([]))})),
    ];
    for (index, item) in items(reply, "completed").into_iter().enumerate() {
        events.push((
            "response.output_item.added",
            json!({"output_index": index, "item": opened(item.clone())}),
        ));
        if let Reply::Text(text) = reply {
            let at = |rest: Value| {
                merged(json!({"item_id": "msg_mock", "output_index": index, "content_index": 0}), rest)
            };
            let part =
                |text: &str| json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
            events.push(("response.content_part.added", at(json!({"part": part("")}))));
            for piece in pieces_of(text) {
                events.push(("response.output_text.delta", at(json!({"delta": piece, "logprobs": []}))));
            }
            events.push(("response.output_text.done", at(json!({"text": text, "logprobs": []}))));
            events.push(("response.content_part.done", at(json!({"part": part(text)}))));
        } else {
            let at = |rest: Value| merged(json!({"item_id": item["id"], "output_index": index}), rest);
            let (name, arguments) = (&item["name"], &item["arguments"]);
            events.push(("response.function_call_arguments.delta", at(json!({"delta": arguments}))));
            events.push((
                "response.function_call_arguments.done",
                at(json!({"name": name, "arguments": arguments})),
            ));
        }
        events.push(("response.output_item.done", json!({"output_index": index, "item": item})));
    }
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

fn items(reply: &Reply, status: &str) -> Vec<Value> {
    if let Reply::Text(text) = reply {
        return vec![json!({"type": "message", "id": "msg_mock", "role": "assistant", "status": status,
            "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]})];
    }
    let call = |(number, (name, arguments)): (usize, (&str, &Value))| {
        let id = if number == 1 { "fc_mock".to_owned() } else { format!("fc_mock_{number}") };
        json!({"type": "function_call", "id": id, "call_id": format!("call_mock_{number}"), "name": name,
            "arguments": arguments.to_string(), "status": status})
    };
    (1..).zip(reply.calls()).map(call).collect()
}

/// The item at its start, without content.
fn opened(mut item: Value) -> Value {
    item["status"] = json!("in_progress");
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
