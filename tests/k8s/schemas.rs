//! Every rendered object against the published schema of its kind, with closed objects: a field that the kind does not have
//! is an error. Kubernetes' own kinds by kubernetes-validate; those of Istio, the Gateway API and the Prometheus operator by
//! TypeScript, on types made from their CRDs (an object literal with an unknown field does not compile). No registry carries
//! Envoy Gateway's, so node/envoy-gateway.d.ts says what its reference does of the fields that are used.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Output};

use sentinel_harness::parts;
use serde_json::{Value, json};

use crate::manifests::{OVERLAYS, called, objects};

const KUBERNETES: &str = "1.37";

/// Kinds that are not Kubernetes' own: API version, kind, module and name of the type.
const TYPES: [(&str, &str, &str, &str); 11] = [
    (
        "extensions.istio.io/v1alpha1",
        "WasmPlugin",
        "@kubernetes-models/istio/extensions.istio.io/v1alpha1/WasmPlugin",
        "IWasmPlugin",
    ),
    (
        "networking.istio.io/v1alpha3",
        "EnvoyFilter",
        "@kubernetes-models/istio/networking.istio.io/v1alpha3/EnvoyFilter",
        "IEnvoyFilter",
    ),
    (
        "networking.istio.io/v1",
        "DestinationRule",
        "@kubernetes-models/istio/networking.istio.io/v1/DestinationRule",
        "IDestinationRule",
    ),
    (
        "telemetry.istio.io/v1",
        "Telemetry",
        "@kubernetes-models/istio/telemetry.istio.io/v1/Telemetry",
        "ITelemetry",
    ),
    (
        "gateway.networking.k8s.io/v1",
        "Gateway",
        "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/Gateway",
        "IGateway",
    ),
    (
        "monitoring.coreos.com/v1",
        "ServiceMonitor",
        "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor",
        "IServiceMonitor",
    ),
    (
        "monitoring.coreos.com/v1",
        "PodMonitor",
        "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor",
        "IPodMonitor",
    ),
    (
        "monitoring.coreos.com/v1",
        "PrometheusRule",
        "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule",
        "IPrometheusRule",
    ),
    ("gateway.envoyproxy.io/v1alpha1", "EnvoyExtensionPolicy", "./envoy-gateway", "EnvoyExtensionPolicy"),
    ("gateway.envoyproxy.io/v1alpha1", "EnvoyPatchPolicy", "./envoy-gateway", "EnvoyPatchPolicy"),
    ("gateway.envoyproxy.io/v1alpha1", "EnvoyProxy", "./envoy-gateway", "EnvoyProxy"),
];

fn is_typed(object: &Value) -> bool {
    TYPES.iter().any(|(version, kind, _, _)| object["apiVersion"] == *version && object["kind"] == *kind)
}

/// Runs kubernetes-validate over these objects.
fn validate(objects: &[Value]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("objects.yaml");
    let text: Vec<String> = objects.iter().map(Value::to_string).collect();
    fs::write(&file, text.join("\n---\n")).unwrap();
    Command::new("python3")
        .env("PYTHONPATH", parts::kubernetes_validate())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .args(["-m", "kubernetes_validate", "--strict", "--kubernetes-version", KUBERNETES])
        .arg(&file)
        .output()
        .expect("Python starts")
}

/// Has TypeScript look at these objects.
fn compile(objects: &[Value]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::os::unix::fs::symlink(parts::kubernetes_types(), path.join("node_modules")).unwrap();
    fs::copy(parts::root().join("tests/k8s/node/envoy-gateway.d.ts"), path.join("envoy-gateway.d.ts"))
        .unwrap();
    let mut program = String::new();
    for (number, object) in objects.iter().enumerate() {
        let (version, kind, module, name) = TYPES
            .iter()
            .find(|(version, kind, _, _)| object["apiVersion"] == *version && object["kind"] == *kind)
            .unwrap_or_else(|| {
                panic!("no schema is known for {} ({})", called(object), object["apiVersion"])
            });
        writeln!(
            program,
            "import {{ {name} as T{number} }} from \"{module}\";\n// {}\nexport const o{number}: T{number} & \
             {{apiVersion: \"{version}\", kind: \"{kind}\"}} = {object};",
            called(object)
        )
        .unwrap();
    }
    fs::write(path.join("objects.ts"), program).unwrap();
    let options = json!({
        "compilerOptions": {"strict": true, "noEmit": true, "skipLibCheck": true, "module": "esnext", "target": "es2022",
            "moduleResolution": "bundler", "preserveSymlinks": true, "types": []},
        "files": ["objects.ts"],
    });
    fs::write(path.join("tsconfig.json"), options.to_string()).unwrap();
    Command::new(parts::node())
        .arg(parts::kubernetes_types().join("typescript/bin/tsc"))
        .args(["--pretty", "false", "--project", "."])
        .current_dir(path)
        .output()
        .expect("Node starts")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn every_object_of_kubernetes_fits_its_schema() {
    for folder in OVERLAYS {
        assert_fits(folder, objects(folder));
    }
}

/// Those of Kubernetes' own kinds.
pub fn assert_fits(what: &str, mut objects: Vec<Value>) {
    objects.retain(|object| !is_typed(object));
    if !objects.is_empty() {
        let output = validate(&objects);
        assert!(output.status.success(), "{what}: {}", said(&output));
    }
}

#[test]
fn every_object_of_others_fits_its_type() {
    let all: Vec<Value> = OVERLAYS.iter().flat_map(|folder| objects(folder)).collect();
    assert_typed("the overlays", all);
}

/// Those of others' kinds.
pub fn assert_typed(what: &str, mut objects: Vec<Value>) {
    objects.retain(is_typed);
    assert!(!objects.is_empty(), "{what}: it has no object of a third-party kind");
    let output = compile(&objects);
    assert!(output.status.success(), "{what}: {}", said(&output));
}

#[test]
fn a_field_that_a_kind_does_not_have_is_found() {
    let mut service = crate::manifests::find(&objects("overlays/cluster"), "Service", "redis").clone();
    service["spec"]["clusterIp"] = json!("None");
    assert!(!validate(&[service]).status.success());

    let all: Vec<Value> = OVERLAYS.iter().flat_map(|folder| objects(folder)).filter(is_typed).collect();
    for (version, kind, _, _) in TYPES {
        let Some(found) = all.iter().find(|object| object["apiVersion"] == version && object["kind"] == kind)
        else {
            continue;
        };
        let mut wrong = found.clone();
        wrong["spec"]["noSuchField"] = json!(1);
        let output = compile(&[wrong]);
        assert!(said(&output).contains("noSuchField"), "{kind}: {}", said(&output));
    }
}
