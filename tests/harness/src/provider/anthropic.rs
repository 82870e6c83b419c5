//! Anthropic Messages.

use serde_json::{Value, json};

use super::answer::{event, pieces_of};
use super::reply::Reply;

pub fn body(reply: &Reply) -> Value {
    let (blocks, reason) = match reply {
        Reply::Tool { .. } | Reply::Tools(_) => {
            let block = |(number, (name, arguments))| tool_use(number, name, arguments);
            ((1..).zip(reply.calls()).map(block).collect(), "tool_use")
        }
        Reply::Text(text) => (json!([{"type": "text", "text": text}]), "end_turn"),
        Reply::Error(status) => return error(*status),
    };
    message(blocks, json!(reason))
}

pub fn events(reply: &Reply) -> Vec<String> {
    let (blocks, reason) = match reply {
        Reply::Tool { .. } | Reply::Tools(_) => {
            let block = |(number, (name, arguments)): (usize, (&str, &Value))| {
                let arguments = arguments.to_string();
                let (head, tail) = arguments.split_at(arguments.len() / 2);
                let delta = |part: &str| json!({"type": "input_json_delta", "partial_json": part});
                (tool_use(number, name, &json!({})), vec![delta(""), delta(head), delta(tail)])
            };
            ((1..).zip(reply.calls()).map(block).collect(), "tool_use")
        }
        Reply::Text(text) => {
            let deltas = pieces_of(text)
                .into_iter()
                .map(|piece| json!({"type": "text_delta", "text": piece}))
                .collect();
            (vec![(json!({"type": "text", "text": ""}), deltas)], "end_turn")
        }
        Reply::Error(status) => return vec![event("error", &error(*status))],
    };
    let mut events = vec![event(
        "message_start",
        &json!({"type": "message_start", "message": message(json!([]), Value::Null)}),
    )];
    for (index, (start, deltas)) in blocks.into_iter().enumerate() {
        let begun = json!({"type": "content_block_start", "index": index, "content_block": start});
        events.push(event("content_block_start", &begun));
        if index == 0 {
            events.push(event("ping", &json!({"type": "ping"})));
        }
        for delta in deltas {
            let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
            events.push(event("content_block_delta", &delta));
        }
        events.push(event("content_block_stop", &json!({"type": "content_block_stop", "index": index})));
    }
    let end = json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 9}});
    events.push(event("message_delta", &end));
    events.push(event("message_stop", &json!({"type": "message_stop"})));
    events
}

fn tool_use(number: usize, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": format!("toolu_mock_{number}"), "name": name, "input": input})
}

fn message(content: Value, reason: Value) -> Value {
    json!({"id": "msg_mock", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929", "content": content,
        "stop_reason": reason, "stop_sequence": null,
        "usage": {"input_tokens": 12, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 9}})
}

/// The status and body of the refusal, if the request is refused. A thread keeps the system text and the tools that it
/// began with. The real provider accepts the same ones again, but clients must not rely on it.
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
