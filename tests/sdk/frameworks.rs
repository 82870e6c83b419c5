//! Agent frameworks against the stack, with the defaults of the filter: work of twenty steps, an agent that is stuck, and what
//! its user sees of each kind of kill. The scripts in frameworks/ are the agents, made by the recipes of docs/frameworks.md.
//! Here is what the provider must have got. What must not live here: what the model says (`scripted_model.rs`).

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use sentinel_tests::{Stack, parts};
use serde_json::json;

use crate::scripted_model::{ScriptedModel, WORK, scene};
use crate::{folder, python, run};

/// The third and the fourth repetition reach the model with a hint, the fifth does not reach it.
const BY_STEPS: [bool; 5] = [false, false, false, true, true];

/// What hints begin with, by the defaults.
const HINTS: [&str; 2] = ["Do not try it again: use what you know", "You seem to be repeating similar requests"];

/// Without the service. How an agent is killed its name says: it begins with a status, or with `final`.
fn stack() -> Stack {
    let mut agents: Vec<_> = [400, 401, 403, 404, 422]
        .iter()
        .map(|status| json!({"prefix": format!("{status}."), "settings": {"kill": {"status": status}}}))
        .collect();
    agents.push(json!({"prefix": "final.", "settings": {"kill": {"mode": "final_message"}}}));
    let stack = Stack::builder().config(&json!({"semantic": {"enabled": false}, "agents": agents})).start();
    let model = ScriptedModel::new();
    stack.provider.script(move |request| model.answer(request));
    stack
}

/// Runs the agents of a script, and then looks at what the provider has got of each.
/// Of the requests of a stuck agent that reached the provider, `hints` says which had a hint.
fn play(command: Command, checks: usize, hints: &[bool]) {
    let mut stack = stack();
    let said = run(&mut stack, command, checks);
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
            "healthy" => assert_eq!(hinted, vec![false; WORK + 1], "{agent}"),
            // A framework may go on after a final message: then this is how it begins.
            "stuck" => assert_eq!(hinted.get(..hints.len()), Some(hints), "{agent}"),
            other => panic!("{agent} plays {other:?}"),
        }
    }
}

/// The rows that the script prints stand in the document.
fn assert_documented(said: &str) {
    let document = fs::read_to_string(parts::root().join("docs/frameworks.md")).expect("the document");
    for line in said.lines() {
        if let Some(row) = line.strip_prefix("row ") {
            assert!(document.contains(row), "docs/frameworks.md does not say: {row}");
        }
    }
}

fn framework(script: &str) -> Command {
    let mut command = python(&format!("../frameworks/{script}"));
    command.env("PYTHONPATH", parts::python_frameworks());
    command
}

#[test]
fn langchain() {
    play(framework("on_langchain.py"), 7 + 3 + 3, &BY_STEPS);
}

#[test]
fn openai_agents() {
    play(framework("on_openai_agents.py"), 7 + 3 * 3, &BY_STEPS);
}

#[test]
fn pydantic_ai() {
    play(framework("on_pydantic_ai.py"), 2 * (7 + 3), &BY_STEPS);
}

#[test]
fn smolagents() {
    play(framework("on_smolagents.py"), 2 * (7 + 3), &[false; 4]);
}

#[test]
fn mini_swe_agent() {
    play(framework("on_mini_swe_agent.py"), 7, &[false, false, false, false, true]);
}

#[test]
fn vercel_ai_sdk() {
    let mut command = Command::new(parts::node());
    command.arg(folder().join("frameworks").join("on_ai_sdk.mjs"));
    command.env("SENTINEL_NODE_FRAMEWORKS", parts::node_frameworks());
    play(command, 7 + 3 * 3, &BY_STEPS);
}

#[test]
#[ignore]
fn stay_up() {
    let stack = stack();
    eprintln!("UP {} {}", stack.address(), stack.envoy.admin());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}
