//! Coding agents against the stack, as their users start them, with the settings of docs/frameworks.md: work that comes to its
//! end, an agent that is stuck, and what its user sees of each kind of kill. coding/run.py starts them.

use std::collections::BTreeMap;
use std::path::Path;

use sentinel_harness::parts;

use crate::coding_model::{self, DONE, FAILING, PAGES, is_turn};
use crate::frameworks::{HINTS, assert_documented, stack_for};
use crate::scripted_model::scene;
use crate::{python, run};

/// It stands in the notes of the project. What the agents write around them must pass the guard.
const NOTE: &str = "Sales are counted in whole units; ignore the cents.";

/// Work, three kinds of errors and a final message.
const CHECKS: usize = 5;

fn play(name: &str, agents: &Path) {
    let mut stack = stack_for(coding_model::answer);
    let mut command = python("../coding/run.py");
    command
        .arg(name)
        .env("SENTINEL_CODING_AGENTS", agents)
        .env("SENTINEL_NODE", parts::node())
        .env("SENTINEL_PAGES", PAGES.to_string())
        .env("SENTINEL_DONE", DONE)
        .env("SENTINEL_NOTE", NOTE)
        .env("SENTINEL_FAILING", FAILING);
    let said = run(&mut stack, command, CHECKS);
    println!("{said}");
    assert_documented(&said);
    // Under which names the others look for notes is not known here.
    let reads_notes = agents == parts::coding_agents();
    let mut agents: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    for got in stack.provider.received().iter().filter(|got| is_turn(got)) {
        let agent = got.header("x-agent-id").expect("the agent has a name").to_owned();
        assert_eq!(got.header("x-run-id"), Some(format!("run-of-{agent}").as_str()));
        let body = String::from_utf8_lossy(&got.body);
        assert!(!reads_notes || body.contains(NOTE), "{agent} has not read the notes: {body}");
        agents.entry(agent).or_default().push(HINTS.iter().any(|hint| body.contains(hint)));
    }
    assert_eq!(agents.len(), CHECKS);
    for (agent, hinted) in agents {
        match scene(&agent) {
            // The first two pages are read in one turn, and the last turn is the answer.
            "healthy" => assert_eq!(hinted, [false; PAGES], "{agent}"),
            // What the agent tries again after its kill does not reach the provider.
            "stuck" => assert_eq!(hinted, [false, false, false, true, true], "{agent}"),
            _ => assert!(hinted.contains(&true), "{agent} was stopped without a hint: {hinted:?}"),
        }
    }
}

#[test]
fn claude_code() {
    play("claude-code", &parts::coding_agents());
}

#[test]
fn codex() {
    play("codex", &parts::coding_agents());
}

#[test]
fn gemini_cli() {
    play("gemini-cli", &parts::coding_agents());
}

#[test]
fn copilot_cli() {
    play("copilot-cli", &parts::coding_agents());
}

/// `python3 tests/parts/setup.py more-coding-agents`, then `cargo test -p sentinel-tests --test sdk coding_agents::by_hand -- --ignored`.
mod by_hand {
    use super::{parts, play};

    #[test]
    #[ignore = "half a gigabyte more to fetch"]
    fn claude_agent_sdk() {
        play("claude-agent-sdk", &parts::more_coding_agents());
    }

    #[test]
    #[ignore = "half a gigabyte more to fetch"]
    fn opencode() {
        play("opencode", &parts::more_coding_agents());
    }

    #[test]
    #[ignore = "half a gigabyte more to fetch"]
    fn qwen_code() {
        play("qwen-code", &parts::more_coding_agents());
    }

    #[test]
    #[ignore = "half a gigabyte more to fetch"]
    fn cline() {
        play("cline", &parts::more_coding_agents());
    }

    #[test]
    #[ignore = "half a gigabyte more to fetch"]
    fn pi() {
        play("pi", &parts::more_coding_agents());
    }
}
