//! Kill responses, written as text: the golden files show that it is what the provider sends.

use crate::{
    dialect::{FinalMessage, LocalReply},
    framing::{Framing, event_stream},
    json::quoted,
};

/// The AWS clients read the kind of an error from a header, and retry none of these.
pub fn error(status: u16, message: &str) -> LocalReply {
    let kind = match status {
        401 | 403 => "AccessDeniedException",
        404 => "ResourceNotFoundException",
        _ => "ValidationException",
    };
    let body = format!(r#"{{"message":{}}}"#, quoted(message));
    LocalReply::new(status, Framing::Json, body).with_header("x-amzn-errortype", kind)
}

fn usage(message: &FinalMessage<'_>) -> String {
    let (input, output, total) = (message.usage.input, message.usage.output, message.total());
    let cached = message.of_cached(|cached| format!(r#","cacheReadInputTokens":{cached}"#));
    format!(
        r#""usage":{{"inputTokens":{input},"outputTokens":{output},"totalTokens":{total}{cached}}},"metrics":{{"latencyMs":0}}"#
    )
}

pub fn final_message(message: &FinalMessage<'_>) -> LocalReply {
    let (text, usage) = (quoted(message.text), usage(message));
    if message.framing != Framing::AwsEventStream {
        let body = format!(
            r#"{{"output":{{"message":{{"role":"assistant","content":[{{"text":{text}}}]}}}},"stopReason":"end_turn",{usage}}}"#
        );
        return LocalReply::new(200, Framing::Json, body);
    }
    let events = [
        ("messageStart", r#"{"role":"assistant"}"#.to_owned()),
        ("contentBlockDelta", format!(r#"{{"contentBlockIndex":0,"delta":{{"text":{text}}}}}"#)),
        ("contentBlockStop", r#"{"contentBlockIndex":0}"#.to_owned()),
        ("messageStop", r#"{"stopReason":"end_turn"}"#.to_owned()),
        ("metadata", format!("{{{usage}}}")),
    ];
    let frames: Vec<u8> =
        events.iter().flat_map(|(kind, payload)| event_stream::written(kind, payload)).collect();
    LocalReply::new(200, Framing::AwsEventStream, frames)
}
