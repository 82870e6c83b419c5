//! The log line of a hint or a kill: one JSON object, no prompt, no name, no header value.

use serde_json::json;

use super::{Case, Held};
use crate::{config::Mode, verdict::Signal};

pub fn line(case: &Case, held: &dyn Held) -> String {
    let judgement = &case.judgement;
    json!({
        "event": "verdict",
        "verdict": judgement.verdict.label(),
        "signal": judgement.signal.map_or("none", Signal::label),
        "enforced": case.policy.mode == Mode::Enforce,
        "dialect": case.dialect.label(),
        "scope": case.scope.label(),
        "count": case.finding_at_hand().map(|finding| finding.count),
        "tool": case.finding_at_hand().map(|finding| finding.tool.as_str()),
        "prompts": judgement.evidence.prompts,
        "responses": judgement.evidence.responses,
        "tools": judgement.evidence.tools,
        "score": judgement.evidence.score(),
        "similarity": case.similarity,
        "request_id": request_id(held),
    })
    .to_string()
}

/// Envoy's request id. A client can send one of its own: what does not look like a UUID stays out of the log.
pub fn request_id(held: &dyn Held) -> Option<String> {
    let id = String::from_utf8(held.request_header("x-request-id")?).ok()?;
    let is_uuid = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_uuid.then_some(id)
}
