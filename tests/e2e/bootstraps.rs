//! What is shipped in envoy/ runs as it is, and a wrong configuration is refused with the path of the field.

use std::fs;

use sentinel_harness::bootstrap::Bootstrap;
use sentinel_harness::envoy::{Envoy, assert_valid, no_module};
use sentinel_harness::gateway::shipped;
use sentinel_harness::{Dialect, Stack, parts};
use serde_json::{Value, json};

use crate::support::{QUESTION, assembled, verdicts_of};

#[test]
fn every_shipped_bootstrap_is_valid() {
    let mut names: Vec<String> = fs::read_dir(parts::root().join("envoy"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    names.sort();
    for name in ["console.yaml", "demo.yaml", "production.yaml", "providers.yaml"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    for name in names {
        let mut bootstrap = Bootstrap::shipped(&name);
        // The one for people has no filter of ours.
        if name != "console.yaml" {
            bootstrap.module(&parts::filter());
        }
        assert_valid(&format!("envoy/{name}"), &Envoy::validate(&bootstrap));
    }
}

#[test]
fn the_lines_for_traces_are_valid() {
    let mut bootstrap = Bootstrap::shipped("production.yaml");
    bootstrap.module(&parts::filter());
    bootstrap.traces();
    for tls in [false, true] {
        if tls {
            bootstrap.traces_tls();
        }
        let output = Envoy::validate_without_filter(&bootstrap, &[]);
        assert_valid("envoy/production.yaml with traces", &output);
    }
    // TLS is Envoy's affair: both have one configuration of the filter.
    let bootstrap: Value = serde_saphyr::from_str(bootstrap.text()).unwrap();
    let manager = bootstrap.pointer("/static_resources/listeners/0/filter_chains/0/filters/0/typed_config");
    let mut filters = manager.unwrap()["http_filters"].as_array().unwrap().iter();
    let filter = filters.find(|filter| filter["name"] == "sentinel").unwrap();
    let config = filter["typed_config"]["config"]["configuration"]["value"].as_str().unwrap();
    assert!(config.contains("collector"), "{config}");
    let mut demo = Bootstrap::demo();
    demo.config(config);
    assert_eq!(Envoy::refusal(&demo), None);
}

#[test]
fn the_module_that_stands_for_none_is_its_text() {
    let text = include_str!("../harness/no_module.wat");
    assert_eq!(fs::read(no_module()).unwrap(), assembled(text));
}

/// `envoy --mode validate` does not open the files that are read anew, so each is put into the bootstrap in its place.
#[test]
fn every_file_that_is_read_anew_is_valid() {
    let validate = |name: &str, bootstrap: Bootstrap, valid: bool| {
        let output = Envoy::validate_without_filter(&bootstrap, &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), valid, "envoy/production/{name}:\n{said}");
    };
    for (name, filter) in [
        ("clients.yaml", "clients"),
        ("paths.yaml", "paths"),
        ("limits.yaml", "limits"),
        ("limits-global.yaml", "limits"),
    ] {
        for (spoiled, valid) in [("", true), ("                      no_such_field: 1\n", false)] {
            let config = indented(&after("    typed_config:\n", &shipped(name)), 16);
            let mut bootstrap = Bootstrap::shipped("production.yaml");
            bootstrap.module(&parts::filter());
            bootstrap.inline(filter, &format!("                    typed_config:\n{config}{spoiled}"));
            validate(name, bootstrap, valid);
        }
    }
    let keys = fs::read_dir(parts::root().join("envoy/production/keys")).unwrap();
    let mut secrets = String::new();
    for key in keys {
        let name = key.unwrap().file_name().into_string().unwrap();
        let secret = after("v3.Secret\n", &shipped(&format!("keys/{name}")));
        assert!(secret.contains(&format!("name: {}\n", name.trim_end_matches(".yaml"))), "{name}: {secret}");
        secrets.push_str(&format!("    -\n{}", indented(&secret, 2)));
    }
    for (spoiled, valid) in [("", true), ("      no_such_field: 1\n", false)] {
        let mut bootstrap = Bootstrap::shipped("production.yaml");
        bootstrap.module(&parts::filter());
        bootstrap.replace("\n  clusters:\n", &format!("\n  secrets:\n{secrets}{spoiled}\n  clusters:\n"));
        validate("keys", bootstrap, valid);
    }
}

fn after(mark: &str, text: &str) -> String {
    text.split_once(mark).unwrap_or_else(|| panic!("no {mark:?} in {text}")).1.to_owned()
}

fn indented(text: &str, by: usize) -> String {
    text.lines().map(|line| format!("{:by$}{line}\n", "")).collect()
}

#[test]
fn a_wrong_configuration_is_refused_with_the_path_of_the_field() {
    for (config, path) in [
        (json!({"no_such_field": 1}), "no_such_field"),
        (json!({"similarity_threshold": 1.5}), "similarity_threshold"),
        (json!({"similarity_threshold": "high"}), "similarity_threshold"),
        (json!({"cluster": ""}), "cluster"),
        (json!({"timeout": "soon"}), "timeout"),
        (json!({"mode": "panic"}), "mode"),
        (json!({"kill": {"status": 429}}), "kill.status"),
        (json!({"kill": {"mode": "explode"}}), "kill.mode"),
        (json!({"hint": {"position": "middle"}}), "hint.position"),
        (json!({"semantic": {"repeats": 0}}), "semantic.repeats"),
        (json!({"intervention_message": " "}), "intervention_message"),
        (json!({"identity": {"agent": {"headers": ["not a header"]}}}), "identity.agent.headers[0]"),
        (
            json!({"agents": [{"name": "a", "settings": {"kill": {"status": 200}}}]}),
            "agents[0].settings.kill.status",
        ),
        (json!({"paths": [{"exact": "/a", "prefix": "/a", "dialect": "gemini"}]}), "paths[0]"),
        (json!({"prices": [{"name": "m"}, {"name": "n", "input": -0.1}]}), "prices[1].input"),
        (json!({"prices": [{"input": 1.0}]}), "prices[0]"),
        (json!({"agents": [{"prefix": "a"}, {"name": "ab"}]}), "agents[1]"),
        (json!({"kill": {"message": "Stopped: {resaon}"}}), "kill.message"),
        (json!([]), ""),
    ] {
        let mut bootstrap = Bootstrap::demo();
        bootstrap.config(&config.to_string());
        let said = Envoy::refusal(&bootstrap).unwrap_or_else(|| panic!("{config} was accepted"));
        assert!(
            said.contains(&format!("configuration field `{path}")),
            "{config}: the path {path} is not named:\n{said}"
        );
    }
}

/// At start-up and by `envoy --mode validate`, as by an Envoy that is up.
#[test]
fn envoy_does_not_start_with_a_wrong_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let mut bootstrap = Bootstrap::demo();
    bootstrap.config(&json!({"kill": {"mode": "explode"}}).to_string());
    let validated = Envoy::validate(&bootstrap);
    let started = Envoy::command(folder.path(), &bootstrap).output().unwrap();
    for output in [validated, started] {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "a wrong configuration was accepted:\n{said}");
        assert!(said.contains("configuration field `kill.mode"), "the path is not named:\n{said}");
    }
}

#[test]
fn a_configuration_that_is_not_json_is_refused() {
    let mut bootstrap = Bootstrap::demo();
    bootstrap.config("mode: enforce");
    let said = Envoy::refusal(&bootstrap).expect("a refusal");
    assert!(said.contains("this is not JSON: expected value at line 1 column 1"), "{said}");
}

#[test]
fn an_empty_configuration_is_the_default_one() {
    for config in ["", "{}"] {
        let mut bootstrap = Bootstrap::demo();
        bootstrap.config(config);
        assert_eq!(Envoy::refusal(&bootstrap), None, "{config:?}");
    }
}

#[tokio::test]
async fn metrics_have_labels_and_our_own_names() {
    let mut stack = Stack::builder().own_envoy().start();
    let verdicts = verdicts_of(&stack, Dialect::OpenaiChat, "metrics", QUESTION, 5).await;
    assert_eq!(verdicts, ["allow", "allow", "allow", "hint", "kill"]);
    let dialect = ("dialect", "openai_chat");
    assert_eq!(stack.count("sentinel_requests_total", &[dialect]), 5);
    for (verdict, times) in [("allow", 3), ("hint", 1), ("kill", 1)] {
        assert_eq!(
            stack.count("sentinel_verdicts_total", &[("verdict", verdict), dialect]),
            times,
            "{verdict}"
        );
    }
    assert_eq!(
        stack.count("sentinel_verdicts_total", &[("verdict", "hint"), ("signal", "score"), dialect]),
        1
    );
    assert_eq!(
        stack.count("sentinel_verdicts_total", &[("verdict", "kill"), ("signal", "score"), dialect]),
        1
    );
    assert!(stack.count("sentinel_service_calls_total", &[]) > 0, "the absent service was asked");
    assert!(stack.count("sentinel_bytes_inspected_total", &[]) > 0);
    // Every label of ours has been cut out of the names.
    for sample in stack.metrics().beginning("sentinel_") {
        assert!(!sample.name.contains("verdict_") && !sample.name.contains("dialect"), "{sample:?}");
    }
    stack.assert_sound();
}
