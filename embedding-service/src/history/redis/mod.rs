//! Prompt history in Redis: for several replicas, or to outlive a restart. What is asked and written lives here; the
//! connection, the names of keys, the search module and the reading of replies have files of their own.
//!
//! A prompt is one hash ([`keys::prompt`]), so that it has its own time to live and a search index can cover it. Which
//! prompts a scope has stands in a sorted set beside them. Scripts go through that set to the hashes, so that a question
//! and a record are one round trip each, and nobody sees half a record.

mod connection;
mod fit;
mod keys;
mod link;
mod reply;
mod search;
mod target;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use ::redis::{Cmd, Value, cmd};
use tokio::sync::watch;

use self::{fit::Fit, link::Link, target::Target};
use super::{Earlier, HistoryError, PromptHistory, Record, Retention, Scope};
use crate::settings::{Lookup, RedisSettings};

pub use search::INDEX;

/// Most prompts that any scope can keep, and so the most that one question has to return.
pub const MAX_HISTORY: usize = 100;

/// A write has time: nobody waits for it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// The hashes of the scope's last prompts, newest first.
const RECALL: &str = include_str!("recall.lua");
/// Stores a prompt, and deletes those of its scope that are no longer among the last. The write that Redis refuses when
/// its memory is full comes first, so that a record is refused whole.
const RECORD: &str = include_str!("record.lua");

/// The store.
pub struct RedisHistory {
    link: Link,
    retention: Retention,
    lookup: Lookup,
    /// Budget of one recall, while a caller waits.
    timeout: Duration,
    /// Tells the keys of this process from another replica's of the same microsecond.
    replica: String,
    /// Whether the last prompt was refused for want of memory.
    full: AtomicBool,
}

impl RedisHistory {
    /// Connects, and checks that what is there fits vectors of `dimension`.
    ///
    /// # Errors
    /// When Redis is not reachable, or holds what does not fit, or a file that the settings name cannot be used.
    pub async fn connect(
        settings: &RedisSettings,
        dimension: usize,
        retention: Retention,
    ) -> Result<Self, HistoryError> {
        let (lookup, timeout) = (settings.lookup, settings.timeout);
        let fit = Fit { dimension, ttl: retention.ttl, lookup };
        let link = Link::open(Target::new(settings)?, fit, timeout).await?;
        let seed = format!("{:?}", (std::process::id(), std::time::SystemTime::now()));
        let replica = blake3::hash(seed.as_bytes()).to_hex().chars().take(8).collect();
        Ok(Self { link, retention, lookup, timeout, replica, full: AtomicBool::new(false) })
    }

    async fn ask(&self, command: &Cmd, timeout: Duration) -> Result<Value, HistoryError> {
        let mut connection = self.link.connection()?;
        let reply = command.query_async(&mut connection);
        let error = match tokio::time::timeout(timeout, reply).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(e)) => reply::error(&e),
            Err(_) => HistoryError::Slow(timeout),
        };
        self.link.doubt(&error);
        Err(error)
    }

    fn recall_command(&self, scope: &Scope, vector: &[f32]) -> Cmd {
        match self.lookup {
            Lookup::Direct => {
                let mut command = cmd("EVAL");
                command.arg(RECALL).arg(1).arg(keys::recent(scope)).arg(self.retention.size);
                command
            }
            Lookup::Search => search::recall(scope, vector),
        }
    }

    fn record_command(&self, record: &Record) -> Cmd {
        let Record { scope, moment, embedded } = record;
        let unseen = embedded.unseen.map_or(String::new(), |d| d.to_hex());
        let mut command = cmd("EVAL");
        command
            .arg(RECORD)
            .arg(2)
            .arg(keys::prompt(scope, *moment, &self.replica))
            .arg(keys::recent(scope))
            .arg(moment.0)
            .arg(milliseconds(self.retention.ttl))
            .arg(self.retention.size)
            .arg("tenant_id")
            .arg(scope.tenant())
            .arg("scope")
            .arg(search::scope_tag(scope))
            .arg("moment")
            .arg(moment.0)
            .arg("prompt")
            .arg(&embedded.head)
            .arg("unseen")
            .arg(unseen)
            .arg("vec")
            .arg(bytes(&embedded.vector));
        command
    }

    /// One line in the log when memory has run out, and one when it is there again.
    fn tell_memory(&self, full: bool) {
        if self.full.swap(full, Ordering::Relaxed) == full {
            return;
        }
        if full {
            tracing::warn!(error = %HistoryError::Full, "prompts are not stored");
        } else {
            tracing::info!("Redis takes prompts again");
        }
    }
}

#[tonic::async_trait]
impl PromptHistory for RedisHistory {
    async fn recall(&self, scope: &Scope, vector: &[f32]) -> Result<Vec<Earlier>, HistoryError> {
        let found = self.ask(&self.recall_command(scope, vector), self.timeout).await?;
        let mut earlier = match self.lookup {
            Lookup::Direct => reply::of_script(found, vector)?,
            Lookup::Search => reply::of_search(found)?,
        };
        earlier.sort_by_key(|e| std::cmp::Reverse(e.moment));
        // More are found by a search while another replica keeps longer histories.
        earlier.truncate(self.retention.size);
        Ok(earlier)
    }

    async fn record(&self, record: &Record) -> Result<(), HistoryError> {
        let stored = self.ask(&self.record_command(record), WRITE_TIMEOUT).await;
        match &stored {
            Ok(_) => self.tell_memory(false),
            Err(HistoryError::Full) => self.tell_memory(true),
            Err(_) => {}
        }
        stored.map(drop)
    }

    fn reachable(&self) -> watch::Receiver<bool> {
        self.link.reachable()
    }
}

/// A vector as Redis takes it: FLOAT32, little-endian.
fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
