//! Prompt history in this process: the default, for one replica. Bounded in bytes; the scope that recorded longest ago
//! goes first.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    mem::size_of,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::watch;

use super::{Earlier, Moment, PromptHistory, Record, Retention, Scope, ScopeId};
use crate::{embed::Embedded, similarity, store::StoreError};

/// Bookkeeping of a scope beside its prompts, roughly: two map entries and the queue.
const SCOPE_OVERHEAD: usize = 256;

/// The store. Its size is bounded whatever the number of scopes.
pub struct MemoryHistory {
    retention: Retention,
    max_bytes: usize,
    inner: Mutex<Inner>,
    reachable: watch::Sender<bool>,
}

#[derive(Default)]
struct Inner {
    scopes: HashMap<ScopeId, ScopePrompts>,
    /// Scopes by the number of their last record: the first is the next to go.
    by_last_record: BTreeMap<u64, ScopeId>,
    /// Records made so far.
    records: u64,
    bytes: usize,
}

#[derive(Default)]
struct ScopePrompts {
    /// Number of the last record.
    last_record: u64,
    /// Oldest first.
    prompts: VecDeque<StoredPrompt>,
}

struct StoredPrompt {
    moment: Moment,
    recorded: Instant,
    embedded: Embedded,
}

impl StoredPrompt {
    fn bytes(&self) -> usize {
        let vector = self.embedded.vector.len().saturating_mul(size_of::<f32>());
        size_of::<Self>().saturating_add(vector).saturating_add(self.embedded.head.capacity())
    }

    fn fresh(&self, now: Instant, ttl: Duration) -> bool {
        now.saturating_duration_since(self.recorded) < ttl
    }
}

impl MemoryHistory {
    /// `max_bytes` bounds all that is stored, bookkeeping included, to within a small factor.
    #[must_use]
    pub fn new(retention: Retention, max_bytes: usize) -> Self {
        Self { retention, max_bytes, inner: Mutex::default(), reachable: watch::Sender::new(true) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Scopes and bytes stored now.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        let inner = self.lock();
        (inner.scopes.len(), inner.bytes)
    }
}

#[tonic::async_trait]
impl PromptHistory for MemoryHistory {
    async fn recall(&self, scope: &Scope, vector: &[f32]) -> Result<Vec<Earlier>, StoreError> {
        let now = Instant::now();
        let inner = self.lock();
        let Some(prompts) = inner.scopes.get(&scope.id()) else {
            return Ok(Vec::new());
        };
        let newest_first = prompts.prompts.iter().rev();
        Ok(newest_first
            .filter(|stored| stored.fresh(now, self.retention.ttl))
            .map(|stored| Earlier {
                moment: stored.moment,
                similarity: similarity::of_vectors(vector, &stored.embedded.vector),
                head: stored.embedded.head.clone(),
                unseen: stored.embedded.unseen,
            })
            .collect())
    }

    async fn record(&self, record: &Record) -> Result<(), StoreError> {
        let mut inner = self.lock();
        inner.add(
            record.scope.id(),
            StoredPrompt {
                moment: record.moment,
                recorded: Instant::now(),
                embedded: record.embedded.clone(),
            },
            self.retention.size,
        );
        inner.forget(self.retention.ttl, self.max_bytes);
        Ok(())
    }

    fn reachable(&self) -> watch::Receiver<bool> {
        self.reachable.subscribe()
    }
}

impl Inner {
    fn add(&mut self, id: ScopeId, mut stored: StoredPrompt, size: usize) {
        stored.embedded.head.shrink_to_fit();
        self.records = self.records.saturating_add(1);
        self.bytes = self.bytes.saturating_add(stored.bytes());
        let scope = self.scopes.entry(id).or_insert_with(|| {
            self.bytes = self.bytes.saturating_add(SCOPE_OVERHEAD);
            ScopePrompts::default()
        });
        self.by_last_record.remove(&scope.last_record);
        scope.last_record = self.records;
        self.by_last_record.insert(self.records, id);
        // Almost always at the end: writes come in the order of their moments but for a race.
        let place = scope.prompts.partition_point(|other| other.moment < stored.moment);
        scope.prompts.insert(place, stored);
        while scope.prompts.len() > size {
            if let Some(old) = scope.prompts.pop_front() {
                self.bytes = self.bytes.saturating_sub(old.bytes());
            }
        }
    }

    /// Drops scopes, longest untouched first: those that are too old as a whole, and then as many as the bound demands.
    fn forget(&mut self, ttl: Duration, max_bytes: usize) {
        let now = Instant::now();
        while let Some((record, id)) = self.by_last_record.first_key_value() {
            let (record, id) = (*record, *id);
            let newest = self.scopes.get(&id).and_then(|scope| scope.prompts.back());
            let old = newest.is_none_or(|stored| !stored.fresh(now, ttl));
            if !old && self.bytes <= max_bytes {
                break;
            }
            self.by_last_record.remove(&record);
            if let Some(gone) = self.scopes.remove(&id) {
                let freed = gone.prompts.iter().map(StoredPrompt::bytes);
                let freed = freed.fold(SCOPE_OVERHEAD, usize::saturating_add);
                self.bytes = self.bytes.saturating_sub(freed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn record(run: &str, head: &str) -> Record {
        Record {
            scope: Scope::new("t", "a", run),
            moment: Moment::now(),
            embedded: Embedded { vector: Arc::from([1.0, 0.0]), head: head.to_owned(), unseen: None },
        }
    }

    fn history(ttl: Duration, max_bytes: usize) -> MemoryHistory {
        MemoryHistory::new(Retention { size: 5, ttl }, max_bytes)
    }

    const HOUR: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn many_scopes_stay_within_the_bound_and_the_latest_survive() {
        let history = history(HOUR, 100_000);
        for i in 0..2_000 {
            history.record(&record(&i.to_string(), &"x".repeat(1000))).await.unwrap();
            assert!(history.size().1 <= 100_000);
        }
        let (scopes, _) = history.size();
        assert!((20..100).contains(&scopes), "{scopes}");
        let recall = |run: &str| {
            let scope = Scope::new("t", "a", run);
            let history = &history;
            async move { history.recall(&scope, &[1.0, 0.0]).await.unwrap().len() }
        };
        assert_eq!(recall("1999").await, 1);
        assert_eq!(recall("0").await, 0);
    }

    #[tokio::test]
    async fn one_busy_scope_does_not_grow_and_bytes_go_back_to_nothing() {
        let history = history(Duration::from_millis(30), 1_000_000);
        for i in 0..1_000 {
            history.record(&record("r", &i.to_string())).await.unwrap();
        }
        let (scopes, bytes) = history.size();
        assert_eq!(scopes, 1);
        assert!(bytes < 5_000, "{bytes}");
        tokio::time::sleep(Duration::from_millis(40)).await;
        // Anybody's record sweeps out what is too old.
        history.record(&record("other", "x")).await.unwrap();
        let one = history.size();
        assert_eq!(one.0, 1);
        assert!(one.1 < 1_000, "{one:?}");
    }

    #[tokio::test]
    async fn a_bound_smaller_than_one_prompt_keeps_nothing_and_loses_no_count() {
        let history = history(HOUR, 10);
        for i in 0..100 {
            history.record(&record("r", &i.to_string())).await.unwrap();
        }
        assert_eq!(history.size(), (0, 0));
    }
}
