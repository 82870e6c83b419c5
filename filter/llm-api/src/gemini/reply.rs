//! Kill responses, written as text: the golden files show that it is what the provider sends.

use crate::{
    dialect::{FinalMessage, LocalReply},
    framing::Framing,
    json::quoted,
};

pub fn error(status: u16, message: &str) -> LocalReply {
    let name = match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        _ => "INVALID_ARGUMENT",
    };
    let body = format!(r#"{{"error":{{"code":{status},"message":{},"status":"{name}"}}}}"#, quoted(message));
    // Google's client library retries by status alone; what no client retries says so all the same.
    LocalReply::new(status, Framing::Json, body).without_stainless_retry()
}

pub fn final_message(message: &FinalMessage<'_>) -> LocalReply {
    let FinalMessage { text, model, id, framing, .. } = message;
    let text = message.has_text().then(|| format!(r#"{{"text":{}}}"#, quoted(text)));
    // An event is one line: what separates the arguments' members may be line ends.
    let calls = message.calls("").into_iter().map(|call| {
        let args = call.arguments.replace(['\n', '\r'], "");
        format!(r#"{{"functionCall":{{"name":{},"args":{args}}}}}"#, call.name)
    });
    let parts = text.into_iter().chain(calls).collect::<Vec<_>>().join(",");
    let (input, output, total) = (message.input(), message.usage.output, message.total());
    let cached = message.of_cached(|cached| format!(r#","cachedContentTokenCount":{cached}"#));
    let whole = format!(
        r#"{{"candidates":[{{"content":{{"role":"model","parts":[{parts}]}},"finishReason":"STOP","index":0}}],"usageMetadata":{{"promptTokenCount":{input},"candidatesTokenCount":{output},"totalTokenCount":{total}{cached}}},"modelVersion":{},"responseId":"sentinel-{id:016x}"}}"#,
        quoted(model)
    );
    let body = match framing {
        Framing::Sse => format!("data: {whole}\r\n\r\n"),
        Framing::JsonArray => format!("[{whole}]"),
        Framing::Json | Framing::AwsEventStream => whole,
    };
    LocalReply::new(200, *framing, body).without_stainless_retry()
}
