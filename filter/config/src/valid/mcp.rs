//! The breaker for MCP servers.

use sentinel_llm_api::{mcp::AnswerAs, path::RequestPath};

use super::{
    millis,
    paths::{PathMatch, path_match},
};
use crate::{
    ConfigError,
    raw::{McpAnswer, RawMcp, RawMcpPath},
};

/// The breaker for MCP servers.
#[derive(Clone, Debug)]
pub struct McpPolicy {
    paths: Vec<PathMatch>,
    pub calls: u32,
    /// Milliseconds.
    pub window: u64,
    pub answer: AnswerAs,
}

impl McpPolicy {
    /// Whether MCP is spoken on `path`.
    pub fn is_spoken_on(&self, path: &RequestPath<'_>) -> bool {
        self.paths.iter().any(|known| known.fits(&path.path))
    }
}

pub fn mcp(raw: RawMcp) -> Result<McpPolicy, ConfigError> {
    if raw.calls == 0 {
        return Err(ConfigError::new(
            "mcp.calls",
            "must be 1 or more; to switch the breaker off, name no paths",
        ));
    }
    let path = |(index, raw): (usize, RawMcpPath)| {
        path_match(&format!("mcp.paths[{index}]"), (raw.exact, raw.prefix, raw.suffix))
    };
    Ok(McpPolicy {
        paths: raw.paths.into_iter().enumerate().map(path).collect::<Result<_, _>>()?,
        calls: raw.calls,
        window: millis("mcp.window", &raw.window)?,
        answer: match raw.answer {
            McpAnswer::Result => AnswerAs::Result,
            McpAnswer::Error => AnswerAs::Error,
        },
    })
}
