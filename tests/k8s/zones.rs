//! Zones in the manifests. What the real Envoy makes of them is a test of the whole stack: tests/e2e/zones.rs.

use serde_json::{Value, json};

use crate::manifests::{find, laid_over, objects};

const LABEL: &str = "topology.kubernetes.io/zone";

/// Names in a cluster of Envoy, by priority.
fn names(over: &str) -> Vec<(u64, String)> {
    let over: Value = serde_saphyr::from_str(over).unwrap();
    let cluster = &over["static_resources"]["clusters"][0];
    assert_eq!(cluster["name"], "embedding_service");
    let endpoints = cluster["load_assignment"]["endpoints"].as_array().unwrap().iter();
    endpoints
        .map(|group| {
            let address = &group["lb_endpoints"][0]["endpoint"]["address"]["socket_address"];
            assert_eq!(address["port_value"], 50051);
            (group["priority"].as_u64().unwrap(), address["address"].as_str().unwrap().to_owned())
        })
        .collect()
}

#[test]
fn envoy_asks_a_service_of_its_own_zone_first() {
    let all = objects("overlays/cluster");
    let everyone = find(&all, "Service", "embedding-service");
    let zones: Vec<&Value> = all
        .iter()
        .filter(|object| object["kind"] == "Service" && object["spec"]["selector"].get(LABEL).is_some())
        .collect();
    assert!(zones.len() > 1, "several zones are listed");
    let monitoring = objects("monitoring");
    let monitor = find(&monitoring, "ServiceMonitor", "embedding-service");
    let matched = monitor["spec"]["selector"]["matchLabels"].as_object().unwrap();
    for service in zones {
        let spec = &service["spec"];
        let zone = spec["selector"][LABEL].as_str().unwrap();
        let host = |service: &Value| {
            let [name, namespace] =
                ["name", "namespace"].map(|key| service["metadata"][key].as_str().unwrap());
            format!("{name}.{namespace}.svc.cluster.local")
        };
        assert_eq!(names(&laid_over(&all, zone).unwrap()), [(0, host(service)), (1, host(everyone))]);
        // The same pods as in all zones, but for the zone; one by one; and found by nobody else, who would count them twice.
        let mut selector = spec["selector"].clone();
        selector.as_object_mut().unwrap().remove(LABEL);
        assert_eq!(selector, everyone["spec"]["selector"], "{zone}");
        assert_eq!(spec["clusterIP"], "None", "{zone}");
        assert_eq!(spec["ports"][0], everyone["spec"]["ports"][0], "{zone}");
        assert!(!matched.iter().all(|(key, value)| service["metadata"]["labels"][key] == *value), "{zone}");
    }
    // The zone is the pod's own.
    let envoy = &find(&all, "Deployment", "agent-gateway")["spec"]["template"]["spec"]["containers"][0];
    let from = json!({"fieldRef": {"fieldPath": format!("metadata.labels['{LABEL}']")}});
    assert_eq!(envoy["env"], json!([{"name": "ZONE", "valueFrom": from}]));
}

#[test]
fn agents_reach_the_gateway_in_their_zone() {
    for overlay in ["overlays/cluster", "overlays/standalone"] {
        let all = objects(overlay);
        let spec = &find(&all, "Service", "agent-gateway")["spec"];
        assert_eq!(spec["trafficDistribution"], "PreferSameZone", "{overlay}");
        // Without an address of its own a Service is a list of pods, and the nodes choose none.
        assert!(spec.get("clusterIP").is_none(), "{overlay}");
    }
}
