//! The tools of a request: `tools`, or the older `functions`, and what switches on a search of the provider's.

use crate::{
    conversation::Conversation,
    disguise::SWITCHES,
    json::Unreadable,
    tools::{self, Keys, May, Offer},
};

const KEYS: Keys = Keys {
    lists: &["tools", "functions"],
    choices: &["tool_choice", "function_call"],
    with_tools: &["parallel_tool_calls"],
    switches: &SWITCHES,
};

pub fn offer(read: &Conversation<'_>, may: May<'_>) -> Result<Offer, Unreadable> {
    let whole = read.whole;
    // Some servers take tools in a message.
    let loaded = tools::loaded(read, may)?;
    Ok(tools::restrict(read.body, whole, &[whole], &KEYS, None, loaded, may)?.offer)
}
