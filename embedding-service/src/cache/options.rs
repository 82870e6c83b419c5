//! How the response cache is used, as checked values.

use std::time::Duration;

/// How the response cache is used. The default holds what the settings say where nothing is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheOptions {
    /// How long an answer is stored.
    pub ttl: Duration,
    /// Bound of what is stored in memory; of no meaning for Redis.
    pub max_bytes: usize,
    /// Longer answers are not stored.
    pub max_answer_bytes: usize,
    /// The least similarity where the request names none and nothing was learned.
    pub threshold: f64,
    /// Whether texts and vectors of prompts are stored. Without them only the same text finds an answer.
    pub store_prompt_text: bool,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(3600),
            max_bytes: 64 << 20,
            max_answer_bytes: 128 << 10,
            threshold: 0.875,
            store_prompt_text: true,
        }
    }
}
