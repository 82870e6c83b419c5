//! The components that an overlay of the user's own lays over a shipped one, as the head of each says.

use std::fs;

use sentinel_harness::bootstrap::Bootstrap;
use serde_json::{Value, json};

use crate::manifests::{copy, documents, find, objects, render};
use crate::meshes::{MANAGER, assert_valid, by_envoy_gateway, by_istio, configuration, list, named};
use crate::policies::faults;
use crate::schemas::{assert_fits, assert_typed};

/// The objects of this overlay with this component.
pub fn with(component: &str, overlay: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let mine = copy(folder.path()).join("overlays/mine");
    fs::create_dir(&mine).unwrap();
    let resources = json!({"resources": [format!("../{overlay}")], "components": [format!("../../components/{component}")]});
    fs::write(mine.join("kustomization.yaml"), resources.to_string()).unwrap();
    let objects = documents(&render(&mine));
    assert_eq!(faults(&objects), Vec::<String>::new(), "{overlay} with {component}");
    assert_fits(&format!("{overlay} with {component}"), objects.clone());
    objects
}

#[test]
fn traces_go_to_one_address_that_both_may_speak_to() {
    for overlay in ["cluster", "standalone"] {
        let all = with("traces", overlay);
        let service = find(&all, "Service", "otel-collector");
        let name = format!(
            "otel-collector.{}.svc.cluster.local",
            service["metadata"]["namespace"].as_str().unwrap()
        );

        // The service is told.
        let settings = &find(&all, "ConfigMap", "embedding-service-settings")["data"];
        assert_eq!(settings["OTEL_EXPORTER_OTLP_ENDPOINT"], format!("http://{name}:4317"), "{overlay}");
        assert_eq!(settings["LOOP_WORKERS"], "2", "{overlay}: the other settings stay");

        // Envoy starts with the file that has the lines for traces, which tests of the bootstraps have judged.
        let args =
            &find(&all, "Deployment", "agent-gateway")["spec"]["template"]["spec"]["containers"][0]["args"];
        assert_eq!((&args[0], &args[1]), (&json!("--config-path"), &json!("/etc/envoy/envoy-traces.yaml")));
        let text =
            find(&all, "ConfigMap", "agent-gateway-envoy")["data"]["envoy-traces.yaml"].as_str().unwrap();
        let bootstrap: Value = serde_saphyr::from_str(text).unwrap();
        let clusters = bootstrap["static_resources"]["clusters"].as_array().unwrap();
        let collector = clusters.iter().find(|cluster| cluster["name"] == "collector").unwrap();
        assert_eq!(
            collector["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]["socket_address"],
            json!({"address": name, "port_value": 4317}),
            "{overlay}"
        );

        // Both may speak to it.
        let policy = &find(&all, "NetworkPolicy", "otel-collector")["spec"];
        let who = &policy["podSelector"]["matchExpressions"][0];
        assert_eq!(who["values"], json!(["agent-gateway", "embedding-service"]), "{overlay}");
        assert_eq!(policy["egress"][0]["ports"], json!([{"protocol": "TCP", "port": 4317}]), "{overlay}");
        let namespace =
            policy["egress"][0]["to"][0]["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]
                .as_str()
                .unwrap();
        let target = service["spec"]["externalName"].as_str().unwrap();
        assert_eq!(
            target.split('.').nth(1),
            Some(namespace),
            "{overlay}: the policy opens another namespace"
        );
    }
}

/// What a component changes in it.
fn assert_only_traces(mut with: Value, without: &Value) -> Value {
    let traces = with.as_object_mut().unwrap().remove("traces").expect("traces");
    assert_eq!(with, *without, "all else stays");
    traces
}

#[test]
fn istio_sends_traces_to_a_collector_that_it_knows() {
    let all = with("traces-istio", "istio");
    let plugin = with("traces-istio", "istio-wasm-plugin");
    assert_typed("traces in Istio", all.iter().chain(&plugin).cloned().collect());

    // The filter's, in both forms, to the cluster that Istio makes of the Service to which the component leads the embedding service.
    let host = find(&all, "Service", "otel-collector")["spec"]["externalName"].as_str().unwrap();
    let traces = json!({"attributes": true, "cluster": format!("outbound|4317||{host}")});
    let without = configuration(&by_istio(&objects("overlays/istio")));
    let mut bootstrap = by_istio(&all);
    assert_eq!(assert_only_traces(configuration(&bootstrap), &without), traces);
    let without = objects("overlays/istio-wasm-plugin");
    let [with, without] = [&plugin, &without]
        .map(|objects| find(objects, "WasmPlugin", "agent-sentinel")["spec"]["pluginConfig"].clone());
    assert_eq!(assert_only_traces(with, &without), traces);

    // The request's span, of the same gateway, has attributes as in envoy/production.yaml, and Envoy accepts them.
    let telemetry = find(&all, "Telemetry", "agent-sentinel");
    let filter = find(&all, "EnvoyFilter", "agent-sentinel");
    assert_eq!(telemetry["metadata"]["namespace"], filter["metadata"]["namespace"]);
    assert_eq!(telemetry["spec"]["selector"]["matchLabels"], filter["spec"]["workloadSelector"]["labels"]);
    let tags = telemetry["spec"]["tracing"][0]["customTags"].as_object().unwrap().iter();
    let tags: Vec<Value> =
        tags.map(|(tag, how)| json!({"tag": tag, "value": how["formatter"]["value"]})).collect();
    let mut production = Bootstrap::shipped("production.yaml");
    production.traces();
    let production: Value = serde_saphyr::from_str(production.text()).unwrap();
    let tracing = production.pointer(MANAGER).unwrap()["tracing"].clone();
    for tag in &tags {
        assert!(list(&tracing["custom_tags"]).contains(tag), "{tag}");
    }
    bootstrap.pointer_mut(MANAGER).unwrap()["tracing"] = json!({"custom_tags": tags});
    assert_valid("components/traces-istio", &bootstrap);
}

#[test]
fn envoy_gateway_sends_traces_to_one_collector() {
    let all = with("traces-envoy-gateway", "envoy-gateway");
    assert_typed("traces in Envoy Gateway", all.clone());
    let without = configuration(&by_envoy_gateway(&objects("overlays/envoy-gateway")));
    let bootstrap = by_envoy_gateway(&all);
    assert_eq!(assert_only_traces(configuration(&bootstrap), &without), json!({"cluster": "collector"}));

    // The filter's go to the component's Service, Envoy's own to what that points to.
    let service = find(&all, "Service", "otel-collector");
    let namespace = service["metadata"]["namespace"].as_str().unwrap();
    let cluster = named(&bootstrap["static_resources"]["clusters"], "collector");
    assert_eq!(
        cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]["socket_address"],
        json!({"address": format!("otel-collector.{namespace}.svc.cluster.local"), "port_value": 4317})
    );
    let provider = &find(&all, "EnvoyProxy", "agents")["spec"]["telemetry"]["tracing"]["provider"];
    let backend = &provider["backendRefs"][0];
    let [name, namespace] = ["name", "namespace"].map(|key| backend[key].as_str().unwrap());
    assert_eq!(service["spec"]["externalName"], format!("{name}.{namespace}.svc.cluster.local"));
}

#[test]
fn one_count_of_requests_for_all_gateways() {
    let yaml = |text: &Value| serde_saphyr::from_str::<Value>(text.as_str().unwrap()).unwrap();
    for overlay in ["cluster", "standalone"] {
        let all = with("limits", overlay);
        let service = find(&all, "Service", "limitador");
        let name =
            format!("limitador.{}.svc.cluster.local", service["metadata"]["namespace"].as_str().unwrap());

        // The gateway's pods read the filter that asks, and ask there.
        let limits = yaml(&find(&all, "ConfigMap", "agent-gateway-limits")["data"]["limits.yaml"]);
        let filter = &limits["resources"][0]["typed_config"];
        let asked = &filter["rate_limit_service"]["grpc_service"]["envoy_grpc"]["cluster_name"];
        let bootstrap = yaml(&find(&all, "ConfigMap", "agent-gateway-envoy")["data"]["envoy.yaml"]);
        let cluster = named(&bootstrap["static_resources"]["clusters"], asked.as_str().unwrap());
        assert_eq!(
            cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]["socket_address"],
            json!({"address": name, "port_value": service["spec"]["ports"][0]["port"]}),
            "{overlay}"
        );

        // Limitador counts for the same domain, with the file that is mounted, in the Redis of the component.
        let deployment = find(&all, "Deployment", "limitador");
        let pod = &deployment["spec"]["template"]["spec"];
        let config = pod["volumes"][0]["configMap"]["name"].as_str().unwrap();
        let counted = yaml(&find(&all, "ConfigMap", config)["data"]["limitador.yaml"]);
        assert_eq!(counted[0]["namespace"], filter["domain"], "{overlay}");
        let container = &pod["containers"][0];
        let arguments: Vec<_> =
            list(&container["args"]).iter().map(|argument| argument.as_str().unwrap()).collect();
        let folder = container["volumeMounts"][0]["mountPath"].as_str().unwrap();
        let redis = find(&all, "Service", "limits-redis");
        let url = format!("redis://limits-redis:{}/0", redis["spec"]["ports"][0]["port"]);
        let file = format!("{folder}/limitador.yaml");
        assert_eq!(
            arguments,
            ["--rate-limit-headers", "DRAFT_VERSION_03", &file, "redis", &url],
            "{overlay}"
        );

        // Who asks whom is allowed, and nobody else.
        let policy = |name: &str| &find(&all, "NetworkPolicy", name)["spec"];
        let who = |peer: &Value| peer[0]["podSelector"]["matchLabels"]["app.kubernetes.io/name"].clone();
        assert_eq!(who(&policy("agent-gateway-limits")["egress"][0]["to"]), "limitador");
        assert_eq!(who(&policy("limitador")["ingress"][0]["from"]), "agent-gateway");
        assert_eq!(who(&policy("limitador")["egress"][1]["to"]), "limits-redis");
        assert_eq!(who(&policy("limits-redis")["ingress"][0]["from"]), "limitador");
        assert_eq!(policy("limits-redis")["egress"], Value::Null);
    }
}
