//! Amazon Bedrock Converse and ConverseStream: answers, and requests that are refused.

use serde_json::{Value, json};

use super::answer::{Answer, Piece, pieces_of};
use super::event_stream::{self, Frame};
use super::reply::Reply;

const CALL: &str = "tooluse_mock_1";

pub fn body(reply: &Reply) -> Answer {
    let (block, reason) = match reply {
        Reply::Tool { name, arguments } => {
            (json!({"toolUse": {"toolUseId": CALL, "name": name, "input": arguments}}), "tool_use")
        }
        Reply::Text(text) => (json!({"text": text}), "end_turn"),
        Reply::Tools(_) => unimplemented!("no agent of the tests makes parallel calls through Bedrock"),
        Reply::Error(status) => return error(*status),
    };
    let mut body =
        json!({"output": {"message": {"role": "assistant", "content": [block]}}, "stopReason": reason});
    body.as_object_mut().expect("an object").extend(told_last());
    Answer::json(200, &body).with("x-amzn-requestid", "mock-0000")
}

pub fn events(reply: &Reply) -> Answer {
    let (start, deltas, reason) = match reply {
        Reply::Tool { name, arguments } => {
            let arguments = arguments.to_string();
            let (head, tail) = arguments.split_at(arguments.len() / 2);
            let deltas = [head, tail].map(|part| json!({"toolUse": {"input": part}}));
            (Some(json!({"toolUse": {"toolUseId": CALL, "name": name}})), deltas.to_vec(), "tool_use")
        }
        // A text block has no start event.
        Reply::Text(text) => {
            (None, pieces_of(text).into_iter().map(|piece| json!({"text": piece})).collect(), "end_turn")
        }
        Reply::Tools(_) => unimplemented!("no agent of the tests makes parallel calls through Bedrock"),
        Reply::Error(status) => return error(*status),
    };
    let mut frames = vec![Frame::event("messageStart", &json!({"role": "assistant"}))];
    if let Some(start) = start {
        frames.push(Frame::event("contentBlockStart", &json!({"contentBlockIndex": 0, "start": start})));
    }
    for delta in deltas {
        frames.push(Frame::event("contentBlockDelta", &json!({"contentBlockIndex": 0, "delta": delta})));
    }
    frames.push(Frame::event("contentBlockStop", &json!({"contentBlockIndex": 0})));
    frames.push(Frame::event("messageStop", &json!({"stopReason": reason})));
    frames.push(Frame::event("metadata", &Value::Object(told_last())));
    let pieces = frames.iter().map(|frame| Piece::Bytes(frame.bytes())).collect();
    Answer::of(200, event_stream::CONTENT_TYPE, pieces).with("x-amzn-requestid", "mock-0000")
}

fn told_last() -> serde_json::Map<String, Value> {
    let told = json!({"usage": {"inputTokens": 12, "outputTokens": 9, "totalTokens": 21}, "metrics": {"latencyMs": 700}});
    told.as_object().expect("an object").clone()
}

pub fn error(status: u16) -> Answer {
    let kind = match status {
        401 => "UnrecognizedClientException",
        403 => "AccessDeniedException",
        429 => "ThrottlingException",
        503 => "ServiceUnavailableException",
        _ => "InternalServerException",
    };
    refusal(status, kind, "The mock provider refuses.")
}

/// The error type is in a header, followed by the name of its schema.
pub fn refusal(status: u16, kind: &str, message: &str) -> Answer {
    Answer::json(status, &json!({"message": message}))
        .with("x-amzn-errortype", &format!("{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/"))
        .with("x-amzn-requestid", "mock-0000")
}

/// A stream that fails after it has begun.
pub fn broken_events(text: &str) -> Answer {
    let mut answer = events(&Reply::Text(text.to_owned()));
    answer.pieces.truncate(3);
    let exception =
        Frame::exception("modelStreamErrorException", &json!({"message": "The model has stopped."}));
    answer.pieces.push(Piece::Bytes(exception.bytes()));
    answer
}

/// Why a request is refused, if it is.
pub fn complaint(body: &[u8]) -> Option<String> {
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        return Some("The request body is not valid JSON.".to_owned());
    };
    let empty = json!([]);
    let Ok(system) = blocks(body.get("system").unwrap_or(&empty)) else {
        return Some("The system field is no list.".to_owned());
    };
    if system.iter().any(|block| one_of(block, &["text", "cachePoint", "guardContent"]).is_none()) {
        return Some("A system block has no or several known members.".to_owned());
    }
    let Some(messages) = body["messages"].as_array() else {
        return Some(
            "1 validation error detected: Value at 'messages' failed to satisfy constraint.".to_owned(),
        );
    };
    let mut open: Vec<&Value> = Vec::new();
    let mut last = "assistant";
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == last || !["user", "assistant"].contains(&role) {
            return Some(format!(
                "A conversation must alternate between user and assistant roles, at messages.{at}."
            ));
        }
        last = if role == "user" { "user" } else { "assistant" };
        let Ok(content) = blocks(&message["content"]) else {
            return Some(format!("The content field in the Message object at messages.{at} is no list."));
        };
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for block in content {
            const KNOWN: [&str; 7] =
                ["text", "image", "document", "toolUse", "toolResult", "reasoningContent", "cachePoint"];
            match one_of(block, &KNOWN) {
                Some("toolUse") if role == "assistant" && block["toolUse"]["input"].is_object() => {
                    calls.push(&block["toolUse"]["toolUseId"]);
                }
                Some("toolResult") if role == "user" => {
                    const TOLD: [&str; 6] = ["text", "json", "image", "document", "video", "searchResult"];
                    let told = blocks(&block["toolResult"]["content"]).unwrap_or(&[]);
                    if told.is_empty() || told.iter().any(|told| one_of(told, &TOLD).is_none()) {
                        return Some(format!("The content of a tool result at messages.{at} is not valid."));
                    }
                    results.push(&block["toolResult"]["toolUseId"]);
                }
                Some("toolUse" | "toolResult") | None => {
                    return Some(format!("A content block at messages.{at} is not valid: {block}"));
                }
                Some(_) => {}
            }
        }
        open.sort_by_key(ToString::to_string);
        results.sort_by_key(ToString::to_string);
        if open != results {
            return Some(format!(
                "The toolResult blocks at messages.{at}.content do not match the toolUse blocks of previous turn."
            ));
        }
        open = calls;
    }
    (!open.is_empty()).then(|| "Expected toolResult blocks after the last message.".to_owned())
}

fn blocks(value: &Value) -> Result<&[Value], ()> {
    value.as_array().map(Vec::as_slice).ok_or(())
}

/// The single member of a block, if its name is one of these.
fn one_of<'a>(block: &Value, known: &[&'a str]) -> Option<&'a str> {
    let mut members = block.as_object()?.keys();
    let (member, None) = (members.next()?, members.next()) else { return None };
    known.iter().find(|known| *known == member).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_provider_would_not_take_is_refused() {
        let user = json!({"role": "user", "content": [{"text": "Look."}]});
        let call = json!({"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "look", "input": {}}}]});
        let result = |id: &str, content: Value| json!({"role": "user", "content": [{"toolResult": {"toolUseId": id, "content": content}}]});
        let text = json!([{"text": "a wall"}]);
        let taken = |body: Value| complaint(body.to_string().as_bytes()).is_none();
        assert!(taken(
            json!({"messages": [user, call, result("a", text.clone())], "system": [{"text": "Be brief."}]})
        ));
        for (what, body) in [
            ("no messages", json!({})),
            ("a string as content", json!({"messages": [{"role": "user", "content": "Look."}]})),
            ("a string as system", json!({"messages": [user], "system": "Be brief."})),
            (
                "a block of Anthropic's",
                json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}),
            ),
            (
                "a role of OpenAI's",
                json!({"messages": [{"role": "system", "content": [{"text": "x"}]}, user]}),
            ),
            ("one role twice", json!({"messages": [user, user]})),
            ("an answer first", json!({"messages": [call, result("a", text.clone())]})),
            ("a call without a result", json!({"messages": [user, call]})),
            ("a result of another call", json!({"messages": [user, call, result("b", text)]})),
            ("a result that is a string", json!({"messages": [user, call, result("a", json!("a wall"))]})),
            ("a result of nothing", json!({"messages": [user, call, result("a", json!([]))]})),
        ] {
            assert!(!taken(body), "{what}");
        }
        assert!(complaint(b"{").is_some());
    }
}
