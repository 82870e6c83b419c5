//! Stores prompts after their answers were sent. Until a prompt is stored it is held here and counts as remembered. So
//! a caller that has its answer always finds its prompt in the next call.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::{
    sync::mpsc,
    task::{JoinHandle, JoinSet},
};
use tokio_util::sync::CancellationToken;

use crate::{
    history::{Earlier, PromptHistory, Record, Scope, ScopeId},
    metrics::{Metrics, Recorded, StoreOp},
    similarity,
    store::StoreError,
};

/// Prompts that may wait to be stored; with vector and head each is at most 4 kB.
const QUEUE_LENGTH: usize = 4096;
/// Writes under way at once.
const CONCURRENT_WRITES: usize = 16;

/// The way to the prompt history for the service: reads through to it, writes behind the answer.
pub struct Recorder {
    pending: Arc<PendingRecords>,
    queue: mpsc::Sender<Arc<Record>>,
    closing: CancellationToken,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// How many prompts a scope keeps.
    size: usize,
}

struct PendingRecords {
    store: Arc<dyn PromptHistory>,
    by_scope: Mutex<HashMap<ScopeId, Vec<Arc<Record>>>>,
    metrics: Arc<Metrics>,
}

impl Recorder {
    /// Starts the background writer; must be called inside a tokio runtime.
    #[must_use]
    pub fn start(store: Arc<dyn PromptHistory>, size: usize, metrics: Arc<Metrics>) -> Self {
        let pending = Arc::new(PendingRecords { store, by_scope: Mutex::default(), metrics });
        let (queue, waiting) = mpsc::channel(QUEUE_LENGTH);
        let closing = CancellationToken::new();
        let writer = tokio::spawn(write(Arc::clone(&pending), waiting, closing.clone()));
        Self { pending, queue, closing, writer: Mutex::new(Some(writer)), size }
    }

    /// The last prompts of the scope, newest first, those included that are not stored yet.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn recall(&self, scope: &Scope, vector: &[f32]) -> Result<Vec<Earlier>, StoreError> {
        // The pending prompts are read first. A prompt that stops being pending in between is in the store by then.
        let unstored = self.pending.of_scope(scope.id());
        let start = Instant::now();
        let stored = self.pending.store.recall(scope, vector).await;
        self.pending.metrics.stored(StoreOp::Recall, start.elapsed(), stored.is_ok());
        let mut earlier = stored?;
        for record in unstored {
            if earlier.iter().all(|e| e.moment != record.moment) {
                earlier.push(Earlier {
                    moment: record.moment,
                    similarity: similarity::of_vectors(vector, &record.embedded.vector),
                    head: record.embedded.head.clone(),
                    unseen: record.embedded.unseen,
                });
            }
        }
        earlier.sort_by_key(|e| std::cmp::Reverse(e.moment));
        earlier.truncate(self.size);
        Ok(earlier)
    }

    /// Remembers a prompt at once and stores it in the background. Never waits; when too many wait already, or the
    /// recorder is draining, the prompt is dropped and counted.
    pub fn record(&self, record: Record) {
        let record = Arc::new(record);
        self.pending.remember(Arc::clone(&record));
        if self.queue.try_send(Arc::clone(&record)).is_err() {
            self.pending.forget(&record);
            self.pending.metrics.recorded(Recorded::QueueFull);
        }
    }

    /// Stores all that waits, for at most `limit`. Returns how many prompts were lost. Call when nothing records any more.
    pub async fn drain(&self, limit: Duration) -> usize {
        self.closing.cancel();
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            let abort = writer.abort_handle();
            if tokio::time::timeout(limit, writer).await.is_err() {
                abort.abort();
            }
        }
        self.pending.lock().values().map(Vec::len).sum()
    }
}

impl PendingRecords {
    fn lock(&self) -> MutexGuard<'_, HashMap<ScopeId, Vec<Arc<Record>>>> {
        self.by_scope.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of_scope(&self, scope: ScopeId) -> Vec<Arc<Record>> {
        self.lock().get(&scope).cloned().unwrap_or_default()
    }

    fn remember(&self, record: Arc<Record>) {
        self.metrics.pending(1);
        let id = record.scope.id();
        self.lock().entry(id).or_default().push(record);
    }

    fn forget(&self, record: &Record) {
        self.metrics.pending(-1);
        let mut pending = self.lock();
        if let Some(records) = pending.get_mut(&record.scope.id()) {
            records.retain(|r| r.moment != record.moment);
            if records.is_empty() {
                pending.remove(&record.scope.id());
            }
        }
    }

    async fn store(&self, record: Arc<Record>) {
        let start = Instant::now();
        let result = self.store.record(&record).await;
        self.metrics.stored(StoreOp::Record, start.elapsed(), result.is_ok());
        self.metrics.recorded(match &result {
            Ok(()) => Recorded::Stored,
            Err(StoreError::Full) => Recorded::StoreFull,
            Err(_) => Recorded::StoreFailed,
        });
        if let Err(error) = result {
            tracing::debug!(%error, "a prompt was not stored");
        }
        self.forget(&record);
    }
}

async fn write(
    pending: Arc<PendingRecords>,
    mut waiting: mpsc::Receiver<Arc<Record>>,
    closing: CancellationToken,
) {
    let mut writes = JoinSet::new();
    loop {
        let record = tokio::select! {
            biased;
            record = waiting.recv() => record,
            () = closing.cancelled() => {
                // What is in the queue still comes out; nothing more goes in.
                waiting.close();
                waiting.recv().await
            }
        };
        let Some(record) = record else { break };
        while writes.len() >= CONCURRENT_WRITES {
            writes.join_next().await;
        }
        let pending = Arc::clone(&pending);
        writes.spawn(async move { pending.store(record).await });
        while writes.try_join_next().is_some() {}
    }
    writes.join_all().await;
}
