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
    }
}

choice! {
    /// What is done about an injection.
    enum GuardAction { Warn = "warn", Off = "off", Log = "log", Block = "block", }
}
