//! What is sent to Redis, and how keys and the index are named. Reads no reply.
//!
//! An answer is one hash, so that it has its own time to live and a search index can cover it. The newest of a partition stand in
//! a sorted set beside them, for look-ups without the search module. All of a partition has the same hash tag (what stands in
//! braces). The model is a part of it: vectors of two models are never compared.

use std::time::Duration;

use redis::{Cmd, cmd};

use super::super::{Entry, EntryId, Partition};
use crate::embed::model_id::ModelId;

/// Every key of ours begins with it, and none of the prompt history's does.
pub const PREFIX: &str = "cache:";
/// Name of the search module's index.
const INDEX: &str = "cache:answers";
/// Without the search module, only this many of a partition's newest entries are compared: the vector of each must be transferred.
pub const MAX_COMPARED: usize = 256;

const STORE: &str = include_str!("store.lua");
const NEWEST: &str = include_str!("newest.lua");
const OBSERVE: &str = include_str!("observe.lua");

/// The hash of an answer.
pub fn key(partition: Partition, model: ModelId, id: EntryId) -> String {
    format!("{PREFIX}{{{partition}/{model}}}:{id}")
}

fn newest_key(partition: Partition, model: ModelId) -> String {
    format!("{PREFIX}{{{partition}/{model}}}:newest")
}

/// The partition as the value of a TAG field: letters and digits only, so it needs no escaping in a query.
fn tag(partition: Partition, model: ModelId) -> String {
    format!("p{partition}m{model}")
}

pub fn exact(key: &str) -> Cmd {
    let mut command = cmd("HGETALL");
    command.arg(key);
    command
}

/// Keys and vectors of the newest entries.
pub fn newest(partition: Partition, model: ModelId) -> Cmd {
    let mut command = cmd("EVAL");
    command.arg(NEWEST).arg(1).arg(newest_key(partition, model)).arg(MAX_COMPARED);
    command
}

/// Keys of the entries that the search module finds nearest. It is told to compare with every entry of the partition (`ADHOC_BF`). Otherwise,
/// with an HNSW index, it would walk the graph of all partitions, and find nothing of a small partition among a million other entries.
/// `within`: how long we wait for the answer. The module stops after three quarters of that time, and then finds nothing.
pub fn search(partition: Partition, model: ModelId, vector: &[f32], count: usize, within: Duration) -> Cmd {
    let query = format!(
        "(@partition:{{{}}})=>[KNN {count} @vec $vec HYBRID_POLICY ADHOC_BF AS distance]",
        tag(partition, model)
    );
    let mut command = cmd("FT.SEARCH");
    command
        .arg(INDEX)
        .arg(query)
        .arg(&["PARAMS", "2", "vec"])
        .arg(vector_bytes(vector))
        .arg(&["SORTBY", "distance", "NOCONTENT", "LIMIT", "0"])
        .arg(count)
        .arg("TIMEOUT")
        .arg((milliseconds(within).saturating_mul(3) / 4).max(1))
        .arg(&["DIALECT", "2"]);
    command
}

/// A plain list: a graph is of no use where all of a partition is compared, and makes writes slow.
pub fn create_index(dimension: usize) -> Cmd {
    let mut command = cmd("FT.CREATE");
    command
        .arg(INDEX)
        .arg(&["ON", "HASH", "PREFIX", "1", PREFIX, "SCHEMA", "partition", "TAG", "CASESENSITIVE"])
        .arg(&["vec", "VECTOR", "FLAT", "6", "TYPE", "FLOAT32", "DIM"])
        .arg(dimension)
        .arg(&["DISTANCE_METRIC", "COSINE"]);
    command
}

/// Stores a whole entry with one script. So nobody reads half an entry, and if two write at once, one of them remains whole.
/// `longest`: the longest time to live of any entry. The list of the partition's newest entries lives as long.
pub fn store(
    entry: &Entry,
    model: ModelId,
    [ttl, longest]: [Duration; 2],
    fields: &[(&str, Vec<u8>)],
) -> Cmd {
    let mut command = cmd("EVAL");
    command
        .arg(STORE)
        .arg(2)
        .arg(key(entry.partition, model, entry.id))
        .arg(newest_key(entry.partition, model))
        .arg(entry.stored_at)
        .arg(milliseconds(ttl))
        .arg(milliseconds(longest))
        .arg(MAX_COMPARED)
        .arg(u8::from(entry.asked.is_some()))
        .arg("partition")
        .arg(tag(entry.partition, model));
    for (name, value) in fields {
        command.arg(name).arg(value);
    }
    command
}

/// Replaces the observations of `before` by those of `after`, if `before` is what is stored. Its digest shows whether it is.
pub fn observe(model: ModelId, before: &[(&str, Vec<u8>)], after: &Entry, fields: &[(&str, Vec<u8>)]) -> Cmd {
    let field = |fields: &[(&str, Vec<u8>)], wanted: &str| {
        fields.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let mut command = cmd("EVAL");
    command
        .arg(OBSERVE)
        .arg(1)
        .arg(key(after.partition, model, after.id))
        .arg(field(before, "digest"))
        .arg(field(fields, "observed"))
        .arg(field(fields, "digest"));
    command
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A vector as Redis takes it: FLOAT32, little-endian.
pub fn vector_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}
