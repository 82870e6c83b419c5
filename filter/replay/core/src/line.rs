//! One line of a file of runs: JSON `{id, source, label, messages}`, `messages` a whole run in OpenAI chat form.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::history::{MessageContent, RecordedCall, RecordedMessage, RecordedRun};

#[derive(Deserialize)]
struct RunLine<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    source: String,
    label: String,
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
}

/// The fields of a chat message that matter here; others may be there.
#[derive(Deserialize)]
struct Chat {
    role: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    tool_calls: Option<Vec<ToolCall>>,
    /// The older form of `tool_calls`: one call, no id.
    #[serde(default)]
    function_call: Option<Function>,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    name: Option<String>,
}

#[derive(Deserialize)]
struct ToolCall {
    #[serde(default)]
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// The run of a line, and how many parts of its messages are no text (images and the like). Or what is wrong with the line.
pub fn run(line: &str) -> Result<(RecordedRun, usize), String> {
    let broken = |error: serde_json::Error| {
        if error.is_data() {
            format!(
                "not a run ({error}): it needs `id`, `source` and `label`, and `messages`, a list of objects."
            )
        } else {
            format!("not JSON ({error}).")
        }
    };
    let line: RunLine = serde_json::from_str(line).map_err(broken)?;
    let id = match serde_json::from_str(line.id.get()).map_err(broken)? {
        Value::String(id) => id,
        Value::Number(id) => id.to_string(),
        _ => return Err("`id` is neither a text nor a number.".to_owned()),
    };
    let mut reader = Reader::default();
    for (number, raw) in line.messages.iter().enumerate() {
        reader.message(raw).map_err(|problem| format!("`messages[{number}]`: {problem}"))?;
    }
    if !reader.messages.iter().any(RecordedMessage::is_assistant) {
        return Err("`messages` has no assistant turn: there is nothing to replay.".to_owned());
    }
    let RunLine { source, label, .. } = line;
    Ok((RecordedRun { id, source, label, messages: reader.messages }, reader.other_parts))
}

#[derive(Default)]
struct Reader {
    messages: Vec<RecordedMessage>,
    names: HashMap<String, String>,
    /// Calls of the older form, which have no id.
    nameless: usize,
    other_parts: usize,
}

impl Reader {
    fn message(&mut self, raw: &RawValue) -> Result<(), String> {
        let chat: Chat =
            serde_json::from_str(raw.get()).map_err(|error| format!("not a chat message ({error})."))?;
        let text = self.text(&chat.content)?;
        let said = match chat.role.as_str() {
            "system" | "developer" => MessageContent::Instruction(text),
            "user" => MessageContent::User(text),
            "assistant" => {
                MessageContent::Assistant { text, calls: self.calls(chat.tool_calls, chat.function_call) }
            }
            "tool" | "function" => {
                let call = chat.tool_call_id.unwrap_or_else(|| format!("function-{}", self.nameless));
                let name = self.names.get(&call).cloned().or(chat.name).unwrap_or_default();
                MessageContent::Result { call, name, text }
            }
            other => {
                return Err(format!(
                    "unknown role {other:?}: give system, developer, user, assistant, tool or function."
                ));
            }
        };
        self.messages.push(RecordedMessage { raw: raw.to_owned(), said });
        Ok(())
    }

    fn calls(&mut self, calls: Option<Vec<ToolCall>>, function: Option<Function>) -> Vec<RecordedCall> {
        let calls = calls.into_iter().flatten().map(|call| (call.id, call.function));
        let all: Vec<_> = calls.chain(function.map(|function| (None, function))).collect();
        let named = all.into_iter().map(|(id, function)| {
            let id = id.unwrap_or_else(|| {
                self.nameless += 1;
                format!("function-{}", self.nameless)
            });
            self.names.insert(id.clone(), function.name.clone());
            let arguments = match function.arguments {
                Value::String(text) => text,
                Value::Null => String::new(),
                other => other.to_string(),
            };
            RecordedCall { id, name: function.name, arguments }
        });
        named.collect()
    }

    /// A content's text: a string, a list of parts, or nothing.
    fn text(&mut self, content: &Value) -> Result<String, String> {
        match content {
            Value::Null => Ok(String::new()),
            Value::String(text) => Ok(text.clone()),
            Value::Array(parts) => {
                let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
                self.other_parts += parts.len() - texts.len();
                Ok(texts.join("\n"))
            }
            _ => Err("`content` is neither a text nor a list of parts.".to_owned()),
        }
    }
}
