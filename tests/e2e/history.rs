//! A tool-calling run as it grows, in the words of each dialect, and what its provider demands of a history: written from
//! the providers' documentation, not from the filter's code.
//! What must not live here: what the filter is expected to do with it.

use sentinel_tests::Dialect;
use sentinel_tests::dialect::VERTEX_VERSION;
use sentinel_tests::provider::{bedrock, gemini_interactions};
use serde_json::{Value, json};

/// One call of a turn. `arguments` is the text of a JSON object, kept as it stands: key order and spaces are the agent's.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub tool: &'a str,
    pub arguments: &'a str,
    pub result: &'a str,
}

/// The history of one run. Every call has an id of its own, as with the real providers.
#[derive(Clone)]
pub struct Run {
    pub dialect: Dialect,
    items: Vec<String>,
    calls: usize,
    /// Results are lists of text blocks, as MCP tools give them; Gemini's are under `result`, as its SDKs write them.
    in_blocks: bool,
}

impl Run {
    /// It begins with a question.
    pub fn new(dialect: Dialect, question: &str) -> Self {
        let mut run = Self { dialect, items: Vec::new(), calls: 0, in_blocks: false };
        run.user(question);
        run
    }

    pub fn in_blocks(mut self) -> Self {
        self.in_blocks = true;
        self
    }

    pub fn user(&mut self, text: &str) {
        self.items.push(self.dialect.message("user", text).to_string());
    }

    /// The assistant's own words, without a call.
    pub fn assistant(&mut self, text: &str) {
        self.items.push(self.dialect.message("assistant", text).to_string());
    }

    /// A turn with one call, and its result.
    pub fn step(&mut self, tool: &str, arguments: &str, result: &str) {
        self.turn(&[Call { tool, arguments, result }]);
    }

    /// A turn with several calls at once, and their results.
    pub fn turn(&mut self, calls: &[Call]) {
        let numbered: Vec<(String, &Call)> = calls
            .iter()
            .enumerate()
            .map(|(at, call)| (format!("call_{:04}", self.calls + at), call))
            .collect();
        self.calls += calls.len();
        let joined = |write: &dyn Fn(&str, &Call) -> String| {
            numbered.iter().map(|(id, call)| write(id, call)).collect::<Vec<_>>().join(",")
        };
        let (dialect, in_blocks) = (self.dialect, self.in_blocks);
        let result = |text: &str| result_of(dialect, in_blocks, text);
        match self.dialect {
            Dialect::OpenaiChat => {
                let asked = joined(&|id, call| {
                    let function = json!({"name": call.tool, "arguments": call.arguments});
                    json!({"id": id, "type": "function", "function": function}).to_string()
                });
                self.items.push(format!(r#"{{"role":"assistant","content":null,"tool_calls":[{asked}]}}"#));
                self.items.extend(numbered.iter().map(|(id, call)| {
                    json!({"role": "tool", "tool_call_id": id, "content": result(call.result)}).to_string()
                }));
            }
            Dialect::OpenaiResponses => {
                self.items.extend(numbered.iter().map(|(id, call)| {
                    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": call.tool,
                        "arguments": call.arguments, "status": "completed"})
                    .to_string()
                }));
                self.items.extend(numbered.iter().map(|(id, call)| {
                    json!({"type": "function_call_output", "call_id": id, "output": result(call.result)})
                        .to_string()
                }));
            }
            Dialect::Anthropic | Dialect::VertexAnthropic => {
                let asked = joined(&|id, Call { tool, arguments, .. }| {
                    format!(r#"{{"type":"tool_use","id":"{id}","name":"{tool}","input":{arguments}}}"#)
                });
                let told = joined(&|id, call| {
                    json!({"type": "tool_result", "tool_use_id": id, "content": result(call.result)})
                        .to_string()
                });
                self.items.push(format!(r#"{{"role":"assistant","content":[{asked}]}}"#));
                self.items.push(format!(r#"{{"role":"user","content":[{told}]}}"#));
            }
            Dialect::Bedrock => {
                let asked = joined(&|id, Call { tool, arguments, .. }| {
                    format!(r#"{{"toolUse":{{"toolUseId":"{id}","name":"{tool}","input":{arguments}}}}}"#)
                });
                let told = joined(&|id, call| {
                    json!({"toolResult": {"toolUseId": id, "content": result(call.result)}}).to_string()
                });
                self.items.push(format!(r#"{{"role":"assistant","content":[{asked}]}}"#));
                self.items.push(format!(r#"{{"role":"user","content":[{told}]}}"#));
            }
            Dialect::GeminiInteractions => {
                self.items.extend(numbered.iter().map(|(id, Call { tool, arguments, .. })| {
                    format!(
                        r#"{{"type":"function_call","id":"{id}","name":"{tool}","arguments":{arguments}}}"#
                    )
                }));
                self.items.extend(numbered.iter().map(|(id, call)| {
                    json!({"type": "function_result", "call_id": id, "name": call.tool, "result": result(call.result)})
                        .to_string()
                }));
            }
            Dialect::Gemini => {
                let asked = joined(&|_, Call { tool, arguments, .. }| {
                    format!(r#"{{"functionCall":{{"name":"{tool}","args":{arguments}}}}}"#)
                });
                let told = joined(&|_, call| {
                    let response = result(call.result);
                    json!({"functionResponse": {"name": call.tool, "response": response}}).to_string()
                });
                self.items.push(format!(r#"{{"role":"model","parts":[{asked}]}}"#));
                self.items.push(format!(r#"{{"role":"user","parts":[{told}]}}"#));
            }
        }
    }

    /// The request that the agent sends now.
    pub fn body(&self, stream: bool) -> String {
        let history = self.items.join(", ");
        let stream = if stream { ", \"stream\": true" } else { "" };
        match self.dialect {
            Dialect::OpenaiChat => format!(r#"{{"model": "gpt-4o-mini"{stream}, "messages": [{history}]}}"#),
            Dialect::OpenaiResponses => {
                format!(r#"{{"model": "gpt-4o-mini"{stream}, "input": [{history}], "store": false}}"#)
            }
            Dialect::Anthropic => {
                format!(
                    r#"{{"model": "claude-sonnet-4-5", "max_tokens": 256{stream}, "messages": [{history}]}}"#
                )
            }
            Dialect::Gemini => format!(r#"{{"contents": [{history}]}}"#),
            Dialect::GeminiInteractions => {
                format!(
                    r#"{{"model": "gemini-3-flash-preview"{stream}, "input": [{history}], "store": false}}"#
                )
            }
            Dialect::Bedrock => {
                format!(r#"{{"messages": [{history}], "inferenceConfig": {{"maxTokens": 256}}}}"#)
            }
            Dialect::VertexAnthropic => {
                format!(
                    r#"{{"anthropic_version": "{VERTEX_VERSION}", "max_tokens": 256{stream}, "messages": [{history}]}}"#
                )
            }
        }
    }
}

/// A result as the agent's framework writes it.
fn result_of(dialect: Dialect, in_blocks: bool, text: &str) -> Value {
    match (in_blocks, dialect) {
        (false, Dialect::Gemini) => json!({"output": text}),
        (true, Dialect::Gemini) => json!({"result": text}),
        // There are no others.
        (_, Dialect::Bedrock) => json!([{"text": text}]),
        (false, _) => json!(text),
        (true, Dialect::OpenaiResponses) => json!([{"type": "input_text", "text": text}]),
        (true, _) => json!([{"type": "text", "text": text}]),
    }
}

/// The turns of a request.
fn turns(dialect: Dialect, body: &Value) -> Vec<Value> {
    let name = dialect.turns();
    body[name].as_array().cloned().unwrap_or_else(|| panic!("{dialect:?}: no history in {body}"))
}

/// What the model reads last, where a hint of this dialect belongs: after the last result of a tool.
/// Empty where nothing has been added to that result.
pub fn told_after_the_last_result(dialect: Dialect, body: &Value, result: &str) -> String {
    let last = turns(dialect, body).pop().expect("a history");
    let (text, of_its_own) = match dialect {
        Dialect::OpenaiChat => {
            assert_eq!(last["role"], "tool", "{last}");
            last_text(&last["content"])
        }
        Dialect::OpenaiResponses => {
            assert_eq!(last["type"], "function_call_output", "{last}");
            last_text(&last["output"])
        }
        Dialect::GeminiInteractions => {
            assert_eq!(last["type"], "function_result", "{last}");
            last_text(&last["result"])
        }
        Dialect::Bedrock => {
            let result = last["content"].as_array().and_then(|blocks| blocks.last()).expect("blocks");
            last_text(&result["toolResult"]["content"])
        }
        Dialect::Anthropic | Dialect::VertexAnthropic => {
            assert_eq!(last["role"], "user", "{last}");
            let block = last["content"].as_array().and_then(|blocks| blocks.last()).expect("blocks").clone();
            (block["text"].as_str().unwrap_or_default().to_owned(), true)
        }
        Dialect::Gemini => {
            let part = last["parts"].as_array().and_then(|parts| parts.last()).expect("parts").clone();
            let response = &part["functionResponse"]["response"];
            assert_eq!(response["output"], result, "the result itself: {last}");
            (response["sentinel_hint"].as_str().unwrap_or_default().to_owned(), true)
        }
    };
    if of_its_own {
        return text;
    }
    let added = text.strip_prefix(result).unwrap_or_else(|| panic!("the result does not come first: {text}"));
    added.trim_start().to_owned()
}

/// A text, or the last text of a list of several; and whether it stands apart from what was there.
fn last_text(content: &Value) -> (String, bool) {
    match content {
        Value::Array(parts) if parts.len() > 1 => {
            let text = parts.last().and_then(|part| part["text"].as_str()).unwrap_or_default();
            (text.to_owned(), true)
        }
        Value::Array(parts) => {
            (parts.first().and_then(|part| part["text"].as_str()).unwrap_or_default().to_owned(), false)
        }
        other => (other.as_str().unwrap_or_default().to_owned(), false),
    }
}

/// The provider would take this history: it answers 400 to a call without its result or a result without its call.
pub fn assert_valid(dialect: Dialect, body: &Value) {
    let turns = turns(dialect, body);
    match dialect {
        Dialect::OpenaiChat => chat(&turns),
        Dialect::OpenaiResponses => responses(&turns),
        Dialect::Anthropic | Dialect::VertexAnthropic => anthropic(&turns),
        Dialect::Bedrock => {
            let complaint = bedrock::complaint(body.to_string().as_bytes());
            assert_eq!(complaint, None, "the provider would not take it");
        }
        Dialect::Gemini => gemini(&turns),
        Dialect::GeminiInteractions => {
            let complaint = gemini_interactions::complaint(body.to_string().as_bytes());
            assert_eq!(complaint, None, "the provider would not take it");
        }
    }
}

/// A turn with calls is followed at once by one tool message for each, and tool messages stand nowhere else.
fn chat(turns: &[Value]) {
    let mut open: Vec<String> = Vec::new();
    for turn in turns {
        if turn["role"] == "tool" {
            let id = turn["tool_call_id"].as_str().expect("an id");
            let at = open.iter().position(|open| open == id);
            open.remove(at.unwrap_or_else(|| panic!("a result without its call: {turn}")));
        } else {
            assert!(open.is_empty(), "a call without its result before {turn}");
            open = texts(turn["tool_calls"].as_array().into_iter().flatten(), "id");
        }
    }
    assert!(open.is_empty(), "calls without results at the end: {open:?}");
}

fn responses(turns: &[Value]) {
    let of = |kind: &str| texts(turns.iter().filter(|turn| turn["type"] == kind), "call_id");
    assert_eq!(of("function_call"), of("function_call_output"), "calls and outputs");
    let mut asked: Vec<&Value> = Vec::new();
    for turn in turns {
        match turn["type"].as_str() {
            Some("function_call") => asked.push(&turn["call_id"]),
            Some("function_call_output") => {
                assert!(asked.contains(&&turn["call_id"]), "comes too early: {turn}")
            }
            _ => assert!(turn["role"].is_string(), "neither an item nor a message: {turn}"),
        }
    }
}

/// Roles alternate; the message after calls begins with their results, and other blocks come after all of them.
fn anthropic(turns: &[Value]) {
    let mut open: Vec<String> = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        assert_eq!(
            turn["role"],
            if at % 2 == 0 { "user" } else { "assistant" },
            "the roles alternate: {turn}"
        );
        let blocks = turn["content"].as_array().cloned().unwrap_or_default();
        let results = blocks.iter().take_while(|block| block["type"] == "tool_result").count();
        assert!(
            blocks.iter().skip(results).all(|block| block["type"] != "tool_result"),
            "results do not come first: {turn}"
        );
        assert_eq!(
            texts(blocks.iter().take(results), "tool_use_id"),
            open,
            "results of the turn before: {turn}"
        );
        open = texts(blocks.iter().filter(|block| block["type"] == "tool_use"), "id");
    }
    assert!(open.is_empty(), "calls without results at the end: {open:?}");
}

/// "The number of function response parts is equal to the number of function call parts of the function call turn."
fn gemini(turns: &[Value]) {
    let mut open: Vec<String> = Vec::new();
    for turn in turns {
        let parts = turn["parts"].as_array().expect("parts");
        let of = |kind: &str| texts(parts.iter().filter_map(|part| part.get(kind)), "name");
        assert_eq!(of("functionResponse"), open, "responses to the turn before: {turn}");
        assert!(open.is_empty() || parts.len() == open.len(), "a part beside the responses: {turn}");
        open = of("functionCall");
    }
    assert!(open.is_empty(), "calls without responses at the end: {open:?}");
}

fn texts<'a>(of: impl Iterator<Item = &'a Value>, name: &str) -> Vec<String> {
    of.map(|value| value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}")).to_owned())
        .collect()
}
