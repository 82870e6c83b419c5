//! Replays all runs through the pipeline alone, as fast as possible, on all processors.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sentinel_config::Config;
use sentinel_harness::Dialect;
use sentinel_replay_core::alone::Alone;
use sentinel_replay_core::replay::{Replayed, replay};

use crate::asking::Asking;
use crate::case::Case;

/// With the embedding service at this socket, where there is one.
fn way(config: &Config, dialect: Dialect, service: Option<&Path>) -> Alone {
    let mut way = Alone::new(config.clone(), dialect);
    if let Some(socket) = service {
        let mut asking = Asking::connect(socket);
        way.host.service = Box::new(move |question| Ok(asking.ask(question)));
    }
    way
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
            let mut way = way(config, dialect, service);
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
