//! What responses say they took, and what it cost: tokens by kind and model, prices from the configuration, and what
//! kills have saved.

use sentinel_harness::client;
use sentinel_harness::{Dialect, Stack};
use serde_json::json;

use crate::support::QUESTION;
use sentinel_wire::Run;

/// Input and output tokens that the mock provider reports in each answer.
const REPORTED: (u64, u64) = (12, 9);

fn prices() -> serde_json::Value {
    json!({"semantic": {"enabled": false}, "prices": [
        {"name": "gpt-4o-mini", "input": 0.15, "output": 0.6},
        {"prefix": "claude-", "input": 3.0, "output": 15.0},
        {"prefix": "us.anthropic.claude-", "input": 3.3, "output": 16.5},
    ]})
}

#[tokio::test]
async fn tokens_and_costs_by_model_in_json_and_in_streams() {
    let mut stack = Stack::builder().config(&prices()).start();
    let (input, output) = REPORTED;
    for dialect in Dialect::ALL {
        // Models without a price are counted together.
        let asked = Run::new(dialect, QUESTION).body(false) + dialect.path(false);
        let priced = ["us.anthropic.claude-", "claude-", "gpt-4o-mini"];
        let model = priced.into_iter().find(|model| asked.contains(model)).unwrap_or("other");
        let tokens = |kind| stack.count("sentinel_tokens_used_total", &[("kind", kind), ("model", model)]);
        let before = (tokens("input"), tokens("output"));
        for (stream, agent) in
            [(false, None), (true, None), (false, Some("spender")), (true, Some("spender"))]
        {
            let agent = agent.map(|agent| format!("{agent} {dialect:?}"));
            let headers: Vec<_> = agent.iter().map(|agent| ("x-agent-id", agent.as_str())).collect();
            let body = match (dialect, stream) {
                // A chat stream reports its usage only where it is asked for.
                (Dialect::OpenaiChat, true) => json!({"model": "gpt-4o-mini", "stream": true,
                    "stream_options": {"include_usage": true}, "messages": [{"role": "user", "content": QUESTION}]})
                .to_string(),
                _ => Run::new(dialect, QUESTION).body(stream),
            };
            let response = client::post(stack.address(), dialect.path(stream), &headers, body).await;
            assert_eq!(response.status, 200, "{dialect:?}");
        }
        let after = (tokens("input"), tokens("output"));
        assert_eq!((after.0 - before.0, after.1 - before.1), (4 * input, 4 * output), "{dialect:?}");
    }
    let cost = |model| stack.count("sentinel_costs_nanousd_total", &[("model", model)]);
    assert_eq!(cost("gpt-4o-mini"), 8 * (12 * 150 + 9 * 600));
    assert_eq!(cost("claude-"), 8 * (12 * 3_000 + 9 * 15_000));
    assert_eq!(cost("us.anthropic.claude-"), 4 * (12 * 3_300 + 9 * 16_500));
    assert_eq!(cost("other"), 0);
    stack.assert_sound();
}

#[tokio::test]
async fn a_kill_saves_at_least_its_input() {
    let mut stack = Stack::builder().config(&prices()).start();
    let mut run = Run::new(Dialect::OpenaiChat, QUESTION);
    for _ in 0..5 {
        run.step("search", r#"{"query": "ledger"}"#, "error: no such table");
    }
    let body = run.body(false);
    let tokens = body.len() as u64 / 4;
    let response = client::post(stack.address(), Dialect::OpenaiChat.path(false), &[], body).await;
    assert_eq!(response.verdict(), "kill");
    assert_eq!(stack.count("sentinel_saved_nanousd_total", &[]), tokens * 150);
    stack.assert_sound();
}
