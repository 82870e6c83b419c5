//! What the callers and the worker threads share: the queue with its lock, the pace, and the prompts under way. A worker
//! without a prompt helps another with that one's.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::{
    Cut, EmbedError, Embedded, Embedder, FreeHands,
    cache::{RecentEmbeddings, TextDigest},
    pace::Pace,
    pool::PoolError,
    queue::{Item, Queue, Refused},
};
use crate::metrics::{Dropped, Metrics};

type Reply = oneshot::Sender<Result<Embedded, PoolError>>;

/// A prompt that waits to be embedded.
pub(super) struct Prompt {
    cut: Cut,
    digest: Option<TextDigest>,
    reply: Reply,
}

impl Prompt {
    pub(super) fn new(cut: Cut, digest: Option<TextDigest>, reply: Reply) -> Self {
        Self { cut, digest, reply }
    }
}

type Errand = Box<dyn FnOnce() + Send>;

/// What a worker does next.
enum Task {
    Prompt(Prompt),
    Errand(Errand),
}

struct Inner {
    queue: Queue<Prompt>,
    /// For a worker that finds no prompt.
    errand: Option<Errand>,
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
        let inner =
            Inner { queue: Queue::new(workers, length), errand: None, pace: Pace::default(), stopped: false };
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

    /// `helped`: another worker may have done a part. What one alone needs is what counts when all are busy.
    pub(super) fn took(&self, pieces: usize, time: Duration, helped: bool) {
        let pace = &mut self.lock().pace;
        if helped {
            pace.took_with_help(pieces, time);
        } else {
            pace.took(pieces, time);
        }
    }

    /// Whether a prompt of so many pieces could be done in time.
    pub(super) fn could_take(&self, pieces: usize, deadline: Option<Instant>) -> Result<(), PoolError> {
        let mut inner = self.lock();
        let item = Item { work: (), takes: inner.pace.estimate(pieces), deadline };
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

    pub(super) fn submit(&self, prompt: Prompt, deadline: Option<Instant>) -> Result<(), PoolError> {
        let mut inner = self.lock();
        let item = Item { takes: inner.pace.estimate(prompt.cut.pieces.len()), work: prompt, deadline };
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
        for (item, why) in inner.queue.take_if(|item| worthless(item, now)) {
            self.throw_out(item.work, why);
        }
        self.metrics.queue_length(inner.queue.len());
    }

    fn throw_out(&self, prompt: Prompt, why: Dropped) {
        self.metrics.dropped(why);
        let _ = prompt.reply.send(Err(match why {
            Dropped::NotInTime => PoolError::TooLate,
            Dropped::DeadlinePassed | Dropped::CallerGone => PoolError::DeadlinePassed,
        }));
    }

    /// Leaves an errand for a worker that has nothing to do, if there is one and no other errand waits for it.
    fn lend(&self, errand: Errand) -> bool {
        let mut inner = self.lock();
        let free = inner.queue.is_empty() && inner.queue.has_free_hands();
        if inner.stopped || !free || inner.errand.is_some() {
            return false;
        }
        inner.errand = Some(errand);
        drop(inner);
        self.changed.notify_one();
        true
    }

    /// Waits for the next prompt that is worth an inference, or an errand if there is none, and takes it for worker `number`;
    /// `None` when the pool stops.
    fn next(&self, number: usize) -> Option<Task> {
        let mut inner = self.lock();
        inner.queue.in_hands_of(number, None);
        loop {
            if inner.stopped {
                return None;
            }
            let now = Instant::now();
            while let Some((item, waited)) = inner.queue.pop(now) {
                let why = worthless(&item, now).or_else(|| {
                    // Alone it is done all the same, so that an estimate gone astray mends itself.
                    (!inner.queue.is_empty() && hopeless(&item, now)).then_some(Dropped::NotInTime)
                });
                if let Some(why) = why {
                    self.throw_out(item.work, why);
                    continue;
                }
                self.metrics.waited(waited);
                inner.queue.in_hands_of(number, Some((now, item.takes)));
                self.metrics.queue_length(inner.queue.len());
                return Some(Task::Prompt(item.work));
            }
            self.metrics.queue_length(0);
            if let Some(errand) = inner.errand.take() {
                // Of no length: the time is that of the prompt that it is for.
                inner.queue.in_hands_of(number, Some((now, Duration::ZERO)));
                return Some(Task::Errand(errand));
            }
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn answer(&self, prompt: Prompt, vector: Vec<f32>) {
        let Prompt { cut, digest, reply } = prompt;
        let embedded = cut.with(vector);
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
        inner.errand = None;
        drop(inner);
        self.changed.notify_all();
    }
}

/// The other workers, as one of them sees them.
struct Others {
    shared: Arc<Shared>,
    /// Whether they were asked for help since that was last looked at.
    asked: AtomicBool,
}

impl FreeHands for Others {
    fn lend(&self, errand: Errand) -> bool {
        let lent = self.shared.lend(errand);
        self.asked.fetch_or(lent, Ordering::Relaxed);
        lent
    }
}

/// What one worker does until the pool stops.
pub(super) fn work(shared: &Arc<Shared>, number: usize, embedder: &mut impl Embedder) {
    let others = Arc::new(Others { shared: Arc::clone(shared), asked: AtomicBool::new(false) });
    embedder.may_ask(Arc::<Others>::clone(&others));
    while let Some(task) = shared.next(number) {
        let prompt = match task {
            Task::Prompt(prompt) => prompt,
            Task::Errand(errand) => {
                // Whoever waits for it sees that it has ended, however it did.
                let _ = catch_unwind(AssertUnwindSafe(errand));
                continue;
            }
        };
        let pieces = &prompt.cut.pieces;
        let start = Instant::now();
        let result =
            catch_unwind(AssertUnwindSafe(|| embedder.infer(pieces))).unwrap_or(Err(EmbedError::Panicked));
        let time = start.elapsed();
        let helped = others.asked.swap(false, Ordering::Relaxed);
        match result {
            Ok(vector) => {
                shared.took(pieces.len(), time, helped);
                shared.metrics.inferred(time);
                shared.answer(prompt, vector);
            }
            Err(error) => {
                let _ = prompt.reply.send(Err(error.into()));
            }
        }
    }
}

fn worthless(item: &Item<Prompt>, now: Instant) -> Option<Dropped> {
    if item.work.reply.is_closed() {
        Some(Dropped::CallerGone)
    } else if item.deadline.is_some_and(|deadline| deadline <= now) {
        Some(Dropped::DeadlinePassed)
    } else {
        None
    }
}

/// Its answer would come too late, even if it were begun now.
fn hopeless(item: &Item<Prompt>, now: Instant) -> bool {
    item.deadline.is_some_and(|deadline| deadline.saturating_duration_since(now) < item.takes)
}
