//! The way through the pipeline alone: as fast as it goes, all runs, all processors.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sentinel_config::Config;
use sentinel_harness::Dialect;
use sentinel_pipeline::in_memory::{ClientRequest, InMemory, ProviderResponse};

use crate::asking::Asking;
use crate::chance::Chance;
use crate::replay::{Case, Judged, Replayed, Way, replay};

/// The pipeline in a host of its own.
pub struct Native {
    host: InMemory,
    path: &'static str,
    chance: Chance,
}

impl Native {
    /// `service`: socket of the embedding service, where there is one.
    pub fn new(config: Config, dialect: Dialect, service: Option<&Path>) -> Self {
        let mut host = InMemory::new(config);
        if let Some(socket) = service {
            let mut asking = Asking::connect(socket);
            host.service = Box::new(move |question| Ok(asking.ask(question)));
        }
        Self { host, path: dialect.path(false), chance: Chance::new(0, "time") }
    }
}

impl Way for Native {
    fn send(&mut self, run: &str, body: String, answer: String) -> Judged {
        // Agents take their time: up to half a minute a turn.
        self.host.now += 200 + self.chance.below(30_000) as u64;
        let request = ClientRequest::post(self.path, body).with("x-agent-id", run).with("x-run-id", run);
        let outcome = self.host.exchange(&request, &ProviderResponse::json(answer));
        Judged::new(outcome.verdict(), outcome.header("x-sentinel-reason"))
    }
}

/// Replays every case, in the order given, on all processors.
pub fn replay_all(
    cases: &[Case],
    config: &Config,
    dialect: Dialect,
    service: Option<&Path>,
) -> Vec<Replayed> {
    let next = AtomicUsize::new(0);
    let progress = Mutex::new(Progress::new(cases.len()));
    let work = || {
        let mut done = Vec::new();
        while let Some((at, case)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, cases.get(at)?)))
        {
            let mut way = Native::new(config.clone(), dialect, service);
            let replayed = replay(&case.run, &name(at), dialect, &mut way);
            progress.lock().expect("no one panics with it").one_more(replayed.sent.len());
            done.push((at, replayed));
        }
        done
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<(usize, Replayed)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no worker panics")).collect()
    });
    progress.into_inner().expect("no one panics with it").end();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, replayed)| replayed).collect()
}

/// A case's name, for the filter: ids of runs may hold what no header can.
pub fn name(at: usize) -> String {
    format!("run-{at}")
}

/// Says on standard error how far things are, once a second.
pub struct Progress {
    all: usize,
    done: usize,
    requests: usize,
    began: Instant,
    said: Instant,
}

impl Progress {
    pub fn new(all: usize) -> Self {
        let now = Instant::now();
        Self { all, done: 0, requests: 0, began: now, said: now }
    }

    pub fn one_more(&mut self, requests: usize) {
        self.done += 1;
        self.requests += requests;
        if self.said.elapsed() < Duration::from_secs(1) {
            return;
        }
        self.said = Instant::now();
        let rate = self.requests as f64 / self.began.elapsed().as_secs_f64();
        // A terminal keeps one line; a file gets one each.
        let (before, behind) = if std::io::stderr().is_terminal() { ("\r", "") } else { ("", "\n") };
        eprint!(
            "{before}  {} of {} runs, {} requests, {rate:.0} a second{behind}",
            self.done, self.all, self.requests
        );
        let _ = std::io::stderr().flush();
    }

    pub fn end(self) {
        if std::io::stderr().is_terminal() && self.said != self.began {
            eprintln!();
        }
    }
}
