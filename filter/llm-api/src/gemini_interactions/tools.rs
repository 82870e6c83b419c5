//! The tools of a request: `tools`, and the choice among them in `generation_config`.

use crate::{
    json::Unreadable,
    members::{self, named},
    tools::{self, Keys, May, Offer},
};

const KEYS: Keys = Keys { lists: &["tools"], choices: &["tool_choice"], with_tools: &[] };

pub fn offer(body: &str, may: May<'_>) -> Result<Offer, Unreadable> {
    let whole = members::whole(body)?;
    let choosers = named(&members::members(whole), &["generation_config"]);
    Ok(tools::restrict(body, whole, &choosers, &KEYS, None, may)?.offer)
}
