//! The Helm chart gives the objects of the kustomize overlays, by Helm's own library; its values act, and wrong ones are refused with
//! their place. The real Envoy judges the bootstraps that it renders.

use std::process::{Command, Output};

use sentinel_harness::bootstrap::Bootstrap;
use sentinel_harness::parts;
use serde_json::{Map, Value, json};

use crate::components;
use crate::judged::assert_valid;
use crate::manifests::{called, documents, find, laid_over, objects};
use crate::policies::faults;
use crate::schemas::assert_fits;

const CHART: &str = "k8s/helm/agent-sentinel";
/// The module as the overlay `cluster` has it.
const BY_URL: &str = "https://modules.example.com/agent-sentinel/0.1.0/plugin.wasm";

fn helm(what: &str, values: &Value, namespace: &str) -> Output {
    Command::new("python3")
        .env("PYTHONPATH", parts::helm())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(parts::root().join("tests/k8s/helm.py"))
        .arg(what)
        .arg(parts::root().join(CHART))
        .arg(values.to_string())
        .arg(namespace)
        .output()
        .expect("Python starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The objects that the chart makes of these values.
fn chart(values: &Value) -> Vec<Value> {
    in_namespace(values, "agent-sentinel")
}

fn in_namespace(values: &Value, namespace: &str) -> Vec<Value> {
    let output = helm("template", values, namespace);
    assert!(output.status.success(), "{values}: {}", said(&output));
    let files: Map<String, Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let manifests = files.iter().filter(|(name, _)| name.ends_with(".yaml"));
    manifests.flat_map(|(_, text)| documents(text.as_str().expect("a text"))).collect()
}

fn by_url() -> Value {
    json!({"module": {"from": "url", "url": BY_URL, "sha256": "0".repeat(64)}})
}

/// `name-9f8e7d6c5b` as `name`: kustomize puts a hash behind the names of generated ConfigMaps.
fn without_hashes(value: &mut Value) {
    const HASHED: [&str; 4] =
        ["agent-gateway-envoy", "embedding-service-settings", "redis-config", "limitador-limits"];
    match value {
        Value::String(text) => {
            for name in HASHED {
                if text.strip_prefix(name).is_some_and(|rest| rest.len() == 11 && rest.starts_with('-')) {
                    name.clone_into(text);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_hashes),
        Value::Object(members) => members.values_mut().for_each(without_hashes),
        _ => {}
    }
}

/// An object without what each tool adds of its own, with texts of YAML and JSON read.
fn plain(mut object: Value) -> Value {
    without_hashes(&mut object);
    if let Some(labels) = object.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        for name in ["app.kubernetes.io/part-of", "app.kubernetes.io/managed-by", "helm.sh/chart"] {
            labels.remove(name);
        }
    }
    if object["metadata"]["labels"] == json!({}) {
        object["metadata"].as_object_mut().unwrap().remove("labels");
    }
    if let Some(pod) = object.pointer_mut("/spec/template/metadata").and_then(Value::as_object_mut) {
        pod.remove("annotations");
    }
    if let Some(data) = object.get_mut("data").and_then(Value::as_object_mut) {
        // Traces are a component of the overlays.
        data.remove("envoy-traces.yaml");
        for (_, text) in data.iter_mut().filter(|(name, _)| name.ends_with(".yaml")) {
            *text = serde_saphyr::from_str(text.as_str().unwrap()).unwrap();
            let filters = "/static_resources/listeners/0/filter_chains/0/filters/0/typed_config/http_filters";
            for filter in text.pointer_mut(filters).and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(json) = filter.pointer_mut("/typed_config/config/configuration/value") {
                    *json = serde_json::from_str(json.as_str().unwrap()).unwrap();
                }
            }
        }
    }
    // The configuration that Envoy merges into its bootstrap.
    if let Some(args) =
        object.pointer_mut("/spec/template/spec/containers/0/args").and_then(Value::as_array_mut)
        && args.iter().any(|argument| argument == "--config-yaml")
    {
        let last = args.last_mut().unwrap();
        *last = serde_saphyr::from_str(last.as_str().unwrap()).unwrap();
    }
    object
}

fn sorted(objects: Vec<Value>) -> Vec<(String, Value)> {
    let mut all: Vec<_> = objects.into_iter().map(plain).map(|object| (called(&object), object)).collect();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    all
}

#[test]
fn the_chart_makes_the_objects_of_the_overlays() {
    for (overlay, mut values) in [("cluster", by_url()), ("standalone", json!({"mode": "standalone"}))] {
        assert_same(overlay, objects(&format!("overlays/{overlay}")), chart(&values));
        values["limits"] = json!({"enabled": true});
        assert_same(&format!("{overlay} with limits"), components::with("limits", overlay), chart(&values));
    }
}

fn assert_same(what: &str, mut wanted: Vec<Value>, made: Vec<Value>) {
    // Helm has the namespace made before it begins.
    wanted.retain(|object| object["kind"] != "Namespace");
    let (wanted, made) = (sorted(wanted), sorted(made));
    let names = |all: &[(String, Value)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&made), names(&wanted), "{what}");
    for ((name, made), (_, wanted)) in made.iter().zip(&wanted) {
        assert_eq!(made, wanted, "{what}: {name}");
    }
}

/// Values as users give them, for what else the tests look at.
fn combinations() -> Vec<Value> {
    vec![
        json!({}),
        by_url(),
        json!({"mode": "standalone", "control": {"secret": "control-key"}}),
        json!({"limits": {"enabled": true}}),
        json!({
            "redis": {"enabled": false},
            "service": {"egress": [{"to": [{"ipBlock": {"cidr": "10.1.2.3/32"}}], "ports": [{"protocol": "TCP", "port": 6379}]}]},
            "gateway": {"egress": [{"to": [{"podSelector": {"matchLabels": {"app": "vllm"}}}], "ports": [{"protocol": "TCP", "port": 8000}]}]},
            "zones": [],
            "control": {"secret": "control-key"},
        }),
    ]
}

#[test]
fn helm_lint_finds_nothing() {
    for values in combinations() {
        let output = helm("lint", &values, "agent-sentinel");
        assert!(output.status.success(), "{values}: {}", said(&output));
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "[]", "{values}");
    }
}

#[test]
fn every_object_is_restricted_and_fits_its_schema() {
    for values in combinations() {
        let all = chart(&values);
        assert_eq!(faults(&all), Vec::<String>::new(), "{values}");
        assert_fits(&values.to_string(), all);
    }
}

#[test]
fn the_values_act() {
    let all = in_namespace(
        &json!({
            "images": {"registry": "registry.example.org/team", "tag": "7.8.9"},
            "configuration": {"run_limit": 100, "max_body_bytes": 2_097_152, "identity": {"clients": ["billing"]}},
            "gateway": {"replicas": {"min": 3, "max": 30}, "limits": "# rate_limit_service: mine\nresources: []\n"},
            "service": {"settings": {"LOOP_CACHE_TTL": 600, "LOG_LEVEL": "debug"}},
            "zones": ["eu-1"],
            "control": {"secret": "operators"},
            "limits": {"enabled": true, "limitador": "[]\n", "replicas": 3},
        }),
        "llm",
    );
    assert!(all.iter().all(|object| object["metadata"]["namespace"] == "llm"));
    let gateway = find(&all, "Deployment", "agent-gateway");
    let volumes = gateway["spec"]["template"]["spec"]["volumes"].as_array().unwrap();
    let module = volumes.iter().find(|volume| volume["name"] == "module").unwrap();
    assert_eq!(module["image"]["reference"], "registry.example.org/team/filter:7.8.9");
    let service = &find(&all, "Deployment", "embedding-service")["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(service["image"], "registry.example.org/team/embedding-service:7.8.9");
    let key = json!({"secretKeyRef": {"name": "operators", "key": "key"}});
    assert!(service["env"].as_array().unwrap().contains(&json!({"name": "CONTROL_KEY", "valueFrom": key})));
    let settings = &find(&all, "ConfigMap", "embedding-service-settings")["data"];
    for (name, value) in
        [("LOOP_CACHE_TTL", "600"), ("LOG_LEVEL", "debug"), ("CONTROL", "true"), ("LOOP_WORKERS", "2")]
    {
        assert_eq!(settings[name], value, "{name}");
    }
    let scaler = &find(&all, "HorizontalPodAutoscaler", "agent-gateway")["spec"];
    assert_eq!((&scaler["minReplicas"], &scaler["maxReplicas"]), (&json!(3), &json!(30)));
    assert_eq!(
        find(&all, "Service", "embedding-service-eu-1")["spec"]["selector"]["topology.kubernetes.io/zone"],
        "eu-1"
    );
    assert_eq!(
        find(&all, "ConfigMap", "agent-gateway-limits")["data"]["limits.yaml"],
        "# rate_limit_service: mine\nresources: []\n"
    );
    assert_eq!(find(&all, "ConfigMap", "limitador-limits")["data"]["limitador.yaml"], "[]\n");
    assert_eq!(find(&all, "Deployment", "limitador")["spec"]["replicas"], 3);
    let text = find(&all, "ConfigMap", "agent-gateway-envoy")["data"]["envoy.yaml"].as_str().unwrap();
    assert!(text.contains("address: limitador.llm.svc.cluster.local"));

    let envoy = plain(find(&all, "ConfigMap", "agent-gateway-envoy").clone());
    let filters = envoy["data"]["envoy.yaml"]
        .pointer("/static_resources/listeners/0/filter_chains/0/filters/0/typed_config/http_filters")
        .and_then(Value::as_array)
        .unwrap();
    let sentinel = filters.iter().find(|filter| filter["name"] == "sentinel").unwrap();
    let configuration = &sentinel["typed_config"]["config"]["configuration"]["value"];
    assert_eq!(configuration["run_limit"], 100);
    assert_eq!(configuration["max_body_bytes"], 2_097_152);
    assert_eq!(configuration["control"], json!({"enabled": true}));
    assert_eq!(configuration["identity"], json!({"principal": "x-sentinel-client", "clients": ["billing"]}));
    assert_eq!(configuration["mode"], "enforce");
    assert!(laid_over(&all, "eu-1").unwrap().contains("embedding-service-eu-1.llm.svc.cluster.local"));
}

#[test]
fn a_changed_value_rolls_the_pods_that_read_it() {
    let checksum = |values: Value, kind: &str, name: &str| {
        find(&chart(&values), kind, name)["spec"]["template"]["metadata"]["annotations"].clone()
    };
    let gateway = |values| checksum(values, "Deployment", "agent-gateway");
    let service = |values| checksum(values, "Deployment", "embedding-service");
    let limits = |text: &str| {
        checksum(json!({"limits": {"enabled": true, "limitador": text}}), "Deployment", "limitador")
    };
    let (filter, setting) =
        (json!({"configuration": {"run_limit": 9}}), json!({"service": {"settings": {"LOG_LEVEL": "warn"}}}));
    assert_ne!(gateway(filter.clone()), gateway(json!({})));
    assert_eq!(service(filter), service(json!({})));
    assert_ne!(service(setting.clone()), service(json!({})));
    assert_eq!(gateway(setting), gateway(json!({})));
    assert_ne!(limits("[]"), limits(""));
}

#[test]
fn the_real_envoy_accepts_what_the_chart_renders() {
    for values in [
        json!({"configuration": {"run_limit": 100, "cache": {"enabled": true}}}),
        json!({"mode": "standalone", "control": {"secret": "control-key"}}),
    ] {
        let all = chart(&values);
        let text = find(&all, "ConfigMap", "agent-gateway-envoy")["data"]["envoy.yaml"].as_str().unwrap();
        let mut bootstrap = Bootstrap::of(text.to_owned());
        bootstrap.replace("/module/plugin.wasm", &parts::filter().display().to_string());
        bootstrap.mounted(&parts::root().join("envoy/production"));
        let over = laid_over(&all, "region-1a");
        assert_valid(&values.to_string(), &bootstrap, over.as_deref());
    }
}

#[test]
fn wrong_values_are_refused_with_their_place() {
    for (values, word) in [
        (json!({"mode": "sidecar"}), "mode"),
        (json!({"images": {"tag": "latest"}}), "tag"),
        (json!({"module": {"from": "url"}}), "url"),
        (
            json!({"module": {"from": "url", "url": "http://a.example/p.wasm", "sha256": "0".repeat(64)}}),
            "url",
        ),
        (json!({"gateway": {"replicas": {"min": 0}}}), "min"),
        (json!({"gateway": {"replicas": {"min": 9}}}), "gateway.replicas"),
        (json!({"gateway": {"replica": {"min": 2}}}), "replica"),
        (json!({"service": {"settings": {"CONTROL_KEY": "secret"}}}), "CONTROL_KEY"),
        (json!({"zones": ["Zone A"]}), "zones"),
        (json!({"redis": {"storage": "much"}}), "storage"),
        (json!({"secrets": {"keys": ""}}), "keys"),
        (json!({"limits": {"enabled": "yes"}}), "enabled"),
        (json!({"limits": {"enabled": true}, "gateway": {"limits": "resources: []\n"}}), "gateway.limits"),
        (json!({"unknown": 1}), "unknown"),
    ] {
        let output = helm("template", &values, "agent-sentinel");
        assert!(!output.status.success(), "{values} was taken");
        assert!(said(&output).contains(word), "{values}: {}", said(&output));
    }
}
