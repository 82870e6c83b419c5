//! The shipped envoy/production.yaml with two mock providers behind the names of the real ones, over real TLS. The
//! files that Envoy reloads are copies, so that a test can replace them.

mod builder;
mod files;

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

pub use self::builder::Builder;
pub use self::files::{fill_in, shipped};
use self::files::{replace, with_clients};
use crate::Dialect;
use crate::client::{self, Response};
use crate::envoy::Envoy;
use crate::provider::Provider;
use crate::tls::{Certificate, Relay};

/// The names in the shipped file. The last one leads to [`Gateway::backup`], the others to [`Gateway::provider`].
pub const HOSTS: [&str; 5] = [
    "api.openai.com",
    "api.anthropic.com",
    "generativelanguage.googleapis.com",
    "api.groq.com",
    "eu.api.openai.com",
];

/// The collector's name, if it has TLS.
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

    /// An agent asks one question. The key is sent where the dialect's SDK sends it.
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

    /// Replaces the clients as `mv` does.
    pub fn clients(&self, clients: &[Client]) {
        self.replace("clients.yaml", &with_clients(&shipped("clients.yaml"), clients));
    }

    /// Replaces a file that Envoy reloads, as `mv` does.
    pub fn replace(&self, name: &str, text: &str) {
        replace(self.folder.path(), name, text);
    }

    /// Replaces the clients as Kubernetes does in a mounted secret: the file is a link through `..data`, which is
    /// replaced with a link to another folder.
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

    /// The server names that Envoy asked the first provider for.
    pub fn names(&self) -> Vec<String> {
        self.relays[0].names()
    }

    /// Server names that Envoy asked a collector with TLS for.
    pub fn collector_names(&self) -> Vec<String> {
        self.collector.as_ref().map(Relay::names).unwrap_or_default()
    }

    /// A counter of Envoy, or 0 if it does not exist yet.
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

/// The dialects that have a route in the shipped file.
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
        other => panic!("{other:?} has no route in production.yaml"),
    }
}

/// How the SDK of a dialect sends a key.
pub fn key_header(dialect: Dialect, key: &str) -> (&'static str, String) {
    match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => ("authorization", format!("Bearer {key}")),
        Dialect::Anthropic => ("x-api-key", key.to_owned()),
        Dialect::Gemini | Dialect::GeminiInteractions => ("x-goog-api-key", key.to_owned()),
        other => panic!("{other:?} has no key of this kind"),
    }
}

/// Envoy's own key at a provider, by the cluster's name.
pub fn provider_key(cluster: &str) -> String {
    format!("sk-of-the-gateway-at-{cluster}")
}
