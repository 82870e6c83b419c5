//! How Anthropic's Messages look.

use serde_json::{Value, json};

use super::answer::{event, pieces_of};
use super::reply::Reply;

pub fn body(reply: &Reply) -> Value {
    let (block, reason) = match reply {
        Reply::Tool { name, arguments } => {
            (json!({"type": "tool_use", "id": "toolu_mock_1", "name": name, "input": arguments}), "tool_use")
        }
        Reply::Text(text) => (json!({"type": "text", "text": text}), "end_turn"),
        Reply::Error(status) => return error(*status),
    };
    message(json!([block]), json!(reason))
}

pub fn events(reply: &Reply) -> Vec<String> {
    let (start, deltas, reason) = match reply {
        Reply::Tool { name, arguments } => {
            let arguments = arguments.to_string();
            let (head, tail) = arguments.split_at(arguments.len() / 2);
            let delta = |part: &str| json!({"type": "input_json_delta", "partial_json": part});
            let start = json!({"type": "tool_use", "id": "toolu_mock_1", "name": name, "input": {}});
            (start, vec![delta(""), delta(head), delta(tail)], "tool_use")
        }
        Reply::Text(text) => {
            let deltas = pieces_of(text)
                .into_iter()
                .map(|piece| json!({"type": "text_delta", "text": piece}))
                .collect();
            (json!({"type": "text", "text": ""}), deltas, "end_turn")
        }
        Reply::Error(status) => return vec![event("error", &error(*status))],
    };
    let mut events = vec![
        event("message_start", &json!({"type": "message_start", "message": message(json!([]), Value::Null)})),
        event(
            "content_block_start",
            &json!({"type": "content_block_start", "index": 0, "content_block": start}),
        ),
        event("ping", &json!({"type": "ping"})),
    ];
    for delta in deltas {
        events.push(event(
            "content_block_delta",
            &json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        ));
    }
    events.push(event("content_block_stop", &json!({"type": "content_block_stop", "index": 0})));
    let end = json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 9}});
    events.push(event("message_delta", &end));
    events.push(event("message_stop", &json!({"type": "message_stop"})));
    events
}

fn message(content: Value, reason: Value) -> Value {
    json!({"id": "msg_mock", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929", "content": content,
        "stop_reason": reason, "stop_sequence": null,
        "usage": {"input_tokens": 12, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 9}})
}

/// The status and the body of a refusal, if the request is refused. A thread has the system text and the tools that it began
/// with; that the provider takes the same once more is not what anybody relies on.
pub fn complaint(body: &[u8]) -> Option<(u16, Value)> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let thread = body.get("thread").filter(|thread| thread["type"] == "continue")?;
    let refusal = |kind: &str, code: &str, message: &str| {
        let details = json!({"error_code": code});
        json!({"type": "error", "error": {"type": kind, "message": message, "details": details}, "request_id": "req_mock"})
    };
    if !thread["previous_message_id"]
        .as_str()
        .is_some_and(|id| id.starts_with("msg_") && !id.contains("sentinel"))
    {
        return Some((
            404,
            refusal("not_found_error", "thread_not_found", "No usable Thread state was found."),
        ));
    }
    let changed = ["system", "tools"].into_iter().find(|field| body.get(field).is_some())?;
    let message = format!("{changed}: must stay the same across a Thread's turns");
    Some((400, refusal("invalid_request_error", "thread_fingerprint_mismatch", &message)))
}

pub fn error(status: u16) -> Value {
    let kind = match status {
        401 => "authentication_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": "The mock provider refuses."}, "request_id": "req_mock"})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_what_it_began_with() {
        let status = |body: Value| complaint(body.to_string().as_bytes()).map(|(status, _)| status);
        let thread = |previous: &str| json!({"type": "continue", "previous_message_id": previous});
        assert_eq!(status(json!({"messages": [], "system": "Be brief."})), None);
        assert_eq!(
            status(json!({"messages": [], "system": "Be brief.", "thread": {"type": "create"}})),
            None
        );
        assert_eq!(status(json!({"messages": [], "thread": thread("msg_mock")})), None);
        assert_eq!(
            status(json!({"messages": [], "thread": thread("msg_mock"), "system": "Be long."})),
            Some(400)
        );
        assert_eq!(status(json!({"messages": [], "thread": thread("msg_sentinel_1")})), Some(404));
    }
}
