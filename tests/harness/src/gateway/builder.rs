//! Sets a gateway up: changes of the shipped files, and the order in which the parts start.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::{fill_in, own_address, replace, shipped};
use super::{COLLECTOR, Gateway, HOSTS};
use crate::bootstrap::Bootstrap;
use crate::envoy::Envoy;
use crate::parts;
use crate::provider::Provider;
use crate::stack::HELD;
use crate::tls::{Certificate, Relay};

pub struct Builder {
    pub(super) edits: Vec<(String, String)>,
    pub(super) limits: (&'static str, Vec<(String, String)>),
    pub(super) certificate: Certificate,
    pub(super) trusted: Certificate,
    pub(super) collector: Option<u16>,
    pub(super) collector_has_tls: bool,
    pub(super) service: Option<PathBuf>,
    pub(super) module: Option<PathBuf>,
    pub(super) passing: Option<String>,
    pub(super) own_envoy: bool,
}

impl Builder {
    /// Replaces a text of the bootstrap that must occur exactly once.
    pub fn edit(mut self, old: &str, new: &str) -> Self {
        self.edits.push((old.to_owned(), new.to_owned()));
        self
    }

    /// The same in the file of limits.
    pub fn limit(mut self, old: &str, new: &str) -> Self {
        self.limits.1.push((old.to_owned(), new.to_owned()));
        self
    }

    /// Enables traces, with the collector on this port.
    pub fn collector(mut self, port: u16) -> Self {
        self.collector = Some(port);
        self
    }

    /// The same with TLS before it, under the name [`COLLECTOR`].
    pub fn collector_with_tls(mut self, port: u16) -> Self {
        self.collector_has_tls = true;
        self.collector(port)
    }

    /// Uses the embedding service on this socket. Requests wait for it as long as it takes.
    pub fn service(mut self, socket: &Path) -> Self {
        self.service = Some(socket.to_path_buf());
        self.edit(r#""timeout": "50ms""#, r#""timeout": "30s""#)
    }

    /// Adds a path to those that are passed on.
    pub fn passing(mut self, path: &str) -> Self {
        self.passing = Some(path.to_owned());
        self
    }

    /// Uses another module in place of the filter, in a new Envoy.
    pub fn module(mut self, path: &Path) -> Self {
        self.module = Some(path.to_path_buf());
        self.own_envoy()
    }

    /// Uses a new Envoy that is started for this gateway, on the unchanged bootstrap.
    pub fn own_envoy(mut self) -> Self {
        self.own_envoy = true;
        self
    }

    /// Allows three requests for each client, with a refill so slow that the duration of a test does not matter.
    pub fn three_requests(self) -> Self {
        let bucket = |tokens: u32, seconds: u32| {
            format!(
                "token_bucket: &each {{max_tokens: {tokens}, tokens_per_fill: {tokens}, fill_interval: {seconds}s}}"
            )
        };
        self.limit(&bucket(100, 60), &bucket(3, 36_000))
    }

    /// Uses limits-global.yaml in place of limits.yaml, and the rate limit service on this port.
    pub fn global_limits(mut self, port: u16) -> Self {
        self.limits.0 = "limits-global.yaml";
        self.edit("port_value: 8081", &format!("port_value: {port}"))
    }

    /// The providers' certificates have another name, and are trusted.
    pub fn providers_named(mut self, host: &str) -> Self {
        self.certificate = Certificate::of(&[host]);
        self.trusted = self.certificate.clone();
        self
    }

    /// The providers' certificates have the right names, and are not trusted.
    pub fn untrusted(mut self) -> Self {
        self.trusted = Certificate::of(&HOSTS);
        self
    }

    pub fn start(self) -> Gateway {
        let folder =
            tempfile::Builder::new().prefix("sentinel-gateway").tempdir().expect("a temporary folder");
        let [provider, backup] = [Provider::start(), Provider::start()];
        let relays = [&provider, &backup].map(|behind| Relay::start(behind.port(), &self.certificate));

        fill_in(folder.path());
        if let Some(path) = &self.passing {
            let (list, text) = ("            permissions:\n", shipped("paths.yaml"));
            let (before, after) = text.split_once(list).expect("the list of everybody");
            let more =
                format!("{before}{list}              - {{url_path: {{path: {{exact: {path}}}}}}}\n{after}");
            replace(folder.path(), "paths.yaml", &more);
        }
        let (limits, edits) = &self.limits;
        let limits = edits.iter().fold(shipped(limits), |text, (old, new)| {
            assert_eq!(text.matches(old).count(), 1, "{limits} does not contain once {old:?}");
            text.replace(old, new)
        });
        replace(folder.path(), "limits.yaml", &limits);

        let bundle = folder.path().join("roots.pem");
        fs::write(&bundle, &self.trusted.pem).expect("the bundle is written");
        let mut bootstrap = Bootstrap::shipped("production.yaml");
        let mut collector = None;
        if let Some(mut port) = self.collector {
            bootstrap.traces();
            let mut name = String::new();
            if self.collector_has_tls {
                bootstrap.traces_tls();
                let relay = collector.insert(Relay::start(port, &self.certificate));
                (port, name) = (relay.port(), format!("hostname: {COLLECTOR}, "));
            }
            bootstrap.replace(
                "{address: {socket_address: {address: 127.0.0.1, port_value: 4317}}}",
                &format!("{{{name}address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}}}"),
            );
        }
        for (old, new) in &self.edits {
            bootstrap.replace(old, new);
        }
        if self.service.is_some() {
            // With this timeout, a slow service must not count as a fault.
            bootstrap.replace_each(HELD, "idle_timeout: 60s}", 5);
        }
        bootstrap.module(&self.module.unwrap_or_else(parts::filter));
        bootstrap.production(folder.path());
        // No service: another stack on this machine must not be asked.
        bootstrap.service(&self.service.unwrap_or_else(|| folder.path().join("no-service.sock")));
        bootstrap.replace("/etc/ssl/certs/ca-certificates.crt", &bundle.display().to_string());
        bootstrap.replace("address: 127.0.0.1, port_value: 10000", "address: 127.0.0.1, port_value: 0");
        if self.own_envoy {
            // The admin interface is also a cluster, so its address must be known before Envoy starts.
            bootstrap.replace_each("address: 127.0.0.1, port_value: 9901", &own_address(), 2);
        }
        for (index, host) in HOSTS.iter().enumerate() {
            let port = relays[usize::from(index == HOSTS.len() - 1)].port();
            let here = format!(" address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}");
            let there = format!(" address: {{socket_address: {{address: {host}, port_value: 443}}}}");
            if bootstrap.text().contains(&there) {
                bootstrap.replace(&there, &here);
            }
        }
        let envoy =
            if self.own_envoy { Envoy::start(folder.path(), &bootstrap) } else { Envoy::lent(&bootstrap) };
        Gateway { envoy, provider, backup, relays, collector, folder }
    }
}
