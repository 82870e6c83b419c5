//! Agent frameworks against the stack, with the defaults of the filter: work of twenty steps, an agent that is stuck, and what
//! its user sees of each kind of kill. The scripts in frameworks/ are the agents, made by the recipes of docs/frameworks.md.
//! Here is what the provider must have got. What must not live here: what the model says (`scripted_model.rs`).

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use sentinel_harness::provider::{Answer, Received};
use sentinel_harness::{Stack, parts};
use serde_json::json;

use crate::scripted_model::{ScriptedModel, WORK, scene};
use crate::{folder, python, run};

/// Which requests of a stuck agent reach the provider with a hint: those of the third and the fourth repetition. The next one is
/// killed and does not reach it.
const STUCK: [bool; 5] = [false, false, false, true, true];

/// What is in all hints, by the defaults.
pub const HINTS: [&str; 2] = ["take a different approach", "Wait longer before you ask again"];

/// The scenes of every way to run an agent.
const SCENES: [&str; 2] = ["healthy", "stuck"];

/// The scenes that one of the ways plays too. It also tries the four other statuses of a kill.
const ONCE: [&str; 3] = ["fixing", "failing", "polling"];

/// What a script has.
struct Script {
    command: Command,
    /// Ways to run an agent. Each plays the scenes and is ended by a final message.
    ways: usize,
    /// Checks of what only this framework has.
    more: usize,
}

fn stack() -> Stack {
    let model = ScriptedModel::new();
    stack_for(move |request| model.answer(request))
}

/// Starts without the service. The name of an agent says how it is killed: it begins with a status, or with `final`.
pub fn stack_for(model: impl Fn(&Received) -> Answer + Send + Sync + 'static) -> Stack {
    let mut agents: Vec<_> = [400, 401, 403, 404, 422]
        .iter()
        .map(|status| json!({"prefix": format!("{status}."), "settings": {"kill": {"status": status}}}))
        .collect();
    agents.push(json!({"prefix": "final.", "settings": {"kill": {"mode": "final_message"}}}));
    // What these clients and their prompts say by themselves is no injection: nothing of it may be blocked.
    let guard = json!({"user": "block", "tool": "block"});
    let config = json!({"semantic": {"enabled": false}, "guard": guard, "agents": agents});
    let stack = Stack::builder().config(&config).start();
    stack.provider.script(model);
    stack
}

/// Runs the agents of a script, and then looks at what the provider has got of each.
fn play(mut script: Script) {
    let mut stack = stack();
    script.command.env("SENTINEL_SCENES", SCENES.join(" ")).env("SENTINEL_ONCE", ONCE.join(" "));
    let checks = script.ways * (SCENES.len() + 1) + 4 + ONCE.len() + script.more;
    let said = run(&mut stack, script.command, checks);
    assert_documented(&said);
    let mut agents: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    for got in stack.provider.received() {
        let agent = got.header("x-agent-id").expect("the agent has a name").to_owned();
        assert_eq!(got.header("x-run-id"), Some(format!("run-of-{agent}").as_str()));
        let body = String::from_utf8_lossy(&got.body);
        agents.entry(agent).or_default().push(HINTS.iter().any(|hint| body.contains(hint)));
    }
    assert!(!agents.is_empty());
    for (agent, hinted) in agents {
        match scene(&agent) {
            // A router is asked once for another agent.
            "healthy" if agent.ends_with(".routed") => assert_eq!(hinted, [false], "{agent}"),
            "healthy" => assert_eq!(hinted, vec![false; WORK + 1], "{agent}"),
            // A test that fails the same way may bring a hint, but the work goes on.
            "fixing" => assert_eq!(hinted.len(), WORK + 1, "{agent}"),
            // Waiting is work; from the tenth time on the model is told to wait longer or to report.
            "polling" => {
                let hints = (1..=WORK + 2).map(|request| (11..=WORK + 1).contains(&request));
                assert_eq!(hinted, hints.collect::<Vec<_>>(), "{agent}");
            }
            // A framework may go on after a final message, and a user may: then this is how it begins.
            // What fails is added to one message of the user.
            "failing" if agent.ends_with(".smolagents-tools") => {
                assert_eq!(hinted, [false, false, false, false, true, true], "{agent}");
            }
            "stuck" | "failing" => {
                assert_eq!(hinted.get(..STUCK.len()), Some(STUCK.as_slice()), "{agent}");
            }
            other => panic!("{agent} plays {other:?}"),
        }
    }
}

/// The rows that the script prints stand in the document.
pub fn assert_documented(said: &str) {
    let document = fs::read_to_string(parts::root().join("docs/frameworks.md")).expect("the document");
    for line in said.lines() {
        if let Some(row) = line.strip_prefix("row ") {
            assert!(document.contains(row), "docs/frameworks.md does not say: {row}");
        }
    }
}

pub fn framework(script: &str) -> Command {
    let mut command = python(&format!("../frameworks/{script}"));
    command.env("PYTHONPATH", parts::python_frameworks());
    command
}

#[test]
fn langchain() {
    play(Script { command: framework("on_langchain.py"), ways: 3, more: 2 });
}

#[test]
fn openai_agents() {
    play(Script { command: framework("on_openai_agents.py"), ways: 4, more: 0 });
}

#[test]
fn pydantic_ai() {
    play(Script { command: framework("on_pydantic_ai.py"), ways: 4, more: 1 });
}

#[test]
fn smolagents() {
    play(Script { command: framework("on_smolagents.py"), ways: 4, more: 1 });
}

#[test]
fn mini_swe_agent_and_litellm() {
    play(Script { command: framework("on_litellm.py"), ways: 1, more: 5 });
}

#[test]
fn vercel_ai_sdk() {
    let mut command = Command::new(parts::node());
    command.arg(folder().join("frameworks").join("on_ai_sdk.mjs"));
    command.env("SENTINEL_NODE_FRAMEWORKS", parts::node_frameworks());
    play(Script { command, ways: 4, more: 0 });
}
