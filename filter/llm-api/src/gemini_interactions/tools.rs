//! The tools of a request: `tools`, and the choice among them in `generation_config`.

use crate::{
    conversation::Conversation,
    json::Unreadable,
    loaded_tools,
    tools::{self, Keys, May, Offer},
};

const KEYS: Keys = Keys { choices: &["tool_choice"], with_tools: &[] };

pub fn offer(read: &Conversation<'_>, may: May<'_>) -> Result<Offer, Unreadable> {
    let choosers = read.top.all(&["generation_config"]);
    let loaded = loaded_tools::loaded(read, may)?;
    Ok(tools::restrict(read.body, &read.top, Some(&choosers), &KEYS, None, loaded, may)?.offer)
}
