//! What k8s/ and the Dockerfiles promise, checked with the real tools as far as that goes without a cluster: kubectl renders,
//! the published schemas judge every object, the real Envoy every configuration in them, and the real service, Redis,
//! Prometheus and Alertmanager run with the settings that the manifests give them.

mod alerts;
mod bootstraps;
mod chart;
mod components;
mod golden;
mod images;
mod judged;
mod listening;
mod mail;
mod manifests;
mod meshes;
mod monitoring;
mod policies;
mod releases;
mod schemas;
mod server;
mod zones;
