//! Kill responses, written as text. The golden files show that they are what the provider sends.

use crate::{
    dialect::{FinalMessage, LocalReply},
    framing::Framing,
    json::quoted,
    template::Template,
};

pub fn error(status: u16, message: &str) -> LocalReply {
    let name = match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        _ => "INVALID_ARGUMENT",
    };
    let body = format!(r#"{{"error":{{"code":{status},"message":{},"status":"{name}"}}}}"#, quoted(message));
    // Google's client library decides by the status alone. The header is for other clients.
    LocalReply::new(status, Framing::Json, body).without_stainless_retry()
}

pub fn stream_error(status: u16, message: &str) -> Vec<u8> {
    [b"data: ".as_slice(), &error(status, message).body, b"\r\n\r\n"].concat()
}

pub fn final_message(message: &FinalMessage<'_>) -> LocalReply {
    let framing = message.framing;
    let (start, end) = match framing {
        Framing::Sse => ("data: ", "\r\n\r\n"),
        Framing::JsonArray => ("[", "]"),
        Framing::Json | Framing::AwsEventStream => ("", ""),
    };
    let mut out = Template::new(message, ["STOP", "STOP"], "");
    out.add(start);
    out.add(r#"{"candidates":[{"content":{"role":"model","parts":["#);
    out.add_parts(r#"{"text":$text}"#, r#"{"functionCall":{"name":$name,"args":$arguments}}"#, ",");
    out.add(r#"]},"finishReason":"$stop","index":0}],"usageMetadata":{"promptTokenCount":$all_input,"candidatesTokenCount":$output,"totalTokenCount":$total"#);
    out.add_cached(r#","cachedContentTokenCount":$cached"#);
    out.add(r#"},"modelVersion":$model,"responseId":"sentinel-$id"}"#);
    out.add(end);
    LocalReply::new(200, framing, out.take()).without_stainless_retry()
}
