//! Members of a request that switch on a tool of the provider.

use crate::{
    json::{Raw, members::Key, object::Object},
    tool_names::text,
    tools::listed,
};

/// Stands for all names that begin like this: LiteLLM searches the stores in `vector_store_ids`.
const STORES: &str = "vectorstore";
/// Stands for `plugins` if one of the plugins in it searches, like OpenRouter's `web`.
const PLUGIN: &str = "plugins:web";
/// Stands for every name that consists only of the words below, with `search` among them: Baichuan's `with_search_enhance`. A
/// longer word stands before its own beginning (`enhancement`, `enhance`), because the first one that fits is taken.
const SEARCH: &str = "search";
const OF_SEARCHES: [&str; 16] = [
    SEARCH,
    "enhancement",
    "enhance",
    "enable",
    "activate",
    "with",
    "use",
    "auto",
    "force",
    "web",
    "online",
    "internet",
    "live",
    "deep",
    "speed",
    "x",
];
/// Members that switch on a tool of the provider, and the name of that tool. They are from OpenAI, Anthropic, xAI, Qwen,
/// Baidu, Tencent, Venice, OpenRouter, LiteLLM and Open WebUI.
pub(crate) const SWITCHES: [(&str, &str); 17] = [
    ("web_search_options", "web_search"),
    ("search_parameters", "web_search"),
    ("enable_search", "web_search"),
    ("web_search", "web_search"),
    ("enable_enhancement", "web_search"),
    ("force_search_enhancement", "web_search"),
    ("enable_web_search", "web_search"),
    ("enable_x_search", "x_search"),
    ("enable_web_scraping", "web_scraping"),
    ("enable_code_interpreter", "code_interpreter"),
    ("code_interpreter", "code_interpreter"),
    ("image_generation", "image_generation"),
    ("plugins", "plugins"),
    (PLUGIN, "web_search"),
    // Skills are run as code (Anthropic). LiteLLM adds the tool by itself.
    ("skills", "code_execution"),
    (STORES, "file_search"),
    (SEARCH, "web_search"),
];

/// Whether a member's name is this switch, or one of those that it stands for.
#[inline(never)]
pub(crate) fn is_switch(key: &Key<'_>, switch: &str) -> bool {
    if !matches!(switch, STORES | SEARCH) {
        return key.is(if switch == PLUGIN { "plugins" } else { switch });
    }
    let name = key.text().to_ascii_lowercase().replace(['_', '-'], "");
    if switch == STORES {
        return name.starts_with(STORES);
    }
    // A `d` may be left: `enabled` is no word of the list, but `enable` is.
    let (mut rest, mut is_search) = (name.as_str(), false);
    while let Some(word) = OF_SEARCHES.iter().find(|word| rest.starts_with(**word)) {
        is_search |= *word == SEARCH;
        rest = rest.get(word.len()..).unwrap_or_default();
    }
    is_search && matches!(rest, "" | "d")
}

/// Whether the value of a switch turns it on.
#[inline(never)]
pub(crate) fn is_on(switch: &str, value: Raw<'_>) -> bool {
    // The member inside that may switch it off. Switches without one are on if they are present.
    let says = match switch {
        "search_parameters" => "mode",
        "web_search" => "enable",
        PLUGIN => return listed(value).into_iter().any(searches),
        // An empty value names no store.
        STORES if matches!(value.get(), "{}" | "\"\"") => return false,
        // A member with such a name may hold options or words to search for instead, so only these values turn it on.
        SEARCH => {
            let on = ["true", "1", "\"true\"", "\"on\"", "\"auto\""];
            return on.iter().any(|on| value.get().eq_ignore_ascii_case(on));
        }
        _ => return !is_off(value),
    };
    let said = Object::of(value).all(&[says]);
    !(is_off(value) || !said.is_empty() && said.into_iter().all(is_off))
}

fn is_off(value: Raw<'_>) -> bool {
    matches!(value.get(), "null" | "false" | "0" | "[]" | "\"off\"")
}

/// Whether a plugin searches and is not switched off. It is an object with an `id`, or the id alone.
fn searches(plugin: Raw<'_>) -> bool {
    let object = Object::of(plugin);
    let said = object.all(&["enabled"]);
    let ids = object.all(&["id"]).into_iter().chain([plugin]).filter(|id| id.is_string());
    let is_search = |id: String| id == "web" || id.contains("search");
    (said.is_empty() || !said.into_iter().all(is_off)) && ids.map(text).any(is_search)
}
