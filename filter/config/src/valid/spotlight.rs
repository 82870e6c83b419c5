//! Spotlighting.

use sentinel_llm_api::spotlight::Spotlight;

use crate::{ConfigError, raw::RawSpotlight};

const MAX_TAG: usize = 64;

/// How results are marked. Returns `None` when they are not marked.
pub fn spotlight(raw: &RawSpotlight) -> Result<Option<Spotlight>, ConfigError> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let begins = raw.tag.starts_with(|c: char| c.is_ascii_alphabetic());
    if !begins || raw.tag.len() > MAX_TAG || !raw.tag.chars().all(is_name) {
        return Err(ConfigError::new(
            "spotlight.tag",
            "must be a letter, then letters, digits, `_` and `-`, at most 64 in all",
        ));
    }
    Ok(raw.enabled.then(|| Spotlight::new(&raw.tag, &raw.preamble)))
}
