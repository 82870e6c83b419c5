//! The tools of a request: `tools`, and the MCP servers that the provider calls by itself.

use crate::{
    conversation::Conversation,
    json::Unreadable,
    loaded_tools,
    tools::{self, Keys, May, Offer},
};

const KEYS: Keys = Keys { choices: &["tool_choice"], with_tools: &[] };

/// If the history has calls, the provider requires at least one tool.
const STAND_IN: &str = r#"[{"name":"no_tool_available","description":"No tool can be called.","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"none"}"#;

pub fn offer(read: &Conversation<'_>, may: May<'_>) -> Result<Offer, Unreadable> {
    let history = &read.history;
    let has_calls = (0..history.len()).any(|at| history.has_calls(at));
    let stand_in = has_calls.then_some(STAND_IN);
    Ok(tools::restrict(read.body, &read.top, None, &KEYS, stand_in, loaded_tools::loaded(read, may)?, may)?
        .offer)
}
