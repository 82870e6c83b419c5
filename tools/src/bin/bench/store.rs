//! Redis as the prompt history: starts three and runs the service's own bench (embedding-service/benches/store) on
//! them.
//!
//! - `BENCH_STORE_PROMPTS`: how many prompts to hold, rising, separated by commas (default 1000,100000)
//! - `BENCH_STORE_SECONDS`: the time to fill each store to each of these (default 20). A store that is not full by then
//!   is measured with what it holds

use std::env;
use std::process::{Command, Stdio};

use sentinel_harness::parts;
use sentinel_harness::redis::Redis;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::table::Table;

/// The result for one way of lookup with this many prompts.
#[derive(Deserialize, Serialize)]
pub struct Line {
    pub lookup: String,
    pub prompts: u64,
    pub filled_per_second: f64,
    pub bytes_per_prompt: u64,
    pub read_p50_ms: f64,
    pub read_p99_ms: f64,
    pub write_p50_ms: f64,
    pub write_p99_ms: f64,
    /// With sixteen lookups at a time.
    pub reads_per_second: f64,
    pub writes_per_second: f64,
}

/// Builds and runs the bench.
pub fn measure() -> Vec<Line> {
    let (direct, search, graph) = (Redis::start(), Redis::start_with_search(), Redis::start_with_search());
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["bench", "--quiet", "--package", "embedding-service", "--bench", "store", "--"])
        .args(["--direct", &direct.url(), "--search", &search.url(), "--search-hnsw", &graph.url()])
        .args(["--prompts", &setting("BENCH_STORE_PROMPTS", "1000,100000")])
        .args(["--seconds", &setting("BENCH_STORE_SECONDS", "20")]);
    lines_of(&mut command, "the prompt history")
}

/// Runs a bench that prints a line of JSON for each result. `what` names it in errors.
pub fn lines_of<T: DeserializeOwned>(command: &mut Command, what: &str) -> Vec<T> {
    let command = command.current_dir(parts::root()).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().expect("cargo starts");
    assert!(output.status.success(), "the bench of {what} failed; what it said is above");
    let text = String::from_utf8(output.stdout).expect("the bench writes text");
    text.lines().map(|line| serde_json::from_str(line).expect("the bench writes JSON")).collect()
}

/// A setting of the environment, or its default.
pub fn setting(name: &str, default: &str) -> String {
    env::var(name).ok().filter(|value| !value.is_empty()).unwrap_or_else(|| default.to_owned())
}

pub fn table(lines: &[Line]) -> Table {
    let mut table = Table::new(&[
        "lookup",
        "prompts held",
        "filled, a second",
        "bytes each",
        "read p50",
        "p99",
        "write p50",
        "p99",
        "reads a second, 16 at once",
        "writes",
    ]);
    for line in lines {
        let head = [line.lookup.clone(), line.prompts.to_string(), format!("{:.0}", line.filled_per_second)];
        let times = [line.read_p50_ms, line.read_p99_ms, line.write_p50_ms, line.write_p99_ms]
            .map(|value| format!("{value:.3}"));
        let rates = [line.reads_per_second, line.writes_per_second].map(|rate| format!("{rate:.0}"));
        let cells = head.into_iter().chain([line.bytes_per_prompt.to_string()]);
        table.row(cells.chain(times).chain(rates).collect());
    }
    table
}
