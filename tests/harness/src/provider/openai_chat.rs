//! OpenAI chat completions, which many providers have copied.

use serde_json::{Value, json};

use super::answer::{event, pieces_of};
use super::reply::Reply;

const ID: &str = "chatcmpl-mock0000000000000000000";
const MODEL: &str = "gpt-4o-mini-2024-07-18";

pub fn body(reply: &Reply) -> Value {
    let (message, reason) = match reply {
        Reply::Tool { .. } | Reply::Tools(_) => {
            let calls = (1..).zip(reply.calls()).map(|(number, (name, arguments))| {
                json!({"id": format!("call_mock_{number}"), "type": "function",
                    "function": {"name": name, "arguments": arguments.to_string()}})
            });
            (
                json!({"role": "assistant", "content": null, "refusal": null, "tool_calls": calls.collect::<Vec<_>>()}),
                "tool_calls",
            )
        }
        Reply::Text(text) => {
            (json!({"role": "assistant", "content": text, "refusal": null, "annotations": []}), "stop")
        }
        Reply::Error(status) => return error(*status),
    };
    json!({"id": ID, "object": "chat.completion", "created": 1_760_000_000, "model": MODEL,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}, "service_tier": "default"})
}

/// With `include_usage`, as at the real provider, one more chunk has the usage and no choice.
pub fn events(reply: &Reply, include_usage: bool) -> Vec<String> {
    let (deltas, reason) = match reply {
        Reply::Tool { .. } | Reply::Tools(_) => {
            let mut deltas = Vec::new();
            for (index, (name, arguments)) in reply.calls().into_iter().enumerate() {
                let arguments = arguments.to_string();
                let (head, tail) = arguments.split_at(arguments.len() / 2);
                let id = format!("call_mock_{}", index + 1);
                deltas.push(json!({"tool_calls": [{"index": index, "id": id, "type": "function",
                    "function": {"name": name, "arguments": ""}}]}));
                for part in [head, tail] {
                    deltas.push(json!({"tool_calls": [{"index": index, "function": {"arguments": part}}]}));
                }
            }
            (deltas, "tool_calls")
        }
        Reply::Text(text) => {
            (pieces_of(text).into_iter().map(|piece| json!({"content": piece})).collect(), "stop")
        }
        Reply::Error(status) => return vec![event("", &error(*status))],
    };
    let chunk = |delta: Value, reason: Value| {
        event(
            "",
            &json!({"id": ID, "object": "chat.completion.chunk", "created": 1_760_000_000, "model": MODEL,
            "system_fingerprint": "fp_mock", "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason}]}),
        )
    };
    let mut events = vec![chunk(json!({"role": "assistant", "content": "", "refusal": null}), Value::Null)];
    events.extend(deltas.into_iter().map(|delta| chunk(delta, Value::Null)));
    events.push(chunk(json!({}), json!(reason)));
    if include_usage {
        events.push(event(
            "",
            &json!({"id": ID, "object": "chat.completion.chunk", "created": 1_760_000_000, "model": MODEL, "choices": [],
            "system_fingerprint": "fp_mock", "usage": {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}}),
        ));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

pub fn error(status: u16) -> Value {
    let (kind, code) = match status {
        401 => ("invalid_request_error", "invalid_api_key"),
        429 => ("requests", "rate_limit_exceeded"),
        _ => ("server_error", "internal_error"),
    };
    json!({"error": {"message": "The mock provider refuses.", "type": kind, "param": null, "code": code}})
}
