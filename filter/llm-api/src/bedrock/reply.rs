//! Kill responses, written as text. The golden files show that they are what the provider sends.

use crate::{
    dialect::{FinalMessage, LocalReply},
    framing::{Framing, event_stream},
    json::quoted,
    template::Template,
};

/// AWS clients read the type of an error from a header. They retry none of these types.
pub fn error(status: u16, message: &str) -> LocalReply {
    let kind = match status {
        401 | 403 => "AccessDeniedException",
        404 => "ResourceNotFoundException",
        _ => "ValidationException",
    };
    let body = format!(r#"{{"message":{}}}"#, quoted(message));
    LocalReply::new(status, Framing::Json, body).with_header("x-amzn-errortype", kind)
}

/// `ConverseStream` knows no other error that is the client's.
pub fn stream_error(_: u16, message: &str) -> Vec<u8> {
    event_stream::exception("validationException", &format!(r#"{{"message":{}}}"#, quoted(message)))
}

pub fn final_message(message: &FinalMessage<'_>) -> LocalReply {
    let mut out = Template::new(message, ["end_turn", "tool_use"], "");
    if message.framing != Framing::AwsEventStream {
        out.add(r#"{"output":{"message":{"role":"assistant","content":["#);
        out.add_parts(
            r#"{"text":$text}"#,
            r#"{"toolUse":{"toolUseId":"tooluse_$call","name":$name,"input":$arguments}}"#,
            ",",
        );
        out.add(r#"]}},"stopReason":"$stop","#);
        add_usage(&mut out);
        return LocalReply::new(200, Framing::Json, out.take());
    }
    let mut frames = Vec::new();
    out.add(r#"{"role":"assistant"}"#);
    frame("messageStart", &mut out, &mut frames);
    for part in out.parts() {
        const START: &str =
            r#"{"contentBlockIndex":$at,"start":{"toolUse":{"toolUseId":"tooluse_$call","name":$name}}}"#;
        // A text block has no start event.
        if part.is_call() {
            out.add_part(part, "", START);
            frame("contentBlockStart", &mut out, &mut frames);
        }
        out.add_part(
            part,
            r#"{"contentBlockIndex":$at,"delta":{"text":$text}}"#,
            r#"{"contentBlockIndex":$at,"delta":{"toolUse":{"input":$quoted}}}"#,
        );
        frame("contentBlockDelta", &mut out, &mut frames);
        out.add(r#"{"contentBlockIndex":$at}"#);
        frame("contentBlockStop", &mut out, &mut frames);
    }
    out.add(r#"{"stopReason":"$stop"}"#);
    frame("messageStop", &mut out, &mut frames);
    out.add("{");
    add_usage(&mut out);
    frame("metadata", &mut out, &mut frames);
    LocalReply::new(200, Framing::AwsEventStream, frames)
}

fn add_usage(out: &mut Template<'_>) {
    out.add(r#""usage":{"inputTokens":$input,"outputTokens":$output,"totalTokens":$total"#);
    out.add_cached(r#","cacheReadInputTokens":$cached"#);
    out.add(r#"},"metrics":{"latencyMs":0}}"#);
}

/// Adds what was written as an event of this type.
#[inline(never)]
fn frame(kind: &str, out: &mut Template<'_>, frames: &mut Vec<u8>) {
    frames.extend(event_stream::written(kind, &out.take()));
}
