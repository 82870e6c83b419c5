//! Worker threads that embed, one embedder each, behind one bounded queue. Full means refused at once; a job whose
//! caller has gone or whose deadline has passed is dropped before it costs an inference.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::{EmbedError, Embedded, Embedder, ModelError};
use crate::metrics::{Dropped, Metrics};

/// Texts of the warm-up, by the number of times that they are repeated: a few pieces, some tens, the whole window.
const WARM_UP_REPEATS: [usize; 4] = [1, 8, 60, 200];
/// How much of each new measurement goes in the running mean of a job's time: 1/8.
const SMOOTHING: u32 = 8;

/// Why a text was not embedded.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    #[error("{waiting} prompts wait to be embedded, which is all the queue holds (LOOP_QUEUE_LENGTH)")]
    Full { waiting: usize },
    #[error("{waiting} prompts wait to be embedded: this one's turn would come after its deadline")]
    TooLate { waiting: usize },
    #[error("the deadline passed before the prompt's turn came")]
    DeadlinePassed,
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error("the service is shutting down")]
    Stopped,
}

struct Job {
    prompt: String,
    deadline: Option<Instant>,
    reply: oneshot::Sender<Result<Embedded, PoolError>>,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Running mean of the time that a worker spends on a job.
    job_time: Duration,
    stopped: bool,
}

struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    length: usize,
    workers: u32,
    metrics: Arc<Metrics>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // A worker never panics with the lock in its hands, and the queue is sound at every line anyway.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The running worker threads. They end when this is dropped, after the job in hand.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    dimension: usize,
}

impl Pool {
    /// Starts `workers` threads, lets each make its embedder with `make` and warm it up, and returns when all are warm.
    ///
    /// # Errors
    /// The first embedder's failure to be made or warmed up.
    pub fn start<E, F>(
        workers: usize,
        length: usize,
        metrics: Arc<Metrics>,
        make: F,
    ) -> Result<Self, ModelError>
    where
        E: Embedder,
        F: Fn() -> Result<E, ModelError> + Send + Sync + 'static,
    {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            changed: Condvar::new(),
            length,
            workers: u32::try_from(workers).unwrap_or(u32::MAX).max(1),
            metrics,
        });
        let make = Arc::new(make);
        let (report, reports) = mpsc::channel();
        let mut pool =
            Self { shared: Arc::clone(&shared), threads: Vec::with_capacity(workers), dimension: 0 };
        for number in 0..workers {
            let (shared, make, report) = (Arc::clone(&shared), Arc::clone(&make), report.clone());
            let thread =
                std::thread::Builder::new().name(format!("embed-{number}")).spawn(move || {
                    match warm(&*make) {
                        Ok(mut embedder) => {
                            let _ = report.send(Ok(embedder.dimension()));
                            drop((report, make));
                            work(&shared, &mut embedder);
                        }
                        Err(e) => {
                            let _ = report.send(Err(e));
                        }
                    }
                })?;
            pool.threads.push(thread);
        }
        drop(report);
        for _ in 0..workers {
            pool.dimension = reports.recv().map_err(|_| ModelError::WorkerGone)??;
        }
        Ok(pool)
    }

    /// Components of every vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Embeds `prompt` when its turn comes. Dropping the future withdraws it.
    ///
    /// # Errors
    /// At once when there is no room, or no chance to meet the deadline; later when the deadline passes or the model fails.
    pub async fn embed(&self, prompt: String, deadline: Option<Instant>) -> Result<Embedded, PoolError> {
        let (reply, answer) = oneshot::channel();
        self.submit(Job { prompt, deadline, reply })?;
        let answer = async { answer.await.unwrap_or(Err(PoolError::Stopped)) };
        match deadline {
            Some(deadline) => tokio::time::timeout_at(deadline.into(), answer)
                .await
                .unwrap_or(Err(PoolError::DeadlinePassed)),
            None => answer.await,
        }
    }

    fn submit(&self, job: Job) -> Result<(), PoolError> {
        let mut queue = self.shared.lock();
        if queue.stopped {
            return Err(PoolError::Stopped);
        }
        if queue.jobs.len() >= self.shared.length {
            self.shared.sweep(&mut queue);
        }
        let waiting = queue.jobs.len();
        if waiting >= self.shared.length {
            return Err(PoolError::Full { waiting });
        }
        let ahead = u32::try_from(waiting).unwrap_or(u32::MAX);
        let turn = queue.job_time.saturating_mul(ahead).checked_div(self.shared.workers).unwrap_or_default();
        let left = job.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        // With nobody ahead a job is always taken, so that a mean gone astray mends itself.
        if waiting > 0 && left.is_some_and(|left| turn >= left) {
            return Err(PoolError::TooLate { waiting });
        }
        queue.jobs.push_back(job);
        self.shared.metrics.queue_length(queue.jobs.len());
        drop(queue);
        self.shared.changed.notify_one();
        Ok(())
    }
}

impl Shared {
    /// Throws out the jobs that nobody waits for any more.
    fn sweep(&self, queue: &mut Queue) {
        let now = Instant::now();
        queue.jobs.retain(|job| match worthless(job, now) {
            Some(why) => {
                self.metrics.dropped(why);
                false
            }
            None => true,
        });
    }

    /// The next job worth doing; `None` when the pool stops.
    fn next(&self) -> Option<Job> {
        let mut queue = self.lock();
        loop {
            if queue.stopped {
                return None;
            }
            while let Some(job) = queue.jobs.pop_front() {
                self.metrics.queue_length(queue.jobs.len());
                match worthless(&job, Instant::now()) {
                    None => return Some(job),
                    Some(why) => {
                        self.metrics.dropped(why);
                        let _ = job.reply.send(Err(PoolError::DeadlinePassed));
                    }
                }
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn took(&self, time: Duration) {
        let mut queue = self.lock();
        let mean = queue.job_time;
        queue.job_time = mean
            .saturating_sub(mean.checked_div(SMOOTHING).unwrap_or_default())
            .saturating_add(time.checked_div(SMOOTHING).unwrap_or_default());
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut queue = self.shared.lock();
        queue.stopped = true;
        queue.jobs.clear();
        drop(queue);
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn worthless(job: &Job, now: Instant) -> Option<Dropped> {
    if job.reply.is_closed() {
        Some(Dropped::CallerGone)
    } else if job.deadline.is_some_and(|deadline| deadline <= now) {
        Some(Dropped::DeadlinePassed)
    } else {
        None
    }
}

fn warm<E: Embedder>(make: &impl Fn() -> Result<E, ModelError>) -> Result<E, ModelError> {
    let mut embedder = make()?;
    for repeats in WARM_UP_REPEATS {
        embedder.embed(&"Please try this again. ".repeat(repeats))?;
    }
    Ok(embedder)
}

fn work(shared: &Shared, embedder: &mut impl Embedder) {
    while let Some(job) = shared.next() {
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| embedder.embed(&job.prompt)))
            .unwrap_or(Err(EmbedError::Panicked));
        shared.took(start.elapsed());
        let result = result.map_err(PoolError::from).map(|(embedded, timing)| {
            shared.metrics.embedded(timing);
            embedded
        });
        let _ = job.reply.send(result);
    }
}
