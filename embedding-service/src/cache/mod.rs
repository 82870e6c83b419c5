//! Answers that were given, to be given again: to the same text, or to one that lies near. This file holds what a store of them
//! promises; memory and Redis keep the promise in the files beside it, and one behavioural suite holds both to it. Whether an
//! answer may be served is not decided here.

mod entry;
pub mod memory;
pub mod redis;

use std::time::Duration;

use crate::history::HistoryError;

pub use entry::{Asked, Entry, EntryId, Owner, Partition};

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

/// Keeps answers for a time. An entry that cannot be read, whatever has become of it, is as one that is not there.
#[tonic::async_trait]
pub trait AnswerStore: Send + Sync {
    /// The answer to this very text.
    async fn exact(&self, partition: Partition, id: EntryId) -> Result<Option<Entry>, HistoryError>;

    /// Answers to the texts of the partition that come nearest to `vector`, nearest first, at most `count`. Of a large partition a
    /// store may look at a part only.
    async fn nearest(
        &self,
        partition: Partition,
        vector: &[f32],
        count: usize,
    ) -> Result<Vec<Near>, HistoryError>;

    /// Keeps an answer from now on, in the place of an earlier one to the same text.
    async fn store(&self, entry: &Entry) -> Result<(), HistoryError>;

    /// Forgets. Gives how many entries.
    async fn erase(&self, what: &Erase) -> Result<u64, HistoryError>;

    /// How many entries there are.
    async fn count(&self) -> Result<u64, HistoryError>;
}

/// How long an answer is kept.
pub const DEFAULT_TTL: Duration = Duration::from_secs(3600);
