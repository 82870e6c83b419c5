//! Repair, compared with what the providers refuse. A history that the provider accepts does not change, except for
//! second results of a call. One that it refuses because of its calls and results is accepted after the repair, and a
//! second repair changes nothing.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

use proptest::prelude::*;
use sentinel_llm_api::{
    dialect::DialectRef,
    edit::apply,
    outline::{Changes, MISSING, Repaired, repair},
    registry::{by_label, read},
};
use sentinel_wire::{Dialect, pairing::complaint, text};
use serde_json::{Value, json};

/// A message of either side: calls or results by their ids, and whether there is text before or behind them.
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

/// A history in the format of a dialect.
fn body(dialect: Dialect, history: &[Message]) -> Value {
    let messages: Vec<String> = history.iter().flat_map(|message| written(dialect, message)).collect();
    serde_json::from_str(&text::body(dialect, &messages.join(","))).unwrap()
}

/// A message, which is several items if its text, calls and results are items of their own.
fn written(dialect: Dialect, message: &Message) -> Vec<String> {
    let side = if message.is_models { "assistant" } else { "user" };
    let words = format!("words of the {side}");
    let tool = |id: &&str| match message.is_models {
        true => text::call(dialect, id, "look", "{}"),
        false => text::result(dialect, id, "look", &format!("result of {id}")),
    };
    let tools: Vec<String> = message.tools.iter().map(tool).collect();
    let are_items = match message.is_models {
        true => text::calling(dialect, "").is_empty(),
        false => text::answering(dialect, "").is_empty(),
    };
    let has_content_beside_calls = dialect == Dialect::OpenaiChat && message.is_models;
    if has_content_beside_calls && !tools.is_empty() {
        let calls = tools.join(",");
        return vec![format!(r#"{{"role":"assistant","content":"{words}","tool_calls":[{calls}]}}"#)];
    }
    let text = match are_items || has_content_beside_calls {
        true => text::said(dialect, side, &words),
        false => text::part(dialect, side, &words),
    };
    let before = message.is_said_before.then(|| text.clone());
    let behind = (!message.is_said_before && message.has_words()).then_some(text);
    let all: Vec<String> = before.into_iter().chain(tools).chain(behind).collect();
    if are_items || has_content_beside_calls {
        all
    } else {
        vec![text::content(dialect, side, &all.join(","))]
    }
}

/// The filter's reader of it.
fn read_by(dialect: Dialect) -> DialectRef {
    by_label(dialect.label()).unwrap()
}

fn repaired(dialect: DialectRef, body: &str) -> (String, Repaired) {
    let conversation = read(dialect, body.as_bytes()).unwrap();
    let outline = conversation.outline().unwrap();
    let mut changes = Changes::of(&outline);
    let done = repair(&mut changes);
    let edits = changes.edits();
    assert_eq!(edits.is_empty(), done == Repaired::default(), "{edits:?} {done:?}");
    (String::from_utf8(apply(body, &edits).unwrap()).unwrap(), done)
}

/// The repaired body and the number of repairs. The provider must accept the body.
fn mended(dialect: Dialect, history: &[Message]) -> (Value, Repaired) {
    let before = body(dialect, history);
    let (after, done) = repaired(read_by(dialect), &before.to_string());
    let after: Value = serde_json::from_str(&after).unwrap();
    assert_eq!(complaint(dialect, &after), None, "{before}\n{after}");
    (after, done)
}

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
    for dialect in Dialect::ALL {
        assert_eq!(mended(dialect, &history).1, Repaired::default(), "{dialect}");
    }
    // The last calls may lack their results in some dialects.
    for dialect in Dialect::ALL {
        let may_wait = matches!(dialect, Dialect::Gemini | Dialect::GeminiInteractions);
        let made = usize::from(!may_wait);
        assert_eq!(mended(dialect, &[user(""), calls(&["a"])]).1.made, made, "{dialect}");
    }
}

#[test]
fn each_fault_is_mended_in_its_way() {
    for dialect in Dialect::ALL {
        let (after, done) =
            mended(dialect, &[user(""), calls(&["a", "b"]), results(&["a"]), calls(&[]), user("")]);
        assert_eq!(done, Repaired { made: 1, ..Repaired::default() }, "{dialect}");
        assert_eq!(after.to_string().matches(MISSING).count(), 1, "{after}");
        let (after, done) =
            mended(dialect, &[user(""), calls(&["a"]), results(&["x"]), calls(&[]), user("")]);
        // For Gemini only the number of results counts.
        if dialect != Dialect::Gemini {
            assert_eq!(done, Repaired { made: 1, dropped: 1, ..Repaired::default() }, "{dialect}");
            assert!(!after.to_string().contains("result of x"), "{after}");
        }
        let (after, done) = mended(dialect, &[user(""), calls(&[]), results(&["x"]), calls(&[]), user("")]);
        assert_eq!(done, Repaired { dropped: 1, ..Repaired::default() }, "{dialect}");
        assert!(!after.to_string().contains("result of x"), "{after}");
    }
}

#[test]
fn a_result_in_the_wrong_place_is_moved_and_keeps_its_words() {
    let late = [user(""), calls(&["a"]), user(""), calls(&[]), results(&["a"]), calls(&[]), user("")];
    let early = [user(""), calls(&[]), results(&["a"]), calls(&["a"]), user("")];
    for dialect in Dialect::ALL {
        let anywhere = matches!(dialect, Dialect::OpenaiResponses | Dialect::GeminiInteractions);
        let (after, done) = mended(dialect, &late);
        assert_eq!(done.moved, usize::from(!anywhere), "{dialect}");
        assert!(after.to_string().contains("result of a") && !after.to_string().contains(MISSING), "{after}");
        let (after, done) = mended(dialect, &early);
        assert_eq!((done.moved, done.made), (1, 0), "{dialect}");
        assert!(after.to_string().contains("result of a"), "{after}");
    }
    let (after, done) = mended(
        Dialect::Anthropic,
        &[user(""), calls(&["a"]), Message { is_said_before: true, ..results(&["a"]) }],
    );
    assert_eq!(done.moved, 1);
    assert_eq!(after["messages"][2]["content"][0]["type"], "tool_result");
}

#[test]
fn an_id_that_names_two_calls_is_made_two() {
    let twice = [user(""), calls(&["a", "a"]), results(&["a", "a"]), calls(&[]), user("")];
    for dialect in [Dialect::OpenaiChat, Dialect::Anthropic, Dialect::Bedrock] {
        let (after, done) = mended(dialect, &twice);
        assert_eq!(done, Repaired { renamed: 1, ..Repaired::default() }, "{dialect}");
        assert_eq!(after.to_string().matches("\"a_2\"").count(), 2, "{after}");
    }
    let again = [user(""), calls(&["a"]), results(&["a"]), calls(&["a"]), results(&["a"])];
    assert_eq!(mended(Dialect::Anthropic, &again).1.renamed, 1);
    assert_eq!(
        mended(Dialect::OpenaiChat, &again).1,
        Repaired::default(),
        "there an id belongs to its message"
    );
    // If results may stand anywhere, two calls with one id keep two results.
    for dialect in [Dialect::OpenaiResponses, Dialect::GeminiInteractions] {
        for history in [&twice, &again] {
            assert_eq!(mended(dialect, history).1, Repaired::default(), "{dialect}");
        }
        let (after, done) = mended(
            dialect,
            &[user(""), calls(&["a"]), results(&["a"]), calls(&[]), user(""), results(&["a"]), calls(&[])],
        );
        assert_eq!(done, Repaired { dropped: 1, ..Repaired::default() }, "{dialect}: it may come much later");
        assert_eq!(after.to_string().matches("result of a").count(), 1, "{after}");
    }
    let two_results = [user(""), calls(&["a"]), results(&["a", "a"]), calls(&[])];
    let of_one_call = Dialect::ALL.into_iter().filter(|dialect| *dialect != Dialect::Gemini);
    for dialect in of_one_call {
        assert_eq!(
            mended(dialect, &two_results).1,
            Repaired { dropped: 1, ..Repaired::default() },
            "{dialect}"
        );
    }
}

#[test]
fn a_message_of_which_nothing_is_left_goes_where_it_may() {
    let (after, _) =
        mended(Dialect::Anthropic, &[user(""), calls(&[]), results(&["x"]), user(""), calls(&[]), user("")]);
    assert_eq!(after["messages"].as_array().unwrap().len(), 5, "a neighbour speaks for the user");
    for dialect in [Dialect::Anthropic, Dialect::Bedrock] {
        let (after, _) = mended(dialect, &[results(&["x"]), calls(&[]), user("")]);
        assert_eq!(after["messages"].as_array().unwrap().len(), 3, "sides must take turns: {after}");
    }
}

#[test]
fn reasoning_stays_only_in_front_of_what_it_led_to() {
    let items = |kinds: &str| {
        let item = |(at, kind): (usize, char)| match kind {
            'u' => format!(r#"{{"role":"user","content":"{at}"}}"#),
            'a' => format!(r#"{{"role":"assistant","content":"{at}"}}"#),
            'r' => format!(r#"{{"type":"reasoning","id":"rs_{at}","summary":[]}}"#),
            'c' => r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#.to_owned(),
            's' => format!(r#"{{"type":"web_search_call","id":"ws_{at}","status":"completed"}}"#),
            _ => r#"{"type":"function_call_output","call_id":"c","output":"x"}"#.to_owned(),
        };
        let list: Vec<_> = kinds.chars().enumerate().map(item).collect();
        format!(r#"{{"input":[{}]}}"#, list.join(","))
    };
    let responses = by_label("openai_responses").unwrap();
    for (kinds, left) in [
        ("urcou", "urcou"),
        ("urrcou", "urrcou"),
        ("urscou", "urscou"),
        ("urau", "urau"),
        ("urou", "uu"),
        ("uroucou", "uucou"),
        ("urucou", "uucou"),
        ("ucorru", "ucou"),
        ("ucor", "uco"),
    ] {
        let (after, _) = repaired(responses, &items(kinds));
        let after: Value = serde_json::from_str(&after).unwrap();
        let kind = |item: &Value| match item["type"].as_str().or(item["role"].as_str()) {
            Some("function_call_output") => 'o',
            Some("web_search_call") => 's',
            Some("function_call") => 'c',
            known => known.and_then(|name| name.chars().next()).unwrap(),
        };
        let said: String = after["input"].as_array().unwrap().iter().map(kind).collect();
        assert_eq!(said, left, "{kinds}");
    }
}

#[test]
fn what_the_provider_keeps_is_left_alone() {
    let orphan = json!({"type": "function_call_output", "call_id": "a", "output": "x"});
    let call = json!({"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"});
    let bodies = [
        (Dialect::OpenaiResponses, json!({"previous_response_id": "resp_1", "input": [orphan, call]})),
        (Dialect::OpenaiResponses, json!({"conversation": "conv_1", "input": [orphan]})),
        (Dialect::OpenaiResponses, json!({"input": [{"type": "item_reference", "id": "fc_1"}, orphan]})),
        (
            Dialect::OpenaiResponses,
            json!({"input": [{"type": "web_search_call", "id": "ws_1"}, {"type": "computer_call_output", "call_id": "c", "output": {}}]}),
        ),
        (
            Dialect::GeminiInteractions,
            json!({"previous_interaction_id": "v1_1", "input": [{"type": "function_result", "call_id": "a", "result": "x"}]}),
        ),
        (
            Dialect::Gemini,
            json!({"cachedContent": "c/1", "contents": [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]}),
        ),
        (
            Dialect::Anthropic,
            json!({"thread": {"previous_message_id": "msg_1"}, "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]}),
        ),
        (
            Dialect::Anthropic,
            json!({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]}]}),
        ),
        (
            Dialect::OpenaiChat,
            json!({"messages": [{"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}}, {"role": "function", "name": "f", "content": "x"}]}),
        ),
    ];
    for (dialect, body) in bodies {
        assert_eq!(repaired(read_by(dialect), &body.to_string()).1, Repaired::default(), "{body}");
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

/// Whether an id has more results than calls before them. Responses and Interactions accept that, and the model reads
/// two results of one call.
fn has_a_second_result(history: &[Message]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    history.iter().flat_map(|message| message.tools.iter().map(|id| (message.is_models, *id))).any(
        |(is_call, id)| {
            if is_call {
                open.push(id);
                return false;
            }
            let place = open.iter().position(|known| *known == id);
            place.map(|at| open.remove(at)).is_none()
        },
    )
}

/// A history begins with the user. Bedrock requires the sides to alternate.
fn alternating(mut history: Vec<Message>) -> Vec<Message> {
    history.insert(0, user(""));
    history.dedup_by_key(|message| message.is_models);
    history
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_history_is_taken_afterwards(history in prop::collection::vec(message(), 0..9), pretty in any::<bool>()) {
        for dialect in Dialect::ALL {
            let mut history = if dialect == Dialect::Bedrock { alternating(history.clone()) } else { history.clone() };
            if history.first().is_none_or(|message| message.is_models) {
                history.insert(0, user(""));
            }
            let before = body(dialect, &history);
            let text = if pretty { serde_json::to_string_pretty(&before).unwrap() } else { before.to_string() };
            let (after, _) = repaired(read_by(dialect), &text);
            if complaint(dialect, &before).is_none() && !has_a_second_result(&history) {
                prop_assert_eq!(&text, &after, "{}: what is taken is changed", dialect);
            }
            let after_value: Value = serde_json::from_str(&after).unwrap();
            prop_assert_eq!(complaint(dialect, &after_value), None, "{}\n{}\n{}", dialect, before, after);
            prop_assert_eq!(&repaired(read_by(dialect), &after).0, &after, "{}: repaired twice", dialect);
        }
    }
}
