//! The tool policy on the real Envoy: each dialect's golden request with tools, byte for byte, and the real MCP package's
//! client before its own server. The providers' packages are in `sdk`.

use std::fs;

use sentinel_harness::{Dialect, Stack, parts};
use serde_json::json;

use crate::mcp_package::{python, stack_before};
use sentinel_harness::process::Process;

/// A golden file of a dialect.
pub fn golden(dialect: Dialect, name: &str) -> String {
    let file = parts::root().join("filter/llm-api/tests/golden").join(dialect.label()).join(name);
    fs::read_to_string(file).expect("a golden file")
}

/// The golden requests with tools, wherever these stand in them.
fn offers(dialect: Dialect) -> Vec<String> {
    let folder = parts::root().join("filter/llm-api/tests/golden").join(dialect.label());
    let names = fs::read_dir(folder).expect("golden files").map(|entry| entry.expect("a file").file_name());
    let names = names.filter_map(|name| name.to_str()?.strip_suffix(".json").map(str::to_owned));
    names.filter(|name| name.starts_with("offer")).collect()
}

#[tokio::test]
async fn denied_tools_are_cut_in_every_dialect() {
    let config = json!({"semantic": {"enabled": false}, "tools": {"deny": [{"prefix": "delete"}, {"name": "mcp:delete"}]}});
    let mut stack = Stack::builder().config(&config).start();
    for dialect in Dialect::ALL {
        for name in offers(dialect) {
            let [body, expected] = ["json", "offer"].map(|end| golden(dialect, &format!("{name}.{end}")));
            let response = stack.post(dialect, &[("x-agent-id", dialect.label())], body).await;
            assert_eq!((response.status, response.verdict()), (200, "allow"), "{dialect:?} {name}");
            let got = stack.provider.last();
            assert_eq!(String::from_utf8_lossy(&got.body), expected, "{dialect:?} {name}");
        }
        let labels = [("kind", "offered"), ("dialect", dialect.label())];
        assert!(stack.count("sentinel_tools_denied_total", &labels) > 0, "{dialect:?}");
    }
    stack.assert_sound();
}

/// The package's client sees no tool that it may not use, and is told so where it calls one.
fn real_client_and_server(flags: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = python("mcp_server.py");
    command.args(flags);
    let mut server = Process::start("mcp-server", folder.path(), command);
    let port: u16 = server.wait_for("a port", |server| server.log().lines().next()?.trim().parse().ok());
    let config =
        json!({"mcp": {"paths": [{"prefix": "/mcp"}]}, "tools": {"deny": [{"name": "fail"}], "audit": true}});
    let mut stack = stack_before(port, &config);
    let mut agent = python("mcp_policy_client.py");
    agent.env("SENTINEL_URL", format!("http://{}", stack.address()));
    let output = agent.output().expect("python starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}\n{}", String::from_utf8_lossy(&output.stderr), server.log());
    assert_eq!(said.lines().filter(|line| line.starts_with("ok ")).count(), 2 * 3, "{said}");
    let labels = |kind| [("kind", kind), ("dialect", "mcp")];
    assert_eq!(stack.count("sentinel_tools_denied_total", &labels("called")), 2);
    assert!(stack.count("sentinel_tools_denied_total", &labels("offered")) >= 2);
    let log = stack.envoy.log();
    let told = |decision: &str| {
        let decision = format!(r#""decision":"{decision}""#);
        log.lines().filter(|line| line.contains(r#""event":"tool_call""#) && line.contains(&decision)).count()
    };
    assert_eq!((told("deny"), told("allow")), (2, 2), "{log}");
    stack.assert_sound();
}

#[test]
fn the_mcp_package_with_server_sent_events() {
    real_client_and_server(&[]);
}

#[test]
fn the_mcp_package_with_json() {
    real_client_and_server(&["--json"]);
}
