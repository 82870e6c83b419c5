//! Where the scenes run: on a stack of their own, or on one that is already up (compose.yaml) and whose Envoy leads to
//! this program's mock provider.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

use sentinel_harness::client::{self, Response};
use sentinel_harness::metrics::Metrics;
use sentinel_harness::operator::Operator;
use sentinel_harness::provider::Provider;
use sentinel_harness::stack::in_run;
use sentinel_harness::{Dialect, Stack, raw};
use serde_json::{Value, json};

/// How long another stack may take to come up: images start, and the model is loaded and warmed up.
const PATIENCE: Duration = Duration::from_secs(120);

/// Prefix for the names of agents that use the response cache.
pub const CACHED: &str = "faq-";

/// An agent with a budget: three cents.
pub const SPENDER: &str = "spender";

pub enum Stage {
    Own(Box<Stack>, Operator),
    Theirs(Theirs),
}

pub struct Theirs {
    agents: SocketAddr,
    metrics: SocketAddr,
    provider: Provider,
}

/// What that agent may spend.
pub fn budgets(usd: f64) -> Value {
    json!([{"name": "pocket-money", "agent": SPENDER, "limits": {"usd": usd}}])
}

impl Stage {
    pub fn own() -> Self {
        let config = json!({
            "timeout": "50ms",
            "agents": [{"prefix": CACHED, "settings": {"cache": {"enabled": true}}}],
            "prices": [{"prefix": "gpt-4o-mini", "input": 0.15, "output": 0.6}],
            "control": {"enabled": true},
            "budgets": budgets(0.03),
        });
        let operator = Operator::on_a_free_port();
        let settings = operator.settings();
        let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
        let builder = Stack::builder().config(&config).service_with(&settings).in_a_hurry();
        // With one worker nothing of a budget is in the lease of another.
        Self::Own(Box::new(builder.workers(1).own_envoy().start()), operator)
    }

    /// Of this program's own service, whose control API it is.
    pub fn operator(&self) -> Option<&Operator> {
        match self {
            Self::Own(_, operator) => Some(operator),
            Self::Theirs(_) => None,
        }
    }

    /// Waits for Envoy, and for the service unless it is meant to be stopped.
    pub fn theirs(envoy: &str, metrics: &str, provider: &str, without_service: bool) -> Self {
        let provider = Provider::start_on(resolved(provider));
        let (agents, metrics) = (resolved(envoy), resolved(metrics));
        let stage = Self::Theirs(Theirs { agents, metrics, provider });
        let healthy = |stage: &Self| {
            stage.sum("envoy_cluster_membership_healthy", &[("envoy_cluster_name", "embedding_service")])
        };
        eventually("Envoy is ready", || {
            raw::get(metrics, "/ready").is_some_and(|answer| answer.status == 200)
        });
        let wanted = u64::from(!without_service);
        eventually(
            if without_service { "the embedding service is away" } else { "the embedding service is warm" },
            || healthy(&stage) == Some(wanted),
        );
        // Envoy resolves our name every second.
        eventually("Envoy leads to this provider", || {
            let before = stage.provider().count();
            raw::get(agents, "/v1/models").is_some() && stage.provider().count() > before
        });
        stage
    }

    pub fn address(&self) -> SocketAddr {
        match self {
            Self::Own(stack, _) => stack.address(),
            Self::Theirs(theirs) => theirs.agents,
        }
    }

    pub fn provider(&self) -> &Provider {
        match self {
            Self::Own(stack, _) => &stack.provider,
            Self::Theirs(theirs) => &theirs.provider,
        }
    }

    /// An agent asks one question in a request of its own. Its run has the agent's name.
    pub async fn ask(&self, agent: &str, text: &str) -> Response {
        self.send(agent, Dialect::OpenaiChat.ask(text, false).to_string()).await
    }

    /// The same with a body of its own, in the format of OpenAI's chat completions.
    pub async fn send(&self, agent: &str, body: String) -> Response {
        client::post(self.address(), Dialect::OpenaiChat.path(false), &in_run(agent), body).await
    }

    /// A counter of the filter, or 0 if it does not exist yet.
    pub fn count(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        self.sum(name, labels).expect("Envoy's metrics are answered")
    }

    fn sum(&self, name: &str, labels: &[(&str, &str)]) -> Option<u64> {
        match self {
            Self::Own(stack, _) => Some(stack.count(name, labels)),
            Self::Theirs(theirs) => {
                let answer = raw::get(theirs.metrics, "/stats/prometheus")?;
                Some(Metrics::parse(&String::from_utf8_lossy(&answer.body)).sum(name, labels))
            }
        }
    }

    /// Stops this program's own service. Returns whether there is one.
    pub fn stop_service(&mut self) -> bool {
        let Self::Own(stack, _) = self else { return false };
        stack.service.as_mut().is_some_and(|service| {
            service.process().stop();
            true
        })
    }
}

/// The first address of `host:port`. Names of a Compose network appear once their containers start.
fn resolved(name: &str) -> SocketAddr {
    let mut found = None;
    eventually(&format!("{name} is known"), || {
        found = name.to_socket_addrs().ok().and_then(|mut all| all.find(SocketAddr::is_ipv4));
        found.is_some()
    });
    found.expect("just found")
}

fn eventually(what: &str, mut ready: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !ready() {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}
