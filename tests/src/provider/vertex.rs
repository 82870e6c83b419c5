//! Which requests Vertex AI refuses that it hands to Anthropic's models. Its answers are those of Anthropic.

use serde_json::{Value, json};

use crate::dialect::VERTEX_VERSION;

/// The refusal of a request, if it is refused: the path names the model, and the body the version.
pub fn complaint(body: &[u8]) -> Option<Value> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let message = if body.get("model").is_some() {
        "model: Extra inputs are not permitted"
    } else if body.get("anthropic_version").is_none() {
        "anthropic_version: Field required"
    } else if body["anthropic_version"] != VERTEX_VERSION {
        "anthropic_version: Input should be 'vertex-2023-10-16'"
    } else {
        return None;
    };
    Some(json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}))
}
