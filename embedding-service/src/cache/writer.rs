//! What happens to a provider's answer after the call that brought it: it is stored, and compared with the stored answer that had come near.
//! The queue is bounded: what does not fit is dropped and counted. An answer that is taken but not yet stored is found by the same text
//! already. So an agent that asks again right after the answer gets it from the cache.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use sentinel_proto::v1::CachedAnswer;
use tokio::{
    sync::mpsc,
    task::{JoinHandle, JoinSet},
};
use tokio_util::sync::CancellationToken;

use super::{
    AnswerStore, Entry, EntryId, Owner, Partition, StoredQuestion,
    answer::{self, Likeness, SAME_ANSWER},
    candidate::Candidate,
    flight::Flights,
    learning::{LEAST_SIMILARITY, Observations},
    now,
};
use crate::{
    embed::{error::PoolError, pool::Pool},
    metrics::{AnswerStored, Learned, Metrics},
    similarity,
    store::StoreError,
};

/// Answers that may wait, and the bytes that they may take.
const QUEUE_LENGTH: usize = 1024;
const QUEUE_BYTES: usize = 64 << 20;
/// Answers that are stored at the same time. Each may need an inference, and requests have priority.
const CONCURRENT: usize = 2;
/// The text of a longer prompt is not stored, so only the same text finds its answer.
const MAX_ASKED: usize = 16 << 10;
/// How often observations are written again when another replica has changed those of the same entry meanwhile.
const ATTEMPTS: usize = 3;

/// An answer to be stored.
#[derive(Clone, Debug)]
pub struct Answered {
    pub partition: Partition,
    pub owner: Owner,
    pub prompt: String,
    pub answer: CachedAnswer,
    /// The stored answer that had come near.
    pub candidate: Option<Candidate>,
    /// Whether that answer would have been served, if the request had not been a sample.
    pub was_served: bool,
    pub ttl: Duration,
}

type Key = (Partition, EntryId);

/// An answer that is taken.
struct AnswerToWrite {
    answered: Answered,
    /// The entry without its text: this is how the same text finds it until it is stored.
    entry: Arc<Entry>,
}

impl Answered {
    fn bytes(&self) -> usize {
        self.prompt.len().saturating_add(answer::length(&self.answer))
    }

    fn taken(self) -> AnswerToWrite {
        let entry = Entry {
            partition: self.partition,
            id: EntryId::of(&self.prompt),
            owner: self.owner.clone(),
            asked: None,
            answer: answer::encode(&self.answer),
            stored_at: now(),
            observations: Observations::default(),
        };
        AnswerToWrite { answered: self, entry: Arc::new(entry) }
    }
}

impl AnswerToWrite {
    fn key(&self) -> Key {
        (self.entry.partition, self.entry.id)
    }
}

/// The background work.
pub struct Writer {
    queue: mpsc::Sender<AnswerToWrite>,
    worker: Arc<WriterTask>,
    closing: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

struct WriterTask {
    store: Arc<dyn AnswerStore>,
    pool: Arc<Pool>,
    flights: Arc<Flights>,
    metrics: Arc<Metrics>,
    /// Whether texts and vectors of prompts are stored.
    store_prompt_text: bool,
    /// Whether counting the entries costs nothing.
    is_counted: bool,
    pending: Mutex<HashMap<Key, Arc<Entry>>>,
    waiting: AtomicUsize,
    bytes: AtomicUsize,
}

impl Writer {
    /// Starts the background task; must be called inside a tokio runtime.
    #[must_use]
    pub fn start(
        store: Arc<dyn AnswerStore>,
        pool: Arc<Pool>,
        flights: Arc<Flights>,
        metrics: Arc<Metrics>,
        store_prompt_text: bool,
        is_counted: bool,
    ) -> Self {
        let (waiting, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let worker = WriterTask {
            store,
            pool,
            flights,
            metrics,
            store_prompt_text,
            is_counted,
            pending: Mutex::default(),
            waiting,
            bytes,
        };
        let worker = Arc::new(worker);
        let (queue, answers) = mpsc::channel(QUEUE_LENGTH);
        let closing = CancellationToken::new();
        let task = tokio::spawn(work(Arc::clone(&worker), answers, closing.clone()));
        Self { queue, worker, closing, task: Mutex::new(Some(task)) }
    }

    /// Takes an answer, if there is room for it. Never waits.
    pub fn take(&self, answered: Answered) -> bool {
        let (bytes, taken) = (answered.bytes(), answered.taken());
        let entry = Arc::clone(&taken.entry);
        let before = self.worker.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.worker.waiting.fetch_add(1, Ordering::Relaxed);
        let fits = before.saturating_add(bytes) <= QUEUE_BYTES;
        if fits {
            self.worker.remember(&entry);
            if self.queue.try_send(taken).is_ok() {
                return true;
            }
            self.worker.forget(&entry);
        }
        self.worker.done(bytes);
        self.worker.flights.land((entry.partition, entry.id));
        self.worker.metrics.answers.stored(AnswerStored::QueueFull);
        false
    }

    /// The answer to the very text, if it is not stored yet.
    #[must_use]
    pub fn pending(&self, key: Key) -> Option<Arc<Entry>> {
        self.worker.lock().get(&key).cloned()
    }

    /// Stores all that waits, for at most `limit`. Returns how many answers were lost.
    pub async fn drain(&self, limit: Duration) -> usize {
        self.closing.cancel();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            let abort = task.abort_handle();
            if tokio::time::timeout(limit, task).await.is_err() {
                abort.abort();
            }
        }
        self.worker.waiting.load(Ordering::Relaxed)
    }
}

async fn work(
    worker: Arc<WriterTask>,
    mut answers: mpsc::Receiver<AnswerToWrite>,
    closing: CancellationToken,
) {
    let mut under_way = JoinSet::new();
    loop {
        let taken = tokio::select! {
            biased;
            taken = answers.recv() => taken,
            () = closing.cancelled() => {
                // What is in the queue still comes out; nothing more goes in.
                answers.close();
                answers.recv().await
            }
        };
        let Some(taken) = taken else { break };
        while under_way.len() >= CONCURRENT {
            under_way.join_next().await;
        }
        let worker = Arc::clone(&worker);
        under_way.spawn(async move {
            worker.write(&taken).await;
            worker.done(taken.answered.bytes());
        });
        while under_way.try_join_next().is_some() {}
    }
    under_way.join_all().await;
}

impl WriterTask {
    fn done(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Arc<Entry>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, entry: &Arc<Entry>) {
        self.lock().insert((entry.partition, entry.id), Arc::clone(entry));
    }

    /// Unless a later answer has taken its place.
    fn forget(&self, entry: &Arc<Entry>) {
        let (mut pending, key) = (self.lock(), (entry.partition, entry.id));
        if pending.get(&key).is_some_and(|latest| Arc::ptr_eq(latest, entry)) {
            pending.remove(&key);
        }
    }

    async fn write(&self, taken: &AnswerToWrite) {
        let answered = &taken.answered;
        // It must be read first, because the new answer may replace it.
        let near = match answered.candidate {
            Some(candidate) => self.entry_of(answered.partition, candidate).await,
            None => None,
        };
        let stored = self.store(taken).await;
        self.forget(&taken.entry);
        self.flights.land(taken.key());
        if let Err(error) = &stored {
            tracing::debug!(%error, "an answer was not stored");
        }
        self.metrics.answers.stored(match &stored {
            Ok(entry) if entry.asked.is_some() => AnswerStored::Stored,
            Ok(_) => AnswerStored::ExactOnly,
            Err(StoreError::Full) => AnswerStored::StoreFull,
            Err(_) => AnswerStored::StoreFailed,
        });
        if self.is_counted
            && let Ok(number) = self.store.count().await
        {
            self.metrics.answers.entries(number);
        }
        if answered.candidate.is_some() {
            let verdict = self.learn(answered, near, stored.ok()).await;
            self.metrics.answers.learned(verdict);
        }
    }

    async fn entry_of(&self, partition: Partition, candidate: Candidate) -> Option<Entry> {
        let entry = self.store.exact(partition, candidate.id).await.ok()??;
        (entry.stored_at == candidate.stored_at).then_some(entry)
    }

    async fn store(&self, taken: &AnswerToWrite) -> Result<Entry, StoreError> {
        let (partition, id) = taken.key();
        // What was learned of the answer that is replaced is kept: it is about the same text.
        let before = self.store.exact(partition, id).await.ok().flatten();
        let entry = Entry {
            asked: self.asked(&taken.answered.prompt).await,
            observations: before.map(|before| before.observations).unwrap_or_default(),
            ..Entry::clone(&taken.entry)
        };
        self.store.store(&entry, taken.answered.ttl).await?;
        Ok(entry)
    }

    /// The text with its vector. The look-up has embedded it, so the vector is among the recent embeddings.
    async fn asked(&self, prompt: &str) -> Option<StoredQuestion> {
        if !self.store_prompt_text || prompt.len() > MAX_ASKED {
            return None;
        }
        let embedded = self.pool.embed(prompt.to_owned(), None).await;
        let embedded =
            embedded.inspect_err(|error| tracing::debug!(%error, "a prompt was not embedded")).ok()?;
        Some(StoredQuestion { text: prompt.to_owned(), vector: embedded.vector, unseen: embedded.unseen })
    }

    async fn learn(&self, answered: &Answered, near: Option<Entry>, stored: Option<Entry>) -> Learned {
        let Some(near) = near else { return Learned::Nothing };
        let Some(similarity) = answered.candidate.map(|candidate| candidate.similarity) else {
            return Learned::Nothing;
        };
        let Some(cached) = answer::decode(&near.answer) else { return Learned::Nothing };
        // Whether other calls would do as well cannot be told.
        if cached.called.is_some() || answered.answer.called.is_some() {
            return Learned::Nothing;
        }
        let Ok(is_right) = self.say_the_same(&cached.text, &answered.answer.text).await else {
            return Learned::Nothing;
        };
        let of = stored.filter(|stored| stored.id == near.id).unwrap_or(near);
        if similarity < LEAST_SIMILARITY || !self.note(of, similarity, is_right).await {
            return Learned::Nothing;
        }
        match (answered.was_served, is_right) {
            (false, true) => Learned::Right,
            (false, false) => Learned::Wrong,
            (true, true) => Learned::ServedRight,
            (true, false) => Learned::ServedWrong,
        }
    }

    async fn say_the_same(&self, one: &str, other: &str) -> Result<bool, PoolError> {
        match answer::likeness(one, other) {
            Likeness::Same => Ok(true),
            Likeness::Opposed => Ok(false),
            Likeness::Unknown => {
                let one = self.pool.embed(one.to_owned(), None).await?;
                let other = self.pool.embed(other.to_owned(), None).await?;
                Ok(similarity::of_vectors(&one.vector, &other.vector) >= SAME_ANSWER)
            }
        }
    }

    async fn note(&self, mut entry: Entry, similarity: f64, is_right: bool) -> bool {
        for _ in 0..ATTEMPTS {
            let mut observations = entry.observations.clone();
            observations.note(similarity, is_right);
            match self.store.observe(&entry, &observations).await {
                Ok(true) => return true,
                Ok(false) => {}
                Err(_) => return false,
            }
            let again = self.store.exact(entry.partition, entry.id).await.ok().flatten();
            match again.filter(|again| again.stored_at == entry.stored_at) {
                Some(again) => entry = again,
                None => return false,
            }
        }
        false
    }
}
