//! The tools of a request: `tools`, or the older `functions`.

use crate::{
    conversation::Conversation,
    json::Unreadable,
    tools::{self, Filtered, Keys, May, Offer},
};

const KEYS: Keys = Keys {
    lists: &["tools", "functions"],
    choices: &["tool_choice", "function_call"],
    with_tools: &["parallel_tool_calls"],
};

pub fn offer(read: &Conversation<'_>, may: May<'_>) -> Result<Offer, Unreadable> {
    let whole = read.whole;
    Ok(tools::restrict(read.body, whole, &[whole], &KEYS, None, Filtered::default(), may)?.offer)
}
