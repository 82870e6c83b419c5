//! The response cache: answers of the provider, to be given again for the same text or for one that asks for the same. This file defines
//! the trait of a store of answers. Memory and Redis implement it in the files beside it, and one test suite runs on both. [`lookup`] decides
//! whether an answer may be served, [`writer`] what is stored and learned.

pub mod answer;
pub mod candidate;
mod entry;
pub mod equality;
pub mod flight;
pub mod learning;
pub mod lookup;
pub mod memory;
pub mod open;
pub mod options;
pub mod redis;
pub mod response_cache;
pub mod writer;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::store::StoreError;

use learning::Observations;

pub use entry::{Entry, EntryId, Owner, Partition, StoredQuestion};

/// An answer to a text near the one that was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// 1 identical, 0 opposite.
    pub similarity: f64,
    pub entry: Entry,
}

/// What is to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Erase {
    All,
    /// All that was stored for a tenant.
    Tenant(String),
    /// All that was stored for an agent of a tenant.
    Agent(Owner),
    Entry(Partition, EntryId),
}

/// Stores answers for a time. An entry that cannot be read, whatever has become of it, is never given.
#[tonic::async_trait]
pub trait AnswerStore: Send + Sync {
    /// The answer to this very text. [`StoreError::Unreadable`] where there is one that cannot be read.
    async fn exact(&self, partition: Partition, id: EntryId) -> Result<Option<Entry>, StoreError>;

    /// Answers to the texts of the partition that come nearest to `vector`, nearest first, at most `count`. Of a large partition a
    /// store may look at a part only.
    async fn nearest(
        &self,
        partition: Partition,
        vector: &[f32],
        count: usize,
    ) -> Result<Vec<Near>, StoreError>;

    /// Stores an answer from now on, in the place of an earlier one to the same text, for `ttl` or for the store's own time,
    /// whichever is shorter.
    async fn store(&self, entry: &Entry, ttl: Duration) -> Result<(), StoreError>;

    /// Replaces the observations of `entry`, if the stored entry is still equal to `entry`, with its observations. Returns whether it was.
    async fn observe(&self, entry: &Entry, observations: &Observations) -> Result<bool, StoreError>;

    /// Forgets. Gives how many entries.
    async fn erase(&self, what: &Erase) -> Result<u64, StoreError>;

    /// How many entries there are.
    async fn count(&self) -> Result<u64, StoreError>;
}

/// Milliseconds since 1970. Wall-clock time, because other replicas read it too.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
