//! Prompt history in Redis: for several replicas, or to outlive a restart. This file decides which commands are sent,
//! and when. The commands, the connection, the names of keys, the search module and the reading of replies are in files
//! of their own.
//!
//! A prompt is one hash ([`keys::Keys::prompt`]), so that it has its own time to live and a search index can cover it.
//! A sorted set beside the hashes lists the prompts of a scope.

mod command;
mod keys;
mod reply;
mod search;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use ::redis::{Cmd, Value};
use tokio::sync::watch;

use self::{keys::Keys, search::PromptIndex};
use super::{Earlier, PromptHistory, Record, Retention, Scope};
use crate::{
    embed::model_id::ModelId,
    store::{
        StoreError,
        redis::{
            Endpoint, Index, Requirements, SupervisedConnection,
            options::{LookupMethod, RedisOptions},
        },
    },
};

pub use self::{command::MAX_HISTORY, keys::INDEX};

/// Writes happen after the answer, so they may take longer than a look-up.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// The store.
pub struct RedisHistory {
    connection: SupervisedConnection,
    retention: Retention,
    lookup: LookupMethod,
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
    /// When Redis is not reachable, or holds what does not fit, or a file that the options name cannot be used.
    pub async fn connect(
        options: &RedisOptions,
        model: ModelId,
        dimension: usize,
        retention: Retention,
    ) -> Result<Self, StoreError> {
        let (lookup, timeout) = (options.lookup, options.timeout);
        let keys = Keys::new(model);
        // Probe scopes, which no caller has: the tenant of a call is never empty. If the node belongs to a cluster that was not configured, it
        // refuses some of the eight scopes. In a configured cluster one scope is enough.
        let nobody = (0..if options.cluster { 1 } else { 8 }).map(|n| Scope::new("", "", &n.to_string()));
        let questions = nobody.map(|scope| command::recall(&keys.recent(&scope), retention.size)).collect();
        let index = match lookup {
            LookupMethod::Search => Some(Box::new(PromptIndex::new(dimension)) as Box<dyn Index>),
            LookupMethod::Direct => None,
        };
        let requirements = Requirements { questions, index };
        let connection =
            SupervisedConnection::open("prompt history", Endpoint::new(options)?, requirements, timeout)
                .await?;
        Ok(Self { connection, retention, lookup, timeout, keys, full: AtomicBool::new(false) })
    }

    fn recall_command(&self, scope: &Scope, vector: &[f32]) -> Cmd {
        match self.lookup {
            LookupMethod::Direct => command::recall(&self.keys.recent(scope), self.retention.size),
            LookupMethod::Search => search::recall(&self.keys.indexed(scope), vector),
        }
    }

    /// One line in the log when memory has run out, and one when it is there again.
    fn log_memory(&self, full: bool) {
        if self.full.swap(full, Ordering::Relaxed) == full {
            return;
        }
        if full {
            tracing::warn!(error = %StoreError::Full, "prompts are not stored");
        } else {
            tracing::info!("Redis takes prompts again");
        }
    }
}

#[tonic::async_trait]
impl PromptHistory for RedisHistory {
    async fn recall(&self, scope: &Scope, vector: &[f32]) -> Result<Vec<Earlier>, StoreError> {
        let asked = self.connection.ask(&self.recall_command(scope, vector), self.timeout).await;
        let found = asked.map_err(|error| error.of_index(INDEX))?;
        let mut earlier = match self.lookup {
            LookupMethod::Direct => reply::of_script(found, vector)?,
            LookupMethod::Search => reply::of_search(found)?,
        };
        earlier.sort_by_key(|e| std::cmp::Reverse(e.moment));
        // More are found by a search while another replica keeps longer histories.
        earlier.truncate(self.retention.size);
        Ok(earlier)
    }

    async fn record(&self, record: &Record) -> Result<(), StoreError> {
        let stored = self
            .connection
            .ask::<Value>(&command::record(&self.keys, self.retention, record), WRITE_TIMEOUT)
            .await;
        match &stored {
            Ok(_) => self.log_memory(false),
            Err(StoreError::Full) => self.log_memory(true),
            Err(_) => {}
        }
        stored.map(drop)
    }

    fn reachable(&self) -> watch::Receiver<bool> {
        self.connection.reachable()
    }
}
