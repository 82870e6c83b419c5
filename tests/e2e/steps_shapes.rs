//! Steps in histories of other shapes: results as lists of blocks, other spellings, and what is not in order at all.

use sentinel_harness::VERTEX_VERSION;
use sentinel_harness::client;
use sentinel_harness::provider::pairing;
use sentinel_harness::{Dialect, Stack};
use serde_json::{Value, json};

use crate::support::{CHAT, QUESTION, inserted};

const RESULT: &str = "error: the index is locked";

/// Results that are lists of blocks, and other spellings that the providers take.
#[tokio::test]
async fn results_of_other_shapes_are_hinted_in_their_place() {
    let mut stack = Stack::builder().start();
    let ids = ["a", "b", "c"];
    let history =
        |steps: &dyn Fn(&str) -> Vec<Value>| ids.iter().flat_map(|id| steps(id)).collect::<Vec<_>>();
    let mut chat = history(&|id| {
        let function = json!({"name": "search", "arguments": "{}"});
        let calls = json!([{"id": id, "type": "function", "function": function}]);
        let text = json!([{"type": "text", "text": RESULT}]);
        vec![
            json!({"role": "assistant", "tool_calls": calls}),
            json!({"role": "tool", "tool_call_id": id, "content": text}),
        ]
    });
    chat.insert(0, json!({"role": "user", "content": QUESTION}));
    let mut responses = history(&|id| {
        let output = json!([{"type": "input_text", "text": RESULT}]);
        vec![
            json!({"type": "reasoning", "id": format!("rs_{id}"), "summary": []}),
            json!({"type": "function_call", "call_id": id, "name": "search", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": id, "output": output}),
        ]
    });
    responses.insert(0, json!({"role": "user", "content": [{"type": "input_text", "text": QUESTION}]}));
    let mut anthropic = history(&|id| {
        let (asked, told) = (
            json!({"type": "tool_use", "id": id, "name": "search", "input": {}}),
            json!([{"type": "text", "text": RESULT}]),
        );
        vec![
            json!({"role": "assistant", "content": [{"type": "text", "text": "Once more."}, asked]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": told,
                "cache_control": {"type": "ephemeral"}}]}),
        ]
    });
    anthropic.insert(0, json!({"role": "user", "content": [{"type": "text", "text": QUESTION}]}));
    let mut gemini = history(&|id| {
        vec![
            json!({"role": "model", "parts": [{"function_call": {"id": id, "name": "search", "args": {}}}]}),
            json!({"role": "user", "parts": [{"function_response": {"id": id, "name": "search", "response": {"text": RESULT}}}]}),
        ]
    });
    gemini.insert(0, json!({"role": "user", "parts": [{"text": QUESTION}]}));
    let mut bedrock = history(&|id| {
        let told = json!({"toolUseId": id, "status": "error", "content": [{"json": {"said": RESULT}}]});
        vec![
            json!({"role": "assistant", "content": [{"text": "Once more."},
                {"toolUse": {"toolUseId": id, "name": "search", "input": {}}}]}),
            json!({"role": "user", "content": [{"toolResult": told}]}),
        ]
    });
    bedrock.insert(0, json!({"role": "user", "content": [{"text": QUESTION}]}));
    let bodies = [
        (
            Dialect::Bedrock,
            json!({"messages": bedrock, "system": [{"text": "Be brief."}]}),
            "/messages/6/content/0/toolResult/content/1/text",
        ),
        (
            Dialect::VertexAnthropic,
            json!({"anthropic_version": VERTEX_VERSION, "max_tokens": 9, "messages": anthropic.clone()}),
            "/messages/6/content/1/text",
        ),
        (Dialect::OpenaiChat, json!({"model": "m", "messages": chat}), "/messages/6/content/1/text"),
        (Dialect::OpenaiResponses, json!({"model": "m", "input": responses}), "/input/9/output/1/text"),
        (
            Dialect::Anthropic,
            json!({"model": "m", "max_tokens": 9, "messages": anthropic}),
            "/messages/6/content/1/text",
        ),
        (
            Dialect::Gemini,
            json!({"contents": gemini}),
            "/contents/6/parts/0/function_response/response/sentinel_hint",
        ),
    ];
    for (dialect, body, place) in bodies {
        let sent = body.to_string();
        let response = stack.post(dialect, &[], sent.clone()).await;
        assert_eq!(response.verdict(), "hint", "{dialect:?}: {}", response.reason());
        let got = stack.provider.last();
        assert!(inserted(sent.as_bytes(), &got.body).is_some(), "{dialect:?}: more than one insertion");
        let hint = got.json().pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned();
        assert!(hint.contains("`search`"), "{dialect:?}: no hint at {place}: {}", got.json());
    }
    stack.assert_sound();
}

/// Malformed histories: they cause neither a kill nor a fault, and only whole steps count as evidence.
#[tokio::test]
async fn histories_that_are_not_in_order() {
    let mut stack = Stack::builder().start();
    let call = |id: &str, arguments: Value| {
        json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function",
            "function": {"name": "search", "arguments": arguments}}]})
    };
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": RESULT});
    let told = |n: usize| json!({"role": "tool", "tool_call_id": "x", "content": format!("The text of page {n} of the book.")});
    let user = || json!({"role": "user", "content": QUESTION});
    let six = |pair: &dyn Fn(usize) -> Vec<Value>| {
        let mut messages = vec![user()];
        messages.extend((0..6).flat_map(pair));
        messages
    };
    let histories = [
        (
            "results before their calls",
            six(&|n| vec![result(&n.to_string()), call(&n.to_string(), json!("{}"))]),
        ),
        ("results of unknown calls", six(&|n| vec![call(&n.to_string(), json!("{}")), result("other")])),
        ("results alone", six(&|_| vec![result("nobody's")])),
        ("calls alone", six(&|n| vec![call(&n.to_string(), json!("{}"))])),
        ("arguments that are no text", six(&|n| vec![call("x", json!([n])), told(n)])),
        (
            "calls that are no list",
            six(&|_| vec![json!({"role": "assistant", "tool_calls": "none"}), result("x")]),
        ),
        (
            "blocks of another provider",
            six(&|n| {
                let id = n.to_string();
                vec![
                    json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "search", "input": {}}]}),
                    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": RESULT}]}),
                ]
            }),
        ),
        (
            "two thousand steps, all different",
            (0..2_000)
                .flat_map(|n| {
                    let id = n.to_string();
                    let text = format!("The text of page {n} of the book.");
                    [
                        call(&id, json!(format!("{{\"page\":{n}}}"))),
                        json!({"role": "tool", "tool_call_id": id, "content": text}),
                    ]
                })
                .collect(),
        ),
        (
            "arguments of half a megabyte that are no JSON",
            vec![user(), call("x", json!("{\"text\": ".repeat(50_000))), result("x")],
        ),
    ];
    for (what, messages) in histories {
        let body = json!({"model": "m", "messages": messages});
        // The provider itself refuses some of them; the filter lets all pass.
        let status = if pairing::complaint(CHAT, &body).is_some() { 400 } else { 200 };
        for agent in ["one", "two", "three"] {
            let sent = body.to_string();
            let response =
                client::post(stack.address(), CHAT.path(false), &[("x-agent-id", agent)], sent.clone()).await;
            assert_eq!(response.status, status, "{what}: {} {:?}", response.reason(), response.body);
            assert_eq!(stack.provider.last().body, sent, "{what}: {}", response.reason());
        }
    }
    stack.assert_sound();
}
