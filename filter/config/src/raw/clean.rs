//! Clean answers.

use serde_json::Value;

use crate::{
    ConfigError,
    field::{Field, group, join, wrong_type},
};

group! {
    /// Clean answers.
    ///
    /// ```json
    /// {"agents": [{"prefix": "chat-", "settings": {"clean": {"enabled": true}}}]}
    /// ```
    struct RawClean {
        /// Whether texts of models are cleaned before the agent gets them: their thinking in tags, tool calls written as text
        /// and echoed system messages go. Code and the arguments of tools stay as they are.
        enabled: bool = false,
    }
}
