//! Kill responses, written as text: the golden files show that it is what the provider sends.

use crate::{
    dialect::{FinalMessage, LocalReply},
    framing::{Framing, event_stream},
    json::quoted,
    template::Template,
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
        // A text has no start of its own.
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

/// What was written becomes an event of this kind.
#[inline(never)]
fn frame(kind: &str, out: &mut Template<'_>, frames: &mut Vec<u8>) {
    frames.extend(event_stream::written(kind, &out.take()));
}
