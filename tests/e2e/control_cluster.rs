//! Control where everything may end: two Envoys, two services and one Redis are killed and started again in turn under load. What an
//! operator was told holds, each turn is counted once, and a budget is a limit.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hyper::Method;
use sentinel_harness::process::eventually;
use sentinel_harness::provider::reply::text_for;
use sentinel_harness::redis::Redis;
use sentinel_harness::service::Service;
use sentinel_harness::stack::{HELD, in_run};
use sentinel_harness::{Stack, client};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::control::{Operator, until};
use crate::support::CHAT;

/// Requests that the budget's agent may make in all, until the end comes near.
const LIMIT: u64 = 1_000_000;
/// And then still this many.
const LAST: u64 = 25;
/// Rounds of an Envoy's agents between one event and the next.
const ROUNDS: usize = 15;
/// Requests on connections of their own after which each worker of an Envoy was asked, for the last stop; and for those before it, which
/// the worker was told sooner.
const IN_A_ROW: usize = 20;
const EARLIER: usize = 3;
const PAUSE: Duration = Duration::from_millis(5);

/// Dropped in this order: Redis last.
struct Cluster {
    gateways: [Stack; 2],
    services: [Option<Service>; 2],
    operators: [Operator; 2],
    folders: [TempDir; 2],
    redis: Redis,
    /// What operators were told is done.
    stops: Vec<String>,
    versions: u64,
    /// When the last stop was acknowledged.
    stopped: Instant,
}

fn budget(limit: u64) -> Value {
    json!([{"name": "shared", "agent": "spender", "per": "agent", "window": "day", "limits": {"requests": limit}}])
}

impl Cluster {
    fn start() -> Self {
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

    fn start_service(&mut self, number: usize) {
        let mut settings: Vec<(String, String)> =
            self.operators[number].settings().map(|(name, value)| (name.to_owned(), value)).into();
        settings.push(("REDIS_URL".to_owned(), self.redis.url()));
        let folder = self.folders[number].path();
        self.services[number] = Some(Service::start(folder, &folder.join("service.sock"), &settings));
    }

    fn service(&mut self, number: usize) -> &mut Service {
        self.services[number].as_mut().expect("it was started")
    }

    /// A stop of another agent and another version of the live settings, at this service. Returns whether it has acknowledged both.
    async fn change(&mut self, number: usize) -> bool {
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
        let settings = json!({"version": self.versions, "author": "eve", "reason": "a test",
            "settings": {"budgets": budget(limit)}});
        let answer = self.operators[number].try_ask(Method::PUT, "/v1/settings", &settings).await;
        if let Some(answer) = &answer {
            self.versions = answer["version"].as_u64().expect("a version");
        }
        answer.is_some()
    }

    /// What the budget's account counts, in leases too.
    async fn counted(&self) -> u64 {
        let answer = self.operators[0].ask(Method::GET, "/v1/budgets?budget=shared", &Value::Null).await;
        let count = |what: &str| answer["accounts"][0][what]["requests"].as_u64().expect("a count");
        count("spent") + count("held")
    }

    /// Waits until every stop and the last settings hold on this Envoy. Returns the seconds from `since` until the last stop did.
    async fn holds_on(&self, number: usize, since: Instant) -> f64 {
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
    async fn holds(&self, after: &str) {
        let (first, second) = tokio::join!(self.holds_on(0, self.stopped), self.holds_on(1, self.stopped));
        println!("{after}: a new stop holds on the two Envoys after {first:.2} s and {second:.2} s");
    }

    /// The same where Envoys have just started and know nothing.
    async fn holds_again(&self, after: &str, envoys: &[usize]) {
        let ready = Instant::now();
        for number in envoys {
            let took = self.holds_on(*number, ready).await;
            println!("{after}: Envoy {number} knows all stops {took:.2} s after its start");
        }
    }

    /// Requests of the budget's agent that a provider has got.
    fn spent(&self) -> u64 {
        let of = |gateway: &Stack| {
            let all = gateway.provider.received();
            all.iter().filter(|request| request.header("x-agent-id") == Some("spender")).count() as u64
        };
        self.gateways.iter().map(of).sum()
    }

    /// Turns of an agent's runs, as a service counts them.
    async fn turns(&self, number: usize, agent: &str) -> u64 {
        let path = format!("/v1/runs?agent={agent}");
        let answer = self.operators[number].try_ask(Method::GET, &path, &Value::Null).await;
        let runs = answer.map(|answer| answer["runs"].clone()).unwrap_or_default();
        runs.as_array().into_iter().flatten().filter_map(|run| run["turns"].as_u64()).sum()
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

async fn ask(address: SocketAddr, agent: &str, text: &str) -> Result<client::Response, client::Error> {
    let body = CHAT.ask(&text_for(text), false).to_string();
    let body = http_body_util::Full::new(body.into());
    client::send(client::request(address, Method::POST, CHAT.path(false), &in_run(agent), body)).await
}

/// Two agents that ask one Envoy all the time, until it is killed or they are told to end: one in a run of its own, and one whose budget all
/// share. A third is stopped, as soon as its stop holds.
struct Load {
    /// The first one.
    agent: String,
    asked: Arc<AtomicU32>,
    answered: Arc<AtomicU32>,
    rounds: Arc<AtomicUsize>,
    is_stopped: Arc<AtomicBool>,
    end: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Load {
    fn start(address: SocketAddr, agent: &str) -> Self {
        let (asked, answered, rounds) = <(Arc<AtomicU32>, Arc<AtomicU32>, Arc<AtomicUsize>)>::default();
        let (is_stopped, end) = <(Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        let (name, counts) =
            (agent.to_owned(), (Arc::clone(&asked), Arc::clone(&answered), Arc::clone(&rounds)));
        let flags = (Arc::clone(&is_stopped), Arc::clone(&end));
        let task = tokio::spawn(async move {
            let ((asked, answered, rounds), (is_stopped, end)) = (counts, flags);
            while !end.load(Ordering::Relaxed) {
                let number = asked.fetch_add(1, Ordering::Relaxed);
                // None: its Envoy was killed.
                let Ok(answer) = ask(address, &name, &format!("{name} {number}")).await else { return };
                assert_eq!((answer.status, answer.verdict()), (200, "allow"), "request {number} of {name}");
                answered.fetch_add(1, Ordering::Relaxed);
                let Ok(answer) = ask(address, "spender", &format!("{name} {number}")).await else { return };
                assert!(answer.verdict() != "kill" || answer.reason().starts_with("budget"), "{answer:?}");
                if is_stopped.load(Ordering::Relaxed) {
                    let Ok(answer) = ask(address, "stopped-0", "stopped").await else { return };
                    assert_eq!((answer.verdict(), answer.reason()), ("kill", "stopped"), "of {name}");
                }
                rounds.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(PAUSE).await;
            }
        });
        Self { agent: agent.to_owned(), asked, answered, rounds, is_stopped, end, task }
    }

    async fn some_more(&self) {
        let before = self.rounds.load(Ordering::Relaxed);
        eventually("more rounds", async || {
            assert!(!self.task.is_finished(), "the agents of {} have ended", self.agent);
            self.rounds.load(Ordering::Relaxed) > before + ROUNDS
        })
        .await;
    }

    /// Returns its agent, the requests that it has sent, and those that were answered.
    async fn end(self) -> (String, u64, u64) {
        self.end.store(true, Ordering::Relaxed);
        self.task.await.expect("every request was answered as it must be");
        (self.agent, self.asked.load(Ordering::Relaxed).into(), self.answered.load(Ordering::Relaxed).into())
    }
}

async fn some_more(loads: &[Load; 2]) {
    tokio::join!(loads[0].some_more(), loads[1].some_more());
}

/// Turns of a killed Envoy: what was told before is not lost, and nothing is counted that was not sent.
async fn killed(cluster: &Cluster, load: Load, known: u64) -> (String, std::ops::RangeInclusive<u64>) {
    let (agent, asked, _) = load.end().await;
    println!("{agent}: {known} turns were known when its Envoy was killed, {asked} were sent");
    assert!(known > 0 && cluster.turns(0, &agent).await >= known);
    (agent, known..=asked)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stops_settings_budgets_and_counts_survive_the_end_of_every_part() {
    let mut cluster = Cluster::start();
    let address = |cluster: &Cluster, number: usize| cluster.gateways[number].address();
    let start = |cluster: &Cluster, number: usize, name: &str| Load::start(address(cluster, number), name);
    assert!(cluster.change(1).await);
    cluster.holds("at first").await;
    let mut loads = [start(&cluster, 0, "first-on-0"), start(&cluster, 1, "first-on-1")];
    loads.iter().for_each(|load| load.is_stopped.store(true, Ordering::Relaxed));
    some_more(&loads).await;

    cluster.service(0).process().kill();
    assert!(cluster.change(1).await);
    cluster.holds("a service was killed").await;
    some_more(&loads).await;
    cluster.start_service(0);
    some_more(&loads).await;

    cluster.service(1).process().stop();
    assert!(cluster.change(0).await);
    cluster.holds("the other service has ended").await;
    some_more(&loads).await;
    cluster.start_service(1);
    some_more(&loads).await;

    let known = cluster.turns(0, "first-on-0").await;
    cluster.gateways[0].kill_envoy();
    assert!(cluster.change(1).await);
    loads[1].some_more().await;
    cluster.holds_on(1, cluster.stopped).await;
    cluster.gateways[0].restart_envoy();
    cluster.holds_again("an Envoy was killed", &[0]).await;
    let second = start(&cluster, 0, "second-on-0");
    second.is_stopped.store(true, Ordering::Relaxed);
    let mut ended = vec![killed(&cluster, std::mem::replace(&mut loads[0], second), known).await];
    some_more(&loads).await;

    cluster.redis.kill();
    assert!(!cluster.change(0).await, "nothing is acknowledged that cannot be kept");
    some_more(&loads).await;
    cluster.redis.restart();
    eventually("changes are taken again", async || cluster.change(0).await).await;
    cluster.holds("Redis was killed").await;
    some_more(&loads).await;

    // All at once. What the services have acknowledged is in Redis.
    let known = [cluster.turns(0, "second-on-0").await, cluster.turns(0, "first-on-1").await];
    cluster.gateways.iter_mut().for_each(Stack::kill_envoy);
    (0..2).for_each(|number| cluster.service(number).process().kill());
    cluster.redis.restart();
    (0..2).for_each(|number| cluster.start_service(number));
    cluster.gateways.iter_mut().for_each(Stack::restart_envoy);
    cluster.holds_again("everything was killed", &[0, 1]).await;
    let last = [start(&cluster, 0, "last-on-0"), start(&cluster, 1, "last-on-1")];
    last.iter().for_each(|load| load.is_stopped.store(true, Ordering::Relaxed));
    for (load, known) in std::mem::replace(&mut loads, last).into_iter().zip(known) {
        ended.push(killed(&cluster, load, known).await);
    }
    some_more(&loads).await;

    // Two Envoys are still there: all their turns are counted, and once.
    for load in loads {
        let (agent, _, answered) = load.end().await;
        ended.push((agent, answered..=answered));
    }
    for number in 0..2 {
        for (agent, turns) in &ended {
            let mut last = 0;
            eventually(&format!("{turns:?} turns of {agent} are known"), async || {
                last = cluster.turns(number, agent).await;
                last >= *turns.start()
            })
            .await;
            assert!(turns.contains(&last), "{last} turns of {agent} are counted, and {turns:?} were sent");
        }
        let operator = &cluster.operators[number];
        let stops = operator.ask(Method::GET, "/v1/stops", &Value::Null).await;
        let standing: Vec<&Value> =
            stops["stops"].as_array().expect("stops").iter().map(|stop| &stop["agent"]).collect();
        for agent in &cluster.stops {
            assert!(standing.contains(&&json!(agent)), "{agent} was stopped: {standing:?}");
        }
        let history = operator.ask(Method::GET, "/v1/settings/history", &Value::Null).await;
        let kept = history["versions"].as_array().expect("versions").len() as u64;
        assert_eq!(kept, cluster.versions, "{history}");
    }
    let (got, counted) = (cluster.spent(), cluster.counted().await);
    println!("{} stops and {} versions of settings hold", cluster.stops.len(), cluster.versions);
    println!(
        "the providers have got {got} requests of the budget's agent, and {counted} are counted or in leases"
    );
    // What a vanished worker held counts as spent: more may be counted than was sent, never less.
    assert!(0 < got && got <= counted);
    assert!(cluster.set_budget(1, counted + LAST).await);
    tokio::join!(cluster.holds_on(0, cluster.stopped), cluster.holds_on(1, cluster.stopped));
    for number in 0..2 {
        let said = format!("{0} of {0} requests are spent", counted + LAST);
        until("the budget is spent", async || {
            let answer = ask(address(&cluster, number), "spender", "more").await.expect("an answer");
            String::from_utf8_lossy(&answer.body).contains(&said).then_some(())
        })
        .await;
    }
    println!("it is spent when they have got {} of {}", cluster.spent(), counted + LAST);
    assert!(cluster.spent() <= counted + LAST);
    cluster.gateways.iter_mut().for_each(Stack::assert_sound);
}
