//! Gemini Interactions: answers, and requests that are refused.

use serde_json::{Value, json};

use super::answer::{event, pieces_of};
use super::reply::Reply;

const MODEL: &str = "gemini-3-flash-preview";

/// The index of the answer in its chain of interactions. Later requests name interactions, and results name calls.
fn number(request: &Value) -> usize {
    let previous = request["previous_interaction_id"]
        .as_str()
        .and_then(|id| id.rsplit('_').next()?.parse::<usize>().ok());
    previous.map_or(1, |previous| previous + 1)
}

/// Unless the request asks for minimal thinking.
fn thinks(request: &Value) -> bool {
    request["generation_config"]["thinking_level"] != "minimal"
}

fn call_id(number: usize) -> String {
    format!("call_mock_{number}")
}

pub fn body(reply: &Reply, request: &Value) -> Value {
    let number = number(request);
    let (step, status) = match reply {
        Reply::Tool { name, arguments } => (
            json!({"type": "function_call", "id": call_id(number), "name": name, "arguments": arguments}),
            "requires_action",
        ),
        Reply::Text(text) => {
            (json!({"type": "model_output", "content": [{"type": "text", "text": text}]}), "completed")
        }
        Reply::Tools(_) => unimplemented!("no agent of the tests makes parallel calls in an interaction"),
        Reply::Error(status) => return error(*status),
    };
    let mut body = ended(number, status);
    body["created"] = json!("2026-03-04T05:06:07Z");
    body["updated"] = body["created"].clone();
    let thought = json!({"type": "thought", "signature": "bW9jaw=="});
    body["steps"] = if thinks(request) { json!([thought, step]) } else { json!([step]) };
    body
}

pub fn events(reply: &Reply, request: &Value) -> Vec<String> {
    let number = number(request);
    let (step, deltas, status) = match reply {
        Reply::Tool { name, arguments } => {
            let arguments = arguments.to_string();
            let (head, tail) = arguments.split_at(arguments.len() / 2);
            let deltas = [head, tail].map(|part| json!({"type": "arguments_delta", "arguments": part}));
            let step = json!({"type": "function_call", "id": call_id(number), "name": name, "arguments": {}});
            (step, deltas.to_vec(), "requires_action")
        }
        Reply::Text(text) => {
            let deltas = pieces_of(text).into_iter().map(|piece| json!({"type": "text", "text": piece}));
            (json!({"type": "model_output"}), deltas.collect(), "completed")
        }
        Reply::Tools(_) => unimplemented!("no agent of the tests makes parallel calls in an interaction"),
        Reply::Error(status) => return vec![event("error", &error(*status))],
    };
    let mut events = vec![
        ("interaction.created", json!({"interaction": interaction(number, "in_progress")})),
        (
            "interaction.status_update",
            json!({"interaction_id": interaction_id(number), "status": "in_progress"}),
        ),
    ];
    let mut at = 0;
    if thinks(request) {
        at = 1;
        let signature = json!({"type": "thought_signature", "signature": "bW9jaw=="});
        events.push(("step.start", json!({"index": 0, "step": {"type": "thought"}})));
        events.push(("step.delta", json!({"index": 0, "delta": signature})));
        events.push(("step.stop", json!({"index": 0})));
    }
    events.push(("step.start", json!({"index": at, "step": step})));
    events.extend(deltas.into_iter().map(|delta| ("step.delta", json!({"index": at, "delta": delta}))));
    events.push(("step.stop", json!({"index": at})));
    events.push(("interaction.completed", json!({"interaction": ended(number, status)})));
    let written = events.into_iter().map(|(name, mut data)| {
        data["event_type"] = json!(name);
        event(name, &data)
    });
    written.chain(["event: done\ndata: [DONE]\n\n".to_owned()]).collect()
}

fn interaction_id(number: usize) -> String {
    format!("v1_mock_{number}")
}

fn interaction(number: usize, status: &str) -> Value {
    json!({"id": interaction_id(number), "status": status, "object": "interaction", "model": MODEL})
}

fn ended(number: usize, status: &str) -> Value {
    let mut ended = interaction(number, status);
    ended["usage"] = json!({"total_tokens": 21, "total_input_tokens": 12, "total_output_tokens": 6,
        "total_thought_tokens": 3, "total_cached_tokens": 0, "total_tool_use_tokens": 0});
    ended
}

/// The code is a word, unlike that of `generateContent`.
pub fn error(status: u16) -> Value {
    let code = match status {
        401 => "unauthenticated",
        404 => "not_found",
        429 => "too_many_requests",
        400 => "invalid_request",
        _ => "internal_error",
    };
    refusal(code, "The mock provider refuses.")
}

fn refusal(code: &str, message: &str) -> Value {
    json!({"error": {"code": code, "message": message}})
}

/// The status and body of the refusal, if the request is refused.
pub fn complaint(body: &[u8]) -> Option<(u16, Value)> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let previous = body.get("previous_interaction_id").filter(|id| !id.is_null());
    if previous.is_some_and(|id| id.as_str().is_none_or(|id| !id.starts_with("v1_"))) {
        return Some((404, refusal("not_found", "The previous interaction was not found.")));
    }
    let invalid = |message: &str| Some((400, refusal("invalid_request", message)));
    if body.get("model").is_some() && body.get("agent").is_some() {
        return invalid("Only one of 'model' and 'agent' can be set.");
    }
    if body.get("system_instruction").is_some_and(|text| !text.is_string() && !text.is_null()) {
        return invalid("system_instruction must be a string.");
    }
    let input = body.get("input")?;
    let steps = input.as_array().map_or(std::slice::from_ref(input), Vec::as_slice);
    let mut asked: Vec<&Value> = Vec::new();
    for step in steps.iter().filter(|step| step.is_object()) {
        match step["type"].as_str() {
            Some("function_call") => asked.push(&step["id"]),
            Some("function_result") => {
                if previous.is_none() && !asked.contains(&&step["call_id"]) {
                    return invalid("A function_result has no function_call before it.");
                }
                if !(step["result"].is_string() || step["result"].is_object() || step["result"].is_array()) {
                    return invalid("The result of a function_result is missing.");
                }
            }
            Some(
                "user_input" | "model_output" | "thought" | "text" | "image" | "audio" | "video" | "document",
            ) => {}
            // The older form of a message.
            None if step.get("role").is_some() => {}
            _ => return invalid("A step has a type that does not exist."),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    #[test]
    fn what_the_provider_does_not_take_is_refused() {
        let status = |body: &Value| complaint(body.to_string().as_bytes()).map(|(status, _)| status);
        let ask = Dialect::GeminiInteractions.ask("Look.", false);
        assert_eq!(status(&ask), None);
        assert_eq!(status(&json!({"model": "m", "input": "Look."})), None);
        let with = |key: &str, value: Value| {
            let mut body = ask.clone();
            body[key] = value;
            body
        };
        assert_eq!(status(&with("agent", json!("deep-research"))), Some(400));
        assert_eq!(status(&with("system_instruction", json!(["Be brief."]))), Some(400));
        assert_eq!(status(&with("previous_interaction_id", json!("v1_mock"))), None);
        assert_eq!(status(&with("previous_interaction_id", json!("sentinel-17"))), Some(404));
        let result = json!({"type": "function_result", "call_id": "c1", "result": "rain"});
        assert_eq!(status(&json!({"model": "m", "input": [result]})), Some(400), "nobody called it");
        let kept = json!({"model": "m", "previous_interaction_id": "v1_mock", "input": [result]});
        assert_eq!(status(&kept), None);
        assert_eq!(status(&json!({"model": "m", "input": [{"type": "poem"}]})), Some(400));
    }
}
