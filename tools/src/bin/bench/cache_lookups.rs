//! Lookups of the response cache among many answers: in memory, and in Redis with and without the search module. Starts
//! each Redis and runs the service's own bench (embedding-service/benches/answers) on it, one store after the other: a
//! million answers take 3 to 6 GB.
//!
//! - `BENCH_CACHE_ENTRIES`: how many answers to hold, rising, separated by commas (default 10000,1000000)
//! - `BENCH_CACHE_SECONDS`: the time to fill each store to each of these (default 60). A store that is not full by then
//!   is measured with what it holds

use std::env;
use std::process::Command;

use sentinel_harness::redis::Redis;
use serde::{Deserialize, Serialize};

use crate::store::{lines_of, setting};
use crate::table::Table;

/// The result for one store that holds this many answers, with partitions of one size.
#[derive(Deserialize, Serialize)]
pub struct Line {
    pub store: String,
    pub entries: u64,
    pub partition: u64,
    pub filled_per_second: f64,
    pub bytes_per_entry: u64,
    pub exact_p50_ms: f64,
    pub exact_p95_ms: f64,
    pub nearest_p50_ms: f64,
    pub nearest_p95_ms: f64,
    /// A comparison with the whole partition, in the bench's own process.
    pub brute_force_p50_ms: f64,
    /// Questions for which the partition has a text within the threshold, and for how many of them the nearest one was
    /// found.
    pub questions: u64,
    pub found: u64,
}

/// Builds and runs the bench.
pub fn measure() -> Vec<Line> {
    let mut lines = run("memory", None);
    lines.extend(run("direct", Some(Redis::start())));
    lines.extend(run("search", Some(Redis::start_with_search())));
    lines
}

/// The Redis is stopped afterwards.
fn run(way: &str, redis: Option<Redis>) -> Vec<Line> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args([
            "bench",
            "--quiet",
            "--package",
            "embedding-service",
            "--bench",
            "answers",
            "--",
            "--way",
            way,
        ])
        .args(["--entries", &setting("BENCH_CACHE_ENTRIES", "10000,1000000")])
        .args(["--seconds", &setting("BENCH_CACHE_SECONDS", "60")]);
    if let Some(redis) = &redis {
        command.args(["--redis", &redis.url()]);
    }
    lines_of(&mut command, "the response cache's stores")
}

pub fn table(lines: &[Line]) -> Table {
    let mut table = Table::new(&[
        "store",
        "answers held",
        "in a partition",
        "exact p50",
        "p95",
        "nearest p50",
        "p95",
        "recall",
        "brute force p50",
        "filled, a second",
        "bytes each",
    ]);
    for line in lines {
        let head = [line.store.clone(), line.entries.to_string(), line.partition.to_string()];
        let times = [line.exact_p50_ms, line.exact_p95_ms, line.nearest_p50_ms, line.nearest_p95_ms]
            .map(|value| format!("{value:.3}"));
        let recall = format!("{:.3}", line.found as f64 / line.questions.max(1) as f64);
        let tail = [
            format!("{:.3}", line.brute_force_p50_ms),
            format!("{:.0}", line.filled_per_second),
            line.bytes_per_entry.to_string(),
        ];
        table.row(head.into_iter().chain(times).chain([recall]).chain(tail).collect());
    }
    table
}
