//! Kill responses, written as text: the golden files show that it is what the provider sends. The error form is shared
//! with Responses.

use crate::{
    dialect::{FinalMessage, LocalReply, WrittenCall},
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
    let FinalMessage { model, id, created, .. } = message;
    let model = quoted(model);
    let text = if message.has_text() { quoted(message.text) } else { "null".to_owned() };
    let reason = message.ended("stop", "tool_calls");
    let calls = message.calls("call_");
    let call = |call: &WrittenCall<'_>| {
        let WrittenCall { id, name, arguments, .. } = call;
        let arguments = quoted(arguments);
        format!(r#""id":{id},"type":"function","function":{{"name":{name},"arguments":{arguments}}}}}"#)
    };
    let envelope = |object: &str, choices: &str, usage: &str| {
        format!(
            r#"{{"id":"chatcmpl-sentinel-{id:016x}","object":"{object}","created":{created},"model":{model},"choices":[{choices}]{usage}}}"#
        )
    };
    if message.framing == Framing::Json {
        let calls: Vec<String> = calls.iter().map(|made| format!("{{{}", call(made))).collect();
        let calls =
            if calls.is_empty() { String::new() } else { format!(r#","tool_calls":[{}]"#, calls.join(",")) };
        let choice = format!(
            r#"{{"index":0,"message":{{"role":"assistant","content":{text},"refusal":null{calls}}},"logprobs":null,"finish_reason":"{reason}"}}"#
        );
        return envelope("chat.completion", &choice, &usage(message));
    }
    let chunk = |choices: &str, usage: &str| {
        format!("data: {}\n\n", envelope("chat.completion.chunk", choices, usage))
    };
    let delta = |delta: &str, reason: &str| {
        chunk(&format!(r#"{{"index":0,"delta":{{{delta}}},"finish_reason":{reason}}}"#), "")
    };
    let first = if message.has_text() { "\"\"" } else { "null" };
    let mut chunks = delta(&format!(r#""role":"assistant","content":{first}"#), "null");
    if message.has_text() {
        chunks += &delta(&format!(r#""content":{text}"#), "null");
    }
    for made in &calls {
        chunks += &delta(&format!(r#""tool_calls":[{{"index":{},{}]"#, made.at, call(made)), "null");
    }
    chunks += &delta("", &format!("\"{reason}\""));
    if message.include_usage {
        chunks += &chunk("", &usage(message));
    }
    chunks + "data: [DONE]\n\n"
}
