//! What the callers and the worker threads of a pool share: the queue with its lock, the inference times, the cache of
//! embeddings, and the counters. A worker that has no prompt helps another worker with its prompt.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::{
    Embedded, TokenisedPrompt,
    cache::{EmbeddingCache, PromptDigest},
    error::PoolError,
    inference_times::InferenceTimes,
    queue::{Item, Queue, Refusal},
};
use crate::metrics::{Dropped, Metrics};

type Reply = oneshot::Sender<Result<Embedded, PoolError>>;

/// A prompt that waits to be embedded, or is under way.
pub(super) struct QueuedPrompt {
    pub(super) prompt: TokenisedPrompt,
    /// `None` where nothing is cached.
    pub(super) digest: Option<PromptDigest>,
    pub(super) reply: Reply,
}

/// A part of another worker's prompt.
pub(super) type Assistance = Box<dyn FnOnce() + Send>;

/// What a worker does next.
pub(super) enum Job {
    Embed(QueuedPrompt),
    Assist(Assistance),
}

struct Inner {
    queue: Queue<QueuedPrompt>,
    /// For a worker that finds no prompt.
    assistance: Option<Assistance>,
    times: InferenceTimes,
    stopped: bool,
}

pub(super) struct PoolState {
    inner: Mutex<Inner>,
    changed: Condvar,
    pub(super) cache: EmbeddingCache,
    pub(super) metrics: Arc<Metrics>,
}

impl PoolState {
    pub(super) fn new(
        workers: usize,
        queue_length: usize,
        cache: EmbeddingCache,
        metrics: Arc<Metrics>,
    ) -> Self {
        let inner = Inner {
            queue: Queue::new(workers, queue_length),
            assistance: None,
            times: InferenceTimes::default(),
            stopped: false,
        };
        Self { inner: Mutex::new(inner), changed: Condvar::new(), cache, metrics }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A worker never panics while it has the lock, and the queue is sound at every line anyway.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long a prompt that came now would wait.
    pub(super) fn delay(&self) -> Duration {
        let mut inner = self.lock();
        self.drop_abandoned(&mut inner);
        inner.queue.delay(Instant::now())
    }

    /// Adds a measured inference time. `assisted`: another worker may have done a part; what one alone needs is what counts
    /// when all are busy.
    pub(super) fn add_inference_time(&self, tokens: usize, time: Duration, assisted: bool) {
        let times = &mut self.lock().times;
        if assisted {
            times.add_assisted(tokens, time);
        } else {
            times.add(tokens, time);
        }
    }

    /// Whether a prompt of `tokens` tokens could be done in time.
    pub(super) fn check(&self, tokens: usize, deadline: Option<Instant>) -> Result<(), PoolError> {
        let mut inner = self.lock();
        let item = Item { work: (), estimate: inner.times.estimate(tokens), deadline };
        self.admit(&mut inner, &item)
    }

    fn admit(&self, inner: &mut Inner, item: &Item<impl Sized>) -> Result<(), PoolError> {
        if inner.stopped {
            return Err(PoolError::Stopped);
        }
        let now = Instant::now();
        let mut answer = inner.queue.check(item, now);
        if answer.is_err() {
            // Some of those before it may be waited for no more.
            self.drop_abandoned(inner);
            answer = inner.queue.check(item, now);
        }
        answer.map_err(|refusal| match refusal {
            Refusal::Full => PoolError::Full { waiting: inner.queue.len() },
            Refusal::TooLate => PoolError::TooLate,
        })
    }

    pub(super) fn submit(&self, prompt: QueuedPrompt, deadline: Option<Instant>) -> Result<(), PoolError> {
        let mut inner = self.lock();
        let estimate = inner.times.estimate(prompt.prompt.token_ids.len());
        let item = Item { estimate, work: prompt, deadline };
        self.admit(&mut inner, &item)?;
        inner.queue.push(item, Instant::now());
        self.metrics.queue_length(inner.queue.len());
        drop(inner);
        self.changed.notify_one();
        Ok(())
    }

    /// Drops the prompts whose callers have gone away or whose deadlines have passed.
    fn drop_abandoned(&self, inner: &mut Inner) {
        let now = Instant::now();
        for (item, why) in inner.queue.take_if(|item| abandoned(item, now)) {
            self.drop_prompt(item.work, why);
        }
        self.metrics.queue_length(inner.queue.len());
    }

    fn drop_prompt(&self, prompt: QueuedPrompt, why: Dropped) {
        self.metrics.dropped(why);
        let _ = prompt.reply.send(Err(match why {
            Dropped::NotInTime => PoolError::TooLate,
            Dropped::DeadlinePassed | Dropped::CallerGone => PoolError::DeadlinePassed,
        }));
    }

    /// Leaves assistance to a worker that has nothing to do, if there is one and nothing else is left to it.
    pub(super) fn assist(&self, assistance: Assistance) -> bool {
        let mut inner = self.lock();
        let idle = inner.queue.is_empty() && inner.queue.has_idle_worker();
        if inner.stopped || !idle || inner.assistance.is_some() {
            return false;
        }
        inner.assistance = Some(assistance);
        drop(inner);
        self.changed.notify_one();
        true
    }

    /// Waits for the next prompt that is worth an inference, and takes it for worker `number`. If no prompt waits, it may be assistance for
    /// another worker. Returns `None` when the pool stops.
    pub(super) fn next(&self, number: usize) -> Option<Job> {
        let mut inner = self.lock();
        inner.queue.set_current(number, None);
        loop {
            if inner.stopped {
                return None;
            }
            let now = Instant::now();
            while let Some((item, waited)) = inner.queue.pop(now) {
                let why = abandoned(&item, now).or_else(|| {
                    // The only prompt in the queue is computed all the same. So an estimate that is much too high gets corrected.
                    (!inner.queue.is_empty() && too_late(&item, now)).then_some(Dropped::NotInTime)
                });
                if let Some(why) = why {
                    self.drop_prompt(item.work, why);
                    continue;
                }
                self.metrics.waited(waited);
                inner.queue.set_current(number, Some((now, item.estimate)));
                self.metrics.queue_length(inner.queue.len());
                return Some(Job::Embed(item.work));
            }
            self.metrics.queue_length(0);
            if let Some(assistance) = inner.assistance.take() {
                // With length zero, because the time counts for the prompt that it assists with.
                inner.queue.set_current(number, Some((now, Duration::ZERO)));
                return Some(Job::Assist(assistance));
            }
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn answer(&self, prompt: QueuedPrompt, vector: Vec<f32>) {
        let QueuedPrompt { prompt, digest, reply } = prompt;
        let embedded = prompt.with_vector(vector);
        if let Some(digest) = digest {
            // Also when the caller has gone: it is paid for, and may be asked for again.
            self.cache.insert(digest, &embedded);
            self.metrics.cache_bytes(self.cache.bytes());
        }
        let _ = reply.send(Ok(embedded));
    }

    pub(super) fn stop(&self) {
        let mut inner = self.lock();
        inner.stopped = true;
        inner.queue.clear();
        inner.assistance = None;
        drop(inner);
        self.changed.notify_all();
    }
}

fn abandoned(item: &Item<QueuedPrompt>, now: Instant) -> Option<Dropped> {
    if item.work.reply.is_closed() {
        Some(Dropped::CallerGone)
    } else if item.deadline.is_some_and(|deadline| deadline <= now) {
        Some(Dropped::DeadlinePassed)
    } else {
        None
    }
}

/// Its answer would come too late, even if it were begun now.
fn too_late(item: &Item<QueuedPrompt>, now: Instant) -> bool {
    item.deadline.is_some_and(|deadline| deadline.saturating_duration_since(now) < item.estimate)
}
