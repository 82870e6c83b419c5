//! The requests for Anthropic's models that Vertex AI refuses. Its answers are Anthropic's.

use serde_json::{Value, json};

/// Returns why a request is refused: the path must name the model, and the body a version. Any version is accepted,
/// because the documentation only knows `vertex-2023-10-16`, and Anthropic's own client sends a newer one.
pub fn complaint(body: &[u8]) -> Option<Value> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let message = if body.get("model").is_some() {
        "model: Extra inputs are not permitted"
    } else if body["anthropic_version"].as_str().is_none_or(str::is_empty) {
        "anthropic_version: Field required"
    } else {
        return None;
    };
    Some(json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    #[test]
    fn a_model_and_no_version_are_refused() {
        let refused = |body: &Value| complaint(body.to_string().as_bytes()).is_some();
        assert!(!refused(&Dialect::VertexAnthropic.ask("Look.", false)));
        assert!(refused(&Dialect::Anthropic.ask("Look.", false)));
        let mut body = Dialect::VertexAnthropic.ask("Look.", true);
        body["model"] = json!("claude-sonnet-4-5");
        assert!(refused(&body));
        assert!(refused(&json!({"max_tokens": 9, "messages": []})));
    }
}
