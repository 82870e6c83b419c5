//! Ways around what an operator forbids, written by somebody who had read the readers: each in a place or a spelling that a reader may
//! miss. The pipeline and the real Envoy are tested with the same ones.

use serde::Deserialize;
use serde_json::Value;

/// A request, and what of it must not get through.
#[derive(Deserialize)]
pub struct Way {
    pub what: String,
    pub config: Value,
    pub path: String,
    pub body: String,
    pub forbidden: String,
    /// Only with a path as the client wrote it: an Envoy that normalizes paths, as ours do, makes another one of it.
    #[serde(default)]
    pub is_raw: bool,
}

pub fn ways() -> Vec<Way> {
    let lines = include_str!("../barriers.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).expect("a way")).collect()
}
