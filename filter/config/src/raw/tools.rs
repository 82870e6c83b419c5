//! Which tools an agent may use.

use serde_json::Value;

use crate::{
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
        /// The only tools that agents may offer to the model and call on MCP servers. An empty list allows all tools.
        allow: Vec<RawToolName> = Vec::new(),
        /// Tools that agents may not offer or call, even if `allow` names them.
        deny: Vec<RawToolName> = Vec::new(),
        /// Whether the log gets a line for each tool call, in a model's answer or to an MCP server: agent, tool, digest of the
        /// arguments, decision.
        audit: bool = false,
    }
}

group! {
    /// A tool, or several. Exactly one of `name` and `prefix`.
    struct RawToolName {
        /// The exact name of the tool. A tool that the provider itself runs goes by its type if it has no name (`web_search`). An
        /// MCP server that the provider calls goes by `mcp:` and the server's name.
        name: Option<String> = None,
        /// The beginning of the tool's name.
        prefix: Option<String> = None,
    }
}
