//! The tools of a request: `toolConfig.tools`.

use crate::{
    conversation::Conversation,
    disguise::hides,
    json::{Unreadable, cut::cut_members, object::Object},
    tools::{self, Filtered, Keys, May, Offer},
};

const KEYS: Keys = Keys { choices: &["toolChoice"], with_tools: &[] };

/// If the history has calls, the provider requires at least one tool.
const STAND_IN: &str = r#"[{"toolSpec":{"name":"no_tool_available","description":"No tool can be called.","inputSchema":{"json":{"type":"object","properties":{}}}}}]"#;

pub fn offer(read: &Conversation<'_>, may: May<'_>) -> Result<Offer, Unreadable> {
    let has_calls = (0..read.history.len()).any(|at| read.history.has_calls(at));
    let (mut offer, mut left) = (Offer::default(), 0_usize);
    for config in read.top.all(&["toolConfig"]) {
        if config.is_list() || hides(config, &["tools"]) {
            return Err(Unreadable::Shape);
        }
        let stand_in = has_calls.then_some(STAND_IN);
        let config = Object::of(config);
        let more = tools::restrict(read.body, &config, None, &KEYS, stand_in, Filtered::default(), may)?;
        left = left.saturating_add(more.left);
        offer.edits.extend(more.offer.edits);
        offer.denied.extend(more.offer.denied);
        offer.forced = offer.forced.or(more.offer.forced);
    }
    // Without tools, the whole configuration must go.
    if left == 0 && !offer.denied.is_empty() && offer.forced.is_none() && !has_calls {
        offer.edits = cut_members(read.body, &read.top, &mut |_, key, _| key.is("toolConfig"))?;
    }
    Ok(offer)
}
