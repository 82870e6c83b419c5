//! One worker thread: takes prompts from the pool's state and embeds them, and assists others when there are none.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use super::{
    Embedder, IdleWorkers,
    error::EmbedError,
    pool_state::{Assistance, Job, PoolState},
};

/// The other workers, as one of them sees them.
struct OtherWorkers {
    pool: Arc<PoolState>,
    /// Whether one of them has assisted since that was last looked at.
    assisted: AtomicBool,
}

impl IdleWorkers for OtherWorkers {
    fn assist(&self, task: Assistance) -> bool {
        let taken = self.pool.assist(task);
        self.assisted.fetch_or(taken, Ordering::Relaxed);
        taken
    }
}

/// What one worker does until the pool stops.
pub(super) fn run(pool: &Arc<PoolState>, number: usize, embedder: &mut impl Embedder) {
    let others = Arc::new(OtherWorkers { pool: Arc::clone(pool), assisted: AtomicBool::new(false) });
    embedder.set_idle_workers(Arc::<OtherWorkers>::clone(&others));
    while let Some(job) = pool.next(number) {
        let prompt = match job {
            Job::Embed(prompt) => prompt,
            Job::Assist(assistance) => {
                // Whoever waits for it sees that it has ended, however it did.
                let _ = catch_unwind(AssertUnwindSafe(assistance));
                continue;
            }
        };
        let token_ids = &prompt.prompt.token_ids;
        let start = Instant::now();
        let result =
            catch_unwind(AssertUnwindSafe(|| embedder.infer(token_ids))).unwrap_or(Err(EmbedError::Panicked));
        let time = start.elapsed();
        let assisted = others.assisted.swap(false, Ordering::Relaxed);
        match result {
            Ok(vector) => {
                pool.add_inference_time(token_ids.len(), time, assisted);
                pool.metrics.inferred(time);
                pool.answer(prompt, vector);
            }
            Err(error) => {
                let _ = prompt.reply.send(Err(error.into()));
            }
        }
    }
}
