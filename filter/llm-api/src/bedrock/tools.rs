//! The tools of a request: `toolConfig.tools`.

use crate::{
    json::Unreadable,
    members::{self, cut_members, named},
    tools::{self, Keys, May, Offer},
};

const KEYS: Keys = Keys { lists: &["tools"], choices: &["toolChoice"], with_tools: &[] };

/// A history with calls wants a tool to be defined.
const STAND_IN: &str = r#"[{"toolSpec":{"name":"no_tool_available","description":"No tool can be called.","inputSchema":{"json":{"type":"object","properties":{}}}}}]"#;

pub fn offer(body: &str, may: May<'_>) -> Result<Offer, Unreadable> {
    let whole = members::whole(body)?;
    let all = members::members(whole);
    let has_calls = named(&all, &["messages"])
        .iter()
        .any(|messages| ["\"toolUse\"", "\"toolResult\""].iter().any(|key| messages.get().contains(key)));
    let (mut offer, mut left) = (Offer::default(), 0_usize);
    for config in named(&all, &["toolConfig"]) {
        let stand_in = has_calls.then_some(STAND_IN);
        let more = tools::restrict(body, config, &[config], &KEYS, stand_in, may)?;
        left = left.saturating_add(more.left);
        offer.edits.extend(more.offer.edits);
        offer.denied.extend(more.offer.denied);
        offer.forced = offer.forced.or(more.offer.forced);
    }
    // Nothing may be left of the configuration where there are no tools.
    if left == 0 && !offer.denied.is_empty() && offer.forced.is_none() && !has_calls {
        offer.edits = cut_members(body, whole, |member| member.key == "toolConfig")?;
    }
    Ok(offer)
}
