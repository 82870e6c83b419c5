//! envoy/production.yaml as it is shipped, with two mock providers behind the names of the real ones, over real TLS.
//! The files that Envoy reads anew are copies of the shipped ones, so that a test can replace them.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering};

use tempfile::TempDir;

use crate::Dialect;
use crate::bootstrap::Bootstrap;
use crate::client::{self, Response};
use crate::envoy::Envoy;
use crate::parts;
use crate::provider::Provider;
use crate::stack::HELD;
use crate::tls::{Certificate, Relay};

/// The names in the shipped file; behind the last one is [`Gateway::backup`], behind the others [`Gateway::provider`].
pub const HOSTS: [&str; 5] = [
    "api.openai.com",
    "api.anthropic.com",
    "generativelanguage.googleapis.com",
    "api.groq.com",
    "eu.api.openai.com",
];

/// The collector's name, where it has TLS.
pub const COLLECTOR: &str = "collector.example.com";

/// A client of the gateway and its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    pub name: &'static str,
    pub key: &'static str,
}

pub const ALICE: Client = Client { name: "alice", key: "5d1f0c-alice" };
pub const BOB: Client = Client { name: "bob", key: "77ab3e-bob" };
pub const ADMIN: Client = Client { name: "admin", key: "e0c4f9-admin" };

/// Dropped in this order: Envoy first.
pub struct Gateway {
    pub envoy: Envoy,
    pub provider: Provider,
    pub backup: Provider,
    relays: [Relay; 2],
    collector: Option<Relay>,
    folder: TempDir,
}

pub struct Builder {
    edits: Vec<(String, String)>,
    limits: (&'static str, Vec<(String, String)>),
    certificate: Certificate,
    trusted: Certificate,
    collector: Option<u16>,
    collector_has_tls: bool,
    service: Option<PathBuf>,
    module: Option<PathBuf>,
    passing: Option<String>,
    own_envoy: bool,
}

impl Gateway {
    /// The clients are [`ALICE`], [`BOB`] and [`ADMIN`].
    pub fn builder() -> Builder {
        let certificate = Certificate::of(&[&HOSTS[..], &[COLLECTOR]].concat());
        Builder {
            edits: Vec::new(),
            limits: ("limits.yaml", Vec::new()),
            trusted: certificate.clone(),
            certificate,
            collector: None,
            collector_has_tls: false,
            service: None,
            module: None,
            passing: None,
            own_envoy: false,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.envoy.address()
    }

    /// An agent asks one thing; the key goes where the dialect's SDK puts it.
    pub async fn ask(
        &self,
        dialect: Dialect,
        client: Client,
        headers: &[(&str, &str)],
        text: &str,
    ) -> Response {
        let (name, value) = key_header(dialect, client.key);
        let mut all = vec![(name, value.as_str())];
        all.extend_from_slice(headers);
        self.post(path(dialect), &all, dialect.ask(text, false).to_string()).await
    }

    pub async fn post(&self, path: &str, headers: &[(&str, &str)], body: String) -> Response {
        client::post(self.address(), path, headers, body).await
    }

    pub async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        let body = http_body_util::Empty::<bytes::Bytes>::new();
        let request = client::request(self.address(), hyper::Method::GET, path, headers, body);
        client::send(request).await.unwrap_or_else(|error| panic!("GET {path} is not answered: {error}"))
    }

    /// Replaces the clients, as `mv` does.
    pub fn clients(&self, clients: &[Client]) {
        self.replace("clients.yaml", &with_clients(&shipped("clients.yaml"), clients));
    }

    /// Replaces a file that Envoy reads anew, as `mv` does.
    pub fn replace(&self, name: &str, text: &str) {
        replace(self.folder.path(), name, text);
    }

    /// Replaces the clients as Kubernetes does with a secret that is mounted: the file is a link through `..data`, which is
    /// replaced by a link to another folder.
    pub fn mounted_clients(&self, version: &str, clients: &[Client]) {
        let folder = self.folder.path();
        fs::create_dir(folder.join(version)).expect("a new version");
        let text = with_clients(&shipped("clients.yaml"), clients);
        fs::write(folder.join(version).join("clients.yaml"), text).expect("the file is written");
        let link = |to: &str, name: &str| {
            symlink(to, folder.join("new")).expect("a link");
            fs::rename(folder.join("new"), folder.join(name)).expect("the link is put in its place");
        };
        link(version, "..data");
        if !folder.join("clients.yaml").is_symlink() {
            link("..data/clients.yaml", "clients.yaml");
        }
    }

    /// Server names that Envoy asked the first provider for.
    pub fn names(&self) -> Vec<String> {
        self.relays[0].names()
    }

    /// Server names that Envoy asked a collector with TLS for.
    pub fn collector_names(&self) -> Vec<String> {
        self.collector.as_ref().map(Relay::names).unwrap_or_default()
    }

    /// A counter of Envoy; 0 when it has not been counted yet.
    pub fn count(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        self.envoy.metrics().sum(name, labels)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- Envoy's log:\n{}", self.envoy.log());
        }
    }
}

impl Builder {
    /// Replaces a text of the bootstrap that must be there exactly once.
    pub fn edit(mut self, old: &str, new: &str) -> Self {
        self.edits.push((old.to_owned(), new.to_owned()));
        self
    }

    /// The same in the file of limits.
    pub fn limit(mut self, old: &str, new: &str) -> Self {
        self.limits.1.push((old.to_owned(), new.to_owned()));
        self
    }

    /// With the lines for traces, and the collector on this port.
    pub fn collector(mut self, port: u16) -> Self {
        self.collector = Some(port);
        self
    }

    /// The same with TLS before it, under the name [`COLLECTOR`].
    pub fn collector_with_tls(mut self, port: u16) -> Self {
        self.collector_has_tls = true;
        self.collector(port)
    }

    /// With the embedding service on this socket, which a request waits for as long as it takes.
    pub fn service(mut self, socket: &Path) -> Self {
        self.service = Some(socket.to_path_buf());
        self.edit(r#""timeout": "50ms""#, r#""timeout": "30s""#)
    }

    /// With one path that is passed on beside those of the shipped list.
    pub fn passing(mut self, path: &str) -> Self {
        self.passing = Some(path.to_owned());
        self
    }

    /// With another module in the filter's place, in an Envoy of its own.
    pub fn module(mut self, path: &Path) -> Self {
        self.module = Some(path.to_path_buf());
        self.own_envoy()
    }

    /// With an Envoy that is started for this gateway alone, on the bootstrap as it is.
    pub fn own_envoy(mut self) -> Self {
        self.own_envoy = true;
        self
    }

    /// Three requests for each client, refilled so slowly that the time a test takes does not matter.
    pub fn three_requests(self) -> Self {
        let bucket = |tokens: u32, seconds: u32| {
            format!(
                "token_bucket: &each {{max_tokens: {tokens}, tokens_per_fill: {tokens}, fill_interval: {seconds}s}}"
            )
        };
        self.limit(&bucket(100, 60), &bucket(3, 36_000))
    }

    /// limits-global.yaml in the place of limits.yaml, and the rate limit service on this port.
    pub fn global_limits(mut self, port: u16) -> Self {
        self.limits.0 = "limits-global.yaml";
        self.edit("port_value: 8081", &format!("port_value: {port}"))
    }

    /// The providers say that they are someone else, and are believed to be that.
    pub fn providers_named(mut self, host: &str) -> Self {
        self.certificate = Certificate::of(&[host]);
        self.trusted = self.certificate.clone();
        self
    }

    /// The providers have the right names, from an authority that is not trusted.
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
            // A service that has this much time must not be taken for a fault.
            bootstrap.replace_each(HELD, "idle_timeout: 60s}", 5);
        }
        bootstrap.module(&self.module.unwrap_or_else(parts::filter));
        bootstrap.production(folder.path());
        // Else none: a stack that is up on this machine must not be asked.
        bootstrap.service(&self.service.unwrap_or_else(|| folder.path().join("no-service.sock")));
        bootstrap.replace("/etc/ssl/certs/ca-certificates.crt", &bundle.display().to_string());
        bootstrap.replace("address: 127.0.0.1, port_value: 10000", "address: 127.0.0.1, port_value: 0");
        if self.own_envoy {
            // The admin interface is a cluster too, so its address must be known before Envoy starts.
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

/// The dialects whose providers have a route in the shipped file.
pub const DIALECTS: [Dialect; 4] =
    [Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Anthropic, Dialect::Gemini];

/// Where the SDK of a dialect finds its provider.
pub fn path(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::OpenaiChat => "/openai/v1/chat/completions",
        Dialect::OpenaiResponses => "/openai/v1/responses",
        Dialect::Anthropic => "/anthropic/v1/messages",
        Dialect::Gemini => "/gemini/v1beta/models/gemini-2.5-flash:generateContent",
        Dialect::GeminiInteractions => "/gemini/v1beta/interactions",
        Dialect::Bedrock | Dialect::VertexAnthropic => panic!("{dialect:?} has no route in production.yaml"),
    }
}

/// How the SDK of a dialect sends a key.
pub fn key_header(dialect: Dialect, key: &str) -> (&'static str, String) {
    match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => ("authorization", format!("Bearer {key}")),
        Dialect::Anthropic => ("x-api-key", key.to_owned()),
        Dialect::Gemini | Dialect::GeminiInteractions => ("x-goog-api-key", key.to_owned()),
        Dialect::VertexAnthropic => ("authorization", format!("Bearer {key}")),
        Dialect::Bedrock => panic!("Bedrock's requests are signed, and carry no key"),
    }
}

/// Envoy's own key at a provider, by the name of its cluster.
pub fn provider_key(cluster: &str) -> String {
    format!("sk-of-the-gateway-at-{cluster}")
}

/// A file of envoy/production.
pub fn shipped(name: &str) -> String {
    let path = parts::root().join("envoy/production").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of envoy/production in this folder, with keys: of [`ALICE`], [`BOB`], [`ADMIN`] and [`provider_key`].
pub fn fill_in(folder: &Path) {
    fs::create_dir(folder.join("keys")).expect("a folder");
    for name in ["openai", "openai_backup", "anthropic", "gemini", "groq"] {
        let key = shipped(&format!("keys/{name}.yaml")).replace("replace-me", &provider_key(name));
        replace(folder, &format!("keys/{name}.yaml"), &key);
    }
    replace(folder, "clients.yaml", &with_clients(&shipped("clients.yaml"), &[ALICE, BOB, ADMIN]));
    replace(folder, "paths.yaml", &shipped("paths.yaml"));
    replace(folder, "limits.yaml", &shipped("limits.yaml"));
}

fn with_clients(text: &str, clients: &[Client]) -> String {
    let lines: Vec<String> =
        clients.iter().map(|Client { name, key }| format!("{{client: {name}, key: {key}}}")).collect();
    assert_eq!(text.matches("credentials: []").count(), 1, "clients.yaml is not empty");
    text.replace("credentials: []", &format!("credentials: [{}]", lines.join(", ")))
}

fn replace(folder: &Path, name: &str, text: &str) {
    let (file, new) = (folder.join(name), folder.join("new"));
    fs::write(&new, text).expect("the file is written");
    fs::rename(new, file).expect("the file is put in its place");
}

/// A loopback address and port that no other test takes: the address is this process's, the port counts.
fn own_address() -> String {
    static PORT: AtomicU16 = AtomicU16::new(20_000);
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    let port = PORT.fetch_add(1, Ordering::Relaxed);
    format!("address: 127.{}.{middle}.{low}, port_value: {port}", 64 + high % 64)
}
