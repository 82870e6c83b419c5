//! Which replica of the embedding service answers: real replicas behind the real Envoy, with the cluster that
//! k8s/overlays/cluster has.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;

use sentinel_harness::process::eventually;
use sentinel_harness::provider::reply::text_for;
use sentinel_harness::redis::Redis;
use sentinel_harness::service::Service;
use sentinel_harness::{Dialect, Stack, parts, port, raw};
use serde_json::json;
use tempfile::TempDir;

pub const AGENTS: usize = 24;

pub struct Replica {
    pub address: SocketAddr,
    folder: TempDir,
    settings: Vec<(String, String)>,
    service: Service,
}

impl Replica {
    fn start(redis: &Redis) -> Self {
        Self::start_at(port::free(), redis)
    }

    pub fn start_at(address: SocketAddr, redis: &Redis) -> Self {
        let settings = [("REDIS_URL", redis.url()), ("LISTEN_ADDR", address.to_string())];
        let settings = settings.map(|(name, value)| (name.to_owned(), value)).to_vec();
        let folder = tempfile::tempdir().expect("a folder");
        let service = Service::start(folder.path(), &folder.path().join("socket"), &settings);
        Self { address, folder, settings, service }
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        self.service.process().kill();
    }

    /// Asks it to end, and waits until it has.
    pub fn stop(&mut self) {
        assert!(self.service.process().stop().success());
    }

    pub fn restart(&mut self) {
        self.service = Service::start(self.folder.path(), &self.folder.path().join("socket"), &self.settings);
    }
}

/// The demo's stack with the cluster as Kubernetes has it, but for the addresses and the time in which a replica must say that it is
/// there: on a machine that is busy with other tests a second is too short.
fn stack(replicas: &[Replica; 2]) -> Stack {
    let endpoint = |host: &str, port: u16| {
        format!("- endpoint: {{address: {{socket_address: {{address: {host}, port_value: {port}}}}}}}\n")
    };
    let shipped = endpoint("embedding-service.agent-sentinel.svc.cluster.local", 50051);
    let cluster = fs::read_to_string(parts::root().join("k8s/fragments/service-cluster.yaml")).unwrap();
    assert_eq!(cluster.matches(&shipped).count(), 1, "{cluster}");
    let [first, second] = [0, 1].map(|n: usize| endpoint("127.0.0.1", replicas[n].address.port()));
    let cluster = cluster.replace(&shipped, &format!("{first}              {second}"));
    assert_eq!(cluster.matches("timeout: 1s").count(), 2, "{cluster}");
    let cluster = cluster.replace("timeout: 1s", "timeout: 30s");
    Stack::builder().config(&json!({"timeout": "30s"})).cluster(cluster).start()
}

/// How many calls Envoy has sent to each replica, which may stand in several priorities.
fn calls(stack: &Stack) -> BTreeMap<SocketAddr, u64> {
    let page = raw::get(stack.envoy.admin(), "/clusters").expect("Envoy's clusters");
    let text = String::from_utf8_lossy(&page.body).into_owned();
    let of = |line: &str| -> Option<(SocketAddr, u64)> {
        let (address, count) = line.strip_prefix("embedding_service::")?.split_once("::rq_total::")?;
        Some((address.parse().ok()?, count.parse().ok()?))
    };
    let mut calls = BTreeMap::new();
    for (address, count) in text.lines().filter_map(of) {
        *calls.entry(address).or_default() += count;
    }
    calls
}

/// Something new of this agent's. No request fails.
async fn ask(stack: &Stack, agent: usize, round: usize) {
    let text = text_for(&format!("{agent} in round {round}"));
    let response = stack.ask(Dialect::OpenaiChat, &format!("agent-{agent}"), &text).await;
    assert_eq!((response.status, response.verdict()), (200, "allow"), "agent {agent}, round {round}");
}

/// Every agent asks; the replica that was asked, by agent.
pub async fn asked(stack: &Stack, round: usize) -> BTreeMap<usize, SocketAddr> {
    let mut asked = BTreeMap::new();
    for agent in 0..AGENTS {
        let before = calls(stack);
        ask(stack, agent, round).await;
        let after = calls(stack);
        let new = |(address, count): &(SocketAddr, u64)| before.get(address).copied().unwrap_or(0) < *count;
        let by: Vec<_> = after.into_iter().filter(new).collect();
        assert!(by.len() < 2, "agent {agent} asked {by:?}");
        asked.extend(by.first().map(|(address, _)| (agent, *address)));
    }
    asked
}

#[tokio::test]
async fn each_scope_has_its_replica_and_moves_only_when_that_is_gone() {
    let redis = Redis::start();
    let mut replicas = [Replica::start(&redis), Replica::start(&redis)];
    let mut stack = stack(&replicas);
    let mut rounds = 0..;
    let mut round = || rounds.next().expect("a number");
    let mut first = asked(&stack, round()).await;
    // Twice the same: a replica may become known in the middle of a round.
    eventually("both are asked", async || {
        let before = std::mem::replace(&mut first, asked(&stack, round()).await);
        let replicas: BTreeSet<_> = first.values().collect();
        first == before && first.len() == AGENTS && replicas.len() == 2
    })
    .await;
    for _ in 0..3 {
        assert_eq!(asked(&stack, round()).await, first);
    }

    // One ends without a word. Until Envoy has noticed, its scopes get no answer, and pass; then they ask the other one.
    replicas[0].kill();
    let failed = || stack.count("sentinel_service_calls_total", &[("outcome", "unavailable")]);
    eventually("everyone is answered", async || {
        let (before, round) = (failed(), round());
        for agent in 0..AGENTS {
            ask(&stack, agent, round).await;
        }
        failed() == before
    })
    .await;
    let moved = asked(&stack, round()).await;
    assert_eq!(moved.len(), AGENTS);
    assert!(moved.values().all(|replica| *replica == replicas[1].address), "{moved:?}");

    // It is back under the same address: everyone is where they were.
    replicas[0].restart();
    eventually("everyone is back", async || asked(&stack, round()).await == first).await;
    stack.assert_sound();
}
