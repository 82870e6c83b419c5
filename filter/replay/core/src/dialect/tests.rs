//! Each form against what the provider's documentation shows, and all of them against each other.

use sentinel_detect::history::{Reach, Reading};
use sentinel_detect::signal::StepsPolicy;
use sentinel_llm_api::registry::{by_label, read};
use serde_json::{Value, json};

use super::*;

fn call(id: &str, name: &str, arguments: &str) -> RecordedCall {
    RecordedCall { id: id.into(), name: name.into(), arguments: arguments.into() }
}

fn assistant(text: &str, calls: Vec<RecordedCall>) -> MessageContent {
    MessageContent::Assistant { text: text.into(), calls }
}

fn result(call: &str, name: &str, text: &str) -> MessageContent {
    MessageContent::Result { call: call.into(), name: name.into(), text: text.into() }
}

/// Everything that a history can hold: two calls at once, whose results come the other way round.
fn history() -> Vec<RecordedMessage> {
    [
        MessageContent::Instruction("Be brief.".into()),
        MessageContent::User("Look around.".into()),
        assistant("I look.", vec![call("call:1", "look", r#"{"b": 1, "a": [2]}"#), call("c2", "list", "")]),
        result("c2", "list", "two files"),
        result("call:1", "look", r#"{"seen": "a wall", "at": 1.50}"#),
        assistant("A wall.", vec![]),
        MessageContent::User("Go on.".into()),
        assistant("", vec![call("c3", "look", r#"{"b":2}"#)]),
        result("c3", "look", "nothing"),
        MessageContent::User("Wait.".into()),
    ]
    .map(RecordedMessage::new)
    .to_vec()
}

fn sent(dialect: Dialect) -> Value {
    serde_json::from_str(&request(dialect, &history())).expect("JSON")
}

#[test]
fn chat() {
    let body = sent(Dialect::OpenaiChat);
    assert_eq!(
        body["messages"].as_array().expect("a list")[1..4],
        [
            json!({"role": "user", "content": "Look around."}),
            json!({"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "call:1", "type": "function", "function": {"name": "look", "arguments": "{\"b\": 1, \"a\": [2]}"}},
                {"id": "c2", "type": "function", "function": {"name": "list", "arguments": ""}}]}),
            json!({"role": "tool", "tool_call_id": "c2", "content": "two files"}),
        ]
    );
    assert_eq!(body["messages"][7]["content"], Value::Null);
}

#[test]
fn responses() {
    let body = sent(Dialect::OpenaiResponses);
    assert_eq!(body["instructions"], "Be brief.");
    assert_eq!(
        body["input"].as_array().expect("a list")[..5],
        [
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look around."}]}),
            json!({"type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
                "content": [{"type": "output_text", "text": "I look.", "annotations": []}]}),
            json!({"type": "function_call", "id": "fc_1_0", "call_id": "call:1", "name": "look",
                "arguments": "{\"b\": 1, \"a\": [2]}", "status": "completed"}),
            json!({"type": "function_call", "id": "fc_1_1", "call_id": "c2", "name": "list", "arguments": "",
                "status": "completed"}),
            json!({"type": "function_call_output", "call_id": "c2", "output": "two files"}),
        ]
    );
}

#[test]
fn anthropic() {
    let body = sent(Dialect::Anthropic);
    assert_eq!(body["system"], "Be brief.");
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Look around."}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "call_1", "name": "look", "input": {"b": 1, "a": [2]}},
                {"type": "tool_use", "id": "c2", "name": "list", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c2", "content": "two files"},
                {"type": "tool_result", "tool_use_id": "call_1", "content": "{\"seen\": \"a wall\", \"at\": 1.50}"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "A wall."}]},
            {"role": "user", "content": [{"type": "text", "text": "Go on."}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c3", "name": "look", "input": {"b": 2}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c3", "content": "nothing"},
                {"type": "text", "text": "Wait."}]},
        ])
    );
}

#[test]
fn gemini() {
    let body = sent(Dialect::Gemini);
    assert_eq!(body["systemInstruction"], json!({"parts": [{"text": "Be brief."}]}));
    assert_eq!(
        body["contents"],
        json!([
            {"role": "user", "parts": [{"text": "Look around."}]},
            {"role": "model", "parts": [
                {"text": "I look."},
                {"functionCall": {"name": "look", "args": {"b": 1, "a": [2]}}},
                {"functionCall": {"name": "list", "args": {}}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "look", "response": {"seen": "a wall", "at": 1.50}}},
                {"functionResponse": {"name": "list", "response": {"result": "two files"}}}]},
            {"role": "model", "parts": [{"text": "A wall."}]},
            {"role": "user", "parts": [{"text": "Go on."}]},
            {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"b": 2}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"result": "nothing"}}}]},
            {"role": "user", "parts": [{"text": "Wait."}]},
        ])
    );
}

#[test]
fn gemini_interactions() {
    let body = sent(Dialect::GeminiInteractions);
    assert_eq!(body["system_instruction"], "Be brief.");
    assert_eq!(body["store"], false);
    let said = |kind: &str, text: &str| json!({"type": kind, "content": [{"type": "text", "text": text}]});
    assert_eq!(
        body["input"],
        json!([
            said("user_input", "Look around."),
            said("model_output", "I look."),
            {"type": "function_call", "id": "call:1", "name": "look", "arguments": {"b": 1, "a": [2]}},
            {"type": "function_call", "id": "c2", "name": "list", "arguments": {}},
            {"type": "function_result", "call_id": "c2", "name": "list", "result": "two files"},
            {"type": "function_result", "call_id": "call:1", "name": "look", "result": {"seen": "a wall", "at": 1.50}},
            said("model_output", "A wall."),
            said("user_input", "Go on."),
            {"type": "function_call", "id": "c3", "name": "look", "arguments": {"b": 2}},
            {"type": "function_result", "call_id": "c3", "name": "look", "result": "nothing"},
            said("user_input", "Wait."),
        ])
    );
}

#[test]
fn bedrock() {
    let body = sent(Dialect::Bedrock);
    assert_eq!(body["system"], json!([{"text": "Be brief."}]));
    assert_eq!(body["inferenceConfig"], json!({"maxTokens": 1024}));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [{"text": "Look around."}]},
            {"role": "assistant", "content": [
                {"text": "I look."},
                {"toolUse": {"toolUseId": "call:1", "name": "look", "input": {"b": 1, "a": [2]}}},
                {"toolUse": {"toolUseId": "c2", "name": "list", "input": {}}}]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "c2", "content": [{"text": "two files"}]}},
                {"toolResult": {"toolUseId": "call:1", "content": [{"json": {"seen": "a wall", "at": 1.50}}]}}]},
            {"role": "assistant", "content": [{"text": "A wall."}]},
            {"role": "user", "content": [{"text": "Go on."}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c3", "name": "look", "input": {"b": 2}}}]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "c3", "content": [{"text": "nothing"}]}},
                {"text": "Wait."}]},
        ])
    );
}

#[test]
fn vertex_anthropic() {
    let (mut body, anthropic) = (sent(Dialect::VertexAnthropic), sent(Dialect::Anthropic));
    assert_eq!(body["anthropic_version"], "vertex-2023-10-16");
    assert_eq!(body.get("model"), None, "the path names it");
    body.as_object_mut().expect("an object").remove("anthropic_version");
    body["model"] = anthropic["model"].clone();
    assert_eq!(body, anthropic);
}

#[test]
fn the_filter_reads_the_same_steps_from_every_dialect() {
    // Up to the last result: a user's word would end the steps.
    let mut history = history();
    history.truncate(5);
    let steps_of = |dialect: Dialect| {
        let body = request(dialect, &history);
        let filters = by_label(dialect.label()).expect("the filter has the dialect");
        let conversation = read(filters, body.as_bytes()).expect("it is read");
        let reading = Reading::of(&conversation, Reach::of(&StepsPolicy::default(), 0)).expect("it is read");
        let steps = reading.steps().all;
        let (count, first) = (steps.len(), &steps[0]);
        (count, reading.turns_alone, first.approach, first.tools, first.tool.to_owned())
    };
    let chat = steps_of(Dialect::OpenaiChat);
    assert_eq!((chat.0, chat.1), (1, 1));
    for dialect in Dialect::ALL {
        assert_eq!(chat, steps_of(dialect), "{dialect:?}");
    }
}

#[test]
fn the_answer_is_the_turn() {
    let turn = RecordedMessage::new(assistant("I look.", vec![call("c1", "look", r#"{"a":1}"#)]));
    let said = |dialect| serde_json::from_str::<Value>(&answer(dialect, &turn)).expect("JSON");
    let chat = said(Dialect::OpenaiChat);
    assert_eq!(chat["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "look");
    assert_eq!(chat["choices"][0]["finish_reason"], "tool_calls");
    let responses = said(Dialect::OpenaiResponses);
    assert_eq!(responses["output"][0]["content"][0]["text"], "I look.");
    assert_eq!(responses["output"][1]["arguments"], r#"{"a":1}"#);
    let anthropic = said(Dialect::Anthropic);
    assert_eq!(anthropic["content"][1]["input"], json!({"a": 1}));
    assert_eq!(anthropic["stop_reason"], "tool_use");
    assert_eq!(said(Dialect::VertexAnthropic), anthropic);
    let bedrock = said(Dialect::Bedrock);
    assert_eq!(bedrock["output"]["message"]["content"][1]["toolUse"]["input"], json!({"a": 1}));
    assert_eq!(bedrock["stopReason"], "tool_use");
    let interaction = said(Dialect::GeminiInteractions);
    assert_eq!(interaction["steps"][0]["content"][0]["text"], "I look.");
    assert_eq!(interaction["steps"][1]["arguments"], json!({"a": 1}));
    let gemini = said(Dialect::Gemini);
    assert_eq!(gemini["candidates"][0]["content"]["parts"][1]["functionCall"]["args"], json!({"a": 1}));
}

#[test]
fn arguments_become_an_object_and_keep_their_order() {
    for (arguments, becomes) in [
        (r#"{"b": 1, "a": 2}"#, r#"{"b": 1, "a": 2}"#),
        (r#""{\"b\":1,\"a\":2}""#, r#"{"b":1,"a":2}"#),
        ("", "{}"),
        ("  ", "{}"),
        ("[1, 2]", r#"{"arguments":[1, 2]}"#),
        ("ls -l", r#"{"arguments":"ls -l"}"#),
        (r#""ls""#, r#"{"arguments":"ls"}"#),
        ("{broken", r#"{"arguments":"{broken"}"#),
    ] {
        assert_eq!(object(arguments).get(), becomes, "{arguments}");
    }
}
