//! The tools of a request: `tools`, and the MCP servers that the provider is to ask by itself.

use crate::{
    json::Unreadable,
    members::{self, named},
    tools::{self, Keys, May, Offer},
};

const KEYS: Keys = Keys { lists: &["tools", "mcp_servers"], choices: &["tool_choice"], with_tools: &[] };

/// A history with calls wants a tool to be defined.
const STAND_IN: &str = r#"[{"name":"no_tool_available","description":"No tool can be called.","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"none"}"#;

pub fn offer(body: &str, may: May<'_>) -> Result<Offer, Unreadable> {
    let whole = members::whole(body)?;
    let messages = named(&members::members(whole), &["messages"]);
    let has_calls = messages
        .iter()
        .any(|messages| ["\"tool_use\"", "\"tool_result\""].iter().any(|key| messages.get().contains(key)));
    Ok(tools::restrict(body, whole, &[whole], &KEYS, has_calls.then_some(STAND_IN), may)?.offer)
}
