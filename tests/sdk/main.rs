//! The providers' own client libraries against the stack, with their default retries: normal, streaming, tools, hinted,
//! killed, refused. The scripts beside this file are agents; they end with an error when anything is not as an agent needs it.

mod coding_agents;
mod coding_model;
mod controlled_frameworks;
mod frameworks;
mod scripted_model;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use sentinel_harness::gateway::{ALICE, Gateway};
use sentinel_harness::provider::{Reply, faithful, speak};
use sentinel_harness::{Dialect, Stack, parts};
use serde_json::json;

/// What a killed agent is told.
const STOPPED: &str = "Stopped: this agent goes in circles.";

/// Without the service, so that the local signals alone decide: the fourth repetition is hinted, the fifth killed.
/// Agents whose name begins with `final-` are killed by a final message, the others by an error. For agents whose name
/// begins with `unlucky-` the provider fails twice before each answer.
fn stack() -> Stack {
    let config = json!({
        "semantic": {"enabled": false},
        "kill": {"message": STOPPED},
        "agents": [{"prefix": "final-", "settings": {"kill": {"mode": "final_message"}}}],
    });
    stack_with(&config)
}

/// The same with a configuration of its own.
fn stack_with(config: &serde_json::Value) -> Stack {
    let stack = Stack::builder().config(config).start();
    script(&stack);
    stack
}

/// The provider's answers: a call where there are tools, else a text.
fn script(stack: &Stack) {
    let tries = AtomicUsize::new(0);
    stack.provider.script(move |request| {
        let is_unlucky = request.header("x-agent-id").is_some_and(|agent| agent.starts_with("unlucky-"));
        if is_unlucky && tries.fetch_add(1, Ordering::Relaxed) % 3 < 2 {
            return speak(request, &Reply::Error(500)).with("retry-after-ms", "10");
        }
        // Gemini's clients write `tools` too.
        let body = request.json();
        let tools = body.get("toolConfig").and_then(|bedrock| bedrock.get("tools")).unwrap_or(&body["tools"]);
        let has_tools = tools.as_array().is_some_and(|tools| !tools.is_empty());
        if has_tools {
            let arguments = json!({"city": "Hamburg", "unit": "celsius"});
            speak(request, &Reply::Tool { name: "get_weather".into(), arguments })
        } else {
            faithful(request)
        }
    });
}

/// Runs an agent to its end. It prints a line for each check that passed; there must be this many. Gives all that it printed.
fn run(stack: &mut Stack, mut command: Command, checks: usize) -> String {
    command
        .env("SENTINEL_URL", format!("http://{}", stack.address()))
        .env("SENTINEL_ADMIN", format!("http://{}", stack.envoy.admin()))
        .env("SENTINEL_STOPPED", STOPPED)
        .env_remove("HTTP_PROXY")
        .env_remove("http_proxy")
        .env("NO_PROXY", "*");
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "the agent failed.\n{said}\n{complained}\nfilter: {:?}",
        stack.metrics().beginning("sentinel_")
    );
    let passed = said.lines().filter(|line| line.starts_with("ok ")).count();
    assert_eq!(passed, checks, "checks that passed:\n{said}\n{complained}");
    stack.assert_sound();
    said
}

fn python(script: &str) -> Command {
    // As `make setup` does.
    let mut command = Command::new(std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into()));
    command.arg(folder().join("python").join(script));
    command.env("PYTHONPATH", parts::python_sdks()).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn node(script: &str) -> Command {
    let mut command = Command::new(parts::node());
    command.arg(folder().join("node").join(script)).env("SENTINEL_NODE_MODULES", parts::node_modules());
    command
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sdk")
}

/// Answers from the cache, stored from JSON and from streams, are read in both forms by every package: texts, and calls where the
/// agent has tools.
#[test]
fn packages_read_what_the_cache_gives() {
    // Who signs is served only where something says who that is.
    let config = json!({
        "cache": {"enabled": true, "store_tool_calls": true},
        "identity": {"principal": "x-client"},
    });
    for (mut command, checks) in [
        (python("openai_agent.py"), 2 * 4),
        (python("anthropic_agent.py"), 4),
        (python("gemini_agent.py"), 4),
        (python("interactions_agent.py"), 4),
        (python("bedrock_agent.py"), 4),
        (python("vertex_agent.py"), 2 * 2),
        (node("openai_agent.mjs"), 2 * 4),
    ] {
        let mut stack = Stack::builder().config(&config).service().start();
        script(&stack);
        command.env("SENTINEL_CHECKS", "cache");
        run(&mut stack, command, checks);
    }
}

#[test]
fn openai_for_python() {
    run(&mut stack(), python("openai_agent.py"), 2 * 10);
}

#[test]
fn anthropic_for_python() {
    run(&mut stack(), python("anthropic_agent.py"), 10);
}

#[test]
fn google_genai_for_python() {
    run(&mut stack(), python("gemini_agent.py"), 10);
}

/// The eleventh: a history that the provider keeps.
#[test]
fn google_genai_interactions_for_python() {
    let mut stack = stack();
    run(&mut stack, python("interactions_agent.py"), 11);
    assert_came_on(&stack, &["/v1/interactions"]);
}

#[test]
fn boto3_for_python() {
    let mut stack = stack();
    run(&mut stack, python("bedrock_agent.py"), 10);
    assert_came_on(&stack, &[Dialect::Bedrock.path(false), Dialect::Bedrock.path(true)]);
}

#[test]
fn anthropic_and_google_genai_on_vertex_ai() {
    let mut stack = stack();
    run(&mut stack, python("vertex_agent.py"), 2 * 5);
    let gemini = "/v1beta1/projects/acme/locations/global/publishers/google/models/gemini-2.5-flash";
    assert_came_on(
        &stack,
        &[
            Dialect::VertexAnthropic.path(false),
            Dialect::VertexAnthropic.path(true),
            &format!("{gemini}:generateContent"),
            &format!("{gemini}:streamGenerateContent?alt=sse"),
        ],
    );
}

/// What they may not use is cut from what they offer; where they force it, they are refused and do not try again.
#[test]
fn packages_whose_tools_are_denied() {
    let mut stack =
        stack_with(&json!({"semantic": {"enabled": false}, "tools": {"deny": [{"name": "wipe_disk"}]}}));
    run(&mut stack, python("tools_agent.py"), 4 * 2);
    assert_eq!(stack.provider.count(), 4);
    for got in stack.provider.received() {
        let body = String::from_utf8_lossy(&got.body).into_owned();
        assert!(body.contains("get_weather") && !body.contains("wipe_disk"), "{body}");
    }
}

/// A history that a compaction has cut is refused by the provider; with repair it is answered.
#[test]
fn packages_whose_histories_are_broken() {
    let repairing = json!({"prefix": "mended-", "settings": {"bounds": {"repair": true}}});
    let mut stack = stack_with(&json!({"semantic": {"enabled": false}, "agents": [repairing]}));
    run(&mut stack, python("broken_history_agent.py"), 5 * 2);
    assert_eq!(stack.provider.count(), 5 * 2, "nothing is tried again");
    let repaired =
        |kind, dialect| stack.count("sentinel_bounds_total", &[("kind", kind), ("dialect", dialect)]);
    for dialect in ["openai_chat", "openai_responses", "anthropic", "bedrock", "gemini"] {
        assert_eq!(
            (repaired("result_made", dialect), repaired("result_dropped", dialect)),
            (1, 1),
            "{dialect}"
        );
    }
}

/// What the packages make of cleaned answers is the text that is left, event by event and as a whole.
#[test]
fn packages_whose_answers_are_cleaned() {
    let mut stack = stack_with(&json!({"semantic": {"enabled": false}, "clean": {"enabled": true}}));
    stack.provider.script(|request| {
        let said =
            "<think>First I look\n\nat it.</think>\n\n<final>It is seven, as `<think>` says. 5 < 6</final>";
        speak(request, &Reply::Text(said.into()))
    });
    run(&mut stack, python("clean_agent.py"), 4 * 2);
}

/// The packages use these paths, as the tests in Rust do, and no others.
fn assert_came_on(stack: &Stack, paths: &[&str]) {
    let used: BTreeSet<String> = stack.provider.received().into_iter().map(|got| got.path).collect();
    assert_eq!(used, paths.iter().map(ToString::to_string).collect());
}

/// envoy/production.yaml refuses them, without a key and over the limit.
#[test]
fn packages_raise_their_own_errors_when_a_gateway_refuses() {
    let gateway = Gateway::builder().three_requests().start();
    let mut command = python("refused_agent.py");
    command
        .env("SENTINEL_URL", format!("http://{}", gateway.address()))
        .env("SENTINEL_KEY", ALICE.key)
        .env_remove("HTTP_PROXY")
        .env_remove("http_proxy")
        .env("NO_PROXY", "*");
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.lines().filter(|line| line.starts_with("ok ")).count(), 3 * 3, "{said}");
    assert_eq!(gateway.provider.count(), 3);
}

#[test]
fn openai_for_node() {
    run(&mut stack(), node("openai_agent.mjs"), 2 * 10);
}
