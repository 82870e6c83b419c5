//! The examples in signals.json, which docs/how-it-decides.md shows as pictures: the filter decides on each request as its example
//! says, with its defaults unless the example brings settings of its own.

use std::collections::BTreeSet;
use std::fs;

use sentinel_config::Config;
use sentinel_detect::verdict::Signal;
use sentinel_harness::provider::{Reply, speak};
use sentinel_harness::{Dialect, Stack, parts};
use sentinel_pipeline::in_memory::{ClientRequest, Exchange, InMemory, ProviderResponse};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    pub signal: String,
    pub caption: String,
    #[serde(default)]
    pub config: Option<Value>,
    pub turns: Vec<Turn>,
}

/// One of these: `user`; `call` with `result`; `say` with `answer`; `prompt` with `answer`; or `mcp`, a call through MCP.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    pub user: Option<String>,
    pub call: Option<String>,
    pub result: Option<String>,
    pub say: Option<String>,
    pub prompt: Option<String>,
    pub answer: Option<String>,
    pub mcp: Option<String>,
    /// The number of this row in the picture.
    pub mark: Option<u32>,
    /// The verdict on the request that ends with this turn; for a prompt, on the request that asks it. None: allow.
    pub verdict: Option<String>,
}

pub fn examples() -> Vec<Example> {
    let text = fs::read_to_string(parts::root().join("tests/docs/signals.json")).expect("the examples");
    serde_json::from_str(&text).expect("examples")
}

/// `read_file(path='/a')` as the name and JSON arguments. Values are texts in single quotes, or numbers.
fn parsed(call: &str) -> (String, Value) {
    let (name, rest) = call.split_once('(').unwrap_or_else(|| panic!("no call: {call}"));
    let (key, value) = rest.strip_suffix(')').expect("a bracket").split_once('=').expect("an argument");
    let value = match value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')) {
        Some(text) => json!(text),
        None => value.parse::<u32>().map(|number| json!(number)).expect("a text or a number"),
    };
    (name.to_owned(), json!({ (key): value }))
}

/// The request with this history, and what the provider answers.
fn chat(messages: &[Value]) -> (ClientRequest, ProviderResponse) {
    let body = json!({"model": "m", "messages": messages}).to_string();
    let request =
        ClientRequest::post("/v1/chat/completions", body).with("x-agent-id", "a").with("x-run-id", "r");
    (request, answered("Let me see."))
}

fn answered(text: &str) -> ProviderResponse {
    ProviderResponse::json(
        json!({"choices": [{"message": {"role": "assistant", "content": text}}]}).to_string(),
    )
}

fn send(host: &mut InMemory, request: &ClientRequest, response: &ProviderResponse) -> Exchange {
    host.now += 2_000;
    host.exchange(request, response)
}

/// Plays an example and gives verdict and reason of each request with the verdict that the picture shows.
fn play(example: &Example) -> Vec<(String, String, String)> {
    play_with(example, example.config.as_ref().unwrap_or(&json!({})))
}

/// The same with another configuration.
pub fn play_with(example: &Example, config: &Value) -> Vec<(String, String, String)> {
    let config = config.to_string();
    let mut host = InMemory::new(Config::from_json(config.as_bytes()).expect("a configuration"));
    let mut messages = Vec::new();
    let mut judged = Vec::new();
    for (at, turn) in example.turns.iter().enumerate() {
        let exchange = if let Some(mcp) = &turn.mcp {
            let (name, arguments) = parsed(mcp);
            let params = json!({"name": name, "arguments": arguments});
            let body =
                json!({"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": params}).to_string();
            let request =
                ClientRequest::post("/mcp", body).with("x-agent-id", "a").with("mcp-session-id", "s");
            let result = json!({"jsonrpc": "2.0", "id": at, "result": {"content": []}}).to_string();
            let exchange = send(&mut host, &request, &ProviderResponse::json(result));
            let denied = exchange.reply.is_some();
            let reason = if denied { example.signal.clone() } else { String::new() };
            judged.push((verdict(turn), if denied { "kill" } else { "allow" }.to_owned(), reason));
            continue;
        } else if let Some(prompt) = &turn.prompt {
            let (request, _) = chat(&[json!({"role": "user", "content": prompt})]);
            send(&mut host, &request, &answered(turn.answer.as_deref().unwrap_or_default()))
        } else {
            if let Some(text) = &turn.user {
                messages.push(json!({"role": "user", "content": text}));
            }
            if let Some(call) = &turn.call {
                let (name, arguments) = parsed(call);
                let id = format!("call_{at}");
                let function = json!({"name": name, "arguments": arguments.to_string()});
                let call = json!({"id": id, "type": "function", "function": function});
                messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": turn.result}));
            }
            if let Some(text) = &turn.say {
                messages.push(json!({"role": "assistant", "content": text}));
                messages.push(json!({"role": "user", "content": turn.answer}));
            }
            let (request, response) = chat(&messages);
            send(&mut host, &request, &response)
        };
        let reason = exchange.header("x-sentinel-reason").unwrap_or_default().to_owned();
        judged.push((verdict(turn), exchange.verdict().unwrap_or("none").to_owned(), reason));
    }
    judged
}

fn verdict(turn: &Turn) -> String {
    turn.verdict.clone().unwrap_or_else(|| "allow".to_owned())
}

fn assert_as_shown(example: &Example, judged: &[(String, String, String)]) {
    for (at, (shown, verdict, reason)) in judged.iter().enumerate() {
        assert_eq!(shown, verdict, "{}, turn {at}: {reason}\n{judged:#?}", example.signal);
        let signal = reason.split(';').next().unwrap_or_default();
        if shown != "allow" {
            assert_eq!(signal, example.signal, "turn {at}: {judged:#?}");
        }
    }
}

#[test]
fn the_filter_decides_as_the_pictures_show() {
    for example in examples().iter().filter(|example| example.signal != "semantic") {
        assert_as_shown(example, &play(example));
    }
}

/// Only the real service knows what is alike.
#[tokio::test]
async fn the_real_service_finds_the_prompts_alike_that_the_picture_shows() {
    let example = examples().into_iter().find(|example| example.signal == "semantic").expect("an example");
    let stack = Stack::builder().service().start();
    let mut judged = Vec::new();
    for turn in &example.turns {
        let prompt = turn.prompt.as_deref().expect("a prompt");
        let answer = turn.answer.clone().unwrap_or_default();
        stack.provider.script(move |request| speak(request, &Reply::Text(answer.clone())));
        let response = stack.ask(Dialect::OpenaiChat, "a", prompt).await;
        judged.push((verdict(turn), response.verdict().to_owned(), response.reason().to_owned()));
    }
    assert_as_shown(&example, &judged);
}

#[test]
fn every_signal_has_a_picture_on_the_page() {
    let page = fs::read_to_string(parts::root().join("docs/how-it-decides.md")).expect("the page");
    let shown: BTreeSet<String> = examples().into_iter().map(|example| example.signal).collect();
    // Signals about a single request are not loops, and have no picture.
    let known: BTreeSet<String> = Signal::ALL
        .iter()
        .filter(|signal| signal.is_loop())
        .map(|signal| signal.label().to_owned())
        .collect();
    assert_eq!(shown, known);
    for signal in known {
        let picture = format!("(images/signal-{}.svg)", signal.replace('_', "-"));
        assert!(page.contains(&picture), "docs/how-it-decides.md does not show {picture}");
        assert!(page.contains(&format!("`{signal}`")), "docs/how-it-decides.md does not name `{signal}`");
    }
}
