//! The tools of a request: `tools`, or the older `functions`.

use crate::{
    json::Unreadable,
    members,
    tools::{self, Keys, May, Offer},
};

const KEYS: Keys = Keys {
    lists: &["tools", "functions"],
    choices: &["tool_choice", "function_call"],
    with_tools: &["parallel_tool_calls"],
};

pub fn offer(body: &str, may: May<'_>) -> Result<Offer, Unreadable> {
    let whole = members::whole(body)?;
    Ok(tools::restrict(body, whole, &[whole], &KEYS, None, may)?.offer)
}
