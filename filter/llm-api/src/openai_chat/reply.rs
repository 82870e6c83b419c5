//! Kill responses, written as text: the golden files show that it is what the provider sends. The error form is shared
//! with Responses.

use crate::{
    dialect::{FinalMessage, LocalReply},
    framing::Framing,
    json::quoted,
};

pub fn error(status: u16, message: &str) -> LocalReply {
    with_code(status, message, "agent_loop", "agent_loop_killed")
}

/// No loop: the request by itself is one that may not be.
pub fn refusal(status: u16, message: &str) -> LocalReply {
    with_code(status, message, "invalid_request_error", "request_refused")
}

fn with_code(status: u16, message: &str, kind: &str, code: &str) -> LocalReply {
    let message = quoted(message);
    let body = format!(r#"{{"error":{{"message":{message},"type":"{kind}","param":null,"code":"{code}"}}}}"#);
    LocalReply::new(status, Framing::Json, body).without_stainless_retry()
}

fn usage(message: &FinalMessage<'_>) -> String {
    let (input, output, total) = (message.input(), message.usage.output, message.total());
    let cached =
        message.of_cached(|cached| format!(r#","prompt_tokens_details":{{"cached_tokens":{cached}}}"#));
    format!(
        r#","usage":{{"prompt_tokens":{input},"completion_tokens":{output},"total_tokens":{total}{cached}}}"#
    )
}

pub fn final_message(message: &FinalMessage<'_>) -> LocalReply {
    LocalReply::new(200, message.framing, body(message)).without_stainless_retry()
}

fn body(message: &FinalMessage<'_>) -> String {
    let FinalMessage { text, model, id, created, .. } = message;
    let (text, model) = (quoted(text), quoted(model));
    let envelope = |object: &str, choices: &str, usage: &str| {
        format!(
            r#"{{"id":"chatcmpl-sentinel-{id:016x}","object":"{object}","created":{created},"model":{model},"choices":[{choices}]{usage}}}"#
        )
    };
    if message.framing == Framing::Json {
        let choice = format!(
            r#"{{"index":0,"message":{{"role":"assistant","content":{text},"refusal":null}},"logprobs":null,"finish_reason":"stop"}}"#
        );
        return envelope("chat.completion", &choice, &usage(message));
    }
    let chunk = |choices: &str, usage: &str| {
        format!("data: {}\n\n", envelope("chat.completion.chunk", choices, usage))
    };
    let last = if message.include_usage { chunk("", &usage(message)) } else { String::new() };
    [
        chunk(r#"{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}"#, ""),
        chunk(&format!(r#"{{"index":0,"delta":{{"content":{text}}},"finish_reason":null}}"#), ""),
        chunk(r#"{"index":0,"delta":{},"finish_reason":"stop"}"#, ""),
        last,
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat()
}
