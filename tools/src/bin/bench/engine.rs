//! The embedder alone: runs the service's own bench (embedding-service/benches/engine) on the real parts.
//!
//! - `BENCH_PYTHON`: a Python with sentence-transformers. Without it that comparison is left out

use std::env;
use std::process::{Command, Stdio};

use sentinel_harness::parts;
use serde::{Deserialize, Serialize};

use crate::table::Table;

/// The time of one engine for texts of one length.
#[derive(Deserialize, Serialize)]
pub struct Line {
    /// Tokens in the text.
    pub tokens: usize,
    pub engine: String,
    /// From text to vector: one call in ten was faster than this, in milliseconds.
    pub p10_ms: f64,
    /// The share of tokenising, if it is known.
    pub tokenising_p10_ms: Option<f64>,
    /// The time relative to the shipped engine.
    pub ratio: f64,
}

/// Builds and runs the bench.
pub fn measure() -> Vec<Line> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut bench = Command::new(cargo);
    bench.args(["bench", "--quiet", "--package", "embedding-service", "--bench", "engine", "--"]);
    for (flag, path) in [
        ("--library", parts::onnxruntime()),
        ("--model", parts::model()),
        ("--float", parts::float_model()),
        ("--weights", parts::weights()),
    ] {
        bench.arg(flag).arg(path);
    }
    if let Some(python) = env::var_os("BENCH_PYTHON").filter(|python| !python.is_empty()) {
        bench.arg("--python").arg(python);
    }
    let output = bench.current_dir(parts::root()).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.expect("cargo starts");
    assert!(output.status.success(), "the bench of the embedder failed; what it said is above");
    let text = String::from_utf8(output.stdout).expect("the bench writes text");
    text.lines().map(|line| serde_json::from_str(line).expect("the bench writes JSON")).collect()
}

pub fn table(lines: &[Line]) -> Table {
    let mut table = Table::new(&["tokens", "engine", "ms", "against the shipped", "tokenising, share of it"]);
    for Line { tokens, engine, p10_ms, tokenising_p10_ms, ratio } in lines {
        let share =
            tokenising_p10_ms.map_or_else(String::new, |part| format!("{:.1} %", part / p10_ms * 100.0));
        let (ms, ratio) = (format!("{p10_ms:.2}"), format!("{ratio:.2}x"));
        table.row(vec![tokens.to_string(), engine.clone(), ms, ratio, share]);
    }
    table
}
