//! What the model says to the agents of the frameworks: one scene each, turn by turn.
//! An agent's name says which: `KILL.FORM.SCENE.REST`, as in `400.tool.stuck.stream`. The provider counts the turns of each.
//! What must not live here: how a provider's answer looks (`sentinel_harness::provider`).

use std::collections::HashMap;
use std::sync::Mutex;

use sentinel_harness::provider::{Answer, Piece, Received, Reply, speak};
use serde_json::{Value, json};

/// Turns of the scenes that are work.
pub const WORK: usize = 20;
/// An agent that is not stopped gives up after this many turns, so that a test ends.
const PATIENCE: usize = 12;
/// What the model says when the work is done.
pub const DONE: &str = "All twenty pages are read, and the total is 4711.";
/// What a user says to an agent that was stopped; the model then says that it is done.
const SUM_UP: &str = "Stop here and sum up what you have.";
const GIVEN_UP: &str = "Nobody has stopped me.";

pub struct ScriptedModel {
    turns: Mutex<HashMap<String, usize>>,
}

/// How an agent of this name acts: by calls of tools, in code, in bash.
fn form(agent: &str) -> &str {
    part(agent, 1)
}

/// The scene of an agent of this name.
pub fn scene(agent: &str) -> &str {
    part(agent, 2)
}

fn part(agent: &str, index: usize) -> &str {
    agent.split('.').nth(index).unwrap_or_else(|| panic!("{agent:?} is not KILL.FORM.SCENE.REST"))
}

impl ScriptedModel {
    pub fn new() -> Self {
        Self { turns: Mutex::new(HashMap::new()) }
    }

    pub fn answer(&self, request: &Received) -> Answer {
        let agent = request.header("x-agent-id").expect("the agent has a name").to_owned();
        let turn = {
            let mut turns = self.turns.lock().expect("no one panics with it");
            let turn = turns.entry(agent.clone()).or_default();
            *turn += 1;
            *turn
        };
        let body = request.json();
        let said =
            body["messages"].as_array().and_then(|messages| messages.last()).map(|last| &last["content"]);
        let reply = if said.is_some_and(|said| said == SUM_UP) {
            Reply::Text(DONE.into())
        } else {
            reply(form(&agent), scene(&agent), turn)
        };
        numbered(speak(request, &reply), turn)
    }
}

fn reply(form: &str, scene: &str, turn: usize) -> Reply {
    let call = match scene {
        "healthy" if turn <= WORK => Ok(("read_page", json!({"page": turn}))),
        "polling" if turn <= WORK + 1 => Ok(("export_status", json!({"job": "export-17"}))),
        // The same tests fail the same way until the last change.
        "fixing" if turn <= WORK && turn % 2 == 1 => {
            let change = format!("total = sum(pages[:{turn}])");
            Ok(("write_file", json!({"path": "report.py", "text": change})))
        }
        "fixing" if turn <= WORK => Ok(("run_tests", json!({"suite": "report"}))),
        "healthy" | "polling" | "fixing" => Err(DONE),
        _ if turn > PATIENCE => Err(GIVEN_UP),
        "stuck" => Ok(("find_invoice", json!({"number": "2025-0117"}))),
        // Work without an end.
        "stopped" | "spent" | "cut" => Ok(("read_page", json!({"page": turn}))),
        "failing" => Ok(("fetch_order", json!({"order": "A-4711"}))),
        _ => panic!("there is no scene {scene:?}"),
    };
    match (form, call) {
        ("tool" | "final_answer", Ok((name, arguments))) => Reply::Tool { name: name.into(), arguments },
        ("tool", Err(text)) => Reply::Text(text.into()),
        ("final_answer", Err(text)) => {
            Reply::Tool { name: "final_answer".into(), arguments: json!({"answer": text}) }
        }
        ("code", Ok((name, arguments))) => Reply::Text(format!(
            "Thought: I look further.\n<code>\nprint({name}({}))\n</code>",
            python_arguments(&arguments)
        )),
        ("code", Err(text)) => {
            Reply::Text(format!("Thought: that is all.\n<code>\nfinal_answer({text:?})\n</code>"))
        }
        ("bash", Ok((name, arguments))) => Reply::Text(format!(
            "THOUGHT: I look further.\n\n```mswea_bash_command\n./{name} {}\n```",
            arguments
                .as_object()
                .into_iter()
                .flatten()
                .map(|(_, value)| shell(value))
                .collect::<Vec<_>>()
                .join(" ")
        )),
        ("bash", Err(text)) => Reply::Text(format!(
            "THOUGHT: that is all.\n\n```mswea_bash_command\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo '{text}'\n```"
        )),
        _ => panic!("there is no form {form:?}"),
    }
}

fn python_arguments(arguments: &Value) -> String {
    let named = arguments.as_object().into_iter().flatten();
    named.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

fn shell(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| format!("'{text}'"))
}

/// Frameworks tell messages and calls apart by their ids, so each answer has its own.
pub fn numbered(mut answer: Answer, turn: usize) -> Answer {
    for piece in &mut answer.pieces {
        let Piece::Bytes(bytes) = piece else { continue };
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        for id in [
            "call_mock_1",
            "call_mock_2",
            "toolu_mock_1",
            "toolu_mock_2",
            "chatcmpl-mock0000000000000000000",
            "fc_mock",
            "fc_mock_2",
            "msg_mock",
            "resp_mock",
        ] {
            text = text.replace(&format!("\"{id}\""), &format!("\"{id}_{turn:04}\""));
        }
        *bytes = text.into();
    }
    answer
}
