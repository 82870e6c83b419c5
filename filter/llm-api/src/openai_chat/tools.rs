//! The tools of a request: `tools`, or the older `functions`, and what switches on a search of the provider's.

use crate::{
    conversation::Conversation,
    json::Unreadable,
    tools::{self, Filtered, Keys, May, Offer},
};

const KEYS: Keys = Keys {
    lists: &["tools", "functions"],
    choices: &["tool_choice", "function_call"],
    with_tools: &["parallel_tool_calls"],
    // OpenAI; xAI; Qwen; OpenRouter.
    switches: &[
        ("web_search_options", "web_search"),
        ("search_parameters", "web_search"),
        ("enable_search", "web_search"),
        ("plugins", "plugins"),
    ],
};

pub fn offer(read: &Conversation<'_>, may: May<'_>) -> Result<Offer, Unreadable> {
    let whole = read.whole;
    Ok(tools::restrict(read.body, whole, &[whole], &KEYS, None, Filtered::default(), may)?.offer)
}
