//! Which tools an agent may use.

use serde_json::Value;

use super::super::{
    ConfigError,
    field::{Field, group, join, wrong_type},
};

group! {
    /// The tool policy.
    ///
    /// ```json
    /// {"tools": {"deny": [{"name": "shell"}, {"prefix": "delete_"}], "audit": true}}
    /// ```
    struct RawTools {
        /// The only tools that may be offered to the model and called on MCP servers. Empty: all.
        allow: Vec<RawToolName> = Vec::new(),
        /// Tools that may not, whatever `allow` says.
        deny: Vec<RawToolName> = Vec::new(),
        /// Whether every tool call that passes, in a model's answer or to an MCP server, is a line of the log: agent, tool,
        /// digest of the arguments, decision.
        audit: bool = false,
    }
}

group! {
    /// A tool, or several. Exactly one of `name` and `prefix`.
    struct RawToolName {
        /// The tool's exact name. A tool of the provider without a name is called by its type (`web_search`), an MCP server
        /// that the provider asks by itself `mcp:` and its name.
        name: Option<String> = None,
        /// How the tool's name begins.
        prefix: Option<String> = None,
    }
}
