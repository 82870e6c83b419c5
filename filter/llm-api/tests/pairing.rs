//! Repair, held against what the providers refuse: a history that is taken stays as it is, one that is refused for its calls
//! and results is taken after it, and repaired once it is not touched again.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

#[path = "../../../tests/src/provider/pairing.rs"]
mod pairing;

use pairing::complaint;
use proptest::prelude::*;
use sentinel_llm_api::{
    dialect::DialectRef,
    edit::apply,
    outline::{Changes, MISSING, Repaired, repair},
    registry::ALL,
};
use serde_json::{Value, json};

/// A message of either side: calls or results by their ids, and whether words stand before or behind them.
#[derive(Clone, Debug)]
struct Message {
    is_models: bool,
    tools: Vec<&'static str>,
    is_said_before: bool,
    is_said_behind: bool,
}

impl Message {
    fn has_words(&self) -> bool {
        self.is_said_before || self.is_said_behind || self.tools.is_empty()
    }
}

fn user(text: &str) -> Message {
    let (is_said_before, is_said_behind) = (text == "before", text == "behind");
    Message { is_models: false, tools: Vec::new(), is_said_before, is_said_behind }
}

fn results(tools: &[&'static str]) -> Message {
    Message { tools: tools.to_vec(), ..user("") }
}

fn calls(tools: &[&'static str]) -> Message {
    Message { is_models: true, ..results(tools) }
}

/// A history in the words of a dialect.
fn body(dialect: DialectRef, history: &[Message]) -> Value {
    let mut messages = Vec::new();
    for message in history {
        let words = |side: &str| format!("words of the {side}");
        match dialect.label() {
            "openai_chat" => chat(&mut messages, message, &words),
            "openai_responses" => responses(&mut messages, message, &words),
            "gemini_interactions" => steps(&mut messages, message, &words),
            label => messages.push(blocks(label, message, &words)),
        }
    }
    match dialect.label() {
        "openai_responses" | "gemini_interactions" => json!({"model": "m", "input": messages}),
        "gemini" => json!({"contents": messages}),
        _ => json!({"model": "m", "messages": messages}),
    }
}

fn chat(messages: &mut Vec<Value>, message: &Message, words: &dyn Fn(&str) -> String) {
    if message.is_models {
        let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}});
        let calls: Vec<Value> = message.tools.iter().map(call).collect();
        let mut said = json!({"role": "assistant", "content": words("model")});
        if !calls.is_empty() {
            said["tool_calls"] = calls.into();
        }
        messages.push(said);
        return;
    }
    let text = json!({"role": "user", "content": words("user")});
    let told = |id: &&str| json!({"role": "tool", "tool_call_id": id, "content": format!("result of {id}")});
    messages.extend(message.is_said_before.then(|| text.clone()));
    messages.extend(message.tools.iter().map(told));
    messages.extend((!message.is_said_before && message.has_words()).then_some(text));
}

fn responses(items: &mut Vec<Value>, message: &Message, words: &dyn Fn(&str) -> String) {
    let side = if message.is_models { "assistant" } else { "user" };
    let text = json!({"role": side, "content": words(side)});
    let tool = |id: &&str| match message.is_models {
        true => json!({"type": "function_call", "call_id": id, "name": "look", "arguments": "{}"}),
        false => json!({"type": "function_call_output", "call_id": id, "output": format!("result of {id}")}),
    };
    items.extend(message.is_said_before.then(|| text.clone()));
    items.extend(message.tools.iter().map(tool));
    items.extend((!message.is_said_before && message.has_words()).then_some(text));
}

fn steps(steps: &mut Vec<Value>, message: &Message, words: &dyn Fn(&str) -> String) {
    let kind = if message.is_models { "model_output" } else { "user_input" };
    let text = json!({"type": kind, "content": [{"type": "text", "text": words(kind)}]});
    let tool = |id: &&str| match message.is_models {
        true => json!({"type": "function_call", "id": id, "name": "look", "arguments": {}}),
        false => json!({"type": "function_result", "call_id": id, "result": format!("result of {id}")}),
    };
    steps.extend(message.is_said_before.then(|| text.clone()));
    steps.extend(message.tools.iter().map(tool));
    steps.extend((!message.is_said_before && message.has_words()).then_some(text));
}

fn blocks(label: &str, message: &Message, words: &dyn Fn(&str) -> String) -> Value {
    let told = |id: &str| format!("result of {id}");
    let tool = |id: &&str| match (label, message.is_models) {
        ("bedrock", true) => json!({"toolUse": {"toolUseId": id, "name": "look", "input": {}}}),
        ("bedrock", false) => json!({"toolResult": {"toolUseId": id, "content": [{"text": told(id)}]}}),
        ("gemini", true) => json!({"functionCall": {"id": id, "name": "look", "args": {}}}),
        ("gemini", false) => {
            json!({"functionResponse": {"id": id, "name": "look", "response": {"output": told(id)}}})
        }
        (_, true) => json!({"type": "tool_use", "id": id, "name": "look", "input": {}}),
        (_, false) => json!({"type": "tool_result", "tool_use_id": id, "content": told(id)}),
    };
    let text = match label {
        "bedrock" | "gemini" => json!({"text": words("message")}),
        _ => json!({"type": "text", "text": words("message")}),
    };
    let mut blocks = Vec::new();
    blocks.extend(message.is_said_before.then(|| text.clone()));
    blocks.extend(message.tools.iter().map(tool));
    blocks.extend((!message.is_said_before && message.has_words()).then_some(text));
    match (label, message.is_models) {
        ("gemini", true) => json!({"role": "model", "parts": blocks}),
        ("gemini", false) => json!({"role": "user", "parts": blocks}),
        (_, true) => json!({"role": "assistant", "content": blocks}),
        (_, false) => json!({"role": "user", "content": blocks}),
    }
}

fn repaired(dialect: DialectRef, body: &str) -> (String, Repaired) {
    let outline = dialect.outline(body).unwrap();
    let mut changes = Changes::of(&outline);
    let done = repair(&mut changes);
    let edits = changes.edits();
    assert_eq!(edits.is_empty(), done == Repaired::default(), "{edits:?} {done:?}");
    (String::from_utf8(apply(body, &edits).unwrap()).unwrap(), done)
}

/// The body afterwards, and what was done; the provider takes it.
fn mended(label: &str, history: &[Message]) -> (Value, Repaired) {
    let dialect = ALL.into_iter().find(|dialect| dialect.label() == label).unwrap();
    let before = body(dialect, history);
    let (after, done) = repaired(dialect, &before.to_string());
    let after: Value = serde_json::from_str(&after).unwrap();
    assert_eq!(complaint(label, &after), None, "{before}\n{after}");
    (after, done)
}

const LABELS: [&str; 7] = [
    "openai_chat",
    "openai_responses",
    "anthropic",
    "gemini",
    "gemini_interactions",
    "bedrock",
    "vertex_anthropic",
];

#[test]
fn what_is_in_order_is_not_touched() {
    let history = [
        user(""),
        calls(&["a", "b"]),
        results(&["b", "a"]),
        calls(&["c"]),
        results(&["c"]),
        calls(&[]),
        user(""),
    ];
    for label in LABELS {
        assert_eq!(mended(label, &history).1, Repaired::default(), "{label}");
    }
    // Where the last calls may wait for their results, they wait.
    for (label, made) in LABELS.iter().map(|label| (*label, usize::from(!label.starts_with("gemini")))) {
        assert_eq!(mended(label, &[user(""), calls(&["a"])]).1.made, made, "{label}");
    }
}

#[test]
fn each_fault_is_mended_in_its_way() {
    for label in LABELS {
        let (after, done) =
            mended(label, &[user(""), calls(&["a", "b"]), results(&["a"]), calls(&[]), user("")]);
        assert_eq!(done, Repaired { made: 1, ..Repaired::default() }, "{label}");
        assert_eq!(after.to_string().matches(MISSING).count(), 1, "{after}");
        let (after, done) = mended(label, &[user(""), calls(&["a"]), results(&["x"]), calls(&[]), user("")]);
        // Of Gemini's results only the number counts.
        if label != "gemini" {
            assert_eq!(done, Repaired { made: 1, dropped: 1, ..Repaired::default() }, "{label}");
            assert!(!after.to_string().contains("result of x"), "{after}");
        }
        let (after, done) = mended(label, &[user(""), calls(&[]), results(&["x"]), calls(&[]), user("")]);
        assert_eq!(done, Repaired { dropped: 1, ..Repaired::default() }, "{label}");
        assert!(!after.to_string().contains("result of x"), "{after}");
    }
}

#[test]
fn a_result_in_the_wrong_place_is_moved_and_keeps_its_words() {
    let late = [user(""), calls(&["a"]), user(""), calls(&[]), results(&["a"]), calls(&[]), user("")];
    let early = [user(""), calls(&[]), results(&["a"]), calls(&["a"]), user("")];
    for label in LABELS {
        let anywhere = matches!(label, "openai_responses" | "gemini_interactions");
        let (after, done) = mended(label, &late);
        assert_eq!(done.moved, usize::from(!anywhere), "{label}");
        assert!(after.to_string().contains("result of a") && !after.to_string().contains(MISSING), "{after}");
        let (after, done) = mended(label, &early);
        assert_eq!((done.moved, done.made), (1, 0), "{label}");
        assert!(after.to_string().contains("result of a"), "{after}");
    }
    let (after, done) =
        mended("anthropic", &[user(""), calls(&["a"]), Message { is_said_before: true, ..results(&["a"]) }]);
    assert_eq!(done.moved, 1);
    assert_eq!(after["messages"][2]["content"][0]["type"], "tool_result");
}

#[test]
fn an_id_that_names_two_calls_is_made_two() {
    let twice = [user(""), calls(&["a", "a"]), results(&["a", "a"]), calls(&[]), user("")];
    for label in ["openai_chat", "anthropic", "bedrock"] {
        let (after, done) = mended(label, &twice);
        assert_eq!(done, Repaired { renamed: 1, ..Repaired::default() }, "{label}");
        assert_eq!(after.to_string().matches("\"a_2\"").count(), 2, "{after}");
    }
    let again = [user(""), calls(&["a"]), results(&["a"]), calls(&["a"]), results(&["a"])];
    assert_eq!(mended("anthropic", &again).1.renamed, 1);
    assert_eq!(mended("openai_chat", &again).1, Repaired::default(), "there an id belongs to its message");
    let two_results = [user(""), calls(&["a"]), results(&["a", "a"]), calls(&[])];
    for label in ["openai_chat", "anthropic", "bedrock"] {
        assert_eq!(mended(label, &two_results).1, Repaired { dropped: 1, ..Repaired::default() }, "{label}");
    }
}

#[test]
fn a_message_of_which_nothing_is_left_goes_where_it_may() {
    let (after, _) =
        mended("anthropic", &[user(""), calls(&[]), results(&["x"]), user(""), calls(&[]), user("")]);
    assert_eq!(after["messages"].as_array().unwrap().len(), 5, "a neighbour speaks for the user");
    for label in ["anthropic", "bedrock"] {
        let (after, _) = mended(label, &[results(&["x"]), calls(&[]), user("")]);
        assert_eq!(after["messages"].as_array().unwrap().len(), 3, "sides must take turns: {after}");
    }
}

#[test]
fn what_the_provider_keeps_is_left_alone() {
    let orphan = json!({"type": "function_call_output", "call_id": "a", "output": "x"});
    let call = json!({"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"});
    let bodies = [
        ("openai_responses", json!({"previous_response_id": "resp_1", "input": [orphan, call]})),
        ("openai_responses", json!({"conversation": "conv_1", "input": [orphan]})),
        ("openai_responses", json!({"input": [{"type": "item_reference", "id": "fc_1"}, orphan]})),
        (
            "openai_responses",
            json!({"input": [{"type": "web_search_call", "id": "ws_1"}, {"type": "computer_call_output", "call_id": "c", "output": {}}]}),
        ),
        (
            "gemini_interactions",
            json!({"previous_interaction_id": "v1_1", "input": [{"type": "function_result", "call_id": "a", "result": "x"}]}),
        ),
        (
            "gemini",
            json!({"cachedContent": "c/1", "contents": [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]}),
        ),
        (
            "anthropic",
            json!({"thread": {"previous_message_id": "msg_1"}, "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]}),
        ),
        (
            "anthropic",
            json!({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]}]}),
        ),
        (
            "openai_chat",
            json!({"messages": [{"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}}, {"role": "function", "name": "f", "content": "x"}]}),
        ),
    ];
    for (label, body) in bodies {
        let dialect = ALL.into_iter().find(|dialect| dialect.label() == label).unwrap();
        assert_eq!(repaired(dialect, &body.to_string()).1, Repaired::default(), "{body}");
    }
}

fn message() -> impl Strategy<Value = Message> {
    let id = prop::sample::select(vec!["a", "b", "c", "d"]);
    (any::<bool>(), prop::collection::vec(id, 0..4), any::<bool>(), any::<bool>()).prop_map(
        |(is_models, tools, is_said_before, is_said_behind)| Message {
            is_models,
            tools,
            is_said_before,
            is_said_behind,
        },
    )
}

/// A history begins with the user. Bedrock wants sides to take turns.
fn alternating(mut history: Vec<Message>) -> Vec<Message> {
    history.insert(0, user(""));
    history.dedup_by_key(|message| message.is_models);
    history
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_history_is_taken_afterwards(history in prop::collection::vec(message(), 0..9), pretty in any::<bool>()) {
        for dialect in ALL {
            let label = dialect.label();
            let mut history = if label == "bedrock" { alternating(history.clone()) } else { history.clone() };
            if history.first().is_none_or(|message| message.is_models) {
                history.insert(0, user(""));
            }
            let before = body(dialect, &history);
            let text = if pretty { serde_json::to_string_pretty(&before).unwrap() } else { before.to_string() };
            let (after, _) = repaired(dialect, &text);
            if complaint(label, &before).is_none() {
                prop_assert_eq!(&text, &after, "{}: what is taken is changed", label);
            }
            let after_value: Value = serde_json::from_str(&after).unwrap();
            prop_assert_eq!(complaint(label, &after_value), None, "{}\n{}\n{}", label, before, after);
            prop_assert_eq!(&repaired(dialect, &after).0, &after, "{}: repaired twice", label);
        }
    }
}
