//! Two Envoys, two services and a Redis, and what operators have told them.

use std::path::PathBuf;
use std::time::Instant;

use hyper::Method;
use sentinel_harness::Stack;
use sentinel_harness::process::eventually;
use sentinel_harness::redis::Redis;
use sentinel_harness::service::Service;
use sentinel_harness::stack::HELD;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::ask;
use crate::control::{Operator, until};

/// Requests that the budget's agent may make in all, until the end comes near.
const LIMIT: u64 = 1_000_000;
/// Requests, each on a new connection, after which every worker of an Envoy has very likely been asked. Used for the last stop. `EARLIER`: for
/// the stops before it, which the workers have known for longer.
const IN_A_ROW: usize = 20;
const EARLIER: usize = 3;

/// Dropped in this order: Redis last.
pub struct Cluster {
    pub gateways: [Stack; 2],
    pub services: [Option<Service>; 2],
    pub operators: [Operator; 2],
    folders: [TempDir; 2],
    pub redis: Redis,
    /// The agents whose stops a service has acknowledged.
    pub stops: Vec<String>,
    pub versions: u64,
    /// When the last stop was acknowledged.
    pub stopped: Instant,
}

fn budget(limit: u64) -> Value {
    json!([{"name": "shared", "agent": "spender", "per": "agent", "window": "24h", "limits": {"requests": limit}}])
}

impl Cluster {
    pub fn start() -> Self {
        let redis = Redis::start_durable();
        let folders = [0, 1].map(|_| tempfile::tempdir().expect("a folder"));
        let sockets = folders.each_ref().map(|folder| folder.path().join("service.sock"));
        let operators = [0, 1].map(|_| Operator::on_a_free_port());
        let gateways = [0, 1].map(|_| gateway(&sockets));
        let mut cluster = Self {
            gateways,
            services: [None, None],
            operators,
            folders,
            redis,
            stops: Vec::new(),
            versions: 0,
            stopped: Instant::now(),
        };
        (0..2).for_each(|number| cluster.start_service(number));
        cluster
    }

    pub fn start_service(&mut self, number: usize) {
        let mut settings: Vec<(String, String)> =
            self.operators[number].settings().map(|(name, value)| (name.to_owned(), value)).into();
        settings.push(("REDIS_URL".to_owned(), self.redis.url()));
        let folder = self.folders[number].path();
        self.services[number] = Some(Service::start(folder, &folder.join("service.sock"), &settings));
    }

    pub fn service(&mut self, number: usize) -> &mut Service {
        self.services[number].as_mut().expect("it was started")
    }

    /// A stop of another agent and another version of the live settings, at this service. Returns whether it has acknowledged both.
    pub async fn change(&mut self, number: usize) -> bool {
        let operator = &self.operators[number];
        let agent = format!("stopped-{}", self.stops.len());
        let stop = json!({"agent": agent, "author": "eve", "reason": "a test"});
        let is_stopped = operator.try_ask(Method::POST, "/v1/stops", &stop).await.is_some();
        if is_stopped {
            self.stops.push(agent);
            self.stopped = Instant::now();
        }
        let is_changed = self.set_budget(number, LIMIT).await;
        is_stopped && is_changed
    }

    async fn set_budget(&mut self, number: usize, limit: u64) -> bool {
        let operator = &self.operators[number];
        // The version is read first: it is higher than the last acknowledged one if the service made a change but could not say so.
        let Some(now) = operator.try_ask(Method::GET, "/v1/settings", &Value::Null).await else {
            return false;
        };
        let settings = json!({"version": now["version"], "author": "eve", "reason": "a test",
            "settings": {"budgets": budget(limit)}});
        let answer = operator.try_ask(Method::PUT, "/v1/settings", &settings).await;
        if let Some(answer) = &answer {
            self.versions = answer["version"].as_u64().expect("a version");
        }
        answer.is_some()
    }

    /// Repeats a change until this service acknowledges it: on a busy machine Redis may take longer than the service waits.
    pub async fn changes(&mut self, number: usize) {
        eventually("a change is acknowledged", async || self.change(number).await).await;
    }

    pub async fn limits_the_budget(&mut self, number: usize, limit: u64) {
        eventually("a budget is acknowledged", async || self.set_budget(number, limit).await).await;
    }

    /// Asks a service until it answers.
    pub async fn told(&self, number: usize, path: &str) -> Value {
        let operator = &self.operators[number];
        until(path, async || operator.try_ask(Method::GET, path, &Value::Null).await).await
    }

    /// What the budget's account counts, in leases too.
    pub async fn counted(&self) -> u64 {
        let answer = self.told(0, "/v1/budgets?budget=shared").await;
        let count = |what: &str| answer["accounts"][0][what]["requests"].as_u64().expect("a count");
        count("spent") + count("held")
    }

    /// Waits until every stop and the last settings hold on this Envoy. Returns the seconds from `since` until the last stop did.
    pub async fn holds_on(&self, number: usize, since: Instant) -> f64 {
        let address = self.gateways[number].address();
        let mut took = None;
        for agent in self.stops.iter().rev() {
            let wanted = if took.is_none() { IN_A_ROW } else { EARLIER };
            let (mut in_a_row, mut first) = (0, 0.0);
            until(&format!("the stop of {agent} holds on Envoy {number}"), async || {
                let sent = since.elapsed().as_secs_f64();
                let verdict = ask(address, agent, agent).await.expect("an answer").verdict().to_owned();
                (in_a_row, first) = match (verdict.as_str(), in_a_row) {
                    ("kill", 0) => (1, sent),
                    ("kill", n) => (n + 1, first),
                    _ => (0, 0.0),
                };
                (in_a_row == wanted).then_some(())
            })
            .await;
            took.get_or_insert(first);
        }
        let wanted = self.versions.to_string();
        until(&format!("settings {wanted} act on Envoy {number}"), async || {
            let answer = ask(address, "anybody", "anybody").await.expect("an answer");
            (answer.header("x-sentinel-settings-version") == Some(&wanted)).then_some(())
        })
        .await;
        took.expect("somebody was stopped")
    }

    /// Waits until everything holds on both Envoys, and says how long the last stop took.
    pub async fn holds(&self, after: &str) {
        let (first, second) = tokio::join!(self.holds_on(0, self.stopped), self.holds_on(1, self.stopped));
        println!("{after}: a new stop holds on the two Envoys after {first:.2} s and {second:.2} s");
    }

    /// The same where Envoys have just started and know nothing.
    pub async fn holds_again(&self, after: &str, envoys: &[usize]) {
        let ready = Instant::now();
        for number in envoys {
            let took = self.holds_on(*number, ready).await;
            println!("{after}: Envoy {number} knows all stops {took:.2} s after its start");
        }
    }

    /// Requests of the budget's agent that a provider has got.
    pub fn spent(&self) -> u64 {
        let of = |gateway: &Stack| {
            let all = gateway.provider.received();
            all.iter().filter(|request| request.header("x-agent-id") == Some("spender")).count() as u64
        };
        self.gateways.iter().map(of).sum()
    }

    /// Turns of an agent's runs, as a service counts them.
    pub async fn turns(&self, number: usize, agent: &str) -> u64 {
        let answer = self.told(number, &format!("/v1/runs?agent={agent}")).await;
        answer["runs"].as_array().into_iter().flatten().filter_map(|run| run["turns"].as_u64()).sum()
    }
}

/// An Envoy that asks both services, with a provider of its own.
fn gateway(sockets: &[PathBuf; 2]) -> Stack {
    let ends = sockets.each_ref().map(|socket| {
        format!("              - endpoint: {{address: {{pipe: {{path: {}}}}}}}\n", socket.display())
    });
    let cluster = format!(
        r#"    - name: embedding_service
      type: STATIC
      connect_timeout: 0.25s
      typed_extension_protocol_options:
        envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
          "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
          explicit_http_config:
            http2_protocol_options: {{}}
      load_assignment:
        cluster_name: embedding_service
        endpoints:
          - lb_endpoints:
{}"#,
        ends.concat()
    );
    let config = json!({
        "control": {"enabled": true, "on_unavailable": "refuse"}, "budgets": budget(LIMIT), "timeout": "30s",
        "semantic": {"enabled": false}, "score": {"enabled": false},
    });
    Stack::builder().config(&config).cluster(cluster).edit(HELD, "idle_timeout: 60s}").own_envoy().start()
}
