//! Gemini `generateContent` and `streamGenerateContent`.

use bytes::Bytes;
use serde_json::{Value, json};

use super::answer::{Answer, Piece, event, pieces_of};
use super::reply::Reply;

pub fn body(reply: &Reply) -> Value {
    match reply {
        Reply::Tool { .. } | Reply::Tools(_) => {
            let call = |(name, arguments)| json!({"functionCall": {"name": name, "args": arguments}});
            chunk(reply.calls().into_iter().map(call).collect(), true)
        }
        Reply::Text(text) => chunk(json!([{"text": text}]), true),
        Reply::Error(status) => error(*status),
    }
}

pub fn events(reply: &Reply) -> Vec<String> {
    let Reply::Text(text) = reply else { return vec![event("", &body(reply))] };
    let pieces = pieces_of(text);
    let last = pieces.len().saturating_sub(1);
    pieces
        .iter()
        .enumerate()
        .map(|(at, piece)| event("", &chunk(json!([{"text": piece}]), at == last)))
        .collect()
}

/// A stream without `alt=sse`: a JSON array that is sent element by element.
pub fn array(reply: &Reply) -> Answer {
    let mut pieces = Vec::new();
    for event in events(reply) {
        let start = if pieces.is_empty() { "[" } else { ",\r\n" };
        let chunk = event.trim_start_matches("data: ").trim_end();
        pieces.push(Piece::Bytes(Bytes::from(format!("{start}{chunk}"))));
    }
    pieces.push(Piece::Bytes(Bytes::from_static(b"]")));
    Answer::of(200, "application/json; charset=UTF-8", pieces)
}

fn chunk(parts: Value, last: bool) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if last {
        candidate["finishReason"] = json!("STOP");
    }
    json!({"candidates": [candidate], "modelVersion": "gemini-2.5-flash", "responseId": "mock",
        "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 9, "totalTokenCount": 21}})
}

pub fn error(status: u16) -> Value {
    let kind = match status {
        401 => "UNAUTHENTICATED",
        429 => "RESOURCE_EXHAUSTED",
        _ => "INTERNAL",
    };
    json!({"error": {"code": status, "message": "The mock provider refuses.", "status": kind}})
}
