//! What Envoy with the filter, the embedding service and Redis use of a machine, for the requests and limits in k8s/:
//! idle, then under the load of a few connections, and at last a Redis that is full of prompts (`full_redis.rs`).
//!
//! - `BENCH_RESOURCES_SECONDS`: time for each kind of load (default 10)

use std::env;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use sentinel_harness::parts;
use sentinel_harness::service::Service;
use serde_json::{Value, json};

use crate::case::{self, Case};
use crate::client::Client;
use crate::full_redis::{Full, FullRedis};
use crate::rival::Rival;
use crate::table::Table;
use crate::{upstream, usage};

/// Of one process: resident kB, idle and at most, and processor time under each kind of load.
pub struct Process {
    name: &'static str,
    idle: u64,
    highest: u64,
    busy: Vec<Duration>,
}

pub struct Resources {
    seconds: u64,
    /// The kinds of load, with the number of requests, and how many of these the service answered in time.
    loads: Vec<(String, usize, u64)>,
    processes: [Process; 3],
    full: Full,
}

pub fn measure(folder: &Path) -> Resources {
    let seconds =
        env::var("BENCH_RESOURCES_SECONDS").ok().filter(|given| !given.is_empty()).map_or(10, |given| {
            let seconds = given.parse().ok().filter(|seconds| (1..=3600).contains(seconds));
            seconds.unwrap_or_else(|| {
                panic!("BENCH_RESOURCES_SECONDS is {given:?}: give a number of seconds from 1 to 3600")
            })
        });
    let folder = folder.join("resources");
    std::fs::create_dir(&folder).expect("a folder");
    let socket = folder.join("embedding.sock");
    // As k8s/base has it.
    let redis = FullRedis::start(&folder);
    let settings = [("LOOP_WORKERS", "2".to_owned()), ("REDIS_URL", redis.url())];
    let service = Service::start(&folder, &socket, &settings.map(|(name, value)| (name.to_owned(), value)));
    let envoy = Rival::with("filter", &folder, upstream::start(), &socket, parts::filter());
    let mut processes = [("Envoy", envoy.id()), ("embedding service", service.id()), ("Redis", redis.id())]
        .map(|(name, id)| (id, Process { name, idle: usage::resident(id), highest: 0, busy: Vec::new() }));
    let mut loads = Vec::new();
    for case in case::resources() {
        let before = [0, 1, 2].map(|at: usize| usage::busy(processes[at].0));
        let answered = || envoy.metrics().sum("sentinel_service_calls_total", &[("outcome", "ok")]);
        let answered_before = answered();
        let requests = ask(&envoy, &case, Duration::from_secs(seconds));
        loads.push((case.name(), requests, answered() - answered_before));
        for ((id, process), before) in processes.iter_mut().zip(before) {
            process.busy.push(usage::busy(*id).saturating_sub(before));
            process.highest = usage::highest(*id);
        }
    }
    let full = redis.fill();
    processes[2].1.highest = full.highest;
    Resources { seconds, loads, processes: processes.map(|(_, process)| process), full }
}

/// Uses all connections until the time is up. Returns the number of requests.
fn ask(envoy: &Rival, case: &Case, time: Duration) -> usize {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..case.connections)
            .map(|_| {
                let (stop, mut client) = (&stop, Client::open(envoy.address(), case));
                scope.spawn(move || {
                    let mut requests = 0;
                    while !stop.load(Ordering::Relaxed) {
                        client.exchange(case.verdict);
                        requests += 1;
                    }
                    requests
                })
            })
            .collect();
        thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        clients.into_iter().map(|client| client.join().expect("no agent failed")).sum()
    })
}

impl Resources {
    pub fn markdown(&self) -> String {
        let mut head =
            vec!["process".to_owned(), "resident, idle (MiB)".to_owned(), "at most (MiB)".to_owned()];
        head.extend(self.loads.iter().map(|(name, requests, answered)| {
            format!("{name}: processor ms a request ({:.0} a second; the service answered {answered} of {requests})", *requests as f64 / self.seconds as f64)
        }));
        let mut table = Table::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
        for process in &self.processes {
            let mib = |kb: u64| format!("{:.0}", kb as f64 / 1024.0);
            let mut row = vec![process.name.to_owned(), mib(process.idle), mib(process.highest)];
            row.extend(self.each(process).map(|millis| format!("{millis:.2}")));
            table.row(row);
        }
        format!(
            "\n## Resources\n\n{} s of each load; the agents and the provider took their part of the processors.\n\n{}\n\
             Redis is full with {} prompts, and then has {} MiB; the most was while its log was rewritten during {:.0} writes a second.\n",
            self.seconds,
            table.text(),
            self.full.prompts,
            self.full.full / 1024,
            self.full.writes_per_second,
        )
    }

    pub fn json(&self) -> Value {
        let process = |process: &Process| {
            json!({"name": process.name, "resident_kb_idle": process.idle, "resident_kb_highest": process.highest,
                "processor_ms_per_request": self.each(process).collect::<Vec<_>>()})
        };
        let full = json!({"prompts": self.full.prompts, "resident_kb": self.full.full, "writes_per_second": self.full.writes_per_second});
        json!({"seconds": self.seconds, "full_redis": full, "loads": self.loads, "processes": self.processes.iter().map(process).collect::<Vec<_>>()})
    }

    /// Processor time for a request under each load, in milliseconds.
    fn each(&self, process: &Process) -> impl Iterator<Item = f64> {
        process
            .busy
            .iter()
            .zip(&self.loads)
            .map(|(busy, (_, requests, _))| busy.as_secs_f64() * 1e3 / (*requests).max(1) as f64)
    }
}
