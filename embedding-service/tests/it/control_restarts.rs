//! Two services on one Redis, killed and started again in turn while workers report and reserve: each turn counts once, nothing that was
//! acknowledged is lost, and stops, budgets and settings hold.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use rustix::process::Signal;
use sentinel_proto::v1::{self, control_service_client::ControlServiceClient};
use serde_json::{Value, json};
use tokio::time::sleep;
use tonic::transport::{Channel, Endpoint};

use crate::{
    control_api::{KEY, Operator},
    control_suite::{names, now_ms, turn},
    program::{Program, command},
    support::redis::Redis,
};

const CONFIGURATION: &str = r#"{"budgets": [{"name": "b", "agent": "spender", "limits": {"requests": 60}}]}"#;
const LIMIT: u64 = 60;

async fn start(folder: &Path, redis: &Redis) -> Program {
    let mut command = command(folder);
    command.env("REDIS_URL", redis.url()).env("LISTEN_ADDR", "127.0.0.1:0").env("CONTROL_KEY", KEY);
    command.env("LOOP_STORE_TIMEOUT_MS", "10000");
    Program::start(&mut command).await
}

/// Where the services are now.
type Addresses = Arc<Mutex<[String; 2]>>;

/// Asks one service, or the other where it does not answer, until one does.
async fn ask<T>(
    addresses: &Addresses,
    which: u64,
    question: impl AsyncFn(ControlServiceClient<Channel>) -> Result<T, tonic::Status>,
) -> T {
    let mut attempt = which;
    loop {
        let address = addresses.lock().unwrap()[usize::try_from(attempt % 2).unwrap()].clone();
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        if let Ok(channel) = endpoint.connect().await
            && let Ok(reply) = question(ControlServiceClient::new(channel)).await
        {
            return reply;
        }
        attempt += 1;
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_services_that_are_killed_under_load() {
    let redis = Redis::start().await;
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut programs = [start(folders[0].path(), &redis).await, start(folders[1].path(), &redis).await];
    let addresses: Addresses = Arc::new(Mutex::new(programs.each_ref().map(|program| program.field("tcp"))));
    let mut operator = Operator::at(programs[0].metrics()).await;
    let (_, stop) = operator.post("/v1/stops", &json!({"agent": "wild", "reason": "enough"})).await;
    let change = json!({"version": 0, "settings": {"agents": [{"name": "a", "settings": {"run_limit": 9}}]}});
    assert_eq!(operator.ask("PUT", "/v1/settings", &change.to_string()).await.0, 200);

    let ends = Arc::new(AtomicBool::new(false));
    let passed = Arc::new(AtomicU64::new(0));
    let work = |worker: u64| {
        let (addresses, ends, passed) = (Arc::clone(&addresses), Arc::clone(&ends), Arc::clone(&passed));
        async move {
            let this = v1::Worker { envoy: worker, number: 0 };
            let (mut number, mut granted, mut used, mut lease, mut spent) = (0, 0, 0, None, false);
            while !ends.load(Ordering::Relaxed) {
                let turns: Vec<_> =
                    (1..=20).map(|n| turn(number + n, names("a", &(n % 4).to_string()))).collect();
                number += 20;
                let reply = ask(&addresses, number, async |mut client| {
                    let report = v1::ReportRequest {
                        worker: Some(this),
                        sent_at_ms: now_ms(),
                        turns: turns.clone(),
                        configuration_digest: 5,
                        configuration: CONFIGURATION.to_owned(),
                        ..v1::ReportRequest::default()
                    };
                    client.report(report).await.map(tonic::Response::into_inner)
                })
                .await;
                // What is sent again after a lost answer has been counted already.
                assert_eq!(reply.counted + reply.repeated, 20);
                let directives = reply.directives.iter().filter_map(|directive| directive.kind.as_ref());
                assert_eq!(directives.count(), 2, "the stop and the settings hold");
                if !spent && used == granted {
                    let leases: Vec<v1::LeaseUse> = lease.iter().cloned().collect();
                    let state = ask(&addresses, number, async |mut client| {
                        let request = v1::ReserveRequest {
                            worker: Some(this),
                            names: Some(names("spender", "r")),
                            configuration_digest: 5,
                            probable: vec![v1::Amount { unit: v1::Unit::Requests.into(), value: 1 }],
                            leases: leases.clone(),
                            ..v1::ReserveRequest::default()
                        };
                        client.reserve(request).await.map(tonic::Response::into_inner)
                    })
                    .await
                    .budgets
                    .remove(0);
                    spent = state.refused.is_some();
                    if let Some(new) = state.lease {
                        granted = new.granted[0].value;
                        lease = Some(v1::LeaseUse {
                            id: new.id,
                            account: state.account,
                            ..v1::LeaseUse::default()
                        });
                    }
                }
                if used < granted {
                    used += 1;
                    passed.fetch_add(1, Ordering::Relaxed);
                    let amount = v1::Amount { unit: v1::Unit::Requests.into(), value: used };
                    lease.as_mut().unwrap().used = vec![amount];
                }
            }
            number
        }
    };
    let kill = async {
        for round in 0..4 {
            sleep(Duration::from_millis(300)).await;
            let which = round % 2;
            programs[which].signal(Signal::KILL);
            sleep(Duration::from_millis(100)).await;
            programs[which] = start(folders[which].path(), &redis).await;
            addresses.lock().unwrap()[which] = programs[which].field("tcp");
        }
        ends.store(true, Ordering::Relaxed);
    };
    let (one, two, three, ()) = tokio::join!(work(1), work(2), work(3), kill);
    let sent: u64 = one + two + three;

    let mut operator = Operator::at(programs[1].metrics()).await;
    let runs = operator.get("/v1/runs?agent=a").await;
    let counted: u64 =
        runs["runs"].as_array().unwrap().iter().map(|run| run["turns"].as_u64().unwrap()).sum();
    assert_eq!(counted, sent, "each turn once");
    assert_eq!(operator.get("/v1/stops").await["stops"][0]["id"], stop["id"]);
    assert_eq!(operator.get("/v1/settings").await["version"], 1);
    let passed = passed.load(Ordering::Relaxed);
    assert!((1..=LIMIT).contains(&passed), "{passed} requests passed a limit of {LIMIT}");
    let account = operator.get("/v1/budgets?budget=b").await["accounts"][0].clone();
    let taken = |which: &str| account[which]["requests"].as_u64().unwrap();
    assert!(taken("spent") + taken("held") <= LIMIT, "{account}");
    let list: Value = operator.get("/v1/runs?status=stopped").await;
    assert_eq!(list["total"], 0);
}
