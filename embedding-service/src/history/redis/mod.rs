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

use self::{fit::Fit, keys::Keys, link::Link, target::Target};
use super::{Earlier, HistoryError, PromptHistory, Record, Retention, Scope};
use crate::{
    embed::model_id::ModelId,
    settings::{Lookup, RedisSettings},
};

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
    keys: Keys,
    /// Whether the last prompt was refused for want of memory.
    full: AtomicBool,
}

impl RedisHistory {
    /// Connects, and checks that what is there can be used. Only prompts of the same `model`, whose vectors have
    /// `dimension` components, are seen and kept.
    ///
    /// # Errors
    /// When Redis is not reachable, or holds what does not fit, or a file that the settings name cannot be used.
    pub async fn connect(
        settings: &RedisSettings,
        model: ModelId,
        dimension: usize,
        retention: Retention,
    ) -> Result<Self, HistoryError> {
        let (lookup, timeout) = (settings.lookup, settings.timeout);
        let keys = Keys::new(model);
        // One node of a cluster that was not announced answers for a part of the scopes; in a cluster that was, one scope
        // will do. The tenant of a call is never empty.
        let nobody = (0..if settings.cluster { 1 } else { 8 }).map(|n| Scope::new("", "", &n.to_string()));
        let questions = nobody.map(|scope| read(&keys.recent(&scope), retention.size)).collect();
        let fit = Fit::new(questions, dimension, lookup);
        let link = Link::open(Target::new(settings)?, fit, timeout).await?;
        Ok(Self { link, retention, lookup, timeout, keys, full: AtomicBool::new(false) })
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
            Lookup::Direct => read(&self.keys.recent(scope), self.retention.size),
            Lookup::Search => search::recall(&self.keys.indexed(scope), vector),
        }
    }

    fn record_command(&self, record: &Record) -> Cmd {
        let Record { scope, moment, embedded } = record;
        let unseen = embedded.unseen.map_or(String::new(), |d| d.to_hex());
        let mut command = cmd("EVAL");
        command
            .arg(RECORD)
            .arg(2)
            .arg(self.keys.prompt(scope, *moment))
            .arg(self.keys.recent(scope))
            .arg(moment.0)
            .arg(milliseconds(self.retention.ttl))
            .arg(self.retention.size)
            .arg("tenant_id")
            .arg(scope.tenant())
            .arg("scope")
            .arg(self.keys.indexed(scope))
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

/// The last `size` of the prompts whose sorted set this is.
fn read(recent: &str, size: usize) -> Cmd {
    let mut command = cmd("EVAL");
    command.arg(RECALL).arg(1).arg(recent).arg(size);
    command
}

/// A vector as Redis takes it: FLOAT32, little-endian.
fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
