//! Properties of the reader and of edits, on generated and on damaged bodies.

#[path = "support/only_the_hint.rs"]
mod only_the_hint;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9f64).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A body with the keys that matter, each with a likely or an odd value.
fn body() -> impl Strategy<Value = Value> {
    let text = || prop_oneof![any::<String>().prop_map(Value::from), Just(json!("plain words"))];
    let part = prop_oneof![
        text().prop_map(|text| json!({"type": "text", "text": text})),
        text().prop_map(|text| json!({"text": text})),
        Just(json!({"type": "tool_result", "tool_use_id": "t", "content": []})),
        Just(json!({"type": "image_url", "image_url": {"url": "data:x"}})),
        Just(json!({"functionResponse": {"name": "f", "response": {}}})),
        Just(json!({"toolResult": {"toolUseId": "t", "content": []}})),
        text().prop_map(|text| json!({"toolResult": {"content": [{"text": text}], "status": "error"}})),
        any_json(),
    ];
    let content =
        || prop_oneof![text(), prop::collection::vec(part.clone(), 0..4).prop_map(Value::from), any_json()];
    let id = prop::sample::select(vec!["a", "b", ""]);
    let calls = prop_oneof![
        3 => prop::collection::vec(id.clone(), 0..3).prop_map(|ids| {
            ids.into_iter().map(|id| json!({"id": id, "type": "function", "function": {"name": "f"}})).collect::<Value>()
        }),
        1 => any_json(),
    ];
    let item = prop_oneof![
        id.clone().prop_map(|id| json!({"type": "function_call", "call_id": id, "id": id, "name": "f"})),
        (id.clone(), text()).prop_map(
            |(id, told)| json!({"type": "function_call_output", "call_id": id, "output": told})
        ),
        (id.clone(), any_json()).prop_map(
            |(id, told)| json!({"type": "function_result", "call_id": id, "result": told})
        ),
        (id.clone(), text()).prop_map(
            |(id, told)| json!({"role": "tool", "tool_call_id": id, "content": told})
        ),
        (calls, text()).prop_map(
            |(calls, said)| json!({"role": "assistant", "content": said, "tool_calls": calls})
        ),
        prop::collection::vec(id.clone(), 0..3).prop_map(|ids| {
            let block = |id| json!({"type": "tool_use", "id": id, "toolUse": {"toolUseId": id}, "functionCall": {"id": id, "name": "f"}});
            let blocks: Value = ids.into_iter().map(block).collect();
            json!({"role": "assistant", "content": blocks, "parts": blocks})
        }),
        prop::collection::vec((id, text()), 0..3).prop_map(|results| {
            let block = |(id, told): (&str, Value)| {
                let content = json!([{"text": told, "type": "text"}]);
                json!({"type": "tool_result", "tool_use_id": id, "content": told, "toolResult": {"toolUseId": id, "content": content},
                    "functionResponse": {"id": id, "name": "f", "response": {"output": told}}})
            };
            let blocks: Value = results.into_iter().map(block).collect();
            json!({"role": "user", "content": blocks, "parts": blocks})
        }),
    ];
    let role = prop::sample::select(vec!["user", "assistant", "system", "developer", "tool", "model", ""]);
    let message = (role, content(), content())
        .prop_map(|(role, content, parts)| json!({"role": role, "content": content, "parts": parts}));
    let messages = prop_oneof![
        4 => prop::collection::vec(message, 0..5).prop_map(Value::from),
        4 => prop::collection::vec(item, 0..7).prop_map(Value::from),
        1 => any_json(),
    ];
    let instruction = prop_oneof![
        Just(Value::Null),
        text(),
        content().prop_map(|parts| json!({"parts": parts})),
        content(),
        any_json(),
    ];
    let name = prop::sample::select(vec!["f", "g2", "del", "mcp:x1", ""]);
    let tool = prop_oneof![
        name.clone().prop_map(|name| json!({"type": "function", "function": {"name": name}})),
        name.clone().prop_map(|name| json!({"type": "function", "name": name})),
        name.clone().prop_map(|name| json!({"toolSpec": {"name": name}})),
        name.clone().prop_map(
            |name| json!({"functionDeclarations": [{"name": name}, {"name": "h"}], "googleSearch": {}})
        ),
        name.clone().prop_map(
            |name| json!({"type": "namespace", "name": "ns", "tools": [{"name": name}, {"name": "k"}]})
        ),
        Just(json!({"type": "web_search"})),
        Just(json!({"cachePoint": {"type": "default"}})),
        any_json(),
    ];
    let tools = prop_oneof![4 => prop::collection::vec(tool, 0..4).prop_map(Value::from), 1 => any_json()];
    let choice = prop_oneof![
        prop::sample::select(vec!["auto", "none", "required", "any"]).prop_map(Value::from),
        name.clone().prop_map(|name| json!({"type": "function", "function": {"name": name}})),
        name.clone().prop_map(|name| json!({"type": "tool", "name": name})),
        name.prop_map(|name| json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": name}]})),
        Just(json!({"functionCallingConfig": {"mode": "AUTO", "allowedFunctionNames": ["f", "g2"]}})),
        Just(json!({"tool_choice": {"allowed_tools": {"mode": "auto", "tools": ["f", "g2"]}}})),
        any_json(),
    ];
    let config = (tools.clone(), choice.clone())
        .prop_map(|(tools, choice)| json!({"tools": tools, "toolChoice": choice}));
    let key = prop::sample::select(vec![
        "tools",
        "tool_choice",
        "toolConfig",
        "generation_config",
        "messages",
        "input",
        "contents",
        "system",
        "instructions",
        "systemInstruction",
        "system_instruction",
    ]);
    let value = prop_oneof![messages, instruction, content(), tools, choice, config];
    (
        prop::collection::vec((key, value), 0..6),
        prop::collection::btree_map(any::<String>(), any_json(), 0..3),
    )
        .prop_map(|(known, others)| {
            let known = known.into_iter().map(|(key, value)| (key.to_owned(), value));
            Value::Object(known.chain(others).collect::<Map<_, _>>())
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_body_is_changed_by_the_hint_alone(body in body(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&body) } else { serde_json::to_string(&body) };
        only_the_hint::check(text.unwrap().as_bytes()).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn so_is_a_damaged_one(body in body(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = body.to_string().into_bytes();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        only_the_hint::check(&bytes).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn so_are_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        only_the_hint::check(&bytes).map_err(TestCaseError::fail)?;
    }
}
