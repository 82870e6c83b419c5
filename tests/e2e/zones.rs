//! Envoy in a zone: the arguments that k8s/overlays/cluster gives it, real replicas in two zones behind it, and a name server
//! that has the names which Kubernetes would have.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU8, Ordering};

use sentinel_harness::dns::Dns;
use sentinel_harness::process::eventually;
use sentinel_harness::redis::Redis;
use sentinel_harness::{Stack, parts};
use serde_json::{Value, json};

use crate::replicas::Load;
use crate::scopes::{AGENTS, Replica, asked};

const ALL: &str = "embedding-service.agent-sentinel.svc.cluster.local";
const HOME: &str = "embedding-service-region-1a.agent-sentinel.svc.cluster.local";

/// A replica at an address of its own: the port is the one that the names stand for.
fn replica(redis: &Redis) -> Replica {
    static NEXT: AtomicU8 = AtomicU8::new(128);
    let [_, _, middle, low] = std::process::id().to_be_bytes();
    let address = Ipv4Addr::new(127, NEXT.fetch_add(1, Ordering::Relaxed), middle, low);
    Replica::start_at((address, 50051).into(), redis)
}

fn set(dns: &Dns, name: &str, replicas: &[&Replica]) {
    let addresses = replicas.iter().map(|replica| match replica.address {
        SocketAddr::V4(address) => *address.ip(),
        SocketAddr::V6(address) => panic!("{address} is no A record"),
    });
    dns.set(name, &addresses.collect::<Vec<_>>());
}

/// The demo's Envoy with the cluster of the overlay laid over it, in this zone. As in `scopes`, a replica may be slow to say that it is
/// there.
fn stack(dns: &Dns, zone: &str) -> Stack {
    let patch = fs::read_to_string(parts::root().join("k8s/overlays/cluster/service-cluster.yaml")).unwrap();
    let patch: Vec<Value> = serde_saphyr::from_str(&patch).unwrap();
    let over = patch
        .iter()
        .find_map(|operation| operation["value"].as_str().filter(|text| text.contains("$(ZONE)")));
    let over =
        over.expect("Envoy's arguments").replace("$(ZONE)", zone).replace("timeout: 1s", "timeout: 30s");
    let mut over: Value = serde_saphyr::from_str(&over).unwrap();
    over["typed_dns_resolver_config"] = json!({
        "name": "envoy.network.dns_resolver.cares",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig",
            "resolvers": [{"socket_address": {"address": "127.0.0.1", "port_value": dns.address().port()}}],
            "dns_resolver_options": {"no_default_search_domain": true},
        },
    });
    Stack::builder().config(&json!({"timeout": "30s"})).cluster(String::new()).over(over.to_string()).start()
}

#[tokio::test]
async fn a_scope_keeps_its_replica_in_its_zone_while_that_is_well() {
    let redis = Redis::start();
    let mut home = [replica(&redis), replica(&redis)];
    let away = replica(&redis);
    let dns = Dns::start();
    let all_there = |home: &[Replica; 2]| {
        set(&dns, ALL, &[&home[0], &home[1], &away]);
        set(&dns, HOME, &[&home[0], &home[1]]);
    };
    all_there(&home);
    let at_home: BTreeSet<_> = home.iter().map(|replica| replica.address).collect();
    let mut stack = stack(&dns, "region-1a");
    let mut rounds = 0..;
    let mut round = || rounds.next().expect("a number");

    let mut first = asked(&stack, round()).await;
    // Twice the same: a replica may become known in the middle of a round.
    eventually("both at home are asked, and nobody else", async || {
        let before = std::mem::replace(&mut first, asked(&stack, round()).await);
        let replicas: BTreeSet<_> = first.values().copied().collect();
        first == before && first.len() == AGENTS && replicas == at_home
    })
    .await;
    for _ in 0..3 {
        assert_eq!(asked(&stack, round()).await, first);
    }

    // The zone fails. Until Envoy has noticed, scopes get no answer, and pass; then they ask the other zone.
    home.iter_mut().for_each(Replica::kill);
    let everyone_is_away = |asked: BTreeMap<usize, SocketAddr>| {
        asked.len() == AGENTS && asked.values().all(|replica| *replica == away.address)
    };
    eventually("everyone asks the other zone", async || everyone_is_away(asked(&stack, round()).await)).await;
    // One is back: a part of the scopes asks it.
    home[0].restart();
    eventually("some are back", async || {
        asked(&stack, round()).await.values().any(|replica| *replica == home[0].address)
    })
    .await;
    home[1].restart();
    eventually("everyone is back", async || asked(&stack, round()).await == first).await;

    // The zone's pods are taken away, and come again.
    home.iter_mut().for_each(Replica::kill);
    set(&dns, ALL, &[&away]);
    set(&dns, HOME, &[]);
    eventually("everyone asks the other zone", async || everyone_is_away(asked(&stack, round()).await)).await;
    home.iter_mut().for_each(Replica::restart);
    all_there(&home);
    eventually("everyone is back", async || asked(&stack, round()).await == first).await;
    stack.assert_sound();
}

#[tokio::test]
async fn where_the_zone_is_unknown_all_are_asked() {
    let redis = Redis::start();
    let replicas = [replica(&redis), replica(&redis)];
    let dns = Dns::start();
    set(&dns, ALL, &[&replicas[0], &replicas[1]]);
    set(&dns, HOME, &[&replicas[0]]);
    // Pods without the label, and a zone that nobody has listed.
    for zone in ["", "region-1x"] {
        let mut stack = stack(&dns, zone);
        let mut rounds = 0..;
        eventually("both are asked", async || {
            let asked = asked(&stack, rounds.next().expect("a number")).await;
            asked.len() == AGENTS && asked.into_values().collect::<BTreeSet<_>>().len() == 2
        })
        .await;
        stack.assert_sound();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_while_a_zone_is_restarted_or_killed() {
    let redis = Redis::start();
    let mut home = [replica(&redis), replica(&redis)];
    let away = replica(&redis);
    let dns = Dns::start();
    set(&dns, ALL, &[&home[0], &home[1], &away]);
    set(&dns, HOME, &[&home[0], &home[1]]);
    let mut stack = stack(&dns, "region-1a");
    let load = Load::start(stack.address());
    load.some_more().await;
    // A rolling restart, then a zone that ends without a word, and comes back.
    for replica in &mut home {
        replica.stop();
        load.some_more().await;
        replica.restart();
        load.some_more().await;
    }
    home.iter_mut().for_each(Replica::kill);
    load.some_more().await;
    home.iter_mut().for_each(Replica::restart);
    load.some_more().await;
    load.stop().await;
    let ok = stack.count("sentinel_service_calls_total", &[("outcome", "ok")]);
    assert!(ok > 0, "the service was never of help");
    stack.assert_sound();
}
