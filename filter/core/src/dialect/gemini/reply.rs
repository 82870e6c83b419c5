//! Kill responses.

use serde_json::json;

use crate::dialect::{FinalMessage, Form};

pub fn error(status: u16, message: &str) -> String {
    let name = match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        _ => "INVALID_ARGUMENT",
    };
    json!({"error": {"code": status, "message": message, "status": name}}).to_string()
}

pub fn final_message(message: &FinalMessage<'_>) -> String {
    let whole = json!({
        "candidates": [{
            "content": {"role": "model", "parts": [{"text": message.text}]},
            "finishReason": "STOP",
            "index": 0,
        }],
        "usageMetadata": {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0},
        "modelVersion": message.model,
        "responseId": format!("sentinel-{:016x}", message.id),
    });
    match message.form {
        Form::Json => whole.to_string(),
        Form::Sse => format!("data: {whole}\r\n\r\n"),
        Form::JsonArray => format!("[{whole}]"),
    }
}
