//! Which store of answers is used, and opening it. A Redis that cannot be used for it yet is no reason not to start: it is asked
//! again and again, and until then there is no response cache.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::task::JoinHandle;

use super::{
    AnswerStore, Entry, EntryId, Erase, Near, Partition, learning::Observations, memory::MemoryAnswers,
    options::CacheOptions, redis::RedisAnswers,
};
use crate::{
    embed::model_id::ModelId,
    history::open::StoreOptions,
    store::{StoreError, redis::options::RedisOptions},
};

/// First and longest pause between attempts; each is twice the last.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Opens the store for vectors of `model`, which have `dimension` components.
pub async fn open(
    store: &StoreOptions,
    cache: &CacheOptions,
    model: ModelId,
    dimension: usize,
) -> Arc<dyn AnswerStore> {
    match store {
        StoreOptions::Memory { .. } => Arc::new(MemoryAnswers::new(cache.ttl, cache.max_bytes)),
        StoreOptions::Redis(options) => Arc::new(LateRedis::open(options, model, dimension, cache.ttl).await),
    }
}

/// Answers in Redis, as soon as it can be used.
struct LateRedis {
    store: Arc<OnceLock<RedisAnswers>>,
    attempts: Option<JoinHandle<()>>,
}

impl LateRedis {
    async fn open(options: &RedisOptions, model: ModelId, dimension: usize, ttl: Duration) -> Self {
        let store = Arc::new(OnceLock::new());
        match RedisAnswers::connect(options, model, dimension, ttl).await {
            Ok(redis) => {
                let _ = store.set(redis);
                Self { store, attempts: None }
            }
            Err(error) => {
                tracing::warn!(
                    %error,
                    "the response cache is not usable yet; it is tried again. LOOP_CACHE=false does without it"
                );
                let (options, late) = (options.clone(), Arc::clone(&store));
                let attempts = tokio::spawn(async move {
                    let (mut pause, longest) = PAUSES;
                    loop {
                        tokio::time::sleep(pause).await;
                        if let Ok(redis) = RedisAnswers::connect(&options, model, dimension, ttl).await {
                            tracing::info!("the response cache is usable");
                            let _ = late.set(redis);
                            return;
                        }
                        pause = pause.saturating_mul(2).min(longest);
                    }
                });
                Self { store, attempts: Some(attempts) }
            }
        }
    }

    fn store(&self) -> Result<&RedisAnswers, StoreError> {
        let is_late =
            || StoreError::Unreachable("it could not be used for the response cache yet".to_owned());
        self.store.get().ok_or_else(is_late)
    }
}

impl Drop for LateRedis {
    fn drop(&mut self) {
        if let Some(attempts) = &self.attempts {
            attempts.abort();
        }
    }
}

#[tonic::async_trait]
impl AnswerStore for LateRedis {
    async fn exact(&self, partition: Partition, id: EntryId) -> Result<Option<Entry>, StoreError> {
        self.store()?.exact(partition, id).await
    }

    async fn nearest(
        &self,
        partition: Partition,
        vector: &[f32],
        count: usize,
    ) -> Result<Vec<Near>, StoreError> {
        self.store()?.nearest(partition, vector, count).await
    }

    async fn store(&self, entry: &Entry, ttl: Duration) -> Result<(), StoreError> {
        self.store()?.store(entry, ttl).await
    }

    async fn observe(&self, entry: &Entry, observations: &Observations) -> Result<bool, StoreError> {
        self.store()?.observe(entry, observations).await
    }

    async fn erase(&self, what: &Erase) -> Result<u64, StoreError> {
        self.store()?.erase(what).await
    }

    async fn count(&self) -> Result<u64, StoreError> {
        self.store()?.count().await
    }
}
