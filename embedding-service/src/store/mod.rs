//! What every store of this service shares, whatever it keeps: how it can fail, and the way to Redis.

pub mod redis;

use std::time::Duration;

/// Why a store did not answer, or cannot be used at all. Never holds prompt text, keys or credentials.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("Redis cannot be reached: {0}. The service tries again by itself")]
    Unreachable(String),
    #[error("Redis did not answer within {} ms (LOOP_STORE_TIMEOUT_MS)", .0.as_millis())]
    Slow(Duration),
    #[error(
        "Redis has no memory left (maxmemory) and takes nothing new; what it has can still be read. Give it more, or a maxmemory-policy that evicts, like volatile-ttl"
    )]
    Full,
    #[error("the memory for control is full (CONTROL_MAX_BYTES), and no run is left that could be forgotten")]
    MemoryFull,
    #[error("others changed the same document during every attempt. Try again")]
    Contended,
    #[error("this Redis is a replica and takes nothing new. The service connects again to find the primary")]
    Replica,
    #[error("{0}")]
    WrongKind(&'static str),
    #[error(
        "this Redis has no search module. Use Redis 8 or Redis Stack, start redis-server with --loadmodule redisearch.so, or set REDIS_LOOKUP=direct"
    )]
    NoSearchModule,
    #[error("the index {0} is not there; the service makes it again by itself")]
    IndexMissing(&'static str),
    #[error(
        "the index {index} does not fit this service: {problem}. Drop it (FT.DROPINDEX {index}) once no service uses it any more, use another Redis, or set REDIS_LOOKUP=direct"
    )]
    IndexUnfit { index: &'static str, problem: String },
    #[error("Redis refused the command: {0}")]
    Refused(String),
    #[error("Redis gave an answer that cannot be read: {0}")]
    Unreadable(&'static str),
    #[error("REDIS_URL is no Redis address: {0}. Give redis://host:port/db or unix:///path/to.sock")]
    Address(String),
    #[error("{name}: cannot use {path}: {problem}")]
    File { name: &'static str, path: String, problem: String },
}

impl StoreError {
    /// Names the index that was asked. Redis does not always do so when it is missing.
    #[must_use]
    pub fn of_index(self, index: &'static str) -> Self {
        match self {
            Self::IndexMissing(_) => Self::IndexMissing(index),
            other => other,
        }
    }
}
