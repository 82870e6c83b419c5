//! A tool-calling run as it grows, in the words of each dialect.
//! Written from the providers' documentation, not from the filter's code: it is the other side of the test.

use serde_json::{Value, json};

use crate::{
    Dialect,
    text::{answering, call, calling, result_with},
};

/// One call of a turn. `arguments` is the text of a JSON object. It is sent as it is, with its order and spaces.
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
    /// A run that begins with a question.
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

    /// An assistant's text without a call.
    pub fn assistant(&mut self, text: &str) {
        self.items.push(self.dialect.message("assistant", text).to_string());
    }

    /// A turn with one call, and its result.
    pub fn step(&mut self, tool: &str, arguments: &str, result: &str) {
        self.turn(&[Call { tool, arguments, result }]);
    }

    /// A turn with one call. `fails`: the client says so with its result. `picture`: what a screen shows then, as base64, beside the
    /// result where a user must not speak twice in a row, else in a message of its own.
    pub fn step_with(&mut self, call: &Call, fails: bool, picture: Option<&str>) {
        self.turn(&[*call]);
        let dialect = self.dialect;
        let Some(told) = self.items.pop() else { return };
        let mut told: Value = serde_json::from_str(&told).expect("a message");
        if fails {
            match dialect {
                Dialect::Anthropic | Dialect::VertexAnthropic => told["content"][0]["is_error"] = json!(true),
                Dialect::Bedrock => told["content"][0]["toolResult"]["status"] = json!("error"),
                Dialect::GeminiInteractions => told["is_error"] = json!(true),
                _ => panic!("{dialect:?} has no flag for a result"),
            }
        }
        let part = picture.map(|data| dialect.picture_part(data));
        let beside = told
            .get_mut("content")
            .and_then(Value::as_array_mut)
            .filter(|_| matches!(dialect, Dialect::Anthropic | Dialect::VertexAnthropic | Dialect::Bedrock));
        let alone = match (part, beside) {
            (Some(part), Some(beside)) => {
                beside.push(part);
                None
            }
            (part, _) => part,
        };
        self.items.push(told.to_string());
        self.items.extend(alone.map(|part| dialect.message_of(&[part]).to_string()));
    }

    /// A call of an MCP server's tool that the provider has made by itself: of OpenAI's Responses and Gemini's Interactions.
    pub fn mcp_call(&mut self, tool: &str, arguments: &str, result: &str) {
        self.calls += 1;
        let id = format!("mcp_{}", self.calls);
        if self.dialect == Dialect::GeminiInteractions {
            let arguments: Value = serde_json::from_str(arguments).expect("arguments are JSON");
            let called = json!({"type": "mcp_server_tool_call", "id": id, "server_name": "shop", "name": tool, "arguments": arguments});
            let told = json!({"type": "mcp_server_tool_result", "call_id": id, "server_name": "shop", "name": tool, "result": result});
            self.items.extend([called.to_string(), told.to_string()]);
            return;
        }
        let item = json!({"type": "mcp_call", "id": id, "server_label": "shop", "name": tool,
            "arguments": arguments, "output": result, "error": null});
        self.items.push(item.to_string());
    }

    /// A program that the provider has run by itself: see `mcp_call`.
    pub fn code_interpreter_call(&mut self, code: &str, printed: &str) {
        self.calls += 1;
        let id = format!("ci_{}", self.calls);
        if self.dialect == Dialect::GeminiInteractions {
            let called = json!({"type": "code_execution_call", "id": id, "arguments": {"language": "python", "code": code}});
            let told = json!({"type": "code_execution_result", "call_id": id, "result": printed});
            self.items.extend([called.to_string(), told.to_string()]);
            return;
        }
        let item = json!({"type": "code_interpreter_call", "id": id, "container_id": "cntr_1",
            "status": "completed", "code": code, "outputs": [{"type": "logs", "logs": printed}]});
        self.items.push(item.to_string());
    }

    /// A user's message of several texts.
    pub fn user_texts(&mut self, texts: &[String]) {
        let message = match texts {
            [text] => self.dialect.message("user", text),
            _ => {
                let parts: Vec<Value> = texts.iter().map(|text| self.dialect.text_part(text)).collect();
                self.dialect.message_of(&parts)
            }
        };
        self.items.push(message.to_string());
    }

    /// A turn with several calls at once, and their results.
    pub fn turn(&mut self, calls: &[Call]) {
        let (dialect, in_blocks, first) = (self.dialect, self.in_blocks, self.calls);
        self.calls += calls.len();
        let joined = |write: &dyn Fn(&str, &Call) -> String| {
            let all =
                calls.iter().enumerate().map(|(at, call)| write(&format!("call_{:04}", first + at), call));
            all.collect::<Vec<_>>().join(",")
        };
        let asked = joined(&|id, made| call(dialect, id, made.tool, made.arguments));
        let told = joined(&|id, made| {
            let content = content(dialect, in_blocks, made.result).to_string();
            result_with(dialect, id, made.tool, &content)
        });
        self.items.extend([calling(dialect, &asked), answering(dialect, &told)]);
    }

    /// The request that the agent sends now.
    pub fn body(&self, stream: bool) -> String {
        let mut body = self.dialect.with_turns(Vec::new(), stream);
        // Otherwise the provider keeps the history, and it need not be sent again.
        if matches!(self.dialect, Dialect::OpenaiResponses | Dialect::GeminiInteractions) {
            body["store"] = json!(false);
        }
        body.to_string().replacen("[]", &format!("[{}]", self.items.join(", ")), 1)
    }
}

/// A result as the agent's framework writes it.
fn content(dialect: Dialect, in_blocks: bool, text: &str) -> Value {
    match (in_blocks, dialect) {
        (false, Dialect::Gemini) => json!({"output": text}),
        (true, Dialect::Gemini) => json!({"result": text}),
        // It knows only lists.
        (_, Dialect::Bedrock) => json!([{"text": text}]),
        (false, _) => json!(text),
        (true, _) => json!([dialect.text_part(text)]),
    }
}

/// The text that was added behind the last tool result, where a hint belongs. Empty if nothing was added.
pub fn told_after_the_last_result(dialect: Dialect, body: &Value, result: &str) -> String {
    let last = body[dialect.turns()].as_array().and_then(|turns| turns.last()).expect("a history").clone();
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

/// A text, or the last text of a list. Whether the text was added as an element of its own.
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
