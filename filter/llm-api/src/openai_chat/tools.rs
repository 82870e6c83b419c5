//! The tools of a request: `tools`, or the older `functions`, and what switches on a search of the provider's.

use crate::{
    conversation::Conversation,
    json::Unreadable,
    loaded_tools,
    tools::{self, Keys, May, Offer},
};

const KEYS: Keys = Keys { choices: &["tool_choice", "function_call"], with_tools: &["parallel_tool_calls"] };

pub fn offer(read: &Conversation<'_>, may: May<'_>) -> Result<Offer, Unreadable> {
    // Some servers take tools in a message.
    let loaded = loaded_tools::loaded(read, may)?;
    Ok(tools::restrict(read.body, &read.top, None, &KEYS, None, loaded, may)?.offer)
}
