//! Answers that are given again.

use serde_json::Value;

use crate::{
    ConfigError,
    field::{Duration, Field, group, join, wrong_type},
};

group! {
    /// The response cache.
    ///
    /// ```json
    /// {"cache": {"enabled": true, "paths": ["/v1/"], "max_temperature": 0.7, "ttl": "30m"}}
    /// ```
    struct RawCache {
        /// Whether answers are stored and given again.
        enabled: bool = false,
        /// Beginnings of the paths on which this holds. Empty: all.
        paths: Vec<String> = Vec::new(),
        /// Whether a question that is asked in other words gets the answer too. `false`: only the same text.
        semantic: bool = true,
        /// Two questions may have one answer from this similarity on, if nothing else speaks against it. Similarity is
        /// `1 − cosine distance / 2`: 0.875 is a cosine of 0.75.
        /// Range: `cache.min_threshold` to `cache.max_threshold`.
        similarity_threshold: f64 = 0.875,
        /// The lowest value that a request may ask for in the header `x-sentinel-cache-threshold`. Without it that is
        /// `similarity_threshold`.
        /// Range: 0 to 1.
        min_threshold: Option<f64> = None,
        /// The highest value that a request may ask for.
        /// Range: 0 to 1.
        max_threshold: f64 = 1.0,
        /// The share of wrong answers among those that are given to other words. The service learns from what the provider
        /// answers how far it may go.
        /// Range: 0 to 1.
        max_error: f64 = 0.01,
        /// The share of answers from the cache for which the provider is asked all the same, to see whether `max_error` holds.
        /// Range: 0 to 1.
        sample: f64 = 0.0,
        /// Requests with more messages from the user's side are not looked up.
        /// Range: 1 and more.
        max_turns: u32 = 5,
        /// Requests with a higher temperature are not looked up. One that names none counts as 1.
        /// Range: 0 to 10.
        max_temperature: f64 = 1.0,
        /// Longer answers are not stored (bytes of text, and of the names and arguments of tool calls).
        /// Range: 1 to 262144.
        max_answer_bytes: u64 = 65_536,
        /// Whether answers that call tools of the client are stored too. Such an answer is given for the same text only, never for
        /// other words, with new call ids. The agent then acts on a decision that the model made before. Requests with this setting
        /// share no answers with requests without it.
        store_tool_calls: bool = false,
        /// Whether an answer is not stored if the provider forbids it by `cache-control: no-store` or `private`.
        obey_provider: bool = true,
        /// How long an answer is given again. The service may keep it for a shorter time.
        /// Range: `1ms` to `8760h`.
        ttl: Duration = "1h".into(),
        /// How long a request waits for the answer to the same request that came before it. `0ms`: not at all.
        /// Range: `0ms` to `60s`.
        wait: Duration = "0ms".into(),
        /// More request headers that change what a provider answers. Those of the known providers need not be named.
        headers: Vec<String> = Vec::new(),
        /// Whether one tenant gets answers that were given to another. Then neither tenant nor client nor key tells requests
        /// apart.
        share_between_tenants: bool = false,
    }
}
