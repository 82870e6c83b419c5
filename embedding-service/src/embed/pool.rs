//! Worker threads that embed, one embedder each, behind one bounded queue. What cannot be done in time is
//! refused at once; what nobody waits for any more is dropped before it costs an inference.

use std::{
    sync::{Arc, mpsc},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;
use tracing::{Instrument as _, info_span};

use super::{
    Cutter, EmbedError, Embedded, Embedder, ModelError,
    cache::{RecentEmbeddings, TextDigest},
    work::{Prompt, Shared, work},
};
use crate::{
    metrics::{Lookup, Metrics},
    trace,
};

/// Texts of the warm-up, by the number of times that they are repeated: from a few pieces to the whole window. They are
/// the first measurements of how long an inference takes.
const WARM_UP_REPEATS: [usize; 6] = [1, 4, 10, 22, 60, 200];
/// Rounds of the warm-up: the first is slower than what follows and is not counted.
const WARM_UP_ROUNDS: usize = 2;
/// Cutting a longer prompt than this, in bytes, is left to a thread that may be busy for a while.
const LONG: usize = 64 << 10;

/// Why a text was not embedded.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    #[error("{waiting} prompts wait to be embedded, which is all the queue holds (LOOP_QUEUE_LENGTH)")]
    Full { waiting: usize },
    #[error("there is too much to do: this prompt could not be embedded before its deadline")]
    TooLate,
    #[error("the deadline passed before the prompt was embedded")]
    DeadlinePassed,
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error("the service is shutting down")]
    Stopped,
}

/// How large a pool is.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub workers: usize,
    /// Prompts that may wait.
    pub queue: usize,
    /// Bytes of recent embeddings that are kept; 0: none.
    pub recent_bytes: usize,
}

/// The running worker threads. They end when this is dropped, after the inference in hand.
pub struct Pool {
    shared: Arc<Shared>,
    cutter: Arc<dyn Cutter>,
    threads: Vec<JoinHandle<()>>,
    dimension: usize,
}

/// What a worker tells when it is warm.
struct Warm {
    dimension: usize,
    cutter: Arc<dyn Cutter>,
}

impl Pool {
    /// Starts the worker threads, lets each make its embedder with `make` and warm it up, and returns when all are warm.
    ///
    /// # Errors
    /// The first embedder's failure to be made or warmed up.
    pub fn start<E, F>(size: Size, metrics: Arc<Metrics>, make: F) -> Result<Self, ModelError>
    where
        E: Embedder,
        F: Fn() -> Result<E, ModelError> + Send + Sync + 'static,
    {
        let recent = RecentEmbeddings::new(size.recent_bytes);
        let shared = Arc::new(Shared::new(size.workers, size.queue, recent, metrics));
        // Dropped on the way out when one fails, which ends the others.
        let mut threads = Threads { shared: Arc::clone(&shared), handles: Vec::with_capacity(size.workers) };
        let make = Arc::new(make);
        let (report, reports) = mpsc::channel();
        for number in 0..size.workers {
            let (shared, make, report) = (Arc::clone(&shared), Arc::clone(&make), report.clone());
            let run =
                move || match make().and_then(|mut embedder| Ok((warm(&shared, &mut embedder)?, embedder))) {
                    Ok((warm, mut embedder)) => {
                        let _ = report.send(Ok(warm));
                        drop((report, make));
                        work(&shared, number, &mut embedder);
                    }
                    Err(e) => {
                        let _ = report.send(Err(e));
                    }
                };
            threads.handles.push(std::thread::Builder::new().name(format!("embed-{number}")).spawn(run)?);
        }
        drop(report);
        let mut first = None;
        for _ in 0..size.workers {
            let warm = reports.recv().map_err(|_| ModelError::WorkerGone)??;
            first.get_or_insert(warm);
        }
        let Warm { dimension, cutter } = first.ok_or(ModelError::WorkerGone)?;
        Ok(Self { cutter, dimension, threads: std::mem::take(&mut threads.handles), shared })
    }

    /// Components of every vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How long a prompt that came now would wait for its turn.
    #[must_use]
    pub fn delay(&self) -> Duration {
        self.shared.delay()
    }

    /// Embeds `prompt` when its turn comes, or finds it among the recent ones. Dropping the future withdraws it.
    ///
    /// # Errors
    /// At once when there is no room, or no chance to meet the deadline; later when the deadline passes or the model fails.
    pub async fn embed(&self, prompt: String, deadline: Option<Instant>) -> Result<Embedded, PoolError> {
        let digest = self.shared.recent.is_on().then(|| TextDigest::of(&prompt));
        if let Some(digest) = &digest {
            let found = self.shared.recent.get(digest);
            self.shared.metrics.looked_up(if found.is_some() { Lookup::Hit } else { Lookup::Miss });
            if let Some(found) = found {
                return Ok(found);
            }
        }
        // Cutting costs more than refusing.
        self.shared.could_take(self.cutter.at_least(&prompt), deadline)?;
        let (reply, answer) = oneshot::channel();
        let cut = self.cut(prompt).instrument(info_span!(target: trace::TARGET, "tokenise")).await?;
        let span = info_span!(
            target: trace::TARGET,
            "infer",
            gen_ai.operation.name = "embeddings",
            gen_ai.usage.input_tokens = cut.pieces.len(),
        );
        self.shared.submit(Prompt::new(cut, digest, reply), deadline)?;
        let answer = async { answer.await.unwrap_or(Err(PoolError::Stopped)) }.instrument(span);
        match deadline {
            Some(deadline) => tokio::time::timeout_at(deadline.into(), answer)
                .await
                .unwrap_or(Err(PoolError::DeadlinePassed)),
            None => answer.await,
        }
    }

    async fn cut(&self, prompt: String) -> Result<super::Cut, PoolError> {
        let start = Instant::now();
        let cut = if prompt.len() > LONG {
            let cutter = Arc::clone(&self.cutter);
            let cut = tokio::task::spawn_blocking(move || cutter.cut(&prompt));
            cut.await.map_err(|_| EmbedError::Panicked)?
        } else {
            self.cutter.cut(&prompt)
        };
        self.shared.metrics.tokenised(start.elapsed());
        Ok(cut?)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        drop(Threads { shared: Arc::clone(&self.shared), handles: std::mem::take(&mut self.threads) });
    }
}

/// Ends and joins the threads when it is dropped.
struct Threads {
    shared: Arc<Shared>,
    handles: Vec<JoinHandle<()>>,
}

impl Drop for Threads {
    fn drop(&mut self) {
        if self.handles.is_empty() {
            return;
        }
        self.shared.stop();
        for thread in self.handles.drain(..) {
            let _ = thread.join();
        }
    }
}

fn warm<E: Embedder>(shared: &Shared, embedder: &mut E) -> Result<Warm, ModelError> {
    let cutter = embedder.cutter();
    for round in 0..WARM_UP_ROUNDS {
        for repeats in WARM_UP_REPEATS {
            let cut = cutter.cut(&"Please try this again. ".repeat(repeats))?;
            let start = Instant::now();
            embedder.infer(&cut.pieces)?;
            if round > 0 {
                shared.took(cut.pieces.len(), start.elapsed(), false);
            }
        }
    }
    Ok(Warm { dimension: embedder.dimension(), cutter })
}
