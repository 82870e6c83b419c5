//! The components that an overlay of the user's own lays over a shipped one, as the head of each says.

use std::fs;

use serde_json::{Value, json};

use crate::manifests::{copy, documents, find, render};
use crate::policies::faults;
use crate::schemas::assert_fits;

/// The objects of this overlay with this component.
fn with(component: &str, overlay: &str) -> Vec<Value> {
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
