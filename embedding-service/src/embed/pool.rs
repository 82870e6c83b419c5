//! Worker threads that embed, one embedder each, behind one bounded queue. A prompt that cannot be embedded in time is
//! refused at once. A prompt whose caller has gone away is dropped before it is embedded.

use std::{
    sync::{Arc, mpsc},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;
use tracing::{Instrument as _, info_span};

use super::{
    Embedded, Embedder, TokenisedPrompt, Tokeniser,
    cache::{EmbeddingCache, PromptDigest},
    error::{EmbedError, ModelError, PoolError},
    pool_state::{PoolState, QueuedPrompt},
    worker,
};
use crate::{
    metrics::{CacheLookup, Metrics},
    trace,
};

/// Texts of the warm-up, by the number of times that they are repeated: from a few tokens to as many as the model
/// reads. They are the first measurements of how long an inference takes.
const WARM_UP_REPEATS: [usize; 6] = [1, 4, 10, 22, 60, 200];
/// Rounds of the warm-up: the first is slower than what follows and is not counted.
const WARM_UP_ROUNDS: usize = 2;
/// Tokenising a longer prompt than this, in bytes, is left to a thread that may be busy for a while.
const BLOCKING_BYTES: usize = 64 << 10;

/// How large a pool is.
#[derive(Clone, Copy, Debug)]
pub struct PoolOptions {
    pub workers: usize,
    /// Prompts that may wait.
    pub queue_length: usize,
    /// Bytes of recent embeddings that are stored; 0: none.
    pub cache_bytes: usize,
}

/// The running worker threads. They end when this is dropped, after the inference under way.
pub struct Pool {
    state: Arc<PoolState>,
    tokeniser: Arc<dyn Tokeniser>,
    threads: Vec<JoinHandle<()>>,
    dimension: usize,
}

/// What a worker says of its model when it is warm.
struct ModelFacts {
    dimension: usize,
    tokeniser: Arc<dyn Tokeniser>,
}

impl Pool {
    /// Starts the worker threads, lets each make its embedder with `make` and warm it up, and returns when all are warm.
    ///
    /// # Errors
    /// The first embedder's failure to be made or warmed up.
    pub fn start<E, F>(options: PoolOptions, metrics: Arc<Metrics>, make: F) -> Result<Self, ModelError>
    where
        E: Embedder,
        F: Fn() -> Result<E, ModelError> + Send + Sync + 'static,
    {
        let cache = EmbeddingCache::new(options.cache_bytes);
        let state = Arc::new(PoolState::new(options.workers, options.queue_length, cache, metrics));
        // Dropped on the way out when one fails, which ends the others.
        let mut threads = Threads { state: Arc::clone(&state), handles: Vec::with_capacity(options.workers) };
        let make = Arc::new(make);
        let (report, reports) = mpsc::channel();
        for number in 0..options.workers {
            let (state, make, report) = (Arc::clone(&state), Arc::clone(&make), report.clone());
            let run = move || match make()
                .and_then(|mut embedder| Ok((warm_up(&state, &mut embedder)?, embedder)))
            {
                Ok((facts, mut embedder)) => {
                    let _ = report.send(Ok(facts));
                    drop((report, make));
                    worker::run(&state, number, &mut embedder);
                }
                Err(e) => {
                    let _ = report.send(Err(e));
                }
            };
            threads.handles.push(std::thread::Builder::new().name(format!("embed-{number}")).spawn(run)?);
        }
        drop(report);
        let mut first = None;
        for _ in 0..options.workers {
            let facts = reports.recv().map_err(|_| ModelError::WorkerGone)??;
            first.get_or_insert(facts);
        }
        let ModelFacts { dimension, tokeniser } = first.ok_or(ModelError::WorkerGone)?;
        Ok(Self { tokeniser, dimension, threads: std::mem::take(&mut threads.handles), state })
    }

    /// Components of every vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How long a prompt that came now would wait for a worker.
    #[must_use]
    pub fn delay(&self) -> Duration {
        self.state.delay()
    }

    /// The embedding of `prompt`, if it is among the recent ones.
    #[must_use]
    pub fn recent(&self, prompt: &str) -> Option<Embedded> {
        self.state.cache.get(&PromptDigest::of(prompt))
    }

    /// The embedding of a prompt whose vector is known: without an inference. `None` if the vector is of another model.
    ///
    /// # Errors
    /// When the tokeniser fails.
    pub async fn with_vector(
        &self,
        prompt: String,
        vector: Arc<[f32]>,
    ) -> Result<Option<Embedded>, PoolError> {
        if vector.len() != self.dimension {
            return Ok(None);
        }
        let TokenisedPrompt { head, unseen, .. } = self.tokenise(prompt).await?;
        Ok(Some(Embedded { vector, head, unseen }))
    }

    /// Embeds `prompt` when a worker takes it, or finds it among the recent ones. Dropping the future withdraws it.
    ///
    /// # Errors
    /// At once when there is no room, or no chance to meet the deadline; later when the deadline passes or the model fails.
    pub async fn embed(&self, prompt: String, deadline: Option<Instant>) -> Result<Embedded, PoolError> {
        let digest = self.state.cache.is_on().then(|| PromptDigest::of(&prompt));
        if let Some(digest) = &digest {
            let found = self.state.cache.get(digest);
            let outcome = if found.is_some() { CacheLookup::Hit } else { CacheLookup::Miss };
            self.state.metrics.cache_looked_up(outcome);
            if let Some(found) = found {
                return Ok(found);
            }
        }
        // Tokenising costs more than refusing.
        self.state.check(self.tokeniser.least_tokens(&prompt), deadline)?;
        let (reply, answer) = oneshot::channel();
        let prompt = self.tokenise(prompt).instrument(info_span!(target: trace::TARGET, "tokenise")).await?;
        let span = info_span!(
            target: trace::TARGET,
            "infer",
            gen_ai.operation.name = "embeddings",
            gen_ai.usage.input_tokens = prompt.token_ids.len(),
        );
        self.state.submit(QueuedPrompt { prompt, digest, reply }, deadline)?;
        let answer = async { answer.await.unwrap_or(Err(PoolError::Stopped)) }.instrument(span);
        match deadline {
            Some(deadline) => tokio::time::timeout_at(deadline.into(), answer)
                .await
                .unwrap_or(Err(PoolError::DeadlinePassed)),
            None => answer.await,
        }
    }

    async fn tokenise(&self, prompt: String) -> Result<TokenisedPrompt, PoolError> {
        let start = Instant::now();
        let tokenised = if prompt.len() > BLOCKING_BYTES {
            let tokeniser = Arc::clone(&self.tokeniser);
            let tokenising = tokio::task::spawn_blocking(move || tokeniser.tokenise(&prompt));
            tokenising.await.map_err(|_| EmbedError::Panicked)?
        } else {
            self.tokeniser.tokenise(&prompt)
        };
        self.state.metrics.tokenised(start.elapsed());
        Ok(tokenised?)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        drop(Threads { state: Arc::clone(&self.state), handles: std::mem::take(&mut self.threads) });
    }
}

/// Ends and joins the threads when it is dropped.
struct Threads {
    state: Arc<PoolState>,
    handles: Vec<JoinHandle<()>>,
}

impl Drop for Threads {
    fn drop(&mut self) {
        if self.handles.is_empty() {
            return;
        }
        self.state.stop();
        for thread in self.handles.drain(..) {
            let _ = thread.join();
        }
    }
}

fn warm_up<E: Embedder>(state: &PoolState, embedder: &mut E) -> Result<ModelFacts, ModelError> {
    let tokeniser = embedder.tokeniser();
    for round in 0..WARM_UP_ROUNDS {
        for repeats in WARM_UP_REPEATS {
            let prompt = tokeniser.tokenise(&"Please try this again. ".repeat(repeats))?;
            let start = Instant::now();
            embedder.infer(&prompt.token_ids)?;
            if round > 0 {
                state.add_inference_time(prompt.token_ids.len(), start.elapsed(), false);
            }
        }
    }
    Ok(ModelFacts { dimension: embedder.dimension(), tokeniser })
}
