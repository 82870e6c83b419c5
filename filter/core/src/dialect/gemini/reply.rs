//! Kill responses, written as text: the golden files show that it is what the provider sends.

use crate::{
    dialect::{FinalMessage, Form},
    json::quoted,
};

pub fn error(status: u16, message: &str) -> String {
    let name = match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        _ => "INVALID_ARGUMENT",
    };
    format!(r#"{{"error":{{"code":{status},"message":{},"status":"{name}"}}}}"#, quoted(message))
}

pub fn final_message(message: &FinalMessage<'_>) -> String {
    let FinalMessage { text, model, id, form, .. } = message;
    let whole = format!(
        r#"{{"candidates":[{{"content":{{"role":"model","parts":[{{"text":{}}}]}},"finishReason":"STOP","index":0}}],"usageMetadata":{{"promptTokenCount":0,"candidatesTokenCount":0,"totalTokenCount":0}},"modelVersion":{},"responseId":"sentinel-{id:016x}"}}"#,
        quoted(text),
        quoted(model)
    );
    match form {
        Form::Json => whole,
        Form::Sse => format!("data: {whole}\r\n\r\n"),
        Form::JsonArray => format!("[{whole}]"),
    }
}
