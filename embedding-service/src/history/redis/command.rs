//! The two commands without the search module: reading a scope's last prompts, and storing one. Each is a script, so that it
//! is one round trip and nobody sees half a record.

use std::time::Duration;

use redis::{Cmd, cmd};

use super::{
    super::{Record, Retention},
    keys::Keys,
};

/// Most prompts that any scope can keep, and so the most that one question has to return.
pub const MAX_HISTORY: usize = 100;

/// The hashes of the scope's last prompts, newest first.
const RECALL: &str = include_str!("recall.lua");
/// Stores a prompt, and deletes those of its scope that are no longer among the last. The write that Redis refuses when
/// its memory is full comes first, so that a record is refused whole.
const RECORD: &str = include_str!("record.lua");

/// The last `size` of the prompts whose sorted set this is.
pub fn recall(recent: &str, size: usize) -> Cmd {
    let mut command = cmd("EVAL");
    command.arg(RECALL).arg(1).arg(recent).arg(size);
    command
}

/// Stores a prompt.
pub fn record(keys: &Keys, retention: Retention, record: &Record) -> Cmd {
    let Record { scope, moment, embedded } = record;
    let unseen = embedded.unseen.map_or(String::new(), |digest| digest.to_hex());
    let mut command = cmd("EVAL");
    command
        .arg(RECORD)
        .arg(2)
        .arg(keys.prompt(scope, *moment))
        .arg(keys.recent(scope))
        .arg(moment.0)
        .arg(milliseconds(retention.ttl))
        .arg(retention.size)
        .arg("tenant_id")
        .arg(scope.tenant())
        .arg("scope")
        .arg(keys.indexed(scope))
        .arg("moment")
        .arg(moment.0)
        .arg("prompt")
        .arg(&embedded.head)
        .arg("unseen")
        .arg(unseen)
        .arg("vec")
        .arg(vector_bytes(&embedded.vector));
    command
}

/// A vector as Redis takes it: FLOAT32, little-endian.
pub fn vector_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
