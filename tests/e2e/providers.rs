//! envoy/providers.yaml as it is shipped, with a provider on this machine behind the names of the real ones, over real TLS.

use std::fs;
use std::path::Path;

use sentinel_harness::bootstrap::Bootstrap;
use sentinel_harness::envoy::Envoy;
use sentinel_harness::provider::{Provider, reply::text_for};
use sentinel_harness::tls::{Certificate, Relay};
use sentinel_harness::{Dialect, client, parts};
use tempfile::TempDir;

use crate::support::QUESTION;

const HOSTS: [&str; 6] = [
    "api.openai.com",
    "api.anthropic.com",
    "generativelanguage.googleapis.com",
    "api.groq.com",
    "aiplatform.googleapis.com",
    "bedrock-runtime.us-east-1.amazonaws.com",
];

pub struct Tls {
    pub envoy: Envoy,
    pub provider: Provider,
    relay: Relay,
    _folder: TempDir,
}

impl Tls {
    /// `trusted`: whether Envoy's CA bundle holds the provider's certificate.
    pub fn start(trusted: bool) -> Self {
        Self::start_in(trusted, &[])
    }

    /// The same, Envoy with these environment variables.
    pub fn start_in(trusted: bool, environment: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let provider = Provider::start();
        let [certificate, other] = [Certificate::of(&HOSTS), Certificate::of(&HOSTS)];
        let bundle = folder.path().join("roots.pem");
        fs::write(&bundle, if trusted { &certificate.pem } else { &other.pem }).unwrap();
        let relay = Relay::start(provider.port(), &certificate);
        let bootstrap = bootstrap(relay.port(), &bundle);
        let envoy = if environment.is_empty() {
            Envoy::lent(&bootstrap)
        } else {
            Envoy::start_in(folder.path(), &bootstrap, &[], environment)
        };
        Self { envoy, provider, relay, _folder: folder }
    }

    async fn ask(&self, path: &str, dialect: Dialect, headers: &[(&str, &str)]) -> client::Response {
        client::post(self.envoy.address(), path, headers, dialect.ask(QUESTION, false).to_string()).await
    }
}

fn bootstrap(relay: u16, bundle: &Path) -> Bootstrap {
    let mut bootstrap = Bootstrap::shipped("providers.yaml");
    bootstrap.module(&parts::filter());
    bootstrap.replace("address: 127.0.0.1, port_value: 9901", "address: 127.0.0.1, port_value: 0");
    bootstrap.replace("address: 127.0.0.1, port_value: 10000", "address: 127.0.0.1, port_value: 0");
    // No service: a stack that is up on this machine must not be asked.
    bootstrap.service(&bundle.with_file_name("no-service.sock"));
    bootstrap.replace("/etc/ssl/certs/ca-certificates.crt", &bundle.display().to_string());
    for host in HOSTS {
        let here = format!("address: 127.0.0.1, port_value: {relay}");
        bootstrap.replace(&format!("address: {host}, port_value: 443"), &here);
    }
    bootstrap
}

#[tokio::test]
async fn each_prefix_leads_to_its_provider() {
    let tls = Tls::start(true);
    for (path, there, host, dialect) in [
        ("/openai/v1/chat/completions", "/v1/chat/completions", HOSTS[0], Dialect::OpenaiChat),
        ("/openai/v1/responses?x=1", "/v1/responses?x=1", HOSTS[0], Dialect::OpenaiResponses),
        ("/anthropic/v1/messages", "/v1/messages", HOSTS[1], Dialect::Anthropic),
        (
            "/gemini/v1beta/models/gemini-2.5-flash:generateContent",
            "/v1beta/models/gemini-2.5-flash:generateContent",
            HOSTS[2],
            Dialect::Gemini,
        ),
        (
            "/vertex/v1/projects/p/locations/global/publishers/anthropic/models/m@1:rawPredict",
            "/v1/projects/p/locations/global/publishers/anthropic/models/m@1:rawPredict",
            HOSTS[4],
            Dialect::VertexAnthropic,
        ),
        (
            "/vertex/v1/projects/p/locations/global/publishers/google/models/m:generateContent",
            "/v1/projects/p/locations/global/publishers/google/models/m:generateContent",
            HOSTS[4],
            Dialect::Gemini,
        ),
        ("/groq/openai/v1/chat/completions", "/openai/v1/chat/completions", HOSTS[3], Dialect::OpenaiChat),
    ] {
        let key = [("authorization", "Bearer sk-of-the-agent"), ("x-agent-id", path)];
        let response = tls.ask(path, dialect, &key).await;
        assert_eq!(response.status, 200, "{path}: {:?}\n{}", response.body, tls.envoy.log());
        assert_eq!(dialect.answer_text(&response.body), text_for(QUESTION), "{path}");
        assert_eq!(response.verdict(), "allow", "{path}: the filter did not know the dialect");
        let got = tls.provider.last();
        assert_eq!(got.path, there, "{path}");
        assert_eq!(got.host().as_deref(), Some(host), "{path}");
        assert_eq!(got.header("authorization"), Some("Bearer sk-of-the-agent"), "{path}");
        assert_eq!(got.body, dialect.ask(QUESTION, false).to_string(), "{path}");
        assert!(tls.relay.names().contains(&host.to_owned()), "{path}: TLS asked for another name");
    }
    let elsewhere = tls.ask("/v1/chat/completions", Dialect::OpenaiChat, &[]).await;
    assert_eq!(elsewhere.status, 404);
    assert!(String::from_utf8_lossy(&elsewhere.body).contains("begin with /openai, /anthropic"));
}

#[tokio::test]
async fn a_provider_that_is_not_who_it_says_gets_nothing() {
    let tls = Tls::start(false);
    let response = tls.ask("/openai/v1/chat/completions", Dialect::OpenaiChat, &[("x-agent-id", "a")]).await;
    assert_eq!(response.status, 503, "{:?}", response.body);
    assert_eq!(tls.provider.count(), 0, "the request and its key went to a stranger");
}
