//! Control where everything may end: two Envoys, two services and one Redis are killed and started again in turn under load. What an
//! operator was told holds, each turn is counted once, and a budget is a limit.

mod cluster;
mod load;

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use hyper::Method;
use sentinel_harness::process::eventually;
use sentinel_harness::provider::reply::text_for;
use sentinel_harness::stack::in_run;
use sentinel_harness::{Stack, client};
use serde_json::{Value, json};

use crate::control::until;
use crate::support::CHAT;
use cluster::Cluster;
use load::Load;

/// Requests that the budget still allows at the end.
const LAST: u64 = 25;

async fn ask(address: SocketAddr, agent: &str, text: &str) -> Result<client::Response, client::Error> {
    let body = CHAT.ask(&text_for(text), false).to_string();
    let body = http_body_util::Full::new(body.into());
    client::send(client::request(address, Method::POST, CHAT.path(false), &in_run(agent), body)).await
}

async fn some_more(loads: &[Load; 2]) {
    tokio::join!(loads[0].some_more(), loads[1].some_more());
}

/// Turns of a killed Envoy: what was told before is not lost, and nothing is counted that was not sent.
async fn killed(cluster: &Cluster, load: Load, known: u64) -> (String, std::ops::RangeInclusive<u64>) {
    let (agent, asked, _) = load.end().await;
    println!("{agent}: {known} turns were known when its Envoy was killed, {asked} were sent");
    assert!(known > 0, "no turn of {agent} was known");
    eventually(&format!("the {known} turns of {agent} are known again"), async || {
        cluster.turns(0, &agent).await >= known
    })
    .await;
    (agent, known..=asked)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stops_settings_budgets_and_counts_survive_the_end_of_every_part() {
    let mut cluster = Cluster::start();
    let address = |cluster: &Cluster, number: usize| cluster.gateways[number].address();
    let start = |cluster: &Cluster, number: usize, name: &str| Load::start(address(cluster, number), name);
    cluster.changes(1).await;
    cluster.holds("at first").await;
    let mut loads = [start(&cluster, 0, "first-on-0"), start(&cluster, 1, "first-on-1")];
    loads.iter().for_each(|load| load.is_stopped.store(true, Ordering::Relaxed));
    some_more(&loads).await;

    cluster.service(0).process().kill();
    cluster.changes(1).await;
    cluster.holds("a service was killed").await;
    some_more(&loads).await;
    cluster.start_service(0);
    some_more(&loads).await;

    cluster.service(1).process().stop();
    cluster.changes(0).await;
    cluster.holds("the other service has ended").await;
    some_more(&loads).await;
    cluster.start_service(1);
    some_more(&loads).await;

    let known = cluster.turns(0, "first-on-0").await;
    cluster.gateways[0].kill_envoy();
    cluster.changes(1).await;
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
    cluster.changes(0).await;
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
        let stops = cluster.told(number, "/v1/stops").await;
        let standing: Vec<&Value> =
            stops["stops"].as_array().expect("stops").iter().map(|stop| &stop["agent"]).collect();
        for agent in &cluster.stops {
            assert!(standing.contains(&&json!(agent)), "{agent} was stopped: {standing:?}");
        }
        let history = cluster.told(number, "/v1/settings/history").await;
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
    cluster.limits_the_budget(1, counted + LAST).await;
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
