//! The tools of a request: `tools`, where the provider's own tools have a type in place of a name, and the lists in
//! items that load more tools (`additional_tools`, `tool_search_output`, `mcp_list_tools`).

use crate::{
    conversation::Conversation,
    json::{Unreadable, object::Object},
    tools::{self, Filtered, Keys, May, Offer, filter},
};

const KEYS: Keys = Keys { lists: &["tools"], choices: &["tool_choice"], with_tools: &[], switches: &[] };

pub fn offer(read: &Conversation<'_>, may: May<'_>) -> Result<Offer, Unreadable> {
    let mut loaded = Filtered::default();
    for (item, _) in read.history.items() {
        // Most items load no tools.
        if item.raw.get().contains("\"tools\"") || item.raw.get().contains('\\') {
            for list in Object::of(item.raw).all(&["tools"]) {
                loaded.add(filter(read.body, list, false, may)?);
            }
        }
    }
    let whole = read.whole;
    Ok(tools::restrict(read.body, whole, &[whole], &KEYS, None, loaded, may)?.offer)
}
