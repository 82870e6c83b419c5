//! Control of requests to MCP servers from end to end: their calls are turns of a run, with and without sessions.

use hyper::Method;
use sentinel_harness::client;
use serde_json::{Value, json};

use crate::control::{Operator, start_with, until};

fn call(id: u32, text: &str) -> Value {
    let params = json!({"name": "search_orders", "arguments": {"query": text}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// The run of this agent with its turns, once it has as many.
async fn run_of(operator: &Operator, agent: &str, turns: usize) -> Value {
    until("the run has its turns", async || {
        let path = format!("/v1/runs?agent={agent}");
        let runs = operator.ask(Method::GET, &path, &Value::Null).await;
        let id = runs["runs"].get(0)?["id"].as_str()?.to_owned();
        let run = operator.ask(Method::GET, &format!("/v1/runs/{id}"), &Value::Null).await;
        (run["turns"].as_array()?.len() == turns && run["run"]["status"] == "tools").then_some(run)
    })
    .await
}

#[tokio::test]
async fn calls_of_mcp_tools_are_turns_of_a_run_and_it_can_be_stopped() {
    let config = json!({"mcp": {"paths": [{"prefix": "/mcp"}]}});
    let (mut stack, operator) = start_with(&config, |builder| builder.workers(1));
    // Of protocol 2026-07-28, which has no sessions; and of those before it.
    let without_sessions: &[_] = &[
        ("x-agent-id", "new-client"),
        ("x-run-id", "task-1"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "search_orders"),
    ];
    let with_a_session: &[_] = &[("x-agent-id", "old-client"), ("mcp-session-id", "a-session")];
    for (agent, headers) in [("new-client", without_sessions), ("old-client", with_a_session)] {
        let post = async |body: Value| client::post(stack.address(), "/mcp", headers, body.to_string()).await;
        // None of these is a turn.
        for method in ["initialize", "tools/list"] {
            let body = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": {}});
            assert_eq!(post(body).await.status, 200, "{agent}");
        }
        for (id, text) in [(1, "order 17"), (2, "order 17"), (3, "order 18")] {
            assert_eq!(post(call(id, text)).await.status, 200, "{agent}");
        }
        let run = run_of(&operator, agent, 3).await;
        assert_eq!((&run["run"]["steps"], &run["run"]["repeated_steps"]), (&json!(3), &json!(1)), "{run}");
        let turns = run["turns"].as_array().cloned().unwrap_or_default();
        let digests: Vec<&Value> = turns
            .iter()
            .map(|turn| {
                assert_eq!(
                    (&turn["dialect"], &turn["status"], &turn["end"], &turn["priced"]),
                    (&json!("mcp"), &json!(200), &json!("results"), &json!("known")),
                    "{turn}"
                );
                assert_eq!(turn["steps"][0]["tool"], "search_orders", "{turn}");
                &turn["steps"][0]["arguments_digest"]
            })
            .collect();
        // The newest first.
        assert!(digests[0] != digests[1] && digests[1] == digests[2], "{run}");
        assert!(!run.to_string().contains("order 17") && !run.to_string().contains("a-session"), "{run}");

        let id = run["run"]["id"].as_str().expect("an id");
        let stop = json!({"author": "eve", "reason": "it asks too much"});
        operator.ask(Method::POST, &format!("/v1/runs/{id}/stop"), &stop).await;
        let mut n = 10;
        let stopped = until("the stop holds", async || {
            n += 1;
            let answer = post(call(n, &format!("order {n}"))).await;
            (answer.verdict() == "kill").then_some(answer)
        })
        .await;
        assert!(stopped.json()["result"].to_string().contains("it asks too much"), "{:?}", stopped.body);
        until("the run is stopped", async || {
            let run = operator.ask(Method::GET, &format!("/v1/runs/{id}"), &Value::Null).await;
            (run["run"]["status"] == "stopped").then_some(())
        })
        .await;
    }
    stack.assert_sound();
}
