//! The tools of a request: `tools`, where the provider's own tools have a type in place of a name, and the lists in
//! items that load more tools (`additional_tools`, `tool_search_output`, `mcp_list_tools`).

use crate::{
    conversation::Conversation,
    json::Unreadable,
    loaded_tools,
    tools::{self, Keys, May, Offer},
};

const KEYS: Keys = Keys { choices: &["tool_choice"], with_tools: &[] };

pub fn offer(read: &Conversation<'_>, may: May<'_>) -> Result<Offer, Unreadable> {
    let loaded = loaded_tools::loaded(read, may)?;
    Ok(tools::restrict(read.body, &read.top, None, &KEYS, None, loaded, may)?.offer)
}
