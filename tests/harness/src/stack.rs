//! The whole stack: agent's address ─► Envoy with the filter ─► mock provider, and the service that a test chose.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Dialect;
use crate::bootstrap::Bootstrap;
use crate::client::{self, Response};
use crate::envoy::{Envoy, WORKERS};
use crate::fake_service::{Behaviour, FakeService};
use crate::metrics::Metrics;
use crate::provider::Provider;
use crate::service::Service;

/// Dropped in this order: Envoy first, the folder with its logs and sockets last.
pub struct Stack {
    pub envoy: Envoy,
    pub provider: Provider,
    pub service: Option<Service>,
    pub fake: Option<FakeService>,
    folder: TempDir,
}

impl Drop for Stack {
    /// The logs that a failed test prints.
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- Envoy's log:\n{}", tail(&self.envoy.log()));
            if let Some(service) = &self.service {
                eprintln!("--- the service's log:\n{}", tail(&service.log()));
            }
        }
    }
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(25)..].join("\n")
}

enum Beside {
    Nothing,
    Real(Vec<(String, String)>),
    Fake(Box<Behaviour>),
}

pub struct Builder {
    config: Option<Value>,
    patient: bool,
    beside: Beside,
    edits: Vec<(String, String)>,
    cluster: Option<String>,
    over: Option<String>,
    own_envoy: bool,
    workers: Option<String>,
}

/// How long a request may be held in the shipped bootstraps.
pub const HELD: &str = "idle_timeout: 10s}";

/// Headers of an agent whose run has the same name.
pub fn in_run(agent: &str) -> [(&'static str, &str); 2] {
    [("x-agent-id", agent), ("x-run-id", agent)]
}

impl Stack {
    /// The shipped demo bootstrap, without any service beside it.
    pub fn builder() -> Builder {
        Builder {
            config: None,
            patient: true,
            beside: Beside::Nothing,
            edits: Vec::new(),
            cluster: None,
            over: None,
            own_envoy: false,
            workers: None,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.envoy.address()
    }

    /// Logs and sockets of this stack.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where Envoy looks for the service.
    pub fn socket(&self) -> PathBuf {
        socket(self.folder.path())
    }

    /// POSTs a body to a dialect's path.
    pub async fn post(&self, dialect: Dialect, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Response {
        client::post(self.address(), dialect.path(false), headers, body).await
    }

    /// An agent asks one question in a request of its own. Its run has the agent's name.
    pub async fn ask(&self, dialect: Dialect, agent: &str, text: &str) -> Response {
        self.post(dialect, &in_run(agent), dialect.ask(text, false).to_string()).await
    }

    /// The same as a stream, read to its end.
    pub async fn ask_stream(&self, dialect: Dialect, agent: &str, text: &str) -> Response {
        let body = dialect.ask(text, true).to_string();
        client::post(self.address(), dialect.path(true), &in_run(agent), body).await
    }

    /// An agent sends this history and does not name its run.
    pub async fn converse(&self, dialect: Dialect, agent: &str, turns: &[(&str, &str)]) -> Response {
        self.post(dialect, &[("x-agent-id", agent)], dialect.conversation(turns, false).to_string()).await
    }

    /// Kills an Envoy that is this stack's own, as a crash would.
    pub fn kill_envoy(&mut self) {
        self.envoy.process().kill();
    }

    /// Starts a new one in its place, with the same bootstrap and on another port.
    pub fn restart_envoy(&mut self) {
        self.kill_envoy();
        self.envoy = Envoy::start_again(self.folder.path());
    }

    pub fn metrics(&self) -> Metrics {
        self.envoy.metrics()
    }

    /// A counter of the filter, or 0 if it does not exist yet.
    pub fn count(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        self.metrics().sum(name, labels)
    }

    /// How often Envoy has loaded the module, or tried to.
    pub fn reloads(&self) -> u64 {
        ["success", "failure", "backoff"]
            .map(|how| self.count(&format!("envoy_wasm_sentinel_vm_reload_{how}"), &[]))
            .iter()
            .sum()
    }

    /// Fails when the filter has panicked or was reloaded, or when Envoy has logged a fault of it.
    pub fn assert_sound(&mut self) {
        assert!(self.envoy.process().is_running(), "Envoy has ended. Its log:\n{}", self.envoy.log());
        let log = self.envoy.log();
        for word in ["panicked", "Function: proxy_", "Uncaught RuntimeError"] {
            assert!(!log.contains(word), "Envoy's log says {word:?}:\n{log}");
        }
        assert_eq!(self.reloads(), 0, "the module was reloaded. Envoy's log:\n{log}");
    }
}

impl Builder {
    /// The filter's configuration, instead of the shipped one.
    pub fn config(mut self, config: &Value) -> Self {
        self.config = Some(config.clone());
        self
    }

    /// With the real embedding service. Requests wait for it as long as it takes, so that a busy machine changes no
    /// verdict, unless the test's configuration has a `timeout`, or with [`Builder::in_a_hurry`].
    pub fn service(self) -> Self {
        self.service_with(&[])
    }

    /// With the real embedding service and these environment variables.
    pub fn service_with(mut self, settings: &[(&str, &str)]) -> Self {
        self.beside = Beside::Real(
            settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        );
        self
    }

    /// Uses the shipped timeout.
    pub fn in_a_hurry(mut self) -> Self {
        self.patient = false;
        self
    }

    /// With a faulty service.
    pub fn fake(mut self, behaviour: Behaviour) -> Self {
        self.beside = Beside::Fake(Box::new(behaviour));
        self
    }

    /// Replaces a text of the bootstrap that must occur exactly once.
    pub fn edit(mut self, old: &str, new: &str) -> Self {
        self.edits.push((old.to_owned(), new.to_owned()));
        self
    }

    /// Another cluster for the service, as YAML in the list of clusters.
    pub fn cluster(mut self, cluster: String) -> Self {
        self.cluster = Some(cluster);
        self
    }

    /// YAML that Envoy merges into its bootstrap (`--config-yaml`).
    pub fn over(mut self, yaml: String) -> Self {
        self.over = Some(yaml);
        self
    }

    /// With a new Envoy that is started for this stack, on the unchanged bootstrap.
    pub fn own_envoy(mut self) -> Self {
        self.own_envoy = true;
        self
    }

    /// With an Envoy that has this many workers.
    pub fn workers(mut self, workers: u32) -> Self {
        self.workers = Some(workers.to_string());
        self
    }

    pub fn start(self) -> Stack {
        let folder = tempfile::Builder::new().prefix("sentinel").tempdir().expect("a temporary folder");
        let socket = socket(folder.path());
        let provider = Provider::start();
        let mut bootstrap = Bootstrap::demo();
        bootstrap.provider(provider.port());
        bootstrap.service(&socket);
        let beside = !matches!(self.beside, Beside::Nothing);
        let mut config = self.config;
        if beside && self.patient {
            let config = config.get_or_insert_with(|| json!({}));
            if config.get("timeout").is_none() {
                config["timeout"] = json!("30s");
            }
        }
        if let Some(config) = config {
            bootstrap.config(&config.to_string());
        }
        if beside && self.patient {
            // With this timeout, a slow service must not count as a fault.
            bootstrap.replace(HELD, "idle_timeout: 60s}");
        }
        for (old, new) in &self.edits {
            bootstrap.replace(old, new);
        }
        if let Some(cluster) = &self.cluster {
            bootstrap.cluster("embedding_service", cluster);
        }
        let (mut service, mut fake) = (None, None);
        match self.beside {
            Beside::Nothing => {}
            Beside::Real(settings) => service = Some(Service::start(folder.path(), &socket, &settings)),
            Beside::Fake(behaviour) => fake = Some(FakeService::start(&socket, *behaviour)),
        }
        let workers = self.workers.as_deref().unwrap_or(WORKERS);
        let envoy = if self.own_envoy || self.over.is_some() {
            let mut arguments = vec!["--concurrency", workers];
            arguments.extend(self.over.iter().flat_map(|yaml| ["--config-yaml", yaml.as_str()]));
            Envoy::start_with(folder.path(), &bootstrap, &arguments)
        } else {
            Envoy::lent_with(&bootstrap, workers)
        };
        Stack { envoy, provider, service, fake, folder }
    }
}

fn socket(folder: &Path) -> PathBuf {
    folder.join("embedding.sock")
}
