//! The Envoy bootstraps in k8s/ are made from envoy/providers.yaml, which stays the only place where the filter's settings
//! are decided: kustomize cannot reach out of its folder, so the overlays hold a copy that is written by
//! `UPDATE_GOLDEN=1 cargo test -p sentinel-tests --test k8s` and compared here. The real Envoy judges them.

use std::fs;

use sentinel_tests::bootstrap::Bootstrap;
use sentinel_tests::envoy::Envoy;
use sentinel_tests::parts;

use crate::manifests::{find, objects, same_as_file, updating};

const LOCAL_MODULE: &str = "                          code: {local: {filename: target/wasm32-wasip1/release/sentinel_filter.wasm}}\n";

fn fragment(name: &str) -> String {
    let path = parts::root().join("k8s/fragments").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// envoy/providers.yaml for a pod: open to the cluster, with a listener for metrics.
fn in_a_pod(overlay: &str) -> Bootstrap {
    let shipped = Bootstrap::shipped("providers.yaml");
    let (_, rest) = shipped.text().split_once("\n\nadmin:\n").expect("a heading, then the admin interface");
    let mut bootstrap = Bootstrap::of(format!(
        "# Agent Sentinel before the real providers, for the overlay {overlay}. Do not change this file: it is made from\n\
         # envoy/providers.yaml and k8s/fragments by `UPDATE_GOLDEN=1 cargo test -p sentinel-tests --test k8s`.\n\n\
         admin:\n{rest}"
    ));
    bootstrap.replace("address: 127.0.0.1, port_value: 10000", "address: 0.0.0.0, port_value: 10000");
    let clusters =
        format!("{}\n  clusters:\n{}\n", fragment("stats-listener.yaml"), fragment("admin-cluster.yaml"));
    bootstrap.replace("\n  clusters:\n", &format!("\n{clusters}"));
    bootstrap
}

fn standalone() -> Bootstrap {
    let mut bootstrap = in_a_pod("standalone");
    bootstrap.module("/module/plugin.wasm".as_ref());
    bootstrap.service("/run/sentinel/embedding.sock".as_ref());
    bootstrap
}

fn cluster() -> Bootstrap {
    let mut bootstrap = in_a_pod("cluster");
    bootstrap.replace(LOCAL_MODULE, &fragment("module-remote.yaml"));
    let clusters = fragment("service-cluster.yaml") + &fragment("modules-cluster.yaml");
    bootstrap.cluster("embedding_service", &clusters);
    bootstrap
}

#[test]
fn the_bootstraps_of_the_overlays_are_made_from_the_shipped_one() {
    for (overlay, bootstrap) in [("standalone", standalone()), ("cluster", cluster())] {
        let path = format!("k8s/overlays/{overlay}/envoy.yaml");
        same_as_file(&path, bootstrap.text());
    }
}

#[test]
fn the_real_envoy_accepts_the_bootstraps_that_the_config_maps_hold() {
    if updating() {
        return;
    }
    for overlay in ["standalone", "cluster"] {
        let all = objects(&format!("overlays/{overlay}"));
        let text = find(&all, "ConfigMap", "agent-gateway-envoy")["data"]["envoy.yaml"]
            .as_str()
            .expect("a bootstrap");
        let mut bootstrap = Bootstrap::of(text.to_owned());
        if overlay == "standalone" {
            // The one thing that is not on this machine.
            bootstrap.replace("/module/plugin.wasm", &parts::filter().display().to_string());
        }
        let output = Envoy::validate(&bootstrap);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "the bootstrap of {overlay} is refused:\n{said}");
    }
}
