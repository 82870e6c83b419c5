//! The tools that the history of a request brings: lists in items and in the blocks of their content, and tools that a block
//! defines.

use crate::{
    conversation::Conversation,
    json::{Raw, Unreadable, object::Object},
    tool_names::{MCP, texts},
    tools::{Filtered, May, PolicyLists, filter, listed},
};

/// The tools that items of the history load.
pub(crate) fn loaded(read: &Conversation<'_>, may: May<'_>) -> Result<Filtered, Unreadable> {
    let mut loaded = Filtered::default();
    for Loaded { holder, list, is_lone } in loaded_lists(read) {
        let of_server: May<'_> = &|name, _| may(name, PolicyLists::Deny);
        let may = if is_of_server(holder, list, may) { of_server } else { may };
        let mut filtered = filter(read.body, list, false, may)?;
        if is_lone && filtered.left == 0 {
            filtered.forced = filtered.denied.first().cloned();
        }
        loaded.add(filtered);
    }
    Ok(loaded)
}

/// Whether a list holds the tools of an allowed server: functions, and no tools of the provider, which have a type.
#[inline(never)]
pub(crate) fn is_of_server(holder: Raw<'_>, list: Raw<'_>, may: May<'_>) -> bool {
    const KINDS: [&str; 3] = ["mcp_list_tools", "mcp_tool_listing", "mcp_toolset"];
    let holder = Object::of(holder);
    let (kinds, servers) =
        (texts(&holder, &["type"], ""), texts(&holder, &["server_label", "mcp_server_name"], MCP));
    !kinds.is_empty()
        && kinds.iter().all(|kind| KINDS.contains(&kind.as_str()))
        && !servers.is_empty()
        && servers.iter().all(|server| may(server, PolicyLists::Both))
        && listed(list).into_iter().all(|tool| Object::of(tool).present("type").is_none())
}

/// Quickly: whether a value may hold one of these texts as it stands in JSON. Without a quote, a text may also be a part of a name or of
/// a value. `false` is certain: a letter of a name may be escaped, so a value with an escaped ASCII letter may hold any of them.
#[inline(never)]
pub(crate) fn may_have(value: Raw<'_>, names: &[&str]) -> bool {
    const ESCAPES: [&str; 4] = ["\\u004", "\\u005", "\\u006", "\\u007"];
    let has = |part: &&str| value.get().contains(*part);
    names.iter().any(has) || value.get().contains("\\u00") && ESCAPES.iter().any(has)
}

/// A list of tools in an item of the history.
struct Loaded<'a> {
    /// The object that it is a member of.
    holder: Raw<'a>,
    list: Raw<'a>,
    /// It is one tool and no list. The provider refuses its holder without it, so it cannot be cut.
    is_lone: bool,
}

/// The lists of tools in items and in the blocks of their content. What a search for tools has found is such a list too, and
/// so is a tool that a block defines (Anthropic's `tool_addition`).
#[inline(never)]
fn loaded_lists<'a>(read: &Conversation<'a>) -> Vec<Loaded<'a>> {
    const NAMES: [&str; 4] = ["\"tools\"", "\"functions\"", "\"tool_search", "\"definition\""];
    let mut found = Vec::new();
    let mut add = |holder: Raw<'a>, all: &Object<'a>, names: &[&str], is_lone| {
        found.extend(all.all(names).into_iter().map(|list| Loaded { holder, list, is_lone }));
    };
    for (item, _) in read.history.items().filter(|(item, _)| may_have(item.raw, &NAMES)) {
        let blocks = (read.format.content)(item).into_iter().flat_map(listed);
        for holder in blocks.filter(|block| may_have(*block, &NAMES)).chain([item.raw]) {
            let all = Object::of(holder);
            add(holder, &all, &["tools", "functions"], false);
            if texts(&all, &["type"], "").iter().any(|kind| kind.starts_with("tool_search")) {
                add(holder, &all, &["result", "output"], false);
            }
            for tool in all.all(&["tool"]) {
                add(tool, &Object::of(tool), &["definition"], true);
            }
        }
    }
    found
}

/// The lists whose tools may name a model: `tools` of the body, and the lists that items of the history load.
pub(crate) fn lists<'a>(read: &Conversation<'a>) -> Vec<Raw<'a>> {
    let mut lists = read.top.all(&["tools"]);
    lists.extend(loaded_lists(read).into_iter().map(|loaded| loaded.list));
    lists
}
