//! docs/how-do-i.md: its commands are run against the real service, the settings of its table switch off what they say, and what it
//! names in a cluster is in the manifests. Its configurations and its questions to Prometheus are checked by `blocks`.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

use sentinel_harness::service::Service;
use sentinel_harness::{parts, port};
use serde_json::{Value, json};

use crate::markdown::{Block, documents};
use crate::signals::{Example, examples, play_with};

const PAGE: &str = "docs/how-do-i.md";
const KEY: &str = "a-key-for-the-page";
/// A signal that only the real service can find, and one that is not about a loop in requests to a model.
const NOT_PLAYED: [&str; 2] = ["semantic", "mcp_breaker"];

fn page() -> String {
    fs::read_to_string(parts::root().join(PAGE)).expect("the page")
}

/// The names of the first cell and the settings of the second.
fn switched_off() -> Vec<(Vec<String>, Value)> {
    let page = page();
    let (_, table) = page.split_once("<!-- signals off: held by a test -->").expect("the table");
    let rows =
        table.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let read = |row: &str| {
        let [_, names, settings, _] = row.split('|').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let names: Vec<String> = names.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let settings = settings.trim().trim_matches('`');
        (names, serde_json::from_str(settings).unwrap_or_else(|error| panic!("{settings}: {error}")))
    };
    rows.skip(2).map(read).collect()
}

/// How often the example's signal spoke, with these settings for its agent.
fn spoken(example: &Example, settings: &Value) -> usize {
    let mut config = example.config.clone().unwrap_or_else(|| json!({}));
    config["agents"] = json!([{"name": "a", "settings": settings}]);
    let judged = play_with(example, &config);
    judged.iter().filter(|(_, _, reason)| reason.split(';').next() == Some(&example.signal)).count()
}

#[test]
fn the_settings_of_the_table_switch_off_their_signal_for_the_agent() {
    let rows = switched_off();
    let examples = examples();
    let mut named = BTreeSet::new();
    for (signals, settings) in &rows {
        let all = signals.is_empty();
        let of_this_row = examples.iter().filter(|example| {
            let is_of_steps = settings["steps"]["enabled"] == json!(false);
            let fits = signals.contains(&example.signal)
                || all && (!is_of_steps || !["score", "run_limit"].contains(&example.signal.as_str()));
            fits && !NOT_PLAYED.contains(&example.signal.as_str())
        });
        for example in of_this_row {
            assert!(spoken(example, &json!({})) > 0, "{} does not speak without settings", example.signal);
            assert_eq!(spoken(example, settings), 0, "{settings} leaves {} on", example.signal);
        }
        named.extend(signals.iter().cloned());
    }
    for example in &examples {
        let is_expected = example.signal != "mcp_breaker";
        assert_eq!(named.contains(&example.signal), is_expected, "{PAGE}: {}", example.signal);
    }
}

fn commands() -> Vec<Block> {
    let document = documents().into_iter().find(|document| document.path == PAGE).expect("the page");
    document.blocks().into_iter().filter(|block| block.language == "sh").collect()
}

fn bash(script: &str, folder: &std::path::Path) -> Output {
    let service = parts::service();
    let service = service.canonicalize().expect("the service's program");
    let script = format!("embedding-service() {{ '{}' \"$@\"; }}\n{script}", service.display());
    Command::new("bash")
        .args(["-euo", "pipefail", "-c", &script])
        .current_dir(folder)
        .output()
        .expect("bash starts")
}

#[test]
fn the_commands_do_what_the_page_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let address = port::free().to_string();
    let settings = [("METRICS_ADDR".to_owned(), address.clone()), ("CONTROL_KEY".to_owned(), KEY.to_owned())];
    let _service = Service::start(folder.path(), &folder.path().join("socket"), &settings);
    fs::write(folder.path().join("control.key"), KEY).expect("the key");
    fs::write(folder.path().join("envoy.log"), "{\"agent\":\"d1f9336f8a335704\",\"event\":\"verdict\"}\n")
        .expect("a log");
    let clients = folder.path().join("envoy/production/clients.yaml");
    fs::create_dir_all(clients.parent().expect("a folder")).expect("the folder");
    // The shipped file with two clients, the first as the page on keys writes it.
    let shipped =
        fs::read_to_string(parts::root().join("envoy/production/clients.yaml")).expect("the shipped clients");
    fs::write(&clients, &shipped).expect("the clients");
    let recipe = fs::read_to_string(parts::root().join("docs/access.md")).expect("the page on keys");
    let recipe = recipe
        .lines()
        .find(|line| line.contains("sed -i") && line.contains("credentials"))
        .expect("a recipe");
    assert!(bash(&format!("KEY=1\n{recipe}"), folder.path()).status.success(), "{recipe}");
    let with_one = fs::read_to_string(&clients).expect("the clients");
    let entry = "      - {client: billing, key: 1}\n";
    assert!(with_one.contains(entry), "{with_one}");
    fs::write(
        &clients,
        with_one.replace(entry, &format!("{entry}      - {{client: nightly-report, key: 2}}\n")),
    )
    .expect("the clients");
    let first = format!("export CONTROL_ADDRESS=http://{address}\n");
    let mut ran = Vec::new();
    for block in commands() {
        // A cluster, a toolchain and Envoy are for other tests.
        if ["kubectl", "make", "127.0.0.1:9901"].iter().any(|word| block.text.contains(word)) {
            continue;
        }
        let mut text = block.text.replace("127.0.0.1:9464", &address).replace("curl -s", "curl -sSf");
        if text.contains("STOP_ID") {
            let stops = bash(&format!("curl -sSf http://{address}/v1/stops"), folder.path());
            let stops: Value = serde_json::from_slice(&stops.stdout).expect("the stops");
            text = text.replace("STOP_ID", stops["stops"][0]["id"].as_str().expect("a stop that stands"));
        }
        // It goes on until it is ended.
        let watches = text.contains(" watch ");
        if watches {
            text = text.replace("embedding-service watch", "timeout 2 \"$SERVICE\" watch");
        }
        let given = format!(
            "{first}export CONTROL_KEY_FILE=control.key SERVICE='{}'\n{text}",
            parts::service().canonicalize().expect("the program").display()
        );
        let output = bash(&given, folder.path());
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let wanted = if watches { 124 } else { 0 };
        assert_eq!(output.status.code(), Some(wanted), "{}:\n{text}\n{said}", block.place);
        if text.contains("hash ") {
            assert!(said.contains("d1f9336f8a335704"), "{}: {said}", block.place);
        }
        ran.push(block.text.clone());
    }
    for word in
        ["hash", "runs", "watch", "stop ", "lift", "budgets", "settings/observe", "v1/agents", "clients.yaml"]
    {
        assert!(ran.iter().any(|text| text.contains(word)), "{PAGE}: nothing was run of `{word}`");
    }
    assert_eq!(fs::read_to_string(clients).expect("the clients"), with_one, "the other client keeps its key");
}

#[test]
fn what_the_page_names_in_a_cluster_is_there() {
    let golden =
        fs::read_to_string(parts::root().join("tests/k8s/golden/cluster.yaml")).expect("the overlay");
    let objects: Vec<Value> = golden
        .split("\n---\n")
        .map(|object| serde_saphyr::from_str(object).unwrap_or_else(|error| panic!("{error}:\n{object}")))
        .collect();
    let is_there = |kind: &str, name: &str| {
        objects.iter().any(|object| {
            object["kind"] == kind
                && object["metadata"]["name"] == name
                && object["metadata"]["namespace"] == "agent-sentinel"
        })
    };
    let page = page();
    let mut named = 0;
    for word in page.split(|c: char| c.is_whitespace() || c == '`') {
        if let Some(name) = word.strip_prefix("deployment/").or_else(|| word.strip_prefix("deploy/")) {
            assert!(is_there("Deployment", name), "{PAGE}: the overlay has no Deployment {name}");
            named += 1;
        }
    }
    assert!(named >= 4, "{named}");
    for name in ["agent-gateway", "embedding-service"] {
        assert!(is_there("HorizontalPodAutoscaler", name), "{name}");
    }
    for line in page.lines().filter(|line| line.trim().starts_with("kubectl ") && !line.contains(" -k ")) {
        assert!(line.contains("-n agent-sentinel"), "{line}");
    }
}
