//! Kill responses, written as text: the golden files show that it is what the provider sends.

use crate::{
    dialect::{FinalMessage, LocalReply, WrittenCall},
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
    let stop = message.ended("end_turn", "tool_use");
    let calls = message.calls("tooluse_");
    let text = message.has_text().then(|| format!(r#"{{"text":{text}}}"#));
    let tool_use = |call: &WrittenCall<'_>, input: &str| {
        format!(r#"{{"toolUse":{{"toolUseId":{},"name":{}{input}}}}}"#, call.id, call.name)
    };
    if message.framing != Framing::AwsEventStream {
        let calls = calls.iter().map(|call| tool_use(call, &format!(r#","input":{}"#, call.arguments)));
        let content = text.into_iter().chain(calls).collect::<Vec<_>>().join(",");
        let body = format!(
            r#"{{"output":{{"message":{{"role":"assistant","content":[{content}]}}}},"stopReason":"{stop}",{usage}}}"#
        );
        return LocalReply::new(200, Framing::Json, body);
    }
    let mut frames = event_stream::written("messageStart", r#"{"role":"assistant"}"#);
    let mut frame = |kind: &str, payload: String| frames.extend(event_stream::written(kind, &payload));
    // A text has no start of its own.
    let calls = calls.iter().map(|call| {
        let piece = format!(r#"{{"toolUse":{{"input":{}}}}}"#, quoted(call.arguments));
        (tool_use(call, ""), piece)
    });
    for (at, (start, delta)) in text.into_iter().map(|text| (String::new(), text)).chain(calls).enumerate() {
        let place = format!(r#""contentBlockIndex":{at}"#);
        if !start.is_empty() {
            frame("contentBlockStart", format!(r#"{{{place},"start":{start}}}"#));
        }
        frame("contentBlockDelta", format!(r#"{{{place},"delta":{delta}}}"#));
        frame("contentBlockStop", format!("{{{place}}}"));
    }
    frame("messageStop", format!(r#"{{"stopReason":"{stop}"}}"#));
    frame("metadata", format!("{{{usage}}}"));
    LocalReply::new(200, Framing::AwsEventStream, frames)
}
