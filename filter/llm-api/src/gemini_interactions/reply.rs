//! Kill responses, written as text: the golden files show that it is what the provider sends.

use crate::{
    dialect::{FinalMessage, LocalReply, WrittenCall},
    framing::Framing,
    json::quoted,
};

/// The client library reads a code that is a text, unlike that of `generateContent`.
pub fn error(status: u16, message: &str) -> LocalReply {
    let code = match status {
        401 => "unauthenticated",
        403 => "permission_denied",
        404 => "not_found",
        _ => "invalid_request",
    };
    let body = format!(r#"{{"error":{{"code":"{code}","message":{}}}}}"#, quoted(message));
    // The client library repeats by status alone; what no client repeats says so all the same.
    LocalReply::new(status, Framing::Json, body).without_stainless_retry()
}

pub fn final_message(message: &FinalMessage<'_>) -> LocalReply {
    LocalReply::new(200, message.framing, body(message)).without_stainless_retry()
}

fn body(message: &FinalMessage<'_>) -> String {
    let FinalMessage { text, model, framing, .. } = message;
    let (text, model, id) = (quoted(text), quoted(model), quoted(&message.id("sentinel-")));
    let interaction = |status: &str, rest: &str| {
        format!(r#"{{"id":{id},"status":"{status}","object":"interaction","model":{model}{rest}}}"#)
    };
    let (input, output, total) = (message.input(), message.usage.output, message.total());
    let cached = message.of_cached(|cached| format!(r#","total_cached_tokens":{cached}"#));
    let usage = &format!(
        r#","usage":{{"total_input_tokens":{input},"total_output_tokens":{output},"total_tokens":{total}{cached}}}"#
    );
    let status = message.ended("completed", "requires_action");
    let calls = message.calls("call_");
    let step = |call: &WrittenCall<'_>, arguments: &str| {
        format!(r#"{{"type":"function_call","id":{},"name":{},"arguments":{arguments}}}"#, call.id, call.name)
    };
    if *framing == Framing::Json {
        let texts = message
            .has_text()
            .then(|| format!(r#"{{"type":"model_output","content":[{{"type":"text","text":{text}}}]}}"#));
        let steps = texts.into_iter().chain(calls.iter().map(|call| step(call, call.arguments)));
        let steps = format!(r#","steps":[{}]"#, steps.collect::<Vec<_>>().join(","));
        return interaction(status, &(steps + usage));
    }
    let started = interaction("in_progress", "");
    let mut events = event("interaction.created", &format!(r#""interaction":{started}"#))
        + &event("interaction.status_update", &format!(r#""interaction_id":{id},"status":"in_progress""#));
    let texts = message
        .has_text()
        .then(|| (r#"{"type":"model_output"}"#.to_owned(), format!(r#"{{"type":"text","text":{text}}}"#)));
    let calls = calls.iter().map(|call| {
        let piece = quoted(call.arguments);
        (step(call, "{}"), format!(r#"{{"type":"arguments_delta","arguments":{piece}}}"#))
    });
    for (at, (start, delta)) in texts.into_iter().chain(calls).enumerate() {
        events += &event("step.start", &format!(r#""index":{at},"step":{start}"#));
        events += &event("step.delta", &format!(r#""index":{at},"delta":{delta}"#));
        events += &event("step.stop", &format!(r#""index":{at}"#));
    }
    events += &event("interaction.completed", &format!(r#""interaction":{}"#, interaction(status, usage)));
    events + "event: done\ndata: [DONE]\n\n"
}

#[inline(never)]
fn event(kind: &str, data: &str) -> String {
    format!("event: {kind}\ndata: {{\"event_type\":\"{kind}\",{data}}}\n\n")
}
