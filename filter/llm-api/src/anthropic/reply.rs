//! Kill responses, written as text. The golden files show that they are what the provider sends.

use crate::{
    dialect::{FinalMessage, LocalReply},
    framing::Framing,
    json::quoted,
    template::Template,
};

pub fn error(status: u16, message: &str) -> LocalReply {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        _ => "invalid_request_error",
    };
    let body = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":{}}}}}"#, quoted(message));
    LocalReply::new(status, Framing::Json, body).without_stainless_retry()
}

pub fn stream_error(status: u16, message: &str) -> Vec<u8> {
    [b"event: error\ndata: ".as_slice(), &error(status, message).body, b"\n\n"].concat()
}

pub fn final_message(message: &FinalMessage<'_>) -> LocalReply {
    LocalReply::new(200, message.framing, body(message)).without_stainless_retry()
}

const START: &str =
    r#"{"id":"msg_sentinel_$id","type":"message","role":"assistant","model":$model,"content":["#;
const CACHED: &str = r#","cache_read_input_tokens":$cached"#;
const TEXT: &str = r#"event: content_block_start
data: {"type":"content_block_start","index":$at,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":$at,"delta":{"type":"text_delta","text":$text}}

event: content_block_stop
data: {"type":"content_block_stop","index":$at}

"#;
/// The input starts empty; its text comes in pieces.
const CALL: &str = r#"event: content_block_start
data: {"type":"content_block_start","index":$at,"content_block":{"type":"tool_use","id":"toolu_$call","name":$name,"input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":$at,"delta":{"type":"input_json_delta","partial_json":$quoted}}

event: content_block_stop
data: {"type":"content_block_stop","index":$at}

"#;
const END: &str = r#"event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"$stop","stop_sequence":null},"usage":{"output_tokens":$output}}

event: message_stop
data: {"type":"message_stop"}

"#;

fn body(message: &FinalMessage<'_>) -> String {
    let mut out = Template::new(message, ["end_turn", "tool_use"], "");
    if message.framing == Framing::Json {
        out.add(START);
        out.add_parts(
            r#"{"type":"text","text":$text}"#,
            r#"{"type":"tool_use","id":"toolu_$call","name":$name,"input":$arguments}"#,
            ",",
        );
        out.add(r#"],"stop_reason":"$stop","stop_sequence":null,"usage":{"input_tokens":$input,"output_tokens":$output"#);
        out.add_cached(CACHED);
        out.add("}}");
        return out.take();
    }
    out.add("event: message_start\ndata: {\"type\":\"message_start\",\"message\":");
    out.add(START);
    out.add(r#"],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":$input,"output_tokens":0"#);
    out.add_cached(CACHED);
    out.add("}}}\n\n");
    out.add_parts(TEXT, CALL, "");
    out.add(END);
    out.take()
}
