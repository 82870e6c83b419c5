//! The tools of a request: `tools`, of which some are the provider's own and have a type in a name's place.

use crate::{
    json::Unreadable,
    members,
    tools::{self, Keys, May, Offer},
};

const KEYS: Keys = Keys { lists: &["tools"], choices: &["tool_choice"], with_tools: &[] };

pub fn offer(body: &str, may: May<'_>) -> Result<Offer, Unreadable> {
    let whole = members::whole(body)?;
    Ok(tools::restrict(body, whole, &[whole], &KEYS, None, may)?.offer)
}
