//! The rules, the dashboard and the routes of the alerts, judged by Prometheus' and Alertmanager's own tools.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use sentinel_harness::parts;
use sentinel_harness::service::Service;
use serde_json::{Value, json};

use crate::manifests::{find, objects};

/// The rules of the PrometheusRule as Prometheus itself reads them.
pub fn rules() -> Value {
    json!({"groups": find(&objects("monitoring"), "PrometheusRule", "agent-sentinel")["spec"]["groups"]})
}

/// The configuration that the ConfigMap has for Alertmanager.
pub fn alertmanager() -> String {
    let all = objects("monitoring");
    find(&all, "ConfigMap", "agent-sentinel-alertmanager")["data"]["alertmanager.yml"]
        .as_str()
        .expect("a file")
        .to_owned()
}

fn dashboard() -> Value {
    let all = objects("monitoring");
    let text = find(&all, "ConfigMap", "agent-sentinel-dashboard")["data"]["agent-sentinel.json"]
        .as_str()
        .expect("a file");
    serde_json::from_str(text).expect("a dashboard is JSON")
}

fn promtool(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(parts::promtool()).args(arguments).current_dir(folder).output().expect("promtool starts")
}

/// The rules of one kind: `alert` or `record`.
fn rules_of(kind: &str) -> Vec<Value> {
    let groups = rules()["groups"].as_array().expect("groups").clone();
    let all = groups.iter().flat_map(|group| group["rules"].as_array().expect("rules").clone());
    all.filter(|rule| rule[kind].is_string()).collect()
}

fn assert_fine(what: &str, output: &Output) {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{what}:\n{out}\n{err}");
}

#[test]
fn every_alert_is_raised_by_what_it_is_there_for() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rules.yaml"), rules().to_string()).unwrap();
    let tests = parts::root().join("tests/k8s/promtool/rules_test.yaml");
    fs::copy(&tests, folder.path().join("rules_test.yaml")).unwrap();
    assert_fine("the rules", &promtool(folder.path(), &["check", "rules", "rules.yaml"]));
    assert_fine("the rules", &promtool(folder.path(), &["test", "rules", "rules_test.yaml"]));

    let text = fs::read_to_string(tests).unwrap();
    for rule in rules_of("alert") {
        let name = rule["alert"].as_str().unwrap();
        assert!(
            text.contains(&format!("alertname: {name}\n        exp_alerts:")),
            "{name} is never raised in the tests"
        );
        for label in ["severity", "kind"] {
            assert!(rule["labels"][label].is_string(), "{name}: {label} is missing, by which it is routed");
        }
    }
}

#[test]
fn the_routes_of_the_alerts_are_sound() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("alertmanager.yml");
    fs::write(&file, alertmanager()).unwrap();
    let tool = |arguments: &[&str]| {
        let mut command = Command::new(parts::amtool());
        command.args(arguments).env("HOME", folder.path()).output().expect("amtool starts")
    };
    assert_fine("alertmanager.yml", &tool(&["check-config", file.to_str().unwrap()]));
    for (labels, receivers) in [
        (["severity=warning", "kind=kill_switch"], "email,webhook"),
        (["severity=warning", "kind=hint_rate"], "webhook"),
        (["severity=critical", "kind=redis"], "email,webhook"),
    ] {
        let config = format!("--config.file={}", file.display());
        let output = tool(&["config", "routes", "test", &config, labels[0], labels[1]]);
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), receivers, "{labels:?}");
    }
}

/// Every expression of the dashboard, its variables filled in.
fn expressions() -> Vec<String> {
    let dashboard = dashboard();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let panels = list(&dashboard["panels"]).into_iter().flat_map(|panel| list(&panel["targets"]));
    panels
        .chain(list(&dashboard["annotations"]["list"]))
        .map(|target| target["expr"].as_str().expect("an expression").to_owned())
        .map(|text| {
            text.replace("$__rate_interval", "5m").replace("$__range", "6h").replace("$namespace", ".*")
        })
        .collect()
}

#[test]
fn every_expression_of_the_dashboard_is_one_that_prometheus_understands() {
    let rules: Vec<Value> = expressions()
        .iter()
        .enumerate()
        .map(|(n, expr)| json!({"record": format!("panel:{n}"), "expr": expr}))
        .collect();
    assert!(rules.len() > 20, "{}", rules.len());
    let folder = tempfile::tempdir().unwrap();
    let text = json!({"groups": [{"name": "dashboard", "rules": rules}]}).to_string();
    fs::write(folder.path().join("dashboard.yaml"), text).unwrap();
    assert_fine("the dashboard", &promtool(folder.path(), &["check", "rules", "dashboard.yaml"]));
}

/// Names of ours in a text.
fn names(text: &str, prefix: &str) -> BTreeSet<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !word(c)).filter(|name| name.starts_with(prefix)).map(str::to_owned).collect()
}

#[test]
fn no_metric_is_asked_for_that_nobody_has() {
    let mut asked = expressions().join("\n");
    asked.push_str(&rules().to_string());

    let of_the_filter =
        names(&fs::read_to_string(parts::root().join("filter/pipeline/src/metric.rs")).unwrap(), "sentinel_");
    let recorded: BTreeSet<String> =
        rules_of("record").iter().map(|rule| rule["record"].as_str().unwrap().to_owned()).collect();
    for name in names(&asked, "sentinel_") {
        let plain = name.trim_end_matches("_bucket");
        assert!(of_the_filter.contains(plain) || recorded.contains(plain), "nobody has {name}");
    }

    let of_the_service = registered();
    for name in names(&asked, "embedding_service_") {
        let described = name.trim_end_matches("_total").trim_end_matches("_bucket");
        assert!(of_the_service.contains(described), "the service has no {name}");
    }
    // Metrics that have counted nothing yet are not shown; those that are must be among the registered ones.
    let folder = tempfile::tempdir().unwrap();
    let (_service, page) = scraped(folder.path());
    let shown: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert!(shown.len() > 5, "{page}");
    for name in shown {
        assert!(of_the_service.contains(name), "{name} is registered in a way that this test does not see");
    }
}

/// What the service registers, by its source.
fn registered() -> BTreeSet<String> {
    let source: String =
        ["metrics.rs", "metrics/answers.rs", "metrics/control.rs", "metrics/second_opinion.rs"]
            .map(|file| fs::read_to_string(parts::root().join("embedding-service/src").join(file)).unwrap())
            .concat();
    let mut found = BTreeSet::new();
    for (at, call) in source.match_indices(".register") {
        let call = source[at + call.len()..].split(";\n").next().unwrap();
        if !call.starts_with('(') && !call.starts_with("_with_unit(") {
            continue;
        }
        // A set of metrics with a file of its own has no names where it is created.
        let Some((head, rest)) = call.split_once('"') else { continue };
        let name = rest.split('"').next().unwrap();
        let unit = match head.starts_with("_with_unit") {
            true if call.contains("Unit::Bytes") => "_bytes",
            true => "_seconds",
            false => "",
        };
        found.insert(format!("embedding_service_{name}{unit}"));
    }
    found
}

/// A real service, and what it shows to Prometheus.
fn scraped(folder: &Path) -> (Service, String) {
    let address = sentinel_harness::port::free().to_string();
    let settings = [("METRICS_ADDR".to_owned(), address.clone())];
    let service = Service::start(folder, &folder.join("service.sock"), &settings);
    let answer = sentinel_harness::raw::get(address.parse().unwrap(), "/metrics").expect("an answer");
    (service, String::from_utf8(answer.body).unwrap())
}
