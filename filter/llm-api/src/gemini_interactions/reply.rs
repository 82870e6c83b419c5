//! Kill responses, written as text. The golden files show that they are what the provider sends.

use crate::{
    dialect::{FinalMessage, LocalReply},
    framing::Framing,
    json::quoted,
    template::Template,
};

/// The client library expects a text as code, unlike that of `generateContent`.
pub fn error(status: u16, message: &str) -> LocalReply {
    let code = match status {
        401 => "unauthenticated",
        403 => "permission_denied",
        404 => "not_found",
        _ => "invalid_request",
    };
    let body = format!(r#"{{"error":{{"code":"{code}","message":{}}}}}"#, quoted(message));
    // The client library decides by the status alone. The header is for other clients.
    LocalReply::new(status, Framing::Json, body).without_stainless_retry()
}

pub fn stream_error(_: u16, message: &str) -> Vec<u8> {
    let error = format!(r#"{{"code":"permission_denied","message":{}}}"#, quoted(message));
    format!("event: error\ndata: {{\"event_type\":\"error\",\"error\":{error}}}\n\n").into_bytes()
}

pub fn final_message(message: &FinalMessage<'_>) -> LocalReply {
    LocalReply::new(200, message.framing, body(message)).without_stainless_retry()
}

/// An interaction up to its status, and what follows it.
const START: &str = r#"{"id":$own_id,"status":""#;
const MODEL: &str = r#"","object":"interaction","model":$model"#;
const TEXT: &str = r#"event: step.start
data: {"event_type":"step.start","index":$at,"step":{"type":"model_output"}}

event: step.delta
data: {"event_type":"step.delta","index":$at,"delta":{"type":"text","text":$text}}

event: step.stop
data: {"event_type":"step.stop","index":$at}

"#;
/// The arguments start empty; their text comes in pieces.
const CALL: &str = r#"event: step.start
data: {"event_type":"step.start","index":$at,"step":{"type":"function_call","id":"call_$call","name":$name,"arguments":{}}}

event: step.delta
data: {"event_type":"step.delta","index":$at,"delta":{"type":"arguments_delta","arguments":$quoted}}

event: step.stop
data: {"event_type":"step.stop","index":$at}

"#;

fn body(message: &FinalMessage<'_>) -> String {
    let mut out = Template::new(message, ["completed", "requires_action"], "sentinel-");
    if message.framing == Framing::Json {
        out.add_all(&[START, "$stop", MODEL, r#","steps":["#]);
        out.add_parts(
            r#"{"type":"model_output","content":[{"type":"text","text":$text}]}"#,
            r#"{"type":"function_call","id":"call_$call","name":$name,"arguments":$arguments}"#,
            ",",
        );
        out.add("]");
        add_usage(&mut out);
        return out.take();
    }
    out.add("event: interaction.created\ndata: {\"event_type\":\"interaction.created\",\"interaction\":");
    out.add_all(&[START, "in_progress", MODEL, "}}\n\n"]);
    out.add("event: interaction.status_update\ndata: {\"event_type\":\"interaction.status_update\",\"interaction_id\":$own_id,\"status\":\"in_progress\"}\n\n");
    out.add_parts(TEXT, CALL, "");
    out.add("event: interaction.completed\ndata: {\"event_type\":\"interaction.completed\",\"interaction\":");
    out.add_all(&[START, "$stop", MODEL]);
    add_usage(&mut out);
    out.add("}\n\nevent: done\ndata: [DONE]\n\n");
    out.take()
}

fn add_usage(out: &mut Template<'_>) {
    out.add(
        r#","usage":{"total_input_tokens":$all_input,"total_output_tokens":$output,"total_tokens":$total"#,
    );
    out.add_cached(r#","total_cached_tokens":$cached"#);
    out.add("}}");
}
