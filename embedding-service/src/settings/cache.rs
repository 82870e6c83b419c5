//! The settings of the response cache, checked.

use std::time::Duration;

use super::{
    parse::{SettingError, boolean, number, similarity},
    raw::RawSettings,
};
use crate::cache::options::CacheOptions;

/// `None` where it is switched off.
pub(super) fn options(raw: &RawSettings) -> Result<Option<CacheOptions>, SettingError> {
    let options = CacheOptions {
        ttl: Duration::from_secs(number("LOOP_CACHE_TTL", &raw.cache_ttl, 1, 31_536_000)?),
        max_bytes: number("LOOP_CACHE_MAX_BYTES", &raw.cache_max_bytes, 1 << 20, 1 << 40)?,
        max_answer_bytes: number("LOOP_CACHE_MAX_ANSWER_BYTES", &raw.cache_max_answer_bytes, 1, 2 << 20)?,
        threshold: similarity("LOOP_CACHE_SIMILARITY_THRESHOLD", &raw.cache_similarity_threshold)?,
        store_prompt_text: boolean("LOOP_STORE_PROMPT_TEXT", &raw.store_prompt_text)?,
    };
    Ok(boolean("LOOP_CACHE", &raw.cache)?.then_some(options))
}
