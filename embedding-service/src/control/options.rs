//! How control works, as checked values.

use std::{fmt, time::Duration};

use super::webhooks::WebhookOptions;

/// How control works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlOptions {
    /// A run without a turn for this long is forgotten.
    pub run_ttl: Duration,
    /// A run without a turn for this long is idle.
    pub idle: Duration,
    /// About how many of a run's last turns are stored.
    pub turns: usize,
    /// About how many events are stored.
    pub events: usize,
    /// Bytes that all of it may take without Redis.
    pub max_bytes: usize,
    /// None: nothing can be changed over HTTP.
    pub key: Option<ControlKey>,
    /// None: no events are sent.
    pub webhook: Option<WebhookOptions>,
    /// Where the trace of a run is looked at, with `{trace_id}` for its id; none: nowhere.
    pub trace_url: Option<String>,
}

impl Default for ControlOptions {
    fn default() -> Self {
        Self {
            run_ttl: Duration::from_secs(24 * 3_600),
            idle: Duration::from_secs(300),
            turns: 200,
            events: 20_000,
            max_bytes: 256 << 20,
            key: None,
            webhook: None,
            trace_url: None,
        }
    }
}

/// The key of operators. Only its digest is stored, and it is compared in constant time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ControlKey(blake3::Hash);

impl ControlKey {
    /// Characters of a key, at least.
    pub const SHORTEST: usize = 16;

    /// `None`: the text is too short for a key.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        (text.len() >= Self::SHORTEST).then(|| Self(blake3::hash(text.as_bytes())))
    }

    /// A key for another purpose that follows from this one.
    #[must_use]
    pub fn derived(&self, purpose: &str) -> [u8; 32] {
        blake3::derive_key(purpose, self.0.as_bytes())
    }

    /// Whether the text is the key.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        self.0 == blake3::hash(text.as_bytes())
    }
}

impl fmt::Debug for ControlKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}
