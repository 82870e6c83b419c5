//! The MCP breaker: one call over and over is answered in the server's place, everything else passes. With messages as
//! they are on the wire, those too that no package sends; the real package is in `mcp_package.rs`.

use sentinel_harness::Stack;
use sentinel_harness::client::{self, Response};
use sentinel_harness::process::eventually;
use serde_json::{Value, json};

use crate::support::CHAT;

const CALLS: u64 = 20;

fn stack(more: &Value) -> Stack {
    // Long enough for a machine that is busy.
    let mut config = json!({"mcp": {"paths": [{"prefix": "/mcp"}], "window": "10m"}});
    for (name, value) in more.as_object().into_iter().flatten() {
        config[name] = value.clone();
    }
    Stack::builder().config(&config).start()
}

/// A `tools/call`; the id is never the same.
fn call(id: impl Into<Value>, tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id.into()}});
    json!({"jsonrpc": "2.0", "id": params["_meta"]["progressToken"], "method": "tools/call", "params": params})
}

async fn post(stack: &Stack, session: &str, body: &Value) -> Response {
    let headers = [("mcp-session-id", session), ("accept", "application/json, text/event-stream")];
    client::post(stack.address(), "/mcp", &headers, body.to_string()).await
}

/// Makes the same call as often as is allowed.
async fn exhaust(stack: &Stack, session: &str, tool: &str, arguments: &Value) {
    let before = stack.provider.count();
    for n in 0..CALLS {
        let response = post(stack, session, &call(n, tool, arguments)).await;
        assert_eq!((response.status, response.verdict()), (200, ""), "call {n}: {:?}", response.body);
    }
    assert_eq!(stack.provider.count(), before + CALLS as usize);
}

fn assert_denied(response: &Response, id: &Value, tool: &str) {
    assert_eq!(response.status, 200, "{:?}", response.body);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(response.verdict(), "kill");
    assert!(response.reason().starts_with("mcp_breaker; count="), "{}", response.reason());
    assert!(response.reason().ends_with(&format!("; tool={tool}")), "{}", response.reason());
    let body = response.json();
    assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), id), "{body}");
    assert_eq!(body["result"]["isError"], true, "{body}");
    assert_eq!(body["result"]["content"][0]["type"], "text", "{body}");
    assert!(body["result"]["content"][0]["text"].as_str().unwrap_or_default().contains(tool), "{body}");
}

/// Ids of any kind come back as they were; order of arguments and progress tokens make no difference.
#[tokio::test]
async fn a_call_is_its_tool_and_its_arguments() {
    let mut stack = stack(&json!({}));
    let arguments = json!({"text": "same", "limit": 3});
    exhaust(&stack, "s", "echo", &arguments).await;
    let reached = stack.provider.count();
    for id in [json!(7), json!("a \"quoted\" id"), json!(9_007_199_254_740_993_u64)] {
        assert_denied(&post(&stack, "s", &call(id.clone(), "echo", &arguments)).await, &id, "echo");
    }
    let other_order = r#"{"id": "x", "params": {"arguments": {"text":"same",  "limit": 3}, "name": "echo"},
        "method": "tools/call", "jsonrpc": "2.0"}"#;
    let response = client::post(stack.address(), "/mcp", &[("mcp-session-id", "s")], other_order).await;
    assert_denied(&response, &json!("x"), "echo");
    assert_eq!(stack.provider.count(), reached, "a call too many reached the server");
    for (session, tool, arguments) in [
        ("s", "echo", json!({"text": "other", "limit": 3})),
        ("s", "echo", json!({"text": "same"})),
        ("s", "find", arguments.clone()),
        ("t", "echo", arguments.clone()),
    ] {
        let response = post(&stack, session, &call(1, tool, &arguments)).await;
        assert_eq!(response.verdict(), "", "{session}, {tool}, {arguments}");
    }
    assert_eq!(stack.provider.count(), reached + 4);
    assert_eq!(stack.count("sentinel_mcp_calls_total", &[]), CALLS + 4 + 4);
    stack.assert_sound();
}

/// The loop is found however much other work lies between.
#[tokio::test]
async fn a_loop_with_other_calls_between() {
    let mut stack = stack(&json!({}));
    for n in 0..CALLS {
        for body in [call(n, "echo", &json!({"text": "same"})), call(n, "echo", &json!({"text": n}))] {
            assert_eq!(post(&stack, "s", &body).await.verdict(), "", "call {n}");
        }
    }
    assert_denied(&post(&stack, "s", &call(99, "echo", &json!({"text": "same"}))).await, &json!(99), "echo");
    stack.assert_sound();
}

#[tokio::test]
async fn batches() {
    let mut stack = stack(&json!({}));
    let same = |id: u64| call(id, "echo", &json!({"text": "same"}));
    exhaust(&stack, "s", "echo", &json!({"text": "same"})).await;
    let reached = stack.provider.count();
    // A batch with only calls over the limit: each is answered, in a list.
    for ids in [vec![1, 2, 3], vec![4]] {
        let batch = json!(ids.iter().map(|id| same(*id)).collect::<Vec<_>>());
        let response = post(&stack, "s", &batch).await;
        assert_eq!((response.status, response.verdict()), (200, "kill"));
        let answers = response.json();
        let answers = answers.as_array().unwrap_or_else(|| panic!("no list: {answers}"));
        let found: Vec<u64> = answers.iter().filter_map(|answer| answer["id"].as_u64()).collect();
        assert_eq!(found, ids, "{answers:?}");
        assert!(answers.iter().all(|answer| answer["result"]["isError"] == true), "{answers:?}");
    }
    assert_eq!(stack.provider.count(), reached);
    // A batch with any other message that must be answered goes on as it was sent.
    for other in
        [call(8, "echo", &json!({"text": "new"})), json!({"jsonrpc": "2.0", "id": 9, "method": "ping"})]
    {
        let batch = json!([same(7), other]);
        let response = post(&stack, "s", &batch).await;
        assert_eq!((response.status, response.verdict()), (200, ""), "{batch}");
        assert_eq!(stack.provider.last().body, batch.to_string());
    }
    // Calls of one batch count one by one.
    let batch = json!((0..=CALLS).map(|id| call(id, "echo", &json!({"text": "batch"}))).collect::<Vec<_>>());
    assert_eq!(post(&stack, "s", &batch).await.verdict(), "", "the first of them are allowed");
    let again = call(50, "echo", &json!({"text": "batch"}));
    assert_denied(&post(&stack, "s", &again).await, &json!(50), "echo");
    stack.assert_sound();
}

/// Anything but a call passes, however often it is repeated.
#[tokio::test]
async fn everything_else_passes() {
    let mut stack = stack(&json!({}));
    let bodies = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}}).to_string(),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string(),
        json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "file:///a"}}).to_string(),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}).to_string(),
        // A call that wants no answer, or has no name.
        json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "echo", "arguments": {}}}).to_string(),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}).to_string(),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ["echo"]}).to_string(),
        "[]".to_owned(),
        "[[]]".to_owned(),
        "{".to_owned(),
        "tools/call".to_owned(),
    ];
    for body in &bodies {
        for _ in 0..CALLS + 2 {
            let response =
                client::post(stack.address(), "/mcp", &[("mcp-session-id", "s")], body.clone()).await;
            assert_eq!((response.status, response.verdict()), (200, ""), "{body}");
            assert_eq!(&stack.provider.last().body, body);
        }
    }
    // Calls on other paths, without an identity, or of another type.
    let body = call(1, "echo", &json!({})).to_string();
    let session = ("mcp-session-id", "s");
    for (path, headers) in [
        ("/other", vec![session]),
        ("/mcp", vec![]),
        ("/mcp", vec![("mcp-session-id", "")]),
        ("/mcp", vec![session, ("content-type", "text/plain")]),
    ] {
        for _ in 0..CALLS + 2 {
            let response = client::post(stack.address(), path, &headers, body.clone()).await;
            assert_eq!((response.status, response.verdict()), (200, ""), "{path}, {headers:?}");
        }
    }
    // The stream from the server and the end of a session have no body.
    for method in [hyper::Method::GET, hyper::Method::DELETE] {
        for _ in 0..CALLS + 2 {
            let empty = http_body_util::Full::<bytes::Bytes>::default();
            let request = client::request(stack.address(), method.clone(), "/mcp", &[session], empty);
            assert_eq!(client::send(request).await.expect("an answer").status, 200);
        }
    }
    // And the models' paths go on as ever.
    crate::support::assert_allowed(
        &stack.ask(CHAT, "a", "Is anything else affected by this?").await,
        "a model",
    );
    stack.assert_sound();
}

/// An agent's name is enough; what the configuration says of single agents holds here too.
#[tokio::test]
async fn an_agent_without_a_session() {
    let mut stack = stack(&json!({"agents": [
        {"prefix": "free-", "settings": {"enabled": false}},
        {"prefix": "watched-", "settings": {"mode": "observe"}},
    ]}));
    let body = call(1, "echo", &json!({"text": "same"})).to_string();
    for (agent, expected) in [("named", "kill"), ("free-one", ""), ("watched-one", "")] {
        let mut last = String::new();
        for _ in 0..=CALLS {
            let response =
                client::post(stack.address(), "/mcp", &[("x-agent-id", agent)], body.clone()).await;
            assert_eq!(response.status, 200);
            last = response.verdict().to_owned();
        }
        assert_eq!(last, expected, "{agent}");
    }
    // What was observed is counted too.
    let labels = [("verdict", "kill"), ("signal", "mcp_breaker"), ("dialect", "mcp")];
    assert_eq!(stack.count("sentinel_verdicts_total", &labels), 2);
    stack.assert_sound();
}

/// Limit and time of the configuration; when the time is over, the call goes through again.
#[tokio::test]
async fn the_breaker_closes_again() {
    let paths = json!([{"exact": "/tools/rpc"}, {"suffix": "/mcp"}]);
    let mut stack = stack(&json!({"mcp": {"paths": paths, "calls": 2, "window": "2s", "answer": "error"}}));
    let body = call("one", "echo", &json!({})).to_string();
    for path in ["/tools/rpc", "/a/b/mcp?x=1"] {
        let send = async || client::post(stack.address(), path, &[("x-agent-id", path)], body.clone()).await;
        let mut denied = None;
        eventually("the breaker opens", async || {
            let response = send().await;
            let is_open = response.verdict() == "kill";
            denied = is_open.then_some(response);
            is_open
        })
        .await;
        let answer = denied.expect("the answer").json();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("one"), &json!(-32000)), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap_or_default().contains("`echo`"), "{answer}");
        let before = stack.provider.count();
        tokio::time::sleep(std::time::Duration::from_secs(4)).await;
        assert_eq!(send().await.verdict(), "", "{path}: it stays open");
        assert_eq!(stack.provider.count(), before + 1);
    }
    stack.assert_sound();
}

/// Neither arguments nor names of agents and sessions are in the log or the metrics; the signal and the tool are.
#[tokio::test]
async fn the_log_tells_the_signal_and_the_tool() {
    let mut stack = stack(&json!({}));
    let arguments = json!({"text": "zanzibarine"});
    exhaust(&stack, "session-quixotic", "echo", &arguments).await;
    let body = call("marmalade", "echo", &arguments);
    assert_denied(&post(&stack, "session-quixotic", &body).await, &json!("marmalade"), "echo");
    let log = stack.envoy.log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("wasm log")).collect();
    let told = |line: &&&str| line.contains(r#""signal":"mcp_breaker""#) && line.contains(r#""tool":"echo""#);
    assert_eq!(lines.iter().filter(told).count(), 1, "{lines:#?}");
    let admin = sentinel_harness::raw::get(stack.envoy.admin(), "/stats/prometheus").expect("the metrics");
    let metrics = String::from_utf8_lossy(&admin.body).into_owned();
    for secret in ["zanzibarine", "quixotic", "marmalade"] {
        assert!(!log.contains(secret) && !metrics.contains(secret), "{secret:?} is told: {lines:#?}");
    }
    stack.assert_sound();
}
