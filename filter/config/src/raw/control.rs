//! Reports to the embedding service.

use serde_json::Value;

use crate::{
    ConfigError,
    field::{Field, choice, group, join, wrong_type},
};

group! {
    /// Reports to the embedding service, and what its operators say in return: see [Control](control.md).
    ///
    /// ```json
    /// {"control": {"enabled": true}}
    /// ```
    struct RawControl {
        /// Whether each worker of Envoy tells the embedding service about once a second what its agents did, and takes from it what an
        /// operator has said: stops and live settings. The reports have names, counts and digests, and no prompt, argument or result unless
        /// `content` is on.
        enabled: bool = false,
        /// What happens with a request that has budgets while the service does not answer, if no lease has enough for it. `allow` lets it
        /// go on; what it took is reported when the service is back. `refuse` stops it with the signal `budget`.
        on_unavailable: OnUnavailable = OnUnavailable::Allow,
        /// Whether the reports also have texts: of each new prompt, and of the arguments and the result of each new step, the first 2 kB,
        /// with keys, tokens and passwords masked as far as their shape or the name before them tells. The service stores them with the run.
        content: bool = false,
    }
}

choice! {
    /// What happens with requests that have budgets while the service does not answer.
    enum OnUnavailable { Allow = "allow", Refuse = "refuse", }
}
