//! The MCP breaker between the real MCP package's client and its own server.

use std::process::Command;

use sentinel_harness::process::Process;
use sentinel_harness::{Stack, parts};
use serde_json::json;

const CALLS: u64 = 20;

pub fn python(script: &str) -> Command {
    // As `make setup` does.
    let mut command = Command::new(std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into()));
    command.arg(parts::root().join("tests/sdk/python").join(script));
    command.env("PYTHONPATH", parts::python_sdks()).env("PYTHONDONTWRITEBYTECODE", "1").env("NO_PROXY", "*");
    command
}

/// The stack before an MCP server on this port.
pub fn stack_before(port: u16, config: &serde_json::Value) -> Stack {
    Stack::builder()
        .config(config)
        .edit(
            "                      routes:\n",
            "                      routes:\n                        - match: {prefix: /mcp}\n                          route: {cluster: tools, timeout: 0s}\n",
        )
        .edit(
            "    - name: provider\n      type: STATIC\n",
            &format!(
                "    - name: tools\n      type: STATIC\n      load_assignment:\n        cluster_name: tools\n        endpoints: [{{lb_endpoints: [{{endpoint: \
                 {{address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}}}}}]}}]\n    - name: provider\n      type: STATIC\n"
            ),
        )
        .start()
}

/// The package's own client against its own server, with Envoy between.
fn real_client_and_server(answer: &str, flags: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = python("mcp_server.py");
    command.args(flags);
    let mut server = Process::start("mcp-server", folder.path(), command);
    let port: u16 = server.wait_for("a port", |server| server.log().lines().next()?.trim().parse().ok());
    // Long enough for a machine that is busy.
    let config = json!({"mcp": {"paths": [{"prefix": "/mcp"}], "window": "10m", "answer": answer}});
    let mut stack = stack_before(port, &config);
    let mut agent = python("mcp_client.py");
    agent
        .env("SENTINEL_URL", format!("http://{}", stack.address()))
        .env("SENTINEL_CALLS", CALLS.to_string())
        .env("SENTINEL_ANSWER", answer);
    let output = agent.output().expect("python starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "the agent failed.\n{said}\n{complained}\nthe server:\n{}",
        server.log()
    );
    let passed = said.lines().filter(|line| line.starts_with("ok ")).count();
    assert_eq!(passed, 3 * 4 + 2, "checks that passed:\n{said}\n{complained}");
    let killed = [("verdict", "kill"), ("signal", "mcp_breaker"), ("dialect", "mcp")];
    assert_eq!(stack.count("sentinel_verdicts_total", &killed), 3 * 2 + CALLS);
    assert_eq!(stack.count("sentinel_bypasses_total", &[("cause", "contention")]), 0);
    assert_eq!(stack.provider.count(), 0, "the models' provider was asked");
    stack.assert_sound();
}

#[test]
fn the_mcp_package_with_server_sent_events() {
    real_client_and_server("result", &[]);
}

#[test]
fn the_mcp_package_with_json() {
    real_client_and_server("result", &["--json"]);
}

#[test]
fn the_mcp_package_with_errors() {
    real_client_and_server("error", &[]);
}
