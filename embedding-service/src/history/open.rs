//! Which store is used, and opening it.

use std::sync::Arc;

use super::{PromptHistory, Retention, memory::MemoryHistory, redis::RedisHistory};
use crate::{
    embed::model_id::ModelId,
    store::{StoreError, redis::options::RedisOptions},
};

/// Where prompts are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreOptions {
    Memory { max_bytes: usize },
    Redis(RedisOptions),
}

/// Opens the store for vectors of `model`, which have `dimension` components.
///
/// # Errors
/// When Redis cannot be used.
pub async fn open(
    options: &StoreOptions,
    model: ModelId,
    dimension: usize,
    retention: Retention,
) -> Result<Arc<dyn PromptHistory>, StoreError> {
    Ok(match options {
        StoreOptions::Memory { max_bytes } => {
            tracing::info!("prompts are stored in memory: one replica only, lost at exit");
            Arc::new(MemoryHistory::new(retention, *max_bytes))
        }
        StoreOptions::Redis(options) => {
            let redis = RedisHistory::connect(options, model, dimension, retention).await?;
            tracing::info!("prompts are stored in Redis");
            Arc::new(redis)
        }
    })
}
