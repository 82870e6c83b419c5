//! What the callers and the worker threads share: the queue with its lock, the pace, and the prompts under way.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::{
    Cut, EmbedError, Embedded, Embedder,
    cache::{RecentEmbeddings, TextDigest},
    pace::Pace,
    pool::PoolError,
    queue::{Item, Queue, Refused},
};
use crate::metrics::{Dropped, Metrics};

type Reply = oneshot::Sender<Result<Embedded, PoolError>>;

/// A prompt that is being embedded, in one inference or several.
pub(super) struct Prompt {
    chunks: Vec<Vec<i64>>,
    digest: Option<TextDigest>,
    deadline: Option<Instant>,
    state: Mutex<State>,
}

struct State {
    /// Everything of the prompt but its chunks; gone, as the reply, when it is answered.
    cut: Option<(Cut, Reply)>,
    vectors: Vec<Option<Vec<f32>>>,
}

impl Prompt {
    pub(super) fn new(
        mut cut: Cut,
        digest: Option<TextDigest>,
        deadline: Option<Instant>,
        reply: Reply,
    ) -> Self {
        let chunks = std::mem::take(&mut cut.chunks);
        let state = State { cut: Some((cut, reply)), vectors: vec![None; chunks.len()] };
        Self { chunks, digest, deadline, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lengths(&self) -> Vec<usize> {
        self.chunks.iter().map(Vec::len).collect()
    }

    /// Nobody waits for it: its caller has gone, or another chunk of it failed.
    fn is_left(&self) -> bool {
        self.lock().cut.as_ref().is_none_or(|(_, reply)| reply.is_closed())
    }

    fn fail(&self, error: PoolError) {
        if let Some((_, reply)) = self.lock().cut.take() {
            let _ = reply.send(Err(error));
        }
    }

    /// Notes the vector of a chunk; with the last one, the prompt is embedded.
    fn done(&self, chunk: usize, vector: Vec<f32>) -> Option<(Embedded, Reply)> {
        let mut state = self.lock();
        *state.vectors.get_mut(chunk)? = Some(vector);
        if state.vectors.iter().any(Option::is_none) {
            return None;
        }
        let vectors = std::mem::take(&mut state.vectors);
        let (cut, reply) = state.cut.take()?;
        Some((cut.join(vectors.into_iter().flatten().collect()), reply))
    }
}

/// One chunk of a prompt, by its place.
pub(super) struct Step {
    prompt: Arc<Prompt>,
    at: usize,
    /// The next chunk waits already.
    followed: bool,
}

struct Inner {
    queue: Queue<Step>,
    pace: Pace,
    stopped: bool,
}

pub(super) struct Shared {
    inner: Mutex<Inner>,
    changed: Condvar,
    pub(super) recent: RecentEmbeddings,
    pub(super) metrics: Arc<Metrics>,
}

impl Shared {
    pub(super) fn new(
        workers: usize,
        length: usize,
        recent: RecentEmbeddings,
        metrics: Arc<Metrics>,
    ) -> Self {
        let inner = Inner { queue: Queue::new(workers, length), pace: Pace::default(), stopped: false };
        Self { inner: Mutex::new(inner), changed: Condvar::new(), recent, metrics }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A worker never panics with the lock in its hands, and the queue is sound at every line anyway.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn delay(&self) -> Duration {
        let mut inner = self.lock();
        self.sweep(&mut inner);
        inner.queue.delay(Instant::now())
    }

    pub(super) fn took(&self, pieces: usize, time: Duration) {
        self.lock().pace.took(pieces, time);
    }

    /// Whether a prompt of chunks of these lengths could be done in time.
    pub(super) fn could_take(&self, lengths: &[usize], deadline: Option<Instant>) -> Result<(), PoolError> {
        let mut inner = self.lock();
        let item = item((), lengths, deadline, &inner.pace);
        self.admit(&mut inner, &item)
    }

    fn admit(&self, inner: &mut Inner, item: &Item<impl Sized>) -> Result<(), PoolError> {
        if inner.stopped {
            return Err(PoolError::Stopped);
        }
        let now = Instant::now();
        let mut answer = inner.queue.could_take(item, now);
        if answer.is_err() {
            // Some of those before it may be waited for no more.
            self.sweep(inner);
            answer = inner.queue.could_take(item, now);
        }
        answer.map_err(|refused| match refused {
            Refused::Full => PoolError::Full { waiting: inner.queue.len() },
            Refused::TooLate => PoolError::TooLate,
        })
    }

    pub(super) fn submit(&self, prompt: Prompt) -> Result<(), PoolError> {
        let mut inner = self.lock();
        let (lengths, deadline) = (prompt.lengths(), prompt.deadline);
        let item =
            item(Step { prompt: Arc::new(prompt), at: 0, followed: false }, &lengths, deadline, &inner.pace);
        self.admit(&mut inner, &item)?;
        inner.queue.push(item, Instant::now());
        self.metrics.queue_length(inner.queue.len());
        drop(inner);
        self.changed.notify_one();
        Ok(())
    }

    /// Throws out what nobody waits for any more.
    fn sweep(&self, inner: &mut Inner) {
        let now = Instant::now();
        inner.queue.retain(|item| match worthless(item, now) {
            Some(why) => {
                self.throw_out(item, why);
                false
            }
            None => true,
        });
        self.metrics.queue_length(inner.queue.len());
    }

    fn throw_out(&self, item: &Item<Step>, why: Dropped) {
        self.metrics.dropped(why);
        item.work.prompt.fail(match why {
            Dropped::NotInTime => PoolError::TooLate,
            Dropped::DeadlinePassed | Dropped::CallerGone => PoolError::DeadlinePassed,
        });
    }

    /// Waits for the next inference that is worth doing, and takes it for worker `number`, whose last was `finished`;
    /// `None` when the pool stops.
    fn next(&self, number: usize, finished: Option<Item<Step>>) -> Option<Item<Step>> {
        let mut inner = self.lock();
        inner.queue.in_hands_of(number, None);
        if let Some(next) = finished.and_then(|item| following(&item, &inner.pace)) {
            inner.queue.push(next, Instant::now());
        }
        loop {
            if inner.stopped {
                return None;
            }
            let now = Instant::now();
            while let Some((mut item, waited)) = inner.queue.pop(now) {
                let why = worthless(&item, now).or_else(|| {
                    // Alone it is done all the same, so that an estimate gone astray mends itself.
                    (!inner.queue.is_empty() && hopeless(&item, now)).then_some(Dropped::NotInTime)
                });
                if let Some(why) = why {
                    self.throw_out(&item, why);
                    continue;
                }
                self.metrics.waited(waited);
                inner.queue.in_hands_of(number, Some((now, item.next)));
                if inner.queue.has_free_hands()
                    && let Some(next) = following(&item, &inner.pace)
                {
                    // Side by side. Else it waits anew when this one is done, and shorter ones get in between.
                    inner.queue.push(next, now);
                    item.work.followed = true;
                    self.changed.notify_one();
                }
                self.metrics.queue_length(inner.queue.len());
                return Some(item);
            }
            self.metrics.queue_length(0);
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn answer(&self, digest: Option<TextDigest>, embedded: Embedded, reply: Reply) {
        if let Some(digest) = digest {
            // Also when the caller has gone: it is paid for, and may be asked for again.
            self.recent.insert(digest, &embedded);
            self.metrics.recent_bytes(self.recent.bytes());
        }
        let _ = reply.send(Ok(embedded));
    }

    pub(super) fn stop(&self) {
        let mut inner = self.lock();
        inner.stopped = true;
        inner.queue.clear();
        drop(inner);
        self.changed.notify_all();
    }
}

/// What one worker does until the pool stops.
pub(super) fn work(shared: &Shared, number: usize, embedder: &mut impl Embedder) {
    let mut finished = None;
    while let Some(item) = shared.next(number, finished.take()) {
        let Step { prompt, at, .. } = &item.work;
        let chunk = prompt.chunks.get(*at).map(Vec::as_slice).unwrap_or_default();
        let start = Instant::now();
        let result =
            catch_unwind(AssertUnwindSafe(|| embedder.infer(chunk))).unwrap_or(Err(EmbedError::Panicked));
        let time = start.elapsed();
        match result {
            Ok(vector) => {
                shared.took(chunk.len(), time);
                shared.metrics.inferred(time);
                if let Some((embedded, reply)) = prompt.done(*at, vector) {
                    shared.answer(prompt.digest, embedded, reply);
                }
                finished = Some(item).filter(|item| !item.work.followed);
            }
            Err(error) => prompt.fail(error.into()),
        }
    }
}

fn item<T>(work: T, lengths: &[usize], deadline: Option<Instant>, pace: &Pace) -> Item<T> {
    let mut times = lengths.iter().map(|pieces| pace.estimate(*pieces));
    let next = times.next().unwrap_or_default();
    Item { work, next, rest: times.fold(Duration::ZERO, Duration::saturating_add), begun: false, deadline }
}

/// The next chunk of the same prompt.
fn following(item: &Item<Step>, pace: &Pace) -> Option<Item<Step>> {
    let at = item.work.at.saturating_add(1);
    let next = pace.estimate(item.work.prompt.chunks.get(at)?.len());
    let work = Step { prompt: Arc::clone(&item.work.prompt), at, followed: false };
    Some(Item { work, next, rest: item.rest.saturating_sub(next), begun: true, deadline: item.deadline })
}

fn worthless(item: &Item<Step>, now: Instant) -> Option<Dropped> {
    if item.work.prompt.is_left() {
        Some(Dropped::CallerGone)
    } else if item.deadline.is_some_and(|deadline| deadline <= now) {
        Some(Dropped::DeadlinePassed)
    } else {
        None
    }
}

/// Its answer would come too late, even if it were begun now.
fn hopeless(item: &Item<Step>, now: Instant) -> bool {
    item.deadline.is_some_and(|deadline| deadline.saturating_duration_since(now) < item.next)
}
