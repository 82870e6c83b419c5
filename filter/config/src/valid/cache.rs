//! Answers that are given again.

use sentinel_llm_api::repeatable::RepeatableLimits;

use super::{identity::header_name, millis};
use crate::{ConfigError, raw::RawCache};

/// What may be stored, and what may be given again.
#[derive(Clone, Debug, PartialEq)]
pub struct CachePolicy {
    /// Beginnings of paths; empty: all.
    paths: Vec<String>,
    pub semantic: bool,
    pub threshold: f64,
    /// What a request may ask for instead.
    least_threshold: f64,
    most_threshold: f64,
    pub max_error: f64,
    /// 0 to 1.
    pub sample: f64,
    pub max_turns: usize,
    pub max_temperature: f64,
    /// The answers that are stored.
    pub wanted: RepeatableLimits,
    /// Seconds.
    pub ttl: u32,
    /// Milliseconds; 0: not at all.
    pub wait: u32,
    /// What the provider says about storing its answer counts.
    pub obeys_provider: bool,
    /// Lower-case names.
    pub headers: Vec<String>,
    pub is_shared: bool,
}

impl CachePolicy {
    pub fn holds_on(&self, path: &str) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|prefix| path.starts_with(prefix))
    }

    /// The threshold that a request asks for, as far as it may.
    pub fn threshold(&self, wish: Option<f64>) -> f64 {
        let wish = wish.filter(|wish| wish.is_finite()).unwrap_or(self.threshold);
        wish.clamp(self.least_threshold, self.most_threshold)
    }
}

/// Returns `None` when no answer is given again. The fields are checked all the same.
pub fn cache(raw: &RawCache) -> Result<Option<CachePolicy>, ConfigError> {
    let share = |field: &str, value: f64| {
        if (0.0..=1.0).contains(&value) {
            return Ok(value);
        }
        Err(ConfigError::new(format!("cache.{field}"), "must lie between 0 and 1"))
    };
    let threshold = share("similarity_threshold", raw.similarity_threshold)?;
    let least_threshold = share("min_threshold", raw.min_threshold.unwrap_or(threshold))?;
    let most_threshold = share("max_threshold", raw.max_threshold)?;
    if !(least_threshold..=most_threshold).contains(&threshold) {
        return Err(ConfigError::new(
            "cache.similarity_threshold",
            "must lie between cache.min_threshold and cache.max_threshold",
        ));
    }
    if !(0.0..=10.0).contains(&raw.max_temperature) {
        return Err(ConfigError::new("cache.max_temperature", "must lie between 0 and 10"));
    }
    if raw.max_turns == 0 {
        return Err(ConfigError::new(
            "cache.max_turns",
            "must be 1 or more; to switch it off, set cache.enabled",
        ));
    }
    let most = usize::try_from(raw.max_answer_bytes).unwrap_or(usize::MAX);
    if !(1..=MAX_ANSWER).contains(&most) {
        return Err(ConfigError::new(
            "cache.max_answer_bytes",
            format!("must lie between 1 and {MAX_ANSWER}"),
        ));
    }
    let ttl = millis("cache.ttl", &raw.ttl)?.div_ceil(1_000);
    let wait = if &*raw.wait == "0ms" { 0 } else { millis("cache.wait", &raw.wait)? };
    if wait > MAX_WAIT {
        return Err(ConfigError::new("cache.wait", "must be 0ms, or between 1ms and 60s"));
    }
    if let Some(index) = raw.paths.iter().position(|prefix| !prefix.starts_with('/')) {
        return Err(ConfigError::new(format!("cache.paths[{index}]"), "must begin with /"));
    }
    let headers =
        raw.headers.iter().zip(0..).map(|(name, at)| header_name(&format!("cache.headers[{at}]"), name));
    let policy = CachePolicy {
        paths: raw.paths.clone(),
        semantic: raw.semantic,
        threshold,
        least_threshold,
        most_threshold,
        max_error: share("max_error", raw.max_error)?,
        sample: share("sample", raw.sample)?,
        max_turns: usize::try_from(raw.max_turns).unwrap_or(usize::MAX),
        max_temperature: raw.max_temperature,
        wanted: RepeatableLimits { most, with_calls: raw.store_tool_calls },
        ttl: u32::try_from(ttl).unwrap_or(u32::MAX),
        wait: u32::try_from(wait).unwrap_or(u32::MAX),
        headers: headers.collect::<Result<_, _>>()?,
        obeys_provider: raw.obey_provider,
        is_shared: raw.share_between_tenants,
    };
    Ok(raw.enabled.then_some(policy))
}

/// Answers that are read are not longer (bytes).
const MAX_ANSWER: usize = 262_144;
/// Milliseconds.
const MAX_WAIT: u64 = 60_000;
