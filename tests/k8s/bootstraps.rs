//! The Envoy bootstraps in k8s/ are made from envoy/production.yaml, which stays the only place where settings are decided:
//! kustomize cannot reach out of its folder, so the overlays hold a copy that is written by
//! `UPDATE_GOLDEN=1 cargo test -p sentinel-tests --test k8s` and compared here. The real Envoy judges them.

use std::fs;

use sentinel_tests::bootstrap::Bootstrap;
use sentinel_tests::envoy::{Envoy, assert_valid};
use sentinel_tests::gateway::shipped;
use sentinel_tests::parts;

use crate::manifests::{find, laid_over, objects, same_as_file, updating};

const LOCAL_MODULE: &str = "                          code: {local: {filename: target/wasm32-wasip1/release/sentinel_filter.wasm}}\n";

/// Where pods have what envoy/production.yaml reads anew.
const MOUNTED: &str = "/etc/sentinel";
/// The Service of the component traces.
const COLLECTOR: &str = "otel-collector.agent-sentinel.svc.cluster.local";

fn fragment(name: &str) -> String {
    let path = parts::root().join("k8s/fragments").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// envoy/production.yaml for a pod: open to the cluster, with a listener for metrics, and its files where they are mounted.
fn in_a_pod(overlay: &str, traces: bool) -> Bootstrap {
    let shipped = Bootstrap::shipped("production.yaml");
    let (_, rest) = shipped.text().split_once("\nnode: ").expect("a heading, then who this Envoy is");
    let with = if traces { ", with traces" } else { "" };
    let mut bootstrap = Bootstrap::of(format!(
        "# Agent Sentinel in production, for the overlay {overlay}{with}. Do not change this file: it is made from\n\
         # envoy/production.yaml and k8s/fragments by `UPDATE_GOLDEN=1 cargo test -p sentinel-tests --test k8s`.\n\n\
         node: {rest}"
    ));
    if traces {
        bootstrap.traces();
        let here = |host: &str| format!("address: {host}, port_value: 4317");
        bootstrap.replace(&here("127.0.0.1"), &here(COLLECTOR));
    }
    bootstrap.without_traces();
    bootstrap.replace("address: 127.0.0.1, port_value: 10000", "address: 0.0.0.0, port_value: 10000");
    for file in ["clients", "limits"] {
        bootstrap.replace(
            &format!("path: envoy/production/{file}.yaml, watched_directory: {{path: envoy/production}}"),
            &format!("path: {MOUNTED}/{file}/{file}.yaml, watched_directory: {{path: {MOUNTED}/{file}}}"),
        );
    }
    bootstrap.production(MOUNTED.as_ref());
    bootstrap.replace("\n  clusters:\n", &format!("\n{}\n  clusters:\n", fragment("stats-listener.yaml")));
    bootstrap
}

fn standalone(traces: bool) -> Bootstrap {
    let mut bootstrap = in_a_pod("standalone", traces);
    bootstrap.module("/module/plugin.wasm".as_ref());
    bootstrap.service("/run/sentinel/embedding.sock".as_ref());
    bootstrap
}

fn cluster(traces: bool) -> Bootstrap {
    let mut bootstrap = in_a_pod("cluster", traces);
    bootstrap.replace(LOCAL_MODULE, &fragment("module-remote.yaml"));
    bootstrap.replace("is: one of the clusters below", "is: in service-cluster.yaml");
    bootstrap.cluster("embedding_service", &fragment("modules-cluster.yaml"));
    bootstrap
}

/// What the overlay `cluster` does to Envoy's pod, before the cluster in the list of clusters.
const IN_ARGUMENTS: &str = r#"# Where Envoy asks, with the pod's zone put in by Kubernetes, which does so in arguments and in no file. Do not change this file: it
# is made from k8s/fragments by `UPDATE_GOLDEN=1 cargo test -p sentinel-tests --test k8s`.
- op: add
  path: /spec/template/spec/containers/0/env
  value:
    # Empty where there are no zones.
    - {name: ZONE, valueFrom: {fieldRef: {fieldPath: "metadata.labels['topology.kubernetes.io/zone']"}}}
- {op: add, path: /spec/template/spec/containers/0/args/-, value: --config-yaml}
- op: add
  path: /spec/template/spec/containers/0/args/-
  value: |
    static_resources:
      clusters:
"#;

/// The service's cluster for the overlay `cluster`: in two priorities.
fn cluster_in_arguments() -> String {
    let mut cluster = Bootstrap::of(fragment("service-cluster.yaml"));
    let (_, endpoints) = cluster.text().split_once("        endpoints:\n").expect("endpoints");
    let endpoints = endpoints.to_owned();
    cluster.replace(&endpoints, &fragment("own-zone-first.yaml"));
    let lines = cluster.text().lines().map(|line| format!("    {line}\n"));
    IN_ARGUMENTS.to_owned() + &lines.collect::<String>()
}

#[test]
fn what_the_overlays_hold_is_made_from_what_is_shipped() {
    for (overlay, made) in [("standalone", standalone as fn(bool) -> Bootstrap), ("cluster", cluster)] {
        same_as_file(&format!("k8s/overlays/{overlay}/envoy.yaml"), made(false).text());
        same_as_file(&format!("k8s/overlays/{overlay}/envoy-traces.yaml"), made(true).text());
    }
    same_as_file("k8s/overlays/cluster/service-cluster.yaml", &cluster_in_arguments());
    same_as_file("k8s/gateway/limits.yaml", &shipped("limits.yaml"));
}

#[test]
fn the_real_envoy_accepts_the_bootstraps_that_the_config_maps_hold() {
    if updating() {
        return;
    }
    for overlay in ["standalone", "cluster"] {
        let all = objects(&format!("overlays/{overlay}"));
        for (name, text) in find(&all, "ConfigMap", "agent-gateway-envoy")["data"].as_object().unwrap() {
            let mut bootstrap = Bootstrap::of(text.as_str().expect("a bootstrap").to_owned());
            if overlay == "standalone" {
                // The one thing that is not on this machine.
                bootstrap.replace("/module/plugin.wasm", &parts::filter().display().to_string());
            }
            // Envoy wants files that it reads anew to be there.
            bootstrap.mounted(&parts::root().join("envoy/production"));
            for zone in ["region-1a", ""] {
                let over = laid_over(&all, zone);
                assert_eq!(over.is_some(), overlay == "cluster");
                let over = over.as_ref().map_or(vec![], |yaml| vec!["--config-yaml", yaml]);
                let output = Envoy::validate_with(&bootstrap, &over);
                assert_valid(&format!("{name} of {overlay} in zone {zone:?}"), &output);
            }
        }
    }
}
