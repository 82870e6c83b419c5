//! What the overlays for Istio and Envoy Gateway put into other people's Envoys: every piece is lifted out, must be the one
//! that envoy/providers.yaml has, and is laid into a bootstrap for the real Envoy to judge.

use sentinel_harness::bootstrap::Bootstrap;
use sentinel_harness::stack::HELD;
use sentinel_harness::{Dialect, Stack, parts};
use serde_json::{Value, json};

use crate::judged::{self, WASM};
use crate::manifests::{file, find, objects};

pub const MANAGER: &str = "/static_resources/listeners/0/filter_chains/0/filters/0/typed_config";

pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub fn named<'a>(items: &'a Value, name: &str) -> &'a Value {
    list(items).iter().find(|item| item["name"] == name).unwrap_or_else(|| panic!("there is no {name}"))
}

/// The module as every way of delivery must name it, taken out of a filter's settings.
fn take_code(wasm: &mut Value) -> Value {
    let code = wasm["config"]["vm_config"]["code"].take();
    assert!(!code.is_null(), "the filter has no code");
    code
}

/// A JSON text compares by what it says.
fn with_readable_configuration(mut wasm: Value) -> Value {
    let text = wasm["config"]["configuration"]["value"].as_str().expect("a StringValue").to_owned();
    wasm["config"]["configuration"]["value"] = serde_json::from_str(&text).expect("JSON");
    wasm
}

/// envoy/providers.yaml without what belongs to the filter: somebody else's Envoy.
fn foreign() -> Value {
    let mut bootstrap = file("envoy/providers.yaml");
    bootstrap.as_object_mut().unwrap().remove("stats_config");
    let clusters = bootstrap["static_resources"]["clusters"].as_array_mut().unwrap();
    clusters.retain(|cluster| cluster["name"] != "embedding_service");
    bootstrap["static_resources"]["listeners"][0]
        .as_object_mut()
        .unwrap()
        .remove("per_connection_buffer_limit_bytes");
    let manager = bootstrap.pointer_mut(MANAGER).unwrap();
    manager["http_filters"]
        .as_array_mut()
        .unwrap()
        .retain(|filter| filter["name"] == "envoy.filters.http.router");
    manager["route_config"]["virtual_hosts"][0].as_object_mut().unwrap().remove("request_body_buffer_limit");
    bootstrap
}

pub fn assert_valid(overlay: &str, bootstrap: &Value) {
    let what = format!("what {overlay} puts into Envoy");
    judged::assert_valid(&what, &Bootstrap::of(bootstrap.to_string()), None);
}

fn local_module() -> Value {
    json!({"local": {"filename": parts::filter()}})
}

#[test]
fn istio_puts_in_what_envoy_is_shipped_with() {
    assert_same_effect(by_istio(&objects("overlays/istio")), file("envoy/providers.yaml"));
}

/// Somebody else's Envoy with these patches, which the real one accepts.
pub fn by_istio(all: &[Value]) -> Value {
    let shipped = file("envoy/providers.yaml");
    let patches = &find(all, "EnvoyFilter", "agent-sentinel")["spec"]["configPatches"];
    let mut bootstrap = foreign();
    let mut inserted = Vec::new();
    for patch in list(patches) {
        let value = patch["patch"]["value"].clone();
        match patch["applyTo"].as_str().unwrap() {
            "BOOTSTRAP" => {
                assert_eq!(value["stats_config"], shipped["stats_config"], "labels of the metrics");
                bootstrap["stats_config"] = value["stats_config"].clone();
            }
            "CLUSTER" => bootstrap["static_resources"]["clusters"].as_array_mut().unwrap().push(value),
            "LISTENER" => merge(&mut bootstrap["static_resources"]["listeners"][0], &value),
            "VIRTUAL_HOST" => {
                merge(
                    &mut bootstrap.pointer_mut(MANAGER).unwrap()["route_config"]["virtual_hosts"][0],
                    &value,
                );
            }
            "HTTP_FILTER" => inserted.push(value),
            "EXTENSION_CONFIG" => {
                let slot = inserted
                    .iter_mut()
                    .find(|filter| filter["name"] == value["name"])
                    .expect("its place comes first");
                let discovery = &slot["config_discovery"];
                assert!(list(&discovery["type_urls"]).contains(&json!(WASM)));
                // The stand-in has to be one that Envoy takes too.
                let mut alone = foreign();
                let stand_in = json!({"name": "stand-in", "typed_config": discovery["default_config"]});
                alone.pointer_mut(MANAGER).unwrap()["http_filters"]
                    .as_array_mut()
                    .unwrap()
                    .insert(0, stand_in);
                assert_valid("overlays/istio (default_config)", &alone);
                *slot = value;
            }
            other => panic!("nothing is known of a patch to {other}"),
        }
    }
    let module = take_code(&mut inserted[0]["typed_config"]);
    assert!(module["remote"]["http_uri"]["uri"].as_str().unwrap().starts_with("oci://"));
    assert_eq!(module["remote"]["sha256"].as_str().unwrap().len(), 64);
    inserted[0]["typed_config"]["config"]["vm_config"]["code"] = local_module();
    let filters = bootstrap.pointer_mut(MANAGER).unwrap()["http_filters"].as_array_mut().unwrap();
    filters.splice(0..0, inserted);
    assert_valid("overlays/istio", &bootstrap);
    bootstrap
}

/// What Istio makes of a WasmPlugin: a Wasm filter whose configuration is its `pluginConfig` as JSON, without more.
#[test]
fn the_wasm_plugin_is_one_that_works_without_held_headers() {
    let all = objects("overlays/istio-wasm-plugin");
    let spec = &find(&all, "WasmPlugin", "agent-sentinel")["spec"];
    assert!(spec["url"].as_str().unwrap().starts_with("oci://"));
    assert_eq!(spec["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(
        (&spec["failStrategy"], &spec["pluginConfig"]["hold_headers"]),
        (&json!("FAIL_RELOAD"), &json!(false))
    );
    let filter = json!({"name": "agent-sentinel", "typed_config": {"@type": WASM, "config": {
        "name": "agent-sentinel",
        "failure_policy": "FAIL_RELOAD",
        "vm_config": {"runtime": "envoy.wasm.runtime.v8", "code": local_module()},
        "configuration": {
            "@type": "type.googleapis.com/google.protobuf.StringValue",
            "value": spec["pluginConfig"].to_string(),
        },
    }}});
    let mut bootstrap = foreign();
    bootstrap.pointer_mut(MANAGER).unwrap()["http_filters"].as_array_mut().unwrap().insert(0, filter);
    assert_valid("overlays/istio-wasm-plugin", &bootstrap);
    // The name of the cluster is that of an existing Service.
    let cluster = spec["pluginConfig"]["cluster"].as_str().unwrap();
    let [direction, port, _, host] = cluster.split('|').collect::<Vec<_>>()[..] else { panic!("{cluster}") };
    let service = find(&all, "Service", "embedding-service");
    assert_eq!(direction, "outbound");
    assert_eq!(
        host,
        format!("embedding-service.{}.svc.cluster.local", service["metadata"]["namespace"].as_str().unwrap())
    );
    assert!(
        list(&service["spec"]["ports"]).iter().any(|known| known["port"].as_u64() == port.parse().ok()),
        "{service}"
    );
    // The rule about zones is for the same host.
    let rule = &find(&all, "DestinationRule", "embedding-service")["spec"];
    assert_eq!(rule["host"], host);
    assert_eq!(rule["trafficPolicy"]["loadBalancer"]["localityLbSetting"]["enabled"], true);
    assert!(rule["trafficPolicy"]["outlierDetection"].is_object(), "Istio heeds zones only together with it");
}

/// Somebody else's Envoy as Envoy Gateway would make it, which the real one accepts.
pub fn by_envoy_gateway(all: &[Value]) -> Value {
    let shipped = file("envoy/providers.yaml");
    let mut bootstrap = foreign();

    let proxy = find(all, "EnvoyProxy", "agents");
    let merged: Value =
        serde_saphyr::from_str(proxy["spec"]["bootstrap"]["value"].as_str().unwrap()).unwrap();
    assert_eq!(merged["stats_config"], shipped["stats_config"], "labels of the metrics");
    merge(&mut bootstrap, &merged);

    // What Envoy Gateway makes of an EnvoyExtensionPolicy: a Wasm filter whose configuration is its `config` as JSON.
    let policy = find(all, "EnvoyExtensionPolicy", "agent-sentinel");
    let wasm = &policy["spec"]["wasm"][0];
    assert_eq!(wasm["failOpen"], true);
    let name = format!(
        "envoy.filters.http.wasm/envoyextensionpolicy/{}/agent-sentinel/wasm/0",
        policy["metadata"]["namespace"].as_str().unwrap()
    );
    let made = json!({"name": name, "typed_config": {"@type": WASM, "config": {
        "name": wasm["name"],
        "failure_policy": "FAIL_OPEN",
        "vm_config": {"vm_id": "sentinel", "runtime": "envoy.wasm.runtime.v8", "code": local_module()},
        "configuration": {"@type": "type.googleapis.com/google.protobuf.StringValue", "value": wasm["config"].to_string()},
    }}});
    bootstrap.pointer_mut(MANAGER).unwrap()["http_filters"].as_array_mut().unwrap().insert(0, made);

    let listener = "agent-gateway/agents/http";
    for patch in list(&find(all, "EnvoyPatchPolicy", "agent-sentinel")["spec"]["jsonPatches"]) {
        let (kind, operation) =
            (patch["type"].as_str().unwrap().rsplit('.').next().unwrap(), &patch["operation"]);
        assert_eq!(operation["op"], "add");
        let (path, value) = (operation["path"].as_str().unwrap(), operation["value"].clone());
        match (kind, operation["jsonPath"].as_str(), path) {
            ("Cluster", None, "") => {
                assert_eq!(patch["name"], value["name"]);
                bootstrap["static_resources"]["clusters"].as_array_mut().unwrap().push(value);
            }
            ("Listener", Some(at), field) => {
                assert_eq!(patch["name"], listener);
                assert_eq!(at, format!("..http_filters[?(@.name=='{name}')].typed_config.config"));
                bootstrap.pointer_mut(MANAGER).unwrap()["http_filters"][0]["typed_config"]["config"][field] =
                    value;
            }
            ("Listener", None, field) => {
                assert_eq!(patch["name"], listener);
                bootstrap["static_resources"]["listeners"][0][field.trim_start_matches('/')] = value;
            }
            ("RouteConfiguration", Some("..virtual_hosts[*]"), field) => {
                assert_eq!(patch["name"], listener);
                bootstrap.pointer_mut(MANAGER).unwrap()["route_config"]["virtual_hosts"][0][field] = value;
            }
            other => panic!("nothing is known of a patch to {other:?}"),
        }
    }
    assert_valid("overlays/envoy-gateway", &bootstrap);
    bootstrap
}

#[test]
fn envoy_gateway_puts_in_what_envoy_is_shipped_with() {
    let shipped = file("envoy/providers.yaml");
    let mut bootstrap = by_envoy_gateway(&objects("overlays/envoy-gateway"));
    // What it cannot say, and docs/istio.md says so: a reload after a fault.
    let filters = bootstrap.pointer_mut(MANAGER).unwrap()["http_filters"].as_array_mut().unwrap();
    filters[0]["name"] = json!("sentinel");
    filters[0]["typed_config"]["config"]["failure_policy"] = json!("FAIL_RELOAD");
    assert_same_effect(bootstrap, shipped);
}

/// The filter's own configuration in an Envoy.
pub fn configuration(bootstrap: &Value) -> Value {
    let filters = list(&bootstrap.pointer(MANAGER).unwrap()["http_filters"]);
    let wasm = filters.iter().find(|filter| filter["typed_config"]["@type"] == WASM).expect("the filter");
    with_readable_configuration(wasm["typed_config"].clone())["config"]["configuration"]["value"].take()
}

fn merge(target: &mut Value, value: &Value) {
    for (key, value) in value.as_object().unwrap() {
        target[key] = value.clone();
    }
}

/// The filter stands in the same place with the same settings; the service's cluster is that of the overlay `cluster`, without zones.
fn assert_same_effect(mut built: Value, mut shipped: Value) {
    assert_eq!(
        named(&built["static_resources"]["clusters"], "embedding_service"),
        named(&file("k8s/fragments/service-cluster.yaml"), "embedding_service"),
    );
    assert_eq!(
        built["static_resources"]["listeners"][0]["per_connection_buffer_limit_bytes"],
        shipped["static_resources"]["listeners"][0]["per_connection_buffer_limit_bytes"]
    );
    let (built, shipped) = (built.pointer_mut(MANAGER).unwrap(), shipped.pointer_mut(MANAGER).unwrap());
    let limit =
        |manager: &Value| manager["route_config"]["virtual_hosts"][0]["request_body_buffer_limit"].clone();
    assert_eq!(limit(built), limit(shipped), "room for held bodies");
    let ours = |manager: &mut Value| {
        let mut filter = named(&manager["http_filters"], "sentinel").clone();
        take_code(&mut filter["typed_config"]);
        filter["typed_config"] = with_readable_configuration(filter["typed_config"].take());
        filter
    };
    assert_eq!(ours(built), ours(shipped));
}

/// Why a WasmPlugin needs `hold_headers: false`, and an EnvoyExtensionPolicy its patches.
#[tokio::test]
async fn without_the_setting_that_the_simple_policies_lack_a_request_hangs() {
    let stack = Stack::builder()
        .edit("allow_on_headers_stop_iteration: true", "allow_on_headers_stop_iteration: false")
        .edit(HELD, "idle_timeout: 1s}")
        .start();
    let answer = stack.ask(Dialect::OpenaiChat, "a", "Which river of the region is the longest one?").await;
    assert!([408, 504].contains(&answer.status), "Envoy has given it up: {}", answer.status);
}
