//! Kill responses, written as text. The golden files show that they are what the provider sends. Responses uses the
//! same error.

use crate::{
    dialect::{FinalMessage, LocalReply},
    framing::Framing,
    json::quoted,
    template::Template,
};

pub fn error(status: u16, message: &str) -> LocalReply {
    with_code(status, message, "agent_loop", "agent_loop_killed")
}

/// The error type of a request that is refused by itself, and not because of a loop.
pub fn refusal(status: u16, message: &str) -> LocalReply {
    with_code(status, message, "invalid_request_error", "request_refused")
}

fn with_code(status: u16, message: &str, kind: &str, code: &str) -> LocalReply {
    let message = quoted(message);
    let body = format!(r#"{{"error":{{"message":{message},"type":"{kind}","param":null,"code":"{code}"}}}}"#);
    LocalReply::new(status, Framing::Json, body).without_stainless_retry()
}

/// The error as an event of a stream. The event has no status, so clients go by the type of the error. Vercel's AI SDK takes an
/// unknown type for a fault of the provider, and tries again.
pub fn error_event(message: &str) -> Vec<u8> {
    with_code(400, message, "invalid_request_error", "agent_loop_killed").body
}

pub fn stream_error(message: &str) -> Vec<u8> {
    [b"data: ".as_slice(), &error_event(message), b"\n\ndata: [DONE]\n\n"].concat()
}

pub fn final_message(message: &FinalMessage<'_>) -> LocalReply {
    LocalReply::new(200, message.framing, body(message)).without_stainless_retry()
}

const CALL: &str = r#""id":"call_$call","type":"function","function":{"name":$name,"arguments":$quoted}}"#;
/// A chunk up to its choice's delta, and what follows it.
const CHUNK: &str = r#"data: {"id":"chatcmpl-sentinel-$id","object":"chat.completion.chunk","created":$created,"model":$model,"choices":["#;
const DELTA: &str = r#"{"index":0,"delta":{"#;
const DELTA_END: &str = "},\"finish_reason\":null}]}\n\n";

fn body(message: &FinalMessage<'_>) -> String {
    let mut out = Template::new(message, ["stop", "tool_calls"], "");
    let content = if out.has_text() { "$text" } else { "null" };
    if message.framing == Framing::Json {
        out.add(r#"{"id":"chatcmpl-sentinel-$id","object":"chat.completion","created":$created,"model":$model,"choices":[{"index":0,"message":{"role":"assistant","content":"#);
        out.add(content);
        out.add(r#","refusal":null"#);
        if !message.calls.is_empty() {
            out.add(r#","tool_calls":["#);
            out.add_calls(&["{", CALL], ",");
            out.add("]");
        }
        out.add(r#"},"logprobs":null,"finish_reason":"$stop"}]"#);
        add_usage(&mut out);
        out.add("}");
        return out.take();
    }
    let first = if out.has_text() {
        r#""role":"assistant","content":"""#
    } else {
        r#""role":"assistant","content":null"#
    };
    out.add_all(&[CHUNK, DELTA, first, DELTA_END]);
    if out.has_text() {
        out.add_all(&[CHUNK, DELTA, r#""content":$text"#, DELTA_END]);
    }
    out.add_calls(&[CHUNK, DELTA, r#""tool_calls":[{"index":$call_at,"#, CALL, "]", DELTA_END], "");
    out.add_all(&[CHUNK, DELTA, "},\"finish_reason\":\"$stop\"}]}\n\n"]);
    if message.include_usage {
        out.add(CHUNK);
        out.add("]");
        add_usage(&mut out);
        out.add("}\n\n");
    }
    out.add("data: [DONE]\n\n");
    out.take()
}

fn add_usage(out: &mut Template<'_>) {
    out.add(r#","usage":{"prompt_tokens":$all_input,"completion_tokens":$output,"total_tokens":$total"#);
    out.add_cached(r#","prompt_tokens_details":{"cached_tokens":$cached}"#);
    out.add("}");
}
