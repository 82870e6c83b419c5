//! The front page: short, and its recipes run. The recipes for the providers' SDKs on docs/frameworks.md run too, each as it stands
//! there, with the address of the test's own Envoy in the place of 127.0.0.1:10000.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use sentinel_harness::{Stack, parts};
use serde_json::{Value, json};

use crate::markdown::{Block, documents};
use crate::signals::examples;

const PREFIXES: [&str; 6] = ["openai", "anthropic", "gemini", "groq", "vertex", "bedrock"];

#[test]
fn the_front_page_is_short() {
    let readme = documents().swap_remove(0);
    assert_eq!(readme.path, "README.md");
    let lines = readme.text.lines().count();
    assert!(lines <= 150, "README.md has {lines} lines; at most 150 are allowed");
}

/// Blocks with this comment: `<!-- run: NAME -->`.
fn recipes(path: &str) -> Vec<(String, Block)> {
    let document = documents().into_iter().find(|document| document.path == path).expect("the document");
    let named = |block: Block| {
        let name = block.comment.as_deref()?.strip_prefix("run: ")?.to_owned();
        Some((name, block))
    };
    document.blocks().into_iter().filter_map(named).collect()
}

/// The recipe with the address of this stack, whose paths have no prefixes. Those of README.md have none either: they are for
/// `make up`, which leads to one provider.
fn addressed(stack: &Stack, text: &str) -> String {
    let own = format!("http://{}", stack.address());
    let text = text.replace("http://127.0.0.1:10000/v1", &format!("{own}/v1"));
    let text = PREFIXES
        .iter()
        .fold(text, |text, prefix| text.replace(&format!("http://127.0.0.1:10000/{prefix}"), &own));
    assert!(!text.contains("127.0.0.1:10000"), "an address without a provider:\n{text}");
    // The SDK would ask Google for a token.
    text.replace("region=\"global\"", "region=\"global\", access_token=\"token\"")
}

/// Runs a recipe, followed by `more`, and gives what it printed.
fn run(stack: &Stack, block: &Block, more: &str) -> String {
    let program = addressed(stack, &block.text) + more;
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = match block.language.as_str() {
        "python" => {
            let mut command = Command::new(std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into()));
            command.arg(write(folder.path(), "recipe.py", &program));
            command.env("PYTHONPATH", parts::python_sdks()).env("PYTHONDONTWRITEBYTECODE", "1");
            command
        }
        "js" => {
            let modules = parts::node_modules();
            std::os::unix::fs::symlink(
                modules.canonicalize().expect("the SDKs"),
                folder.path().join("node_modules"),
            )
            .expect("a link");
            let mut command = Command::new(parts::node());
            command.arg(write(folder.path(), "recipe.mjs", &program));
            command
        }
        "sh" => {
            let mut command = Command::new("bash");
            command.args(["-euo", "pipefail"]).arg(write(folder.path(), "recipe.sh", &program));
            command
        }
        other => panic!("{}: no way to run {other}", block.place),
    };
    for key in [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
    ] {
        command.env(key, "sk-of-the-tests");
    }
    let output = command
        .env("NO_PROXY", "*")
        .env_remove("http_proxy")
        .env_remove("HTTP_PROXY")
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: failed\n{said}\n{complained}", block.place);
    said
}

fn write(folder: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).expect("the recipe");
    path
}

#[test]
fn every_recipe_of_an_sdk_reaches_the_provider_with_its_agent() {
    let (mut ran, mut texts) = (Vec::new(), BTreeSet::new());
    // They all send one prompt.
    let stack = Stack::builder().config(&json!({"mode": "observe"})).start();
    for path in ["README.md", "docs/frameworks.md"] {
        for (name, block) in recipes(path) {
            if name == "verdicts" || !texts.insert(block.text.clone()) {
                continue;
            }
            let (before, inspected) = (stack.provider.count(), stack.count("sentinel_requests_total", &[]));
            run(&stack, &block, "");
            let received = stack.provider.received().split_off(before);
            assert!(!received.is_empty(), "{}: nothing reached the provider", block.place);
            for request in received {
                assert_eq!(request.header("x-agent-id"), Some("billing-bot-7"), "{}", block.place);
            }
            let now = stack.count("sentinel_requests_total", &[]);
            assert!(now > inspected, "{}: the filter did not read it", block.place);
            ran.push(name);
        }
    }
    ran.sort_unstable();
    // Three of them stand on both pages, each with its page's address.
    assert_eq!(
        ran,
        ["anthropic", "bedrock", "curl", "curl", "gemini", "node", "node", "openai", "openai", "vertex"]
    );
}

/// Histories of the picture of `repeated_step` with three and with five equal steps.
fn stuck_histories() -> Vec<Vec<Value>> {
    let example =
        examples().into_iter().find(|example| example.signal == "repeated_step").expect("an example");
    let mut messages = Vec::new();
    let mut histories = Vec::new();
    for (at, turn) in example.turns.iter().enumerate() {
        if let Some(text) = &turn.user {
            messages.push(json!({"role": "user", "content": text}));
            continue;
        }
        let (name, path) = turn.call.as_deref().and_then(|call| call.split_once("(path='")).expect("a call");
        let arguments = json!({"path": path.trim_end_matches("')")}).to_string();
        let id = format!("call_{at}");
        let call = json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": turn.result}));
        if turn.mark == Some(3) || turn.mark == Some(5) {
            histories.push(messages.clone());
        }
    }
    histories
}

/// What README.md shows of a hint and of a kill is what the SDK's user sees.
#[test]
fn a_hint_and_a_kill_look_in_the_sdk_as_the_front_page_shows() {
    let readme = documents().swap_remove(0);
    let recipes = recipes("README.md");
    let client = &recipes.iter().find(|(name, _)| name == "openai").expect("a client").1;
    let verdicts = &recipes.iter().find(|(name, _)| name == "verdicts").expect("the recipe").1;
    let stack = Stack::builder().start();
    let histories = serde_json::to_string(&stuck_histories()).expect("JSON");
    let more = format!(
        "\n{}\nimport json\nfor history in json.loads({histories:?}):\n    ask(history)\n",
        verdicts.text
    );
    let said = run(&stack, client, &more);
    let lines: Vec<&str> =
        said.lines().filter(|line| line.starts_with("hint") || line.starts_with("stopped")).collect();
    assert_eq!(lines.len(), 2, "{said}");
    for line in lines {
        assert!(readme.text.contains(line), "README.md does not show: {line}");
    }
    let hint = stack.provider.last().json()["messages"].to_string();
    assert!(hint.contains("You have called `read_file` 3 times"), "{hint}");
    assert!(readme.text.contains("You have called `read_file` 3 times"), "README.md does not show the hint");
}
