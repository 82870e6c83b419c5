//! Kill responses, written as text: the golden files show that it is what the provider sends.

use crate::{
    dialect::{FinalMessage, LocalReply},
    framing::Framing,
    json::quoted,
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

pub fn final_message(message: &FinalMessage<'_>) -> LocalReply {
    LocalReply::new(200, message.framing, body(message)).without_stainless_retry()
}

fn body(message: &FinalMessage<'_>) -> String {
    let FinalMessage { text, model, id, framing, .. } = message;
    let (text, model) = (quoted(text), quoted(model));
    let (input, output) = (message.usage.input, message.usage.output);
    let cached = message.of_cached(|cached| format!(r#","cache_read_input_tokens":{cached}"#));
    let whole = |content: &str, stop: &str, output: u64| {
        format!(
            r#"{{"id":"msg_sentinel_{id:016x}","type":"message","role":"assistant","model":{model},"content":[{content}],"stop_reason":{stop},"stop_sequence":null,"usage":{{"input_tokens":{input},"output_tokens":{output}{cached}}}}}"#
        )
    };
    if *framing == Framing::Json {
        return whole(&format!(r#"{{"type":"text","text":{text}}}"#), "\"end_turn\"", output);
    }
    let events = [
        ("message_start", format!(r#","message":{}"#, whole("", "null", 0))),
        ("content_block_start", r#","index":0,"content_block":{"type":"text","text":""}"#.to_owned()),
        ("content_block_delta", format!(r#","index":0,"delta":{{"type":"text_delta","text":{text}}}"#)),
        ("content_block_stop", r#","index":0"#.to_owned()),
        (
            "message_delta",
            format!(
                r#","delta":{{"stop_reason":"end_turn","stop_sequence":null}},"usage":{{"output_tokens":{output}}}"#
            ),
        ),
        ("message_stop", String::new()),
    ];
    events
        .iter()
        .map(|(kind, data)| format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{data}}}\n\n"))
        .collect()
}
