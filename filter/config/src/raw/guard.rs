//! The input guard.

use serde_json::Value;

use crate::{
    ConfigError,
    field::{Field, choice, group, join, wrong_type},
};

group! {
    /// The input guard.
    ///
    /// ```json
    /// {"guard": {"user": "log", "tool": "block"}}
    /// ```
    struct RawGuard {
        /// What the filter does about an injection in a new user text. `off`: nothing. `log`: a line of Envoy's log at level info.
        /// `warn`: a line at level warning. `block`: a line, and the request is answered with an error.
        user: GuardAction = GuardAction::Warn,
        /// What the filter does about an injection in a new tool result: the same values.
        tool: GuardAction = GuardAction::Warn,
        /// Whether new tool results also go to the embedding service, where a model that learned what injections look like reads them. It
        /// reads when the request has gone on, so no request waits for it, and it blocks none. What it finds is an event and a metric. Up
        /// to 4 results of a request are sent, of each at most 4 kB, with keys masked; the service stores none of it. Needs
        /// `control.enabled`, and `GUARD_MODEL_PATH` in the service: see [Input guard](input-guard.md#a-second-opinion).
        second_opinion: bool = false,
    }
}

choice! {
    /// What is done about an injection.
    enum GuardAction { Warn = "warn", Off = "off", Log = "log", Block = "block", }
}
