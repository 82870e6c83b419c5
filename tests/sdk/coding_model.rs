//! What the model says to coding agents, which bring their own tools and their own side calls (titles, summaries, counts of tokens).
//! The scene is the third part of the agent's name, as in `scripted_model.rs`: `healthy` reads pages by the agent's shell, `stuck`
//! runs one command that fails the same way. The turn is read from the history, because a side call is no turn.

use sentinel_harness::Dialect;
use sentinel_harness::provider::{Answer, Received, Reply, speak};
use serde_json::{Value, json};

use crate::scripted_model::{numbered, scene};

/// Pages that the healthy agent reads; the first two in one turn.
pub const PAGES: usize = 8;
/// Turns after which an agent that nobody has stopped gives up, so that a test ends.
const PATIENCE: usize = 12;
/// What the model says when the work is done.
pub const DONE: &str = "All eight pages are read, and the total is 4711.";
const GIVEN_UP: &str = "Nobody has stopped me.";
/// The command that fails.
pub const FAILING: &str = "./fetch_invoice 2025-0117";

/// Whether a request is a turn of the agent: it offers a shell.
pub fn is_turn(request: &Received) -> bool {
    Dialect::of_path(&request.path).is_some() && shell(&request.json()).is_some()
}

pub fn answer(request: &Received) -> Answer {
    if let Some(counted) = count_or_list(request) {
        return counted;
    }
    let agent = request.header("x-agent-id").unwrap_or_default().to_owned();
    let body = request.json();
    let Some(shell) = shell(&body) else {
        return speak(request, &Reply::Text(side_call(&body)));
    };
    let turn = results(&body);
    let reply = match scene(&agent) {
        "healthy" if turn == 0 => {
            Reply::Tools(vec![shell.run("cat page-1.txt"), shell.run("cat page-2.txt")])
        }
        "healthy" if turn < PAGES => shell.one(&format!("cat page-{}.txt", turn + 1)),
        "healthy" => Reply::Text(DONE.into()),
        "circling" if turn < PATIENCE => {
            shell.one(&format!("{FAILING}{}", if turn.is_multiple_of(2) { "" } else { "-b" }))
        }
        _ if turn < PATIENCE => shell.one(FAILING),
        _ => Reply::Text(GIVEN_UP.into()),
    };
    numbered(speak(request, &reply), turn + 1)
}

/// What the providers have beside their models: lists of models and counts of tokens.
fn count_or_list(request: &Received) -> Option<Answer> {
    let path = request.path.split('?').next().unwrap_or_default();
    let tokens = request.body.len() / 4;
    if path.ends_with("/count_tokens") {
        return Some(Answer::json(200, &json!({"input_tokens": tokens})));
    }
    if path.ends_with(":countTokens") {
        return Some(Answer::json(200, &json!({"totalTokens": tokens})));
    }
    if request.method == "GET" && path.ends_with("/models") {
        let model =
            json!({"id": "gpt-4o-mini", "object": "model", "created": 1_721_172_741, "owned_by": "system"});
        return Some(Answer::json(200, &json!({"object": "list", "data": [model]})));
    }
    (Dialect::of_path(&request.path).is_none())
        .then(|| Answer::json(404, &json!({"error": {"message": "no such path"}})))
}

/// A title, or what the schema of the answer asks for.
fn side_call(body: &Value) -> String {
    let schema = [
        &body["generationConfig"]["responseJsonSchema"],
        &body["generationConfig"]["responseSchema"],
        &body["output_config"]["format"]["schema"],
        &body["response_format"]["json_schema"]["schema"],
    ];
    match schema.into_iter().find(|schema| schema.is_object()) {
        Some(schema) => example(schema).to_string(),
        None => "Totals of the report".into(),
    }
}

/// A value that this JSON schema accepts.
fn example(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    match schema["type"].as_str().unwrap_or_default().to_lowercase().as_str() {
        "object" => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            properties
                .map(|(name, schema)| (name.clone(), example(schema)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        }
        "array" => json!([]),
        "boolean" => json!(false),
        "number" | "integer" => json!(1),
        _ => json!("Totals of the report"),
    }
}

/// The agent's own tool for commands.
struct Shell {
    name: String,
    schema: Value,
}

impl Shell {
    fn one(&self, command: &str) -> Reply {
        let (name, arguments) = self.run(command);
        Reply::Tool { name, arguments }
    }

    /// The call of one command: each field that the tool requires has a value.
    fn run(&self, command: &str) -> (String, Value) {
        let mut arguments = example(&json!({"type": "object", "properties": self.required()}));
        for (field, given) in
            [("command", json!(command)), ("cmd", json!(command)), ("commands", json!([command]))]
        {
            let Some(schema) = self.schema["properties"].get(field) else { continue };
            let words = field == "command" && schema["type"] == "array";
            arguments[field] = if words { json!(["bash", "-lc", command]) } else { given };
        }
        (self.name.clone(), arguments)
    }

    fn required(&self) -> Value {
        let names = self.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        names
            .map(|name| (name.to_owned(), self.schema["properties"][name].clone()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}

/// The tool for commands among those that are offered, in any provider's form.
fn shell(body: &Value) -> Option<Shell> {
    const NAMES: [&str; 9] = [
        "Bash",
        "bash",
        "shell",
        "exec_command",
        "shell_command",
        "run_shell_command",
        "execute_command",
        "run_commands",
        "run_command",
    ];
    let offered = body["tools"].as_array()?.iter().flat_map(|tool| {
        match tool.get("functionDeclarations").and_then(Value::as_array) {
            Some(declared) => declared.clone(),
            None => vec![tool.get("function").unwrap_or(tool).clone()],
        }
    });
    offered.into_iter().find_map(|tool| {
        let name = tool["name"].as_str()?.to_owned();
        let schema = ["input_schema", "parameters", "parametersJsonSchema"]
            .iter()
            .find_map(|field| tool.get(*field))?;
        NAMES.contains(&name.as_str()).then(|| Shell { name, schema: schema.clone() })
    })
}

/// How many results of calls the history holds.
fn results(body: &Value) -> usize {
    let items = ["messages", "input", "contents"].iter().find_map(|field| body[*field].as_array());
    items
        .into_iter()
        .flatten()
        .map(|item| {
            let parts = ["content", "parts"].iter().find_map(|field| item[*field].as_array());
            let is_result =
                |part: &&Value| part["type"] == "tool_result" || part.get("functionResponse").is_some();
            let own = item["role"] == "tool" || item["type"] == "function_call_output";
            usize::from(own) + parts.into_iter().flatten().filter(is_result).count()
        })
        .sum()
}
