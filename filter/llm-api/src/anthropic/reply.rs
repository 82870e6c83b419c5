//! Kill responses, written as text: the golden files show that it is what the provider sends.

use crate::{
    dialect::{FinalMessage, LocalReply, WrittenCall},
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
    let stop = message.ended("\"end_turn\"", "\"tool_use\"");
    let calls = message.calls("toolu_");
    let cached = message.of_cached(|cached| format!(r#","cache_read_input_tokens":{cached}"#));
    let whole = |content: &str, stop: &str, output: u64| {
        format!(
            r#"{{"id":"msg_sentinel_{id:016x}","type":"message","role":"assistant","model":{model},"content":[{content}],"stop_reason":{stop},"stop_sequence":null,"usage":{{"input_tokens":{input},"output_tokens":{output}{cached}}}}}"#
        )
    };
    let text_block = |text: &str| format!(r#"{{"type":"text","text":{text}}}"#);
    let call_block = |call: &WrittenCall<'_>, input: &str| {
        format!(r#"{{"type":"tool_use","id":{},"name":{},"input":{input}}}"#, call.id, call.name)
    };
    if *framing == Framing::Json {
        let texts = message.has_text().then(|| text_block(&text));
        let blocks = texts.into_iter().chain(calls.iter().map(|call| call_block(call, call.arguments)));
        return whole(&blocks.collect::<Vec<_>>().join(","), stop, output);
    }
    let mut events = event("message_start", &format!(r#","message":{}"#, whole("", "null", 0)));
    let texts =
        message.has_text().then(|| (text_block("\"\""), format!(r#"{{"type":"text_delta","text":{text}}}"#)));
    let calls = calls.iter().map(|call| {
        let piece = quoted(call.arguments);
        (call_block(call, "{}"), format!(r#"{{"type":"input_json_delta","partial_json":{piece}}}"#))
    });
    for (at, (start, delta)) in texts.into_iter().chain(calls).enumerate() {
        events += &event("content_block_start", &format!(r#","index":{at},"content_block":{start}"#));
        events += &event("content_block_delta", &format!(r#","index":{at},"delta":{delta}"#));
        events += &event("content_block_stop", &format!(r#","index":{at}"#));
    }
    let end = format!(
        r#","delta":{{"stop_reason":{stop},"stop_sequence":null}},"usage":{{"output_tokens":{output}}}"#
    );
    events + &event("message_delta", &end) + &event("message_stop", "")
}

#[inline(never)]
fn event(kind: &str, data: &str) -> String {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{data}}}\n\n")
}
