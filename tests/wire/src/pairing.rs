//! Histories that the providers refuse because calls and results do not pair: wrong order, duplicate ids, messages
//! without content. Written from the providers' documents and error messages.

use std::collections::HashSet;

use serde_json::Value;

use crate::Dialect;

/// Why the provider refuses a request, if it does.
pub fn complaint(dialect: Dialect, body: &Value) -> Option<String> {
    match dialect {
        Dialect::OpenaiChat => chat(list(&body["messages"])),
        Dialect::OpenaiResponses => responses(body),
        Dialect::Anthropic | Dialect::VertexAnthropic => {
            (body.get("thread").is_none()).then(|| anthropic(list(&body["messages"]))).flatten()
        }
        Dialect::Gemini => {
            let is_whole = body.get("cachedContent").is_none();
            is_whole.then(|| gemini(list(&body["contents"]))).flatten()
        }
        Dialect::GeminiInteractions => interactions(body),
        Dialect::Bedrock => bedrock(list(&body["messages"])),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn chat(messages: &[Value]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut done: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            let id = text(&message["tool_call_id"]);
            if done.contains(&id) {
                return Some(format!(
                    "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', in messages[{at}]."
                ));
            }
            let Some(call) = open.iter().position(|open| *open == id) else {
                return Some(format!(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls', at messages[{at}]."
                ));
            };
            done.push(open.remove(call));
            continue;
        }
        if !open.is_empty() {
            break;
        }
        done.clear();
        open = list(&message["tool_calls"]).iter().map(|call| text(&call["id"])).collect();
        if open.iter().collect::<HashSet<_>>().len() != open.len() {
            return Some(format!("Invalid parameter: duplicate tool call ids in messages[{at}]."));
        }
    }
    (!open.is_empty()).then(|| {
        format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
            open.join(", ")
        )
    })
}

fn responses(body: &Value) -> Option<String> {
    let items = list(&body["input"]);
    let is_part = body.get("conversation").is_some()
        || body.get("previous_response_id").is_some()
        || items.iter().any(|item| item["type"] == "item_reference");
    if is_part {
        return None;
    }
    let is = |item: &Value, kinds: [&str; 2]| kinds.contains(&text(&item["type"]));
    let mut calls: Vec<&str> = Vec::new();
    let mut answered: HashSet<&str> = HashSet::new();
    for item in items {
        let id = text(&item["call_id"]);
        if is(item, ["function_call", "custom_tool_call"]) {
            calls.push(id);
        } else if is(item, ["function_call_output", "custom_tool_call_output"]) {
            if !calls.contains(&id) {
                return Some(format!("No tool call found for function call output with call_id {id}."));
            }
            answered.insert(id);
        }
    }
    let missing = calls.into_iter().find(|id| !answered.contains(id));
    missing.map(|id| format!("No tool output found for function call {id}."))
}

fn interactions(body: &Value) -> Option<String> {
    if body.get("previous_interaction_id").is_some_and(|id| !id.is_null()) {
        return None;
    }
    let steps = list(&body["input"]);
    let mut calls: Vec<&str> = Vec::new();
    let mut answered: HashSet<&str> = HashSet::new();
    for step in steps {
        let id = text(&step["call_id"]);
        match text(&step["type"]) {
            "function_call" => calls.push(text(&step["id"])),
            "function_result" if calls.contains(&id) => drop(answered.insert(id)),
            "function_result" => return Some(format!("No function call has the id {id}.")),
            _ => {}
        }
    }
    // The calls of the last turn may lack their results.
    let is_models =
        |step: &&Value| matches!(text(&step["type"]), "function_call" | "model_output" | "thought");
    let tail = steps.iter().rev().take_while(is_models);
    let tail: Vec<&str> = tail.map(|step| text(&step["id"])).collect();
    let missing = calls.into_iter().find(|id| !answered.contains(id) && !tail.contains(id));
    missing.map(|id| format!("The function call {id} has no result."))
}

/// Merges consecutive messages of one side: their blocks in order.
fn turns<'a>(messages: &'a [Value], content: &str, model: &str) -> Vec<(bool, Vec<&'a Value>)> {
    let mut turns: Vec<(bool, Vec<&Value>)> = Vec::new();
    for message in messages {
        let is_models = message["role"] == model;
        let blocks: Vec<&Value> = match &message[content] {
            Value::Array(blocks) => blocks.iter().collect(),
            other => vec![other],
        };
        match turns.last_mut().filter(|turn| turn.0 == is_models) {
            Some(turn) => turn.1.extend(blocks),
            None => turns.push((is_models, blocks)),
        }
    }
    turns
}

fn anthropic(messages: &[Value]) -> Option<String> {
    if messages.first().is_some_and(|message| message["role"] != "user") {
        return Some("messages: first message must use the \"user\" role".to_owned());
    }
    if messages.iter().any(|message| message["content"].as_array().is_some_and(Vec::is_empty)) {
        return Some("messages: all messages must have non-empty content".to_owned());
    }
    let mut ids: HashSet<&str> = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, (is_models, blocks)) in turns(messages, "content", "assistant").iter().enumerate() {
        let mut is_late = false;
        for block in blocks {
            if block["type"] == "text" && block["text"] == "" {
                return Some(format!("messages.{at}: text content blocks must be non-empty"));
            }
            if block["type"] != "tool_result" {
                is_late = true;
                continue;
            }
            let id = text(&block["tool_use_id"]);
            let call = open.iter().position(|open| *open == id && !is_models);
            let Some(call) = call.filter(|_| !is_late) else {
                return Some(format!(
                    "messages.{at}.content: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                ));
            };
            open.remove(call);
        }
        if !open.is_empty() {
            break;
        }
        for block in blocks.iter().filter(|block| *is_models && block["type"] == "tool_use") {
            let id = text(&block["id"]);
            if !ids.insert(id) {
                return Some(format!("messages.{at}.content: `tool_use` ids must be unique"));
            }
            open.push(id);
        }
    }
    (!open.is_empty()).then(|| {
        format!(
            "messages: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
            open.join(", ")
        )
    })
}

fn gemini(contents: &[Value]) -> Option<String> {
    if contents.iter().any(|content| content["parts"].as_array().is_some_and(Vec::is_empty)) {
        return Some("contents.parts must not be empty.".to_owned());
    }
    let has = |part: &Value, names: [&str; 2]| names.iter().any(|name| part.get(name).is_some());
    let mut called = 0;
    for (is_models, parts) in turns(contents, "parts", "model") {
        let count = |names: [&str; 2]| parts.iter().filter(|part| has(part, names)).count();
        let responses = count(["functionResponse", "function_response"]);
        if responses != if is_models { 0 } else { called } {
            return Some(
                "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.".to_owned(),
            );
        }
        called = if is_models { count(["functionCall", "function_call"]) } else { 0 };
    }
    None
}

fn bedrock(messages: &[Value]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let is_models = message["role"] == "assistant";
        if is_models != (at % 2 == 1) {
            return Some(format!(
                "A conversation must alternate between user and assistant roles, at messages.{at}."
            ));
        }
        let blocks = list(&message["content"]);
        if blocks.is_empty() {
            return Some(format!("The content field in the Message object at messages.{at} is empty."));
        }
        let ids = |block: &str| -> Vec<&str> {
            let ids = blocks.iter().filter_map(|found| found.get(block));
            let mut ids: Vec<&str> = ids.map(|found| text(&found["toolUseId"])).collect();
            ids.sort_unstable();
            ids
        };
        let (calls, results) = (ids("toolUse"), ids("toolResult"));
        if calls.windows(2).chain(results.windows(2)).any(|pair| pair[0] == pair[1]) {
            return Some(format!("The blocks at messages.{at}.content contain duplicate Ids."));
        }
        if open != results {
            return Some(format!(
                "The toolResult blocks at messages.{at}.content do not match the toolUse blocks of previous turn."
            ));
        }
        open = calls;
    }
    (!open.is_empty()).then(|| "Expected toolResult blocks after the last message.".to_owned())
}
