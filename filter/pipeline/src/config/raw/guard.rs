//! The input guard.

use serde_json::Value;

use super::super::{
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
        /// What is done about an injection in a new user text: `off`, `log`, `warn` (a line of the log, at that level) or `block`
        /// (the request is answered with an error).
        user: GuardAction = GuardAction::Warn,
        /// The same about one in a new tool result.
        tool: GuardAction = GuardAction::Warn,
    }
}

choice! {
    /// What is done about an injection.
    enum GuardAction { Warn = "warn", Off = "off", Log = "log", Block = "block", }
}
