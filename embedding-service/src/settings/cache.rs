//! The settings of the response cache.

use super::raw::RawSettings;
use crate::cache::options::CacheOptions;

/// `None` where it is switched off.
pub(super) fn options(raw: &RawSettings) -> Option<CacheOptions> {
    raw.cache.then_some(CacheOptions {
        ttl: raw.cache_ttl,
        max_bytes: raw.cache_max_bytes,
        max_answer_bytes: raw.cache_max_answer_bytes,
        threshold: raw.cache_similarity_threshold,
        store_prompt_text: raw.store_prompt_text,
    })
}
