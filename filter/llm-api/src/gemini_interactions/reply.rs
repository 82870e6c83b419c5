//! Kill responses, written as text: the golden files show that it is what the provider sends.

use crate::{
    dialect::{FinalMessage, LocalReply},
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
    if *framing == Framing::Json {
        let steps =
            format!(r#","steps":[{{"type":"model_output","content":[{{"type":"text","text":{text}}}]}}]"#);
        return interaction("completed", &(steps + usage));
    }
    let started = interaction("in_progress", "");
    let events = [
        ("interaction.created", format!(r#""interaction":{started}"#)),
        ("interaction.status_update", format!(r#""interaction_id":{id},"status":"in_progress""#)),
        ("step.start", r#""index":0,"step":{"type":"model_output"}"#.to_owned()),
        ("step.delta", format!(r#""index":0,"delta":{{"type":"text","text":{text}}}"#)),
        ("step.stop", r#""index":0"#.to_owned()),
        ("interaction.completed", format!(r#""interaction":{}"#, interaction("completed", usage))),
    ];
    let event = |(kind, data): (&str, String)| {
        format!("event: {kind}\ndata: {{\"event_type\":\"{kind}\",{data}}}\n\n")
    };
    let events: String = events.into_iter().map(event).collect();
    events + "event: done\ndata: [DONE]\n\n"
}
