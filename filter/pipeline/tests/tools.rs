//! The tool policy from the outside: what of a request's tools reaches the provider, what of a server's list reaches the
//! agent, which calls are answered, and what is on record.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test may fail"
)]

use sentinel_config::Config;
use sentinel_pipeline::{
    in_memory::{ClientRequest, Exchange, InMemory, ProviderResponse},
    metric::{DeniedTool, Enforced, MCP, Metric},
};
use serde_json::{Value, json};

const POLICY: &str = r#"{"tools":{"deny":[{"name":"rm"},{"prefix":"drop_"}],"audit":true},"mcp":{"paths":[{"prefix":"/mcp"}],"calls":2}}"#;

fn host(config: &str) -> InMemory {
    InMemory::new(Config::from_json(config.as_bytes()).unwrap())
}

fn answer() -> ProviderResponse {
    ProviderResponse::json(
        r#"{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"rm","arguments":"{\"path\":\"/secret\"}"}},{"id":"d","type":"function","function":{"name":"ls","arguments":"{}"}}]}}]}"#,
    )
}

fn chat(more: &Value) -> ClientRequest {
    let tool = |name: &str| json!({"type": "function", "function": {"name": name}});
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Tidy up the folder, please."}],
        "tools": [tool("rm"), tool("ls"), tool("drop_table")]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ClientRequest::post("/v1/chat/completions", body.to_string()).with("x-agent-id", "cleaner")
}

fn tools_of(exchange: &Exchange) -> Vec<String> {
    let body: Value = serde_json::from_slice(exchange.sent.as_ref().unwrap()).unwrap();
    let tools = body["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn denied_tools_do_not_reach_the_model() {
    let mut host = host(POLICY);
    let request = chat(&json!({}));
    let passed = host.exchange(&request, &answer());
    assert_eq!(tools_of(&passed), ["ls"]);
    let length = passed.sent.as_ref().unwrap().len().to_string();
    assert_eq!(passed.changed, [("content-length", length)]);
    assert_eq!(passed.verdict(), Some("allow"));
    assert_eq!(host.counted(Metric::ToolsDenied(DeniedTool::Offered, "openai_chat", Enforced(true))), 2);
    assert_eq!(host.exchange(&request, &answer()).sent, passed.sent, "the same request, the same bytes");
    let mut only = self::host(r#"{"tools":{"allow":[{"prefix":"l"}]}}"#);
    assert_eq!(tools_of(&only.exchange(&request, &answer())), ["ls"]);
    assert_eq!(only.lines("tool_call").len(), 0, "without audit nothing is on record");
}

#[test]
fn a_hint_and_a_cut_are_made_in_one_go() {
    let mut host =
        host(r#"{"tools":{"deny":[{"name":"rm"}]},"kill":{"enabled":false},"semantic":{"enabled":false}}"#);
    let request = chat(&json!({})).with("x-run-id", "r");
    let plain =
        ProviderResponse::json(r#"{"choices":[{"message":{"content":"I could not do that, sorry."}}]}"#);
    let last = (0..5)
        .map(|_| {
            host.now += 1_000;
            host.exchange(&request, &plain)
        })
        .last()
        .unwrap();
    assert_eq!(last.verdict(), Some("hint"));
    assert_eq!(tools_of(&last), ["ls", "drop_table"]);
    assert!(String::from_utf8_lossy(last.sent.as_ref().unwrap()).contains("You seem to be repeating"));
}

#[test]
fn who_forces_a_denied_tool_gets_the_providers_error() {
    for (more, tool) in [
        (json!({"tool_choice": {"type": "function", "function": {"name": "rm"}}}), "rm"),
        (
            json!({"tool_choice": "required", "tools": [{"type": "function", "function": {"name": "drop_x"}}]}),
            "drop_x",
        ),
    ] {
        let mut host =
            host(r#"{"tools":{"deny":[{"name":"rm"},{"prefix":"drop_"}]},"kill":{"enabled":false}}"#);
        let refused = host.exchange(&chat(&more).with("x-run-id", "r"), &answer());
        let reply = refused.reply.as_ref().unwrap();
        let body: Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!((reply.status, &body["error"]["code"]), (400, &json!("request_refused")));
        assert!(body["error"]["message"].as_str().unwrap().contains(&format!("`{tool}`")), "{body}");
        assert_eq!(refused.header("x-should-retry"), Some("false"));
        assert_eq!(refused.header("x-sentinel-reason"), Some(format!("tool_denied; tool={tool}").as_str()));
        assert!(host.slots.is_empty(), "what is refused is nobody's evidence");
        assert_eq!(host.lines("verdict").len(), 1);
    }
}

#[test]
fn observe_touches_nothing_and_counts() {
    let config = POLICY.replacen('{', r#"{"mode":"observe","#, 1);
    let mut host = host(&config);
    let forced = chat(&json!({"tool_choice": {"type": "function", "function": {"name": "rm"}}}));
    for request in
        [chat(&json!({})), forced, mcp(&call(1, "rm")), mcp(&json!({"id": 1, "method": "tools/list"}))]
    {
        let response = list_response();
        let passed = host.exchange(&request, &response);
        assert_eq!((passed.sent, passed.received), (Some(request.body), response.body));
        assert!(passed.changed.is_empty() && passed.removed.is_empty());
    }
    assert_eq!(host.counted(Metric::ToolsDenied(DeniedTool::Offered, "openai_chat", Enforced(false))), 4);
    assert_eq!(host.counted(Metric::ToolsDenied(DeniedTool::Forced, "openai_chat", Enforced(false))), 1);
    assert_eq!(host.counted(Metric::ToolsDenied(DeniedTool::Called, MCP, Enforced(false))), 1);
}

#[test]
fn every_call_is_on_record_and_nothing_of_what_it_says() {
    let mut host = host(POLICY);
    host.exchange(&chat(&json!({})), &answer());
    host.exchange(&mcp(&call(1, "ls")), &answer());
    host.exchange(&mcp(&call(2, "rm")), &answer());
    for id in 3..5 {
        host.exchange(&mcp(&call(id, "ls")), &answer());
    }
    let lines: Vec<Value> =
        host.lines("tool_call").into_iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = lines
        .iter()
        .map(|line| (line["tool"].as_str().unwrap(), line["decision"].as_str().unwrap()))
        .collect();
    let expected = [
        ("rm", "not_offered"),
        ("ls", "allow"),
        ("ls", "allow"),
        ("rm", "deny"),
        ("ls", "allow"),
        ("ls", "break"),
    ];
    assert_eq!(told, expected);
    assert!(lines.iter().all(|line| line["event"] == "tool_call"));
    assert_eq!(lines[2]["arguments"], lines[4]["arguments"]);
    assert!(
        host.lines("tool_call").iter().all(|line| !line.contains("secret") && !line.contains("cleaner")),
        "{lines:?}"
    );
    assert_eq!(host.counted(Metric::ToolsDenied(DeniedTool::Called, "openai_chat", Enforced(false))), 1);
}

fn call(id: usize, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {"path": "/secret"}}})
}

fn mcp(body: &Value) -> ClientRequest {
    raw_mcp(&body.to_string())
}

fn raw_mcp(body: &str) -> ClientRequest {
    ClientRequest::post("/mcp", body).with("mcp-session-id", "s-1").with("accept-encoding", "gzip")
}

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"ls"}, {"name":"rm","inputSchema":{}},{"name":"drop_all"}]}}"#;
const LEFT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"ls"}]}}"#;

fn list_response() -> ProviderResponse {
    ProviderResponse::json(LIST)
}

#[test]
fn a_servers_list_loses_the_denied_tools_however_it_comes() {
    let stream = |list: &str| format!("event: message\r\ndata: {list}\r\n\r\n: ping\n\n");
    // As Spring writes JSON of many lines: each in a line of data, which clients join.
    let spread = |tool: &str, end: &str| {
        let more = if tool.is_empty() { String::new() } else { format!(r#", {{"name":"{tool}"}}"#) };
        let data = if end == " " { "" } else { "data: " };
        format!(r#"{{"id":1,{end}{data}"result":{{{end}{data}"tools":[{{"name":"ls"}}{more}]{end}{data}}}}}"#)
    };
    for (content_type, body, expected) in [
        ("application/json", LIST.to_owned(), LEFT.to_owned()),
        ("text/event-stream", stream(LIST), stream(LEFT)),
        ("application/json", format!("[{LIST},{LIST}]"), format!("[{LEFT},{LEFT}]")),
        ("application/json", "no json".to_owned(), "no json".to_owned()),
        ("text/plain", LIST.to_owned(), LIST.to_owned()),
        ("application/json", format!("\u{feff}{LIST}"), LEFT.to_owned()),
        ("text/event-stream", format!("\u{feff}{}", stream(LIST)), format!("\u{feff}{}", stream(LEFT))),
        ("text/event-stream", stream(LIST).replace("\r\n", "\r"), stream(LEFT).replace("\r\n", "\r")),
        ("text/event-stream", stream(&spread("rm", "\r\n")), stream(&spread("", " "))),
        ("text/event-stream", stream(&spread("rm", "\n")), stream(&spread("", " "))),
        ("text/event-stream", stream(&spread("mv", "\r\n")), stream(&spread("mv", "\r\n"))),
    ] {
        for part in [None, Some(1), Some(40)] {
            let mut host = host(POLICY);
            let response = ProviderResponse {
                content_type: content_type.into(),
                body: body.clone().into_bytes(),
                part,
                ..list_response()
            };
            let passed = host.exchange(&mcp(&json!({"id": 1, "method": "tools/list"})), &response);
            assert_eq!(String::from_utf8(passed.received).unwrap(), expected, "{content_type} {part:?}");
            assert_eq!(passed.removed.contains(&"content-length"), content_type != "text/plain");
            assert_eq!(passed.changed, [("accept-encoding", String::new())]);
        }
    }
    let mut other = host(POLICY);
    let passed = other.exchange(&mcp(&json!({"id": 1, "method": "resources/list"})), &list_response());
    assert_eq!(passed.received, LIST.as_bytes(), "only the answer to tools/list is a list of tools");
}

#[test]
fn a_denied_call_is_answered_before_the_breaker_counts_it() {
    let mut host = host(POLICY);
    for id in 0..4 {
        let denied = host.exchange(&mcp(&call(id, "rm")), &answer());
        let reply = denied.reply.as_ref().unwrap();
        let body: Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!((reply.status, &body["id"], &body["result"]["isError"]), (200, &json!(id), &json!(true)));
        assert_eq!(denied.header("x-sentinel-reason"), Some("tool_denied; tool=rm"));
    }
    assert!(host.slots.is_empty());
    assert_eq!(host.counted(Metric::McpCalls), 0);
    let reply = |host: &mut InMemory, body: &str| host.exchange(&raw_mcp(body), &answer()).reply.unwrap();
    let batch = format!("[{},{}]", call(7, "ls"), call(8, "rm"));
    let body: Value = serde_json::from_slice(&reply(&mut host, &batch).body).unwrap();
    assert_eq!((&body[0]["id"], &body[1]["id"]), (&json!(7), &json!(8)));
    let silent = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"rm"}}"#;
    assert_eq!(reply(&mut host, silent).status, 202);
    let twice = r#"{"id":1,"method":"tools/call","params":{"name":"ls"},"params":{"name":"rm"}}"#;
    assert_eq!(reply(&mut host, twice).status, 400);
}

#[test]
fn each_agent_has_a_policy_of_its_own() {
    let config =
        r#"{"tools":{"deny":[{"name":"rm"}]},"agents":[{"name":"admin","settings":{"tools":{"deny":[]}}}]}"#;
    let mut host = host(config);
    let admin = chat(&json!({})).with("x-agent-id", "admin");
    assert_eq!(host.exchange(&admin, &answer()).sent, Some(admin.body));
    assert_eq!(tools_of(&host.exchange(&chat(&json!({})), &answer())), ["ls", "drop_table"]);
    for (config, path) in [
        (r#"{"tools":{"allow":[{}]}}"#, "tools.allow[0]"),
        (r#"{"tools":{"deny":[{"name":"a","prefix":"b"}]}}"#, "tools.deny[0]"),
        (r#"{"tools":{"deny":["rm"]}}"#, "tools.deny[0]"),
        (r#"{"tools":{"audit":1}}"#, "tools.audit"),
    ] {
        assert_eq!(Config::from_json(config.as_bytes()).unwrap_err().path, path);
    }
}

#[test]
fn odd_tools_pass_as_they_are_and_what_has_no_name_is_refused() {
    for (tools, passes) in [
        (json!(7), true),
        (json!("x"), true),
        (json!(["x"]), true),
        (json!([]), true),
        (json!([{"type": "new"}]), true),
        (json!({"rm": 1}), false),
        (json!([7, null, "x"]), false),
        (json!([{"type": "function", "Function": {"Name": "rm"}}]), false),
        (json!([{"type": "function", "function": {"Name": "rm"}}]), false),
    ] {
        let mut host = host(POLICY);
        let request = chat(&json!({ "tools": tools, "tool_choice": [1] }));
        let passed = host.exchange(&request, &answer());
        assert_eq!(passed.sent == Some(request.body), passes, "{tools}");
        let reason = (!passes).then_some("unreadable; cause=shape");
        assert_eq!(passed.header("x-sentinel-reason"), reason, "{tools}");
    }
}

/// A name that only looks like another, or in another case, is denied as that one is.
#[test]
fn a_denied_name_is_denied_however_it_is_written() {
    for name in ["rm", "RM", " rm", "r\u{200b}m", "ｒｍ", "rм", "DROP_all"] {
        let mut host = host(POLICY);
        let request = chat(
            &json!({"tools": [{"type": "function", "function": {"name": name}}, {"type": "function", "function": {"name": "ls"}}]}),
        );
        assert_eq!(tools_of(&host.exchange(&request, &answer())), ["ls"], "{name:?}");
        let mut host = self::host(POLICY);
        let refused = host.exchange(&mcp(&call(1, name)), &answer());
        assert_eq!(refused.sent, None, "{name:?}");
    }
    // What is allowed is allowed by its own name alone.
    let mut only = host(r#"{"tools":{"allow":[{"name":"ls"}]}}"#);
    let request = chat(
        &json!({"tools": [{"type": "function", "function": {"name": "LS"}}, {"type": "function", "function": {"name": "ls"}}]}),
    );
    assert_eq!(tools_of(&only.exchange(&request, &answer())), ["ls"]);
}

/// Anthropic's settings of single tools of a server: what they leave out follows the server's own, so a denied tool is switched off, and
/// the others stay as they were.
#[test]
fn a_denied_tool_of_a_server_is_switched_off_in_its_settings() {
    let sent = |configs: &str| {
        let set = format!(r#"{{"type":"mcp_toolset","mcp_server_name":"notes","configs":{configs}}}"#);
        let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":"x"}}],"tools":[{set}]}}"#);
        let sent = host(POLICY).exchange(&ClientRequest::post("/v1/messages", body), &answer()).sent.unwrap();
        let sent: Value = serde_json::from_slice(&sent).unwrap();
        sent["tools"][0]["configs"].to_string()
    };
    let off = r#"{"ls":{"defer_loading":true},"rm":{"enabled":false}}"#;
    for configs in [
        r#"{"ls":{"defer_loading":true},"rm":{"enabled":true}}"#,
        r#"{"ls":{"defer_loading":true},"rm":{}}"#,
        r#"{"ls":{"defer_loading":true},"rm":null}"#,
        r#"{"ls":{"defer_loading":true},"\u0072m":{"enabled":true}}"#,
        r#"{"ls":{"defer_loading":true},"rm":{"enabled":false}}"#,
    ] {
        assert_eq!(sent(configs), off, "{configs}");
    }
    assert_eq!(sent(r#"{"rm":{"enabled":true}}"#), r#"{"rm":{"enabled":false}}"#);
}

/// Where a request may offer tools or ask models besides the usual places.
#[test]
fn tools_and_models_in_less_known_places() {
    let post = |path: &str, body: &Value| ClientRequest::post(path, body.to_string());
    let mut host = host(
        r#"{"tools":{"deny":[{"name":"rm"},{"name":"mcp:files"}]},"mcp":{"paths":[{"prefix":"/mcp"}]}}"#,
    );
    let function = json!([{"type": "function", "name": "rm", "parameters": {}}]);
    let server = json!([{"mcpServers": [{"name": "files"}]}, {"mcpServers": [{"name": "notes"}]}]);
    for (path, body, denied) in [
        ("/responses", json!({"model": "m", "input": "x", "tools": function}), "rm"),
        ("/openai/responses?api-version=1", json!({"model": "m", "input": "x", "tools": function}), "rm"),
        ("/v1beta/models/m:generateContent", json!({"contents": [], "tools": server}), "files"),
        (
            "/v1/chat/completions",
            json!({"model": "m", "messages": [], "tools": [{"type": "function", "function": {"name": "r\u{fffd}m"}}]}),
            "\u{fffd}",
        ),
    ] {
        let sent = host.exchange(&post(path, &body), &answer()).sent.unwrap();
        let sent = String::from_utf8(sent).unwrap();
        assert!(!sent.contains(denied), "{path}: {sent}");
        assert_eq!(sent.contains("notes"), body.to_string().contains("notes"));
    }
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "rm"}});
    assert!(host.exchange(&post("/MCP", &call), &answer()).reply.is_some());

    let mut host = self::host(r#"{"models":[{"prefix":"small-"}]}"#);
    let chat = |tool: Value| json!({"model": "small-1", "messages": [{"role": "user", "content": "x"}], "tools": [tool]});
    for (tool, is_denied) in [
        (json!({"type": "advisor", "name": "advisor", "model": "big-1"}), true),
        (json!({"type": "advisor", "name": "advisor", "model": "small-2"}), false),
        (
            json!({"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"model": {"type": "string"}}}}}),
            false,
        ),
    ] {
        let done = host.exchange(&post("/v1/chat/completions", &chat(tool.clone())), &answer());
        assert_eq!(done.reply.is_some(), is_denied, "{tool}");
    }
}
