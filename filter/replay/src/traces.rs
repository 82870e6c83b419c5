//! Reading a file of runs: JSON lines `{id, source, label, messages}`. A line that cannot be replayed ends the program
//! with its number and what is wrong with it: an evaluation over half of a file would look like one over the whole.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::history::{Call, Message, Run, Said};

/// What a file begins with that gzip has packed.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What a file holds.
#[derive(Debug, Default)]
pub struct Traces {
    pub runs: Vec<Run>,
    /// Parts of messages that are no text (images and the like): only the chat dialect carries them.
    pub other_parts: usize,
}

pub fn read(path: &Path) -> Result<Traces, String> {
    let unreadable = |error: std::io::Error| {
        format!("{}: {error}. Give the path of a file of runs, one JSON object a line.", path.display())
    };
    let mut bytes = fs::read(path).map_err(unreadable)?;
    if bytes.starts_with(&GZIP) {
        let mut plain = Vec::new();
        MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut plain).map_err(unreadable)?;
        bytes = plain;
    }
    let mut traces = Traces::default();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let at = |problem: String| format!("{}, line {number}: {problem}", path.display());
        let line = std::str::from_utf8(line).map_err(|error| at(format!("not UTF-8 ({error}).")))?.trim();
        if line.is_empty() {
            continue;
        }
        let (run, other_parts) = run(line).map_err(at)?;
        traces.runs.push(run);
        traces.other_parts += other_parts;
    }
    if traces.runs.is_empty() {
        return Err(format!("{} holds no run: give a file with one JSON object a line.", path.display()));
    }
    Ok(traces)
}

#[derive(Deserialize)]
struct Line<'a> {
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

fn run(line: &str) -> Result<(Run, usize), String> {
    let broken = |error: serde_json::Error| {
        if error.is_data() {
            format!(
                "not a run ({error}): it needs `id`, `source` and `label`, and `messages`, a list of objects."
            )
        } else {
            format!("not JSON ({error}).")
        }
    };
    let line: Line = serde_json::from_str(line).map_err(broken)?;
    let id = match serde_json::from_str(line.id.get()).map_err(broken)? {
        Value::String(id) => id,
        Value::Number(id) => id.to_string(),
        _ => return Err("`id` is neither a text nor a number.".to_owned()),
    };
    let mut reader = Reader::default();
    for (number, raw) in line.messages.iter().enumerate() {
        reader.message(raw).map_err(|problem| format!("`messages[{number}]`: {problem}"))?;
    }
    if !reader.messages.iter().any(Message::is_assistant) {
        return Err("`messages` has no assistant turn: there is nothing to replay.".to_owned());
    }
    let Line { source, label, .. } = line;
    Ok((Run { id, source, label, messages: reader.messages }, reader.other_parts))
}

#[derive(Default)]
struct Reader {
    messages: Vec<Message>,
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
            "system" | "developer" => Said::Instruction(text),
            "user" => Said::User(text),
            "assistant" => Said::Assistant { text, calls: self.calls(chat.tool_calls, chat.function_call) },
            "tool" | "function" => {
                let call = chat.tool_call_id.unwrap_or_else(|| format!("function-{}", self.nameless));
                let name = self.names.get(&call).cloned().or(chat.name).unwrap_or_default();
                Said::Result { call, name, text }
            }
            other => {
                return Err(format!(
                    "unknown role {other:?}: give system, developer, user, assistant, tool or function."
                ));
            }
        };
        self.messages.push(Message { raw: raw.to_owned(), said });
        Ok(())
    }

    fn calls(&mut self, calls: Option<Vec<ToolCall>>, function: Option<Function>) -> Vec<Call> {
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
            Call { id, name: function.name, arguments }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), text).expect("it is written");
        file
    }

    const RUN: &str = r#"{"id":"a","source":"s","label":"healthy","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}"#;

    #[test]
    fn a_run_is_read_with_everything_that_it_says() {
        let line = r#"{"id":7,"source":"s","label":"odd","more":1,"messages":[
            {"role":"developer","content":"be brief"},
            {"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"x"}},{"type":"text","text":"here"}]},
            {"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"1","content":"done"},
            {"role":"assistant","content":"so","function_call":{"name":"g","arguments":{"a":1}}},
            {"role":"function","name":"g","content":"more"}]}"#;
        let file = file(&line.replace('\n', ""));
        let traces = read(file.path()).expect("a run");
        let said: Vec<Said> = traces.runs[0].messages.iter().map(|message| message.said.clone()).collect();
        let call = |id: &str, name: &str, arguments: &str| Call {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        };
        let result = |call: &str, name: &str, text: &str| Said::Result {
            call: call.into(),
            name: name.into(),
            text: text.into(),
        };
        assert_eq!(
            said,
            [
                Said::Instruction("be brief".into()),
                Said::User("look\nhere".into()),
                Said::Assistant { text: String::new(), calls: vec![call("1", "f", "{}")] },
                result("1", "f", "done"),
                Said::Assistant { text: "so".into(), calls: vec![call("function-1", "g", r#"{"a":1}"#)] },
                result("function-1", "g", "more"),
            ]
        );
        assert_eq!((traces.other_parts, traces.runs[0].id.as_str()), (1, "7"));
    }

    #[test]
    fn a_packed_file_is_read() {
        use std::io::Write;
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(RUN.as_bytes()).expect("it is packed");
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), packer.finish().expect("it is packed")).expect("it is written");
        assert_eq!(read(file.path()).expect("a run").runs.len(), 1);
        fs::write(file.path(), GZIP).expect("it is written");
        assert!(read(file.path()).is_err());
    }

    #[test]
    fn a_broken_line_is_named() {
        for (broken, says) in [
            ("{", "not JSON"),
            ("[]", "not a run"),
            (r#"{"id":"a","source":"s","messages":[]}"#, "label"),
            (r#"{"id":[],"source":"s","label":"l","messages":[]}"#, "`id`"),
            (r#"{"id":"a","source":"s","label":"l","messages":[]}"#, "nothing to replay"),
            (
                r#"{"id":"a","source":"s","label":"l","messages":[{"role":"user","content":"x"},{"role":"cat"}]}"#,
                "messages[1]",
            ),
            (r#"{"id":"a","source":"s","label":"l","messages":[{"role":"user","content":5}]}"#, "`content`"),
        ] {
            let file = file(&format!("{RUN}\n\n{broken}\n"));
            let said = read(file.path()).expect_err(broken);
            assert!(said.contains("line 3: ") && said.contains(says), "{broken}: {said}");
        }
    }

    #[test]
    fn a_file_without_runs_is_refused() {
        assert!(read(file("\n \n").path()).expect_err("no run").contains("holds no run"));
        assert!(read(Path::new("/nowhere/at/all")).expect_err("no file").contains("/nowhere/at/all"));
    }
}
