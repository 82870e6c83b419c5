//! How a tool is named, in a list of tools and in a choice among them.

use crate::{
    disguise::hides,
    json::{self, Raw, object::Object},
    tools::{May, PolicyLists},
};

/// Prefix for the name of an MCP server whose tools the provider offers by itself.
pub(crate) const MCP: &str = "mcp:";
/// Beginning of the address of LiteLLM's own servers.
const GATEWAY: &str = "litellm_proxy";
/// Types of such a server.
const OF_SERVERS: [&str; 2] = ["mcp_server", "url"];
/// Tools of Gemini. A router also accepts them in tools of other formats.
const OF_GEMINI: [&str; 7] = [
    "google_search",
    "google_search_retrieval",
    "enterprise_web_search",
    "url_context",
    "google_maps",
    "code_execution",
    "computer_use",
];
/// Inner objects that may hold the name.
const INNER: [&str; 4] = ["function", "custom", "toolSpec", "systemTool"];

/// The names that something in a list of tools goes by.
#[derive(Default)]
pub(crate) struct Names {
    /// All of these must be allowed: several if a key occurs twice.
    pub own: Vec<String>,
    /// None of these may be denied.
    further: Vec<String>,
}

impl Names {
    /// The name because of which it is denied.
    #[inline(never)]
    pub fn denied(&self, may: May<'_>) -> Option<&String> {
        let own = self.own.iter().find(|name| !may(name, PolicyLists::Both));
        own.or_else(|| self.further.iter().find(|name| !may(name, PolicyLists::Deny)))
    }

    /// Adds the names of a server of the type `mcp`, and of an object in it that Zhipu reads.
    #[inline(never)]
    fn add_server(&mut self, tool: &Object<'_>) {
        let mut ids = texts(tool, &["connector_id"], MCP);
        let urls = texts(tool, &["server_url"], "");
        // A connector of the provider is identified by its id, whatever its label.
        let is_connector = !ids.is_empty() && urls.is_empty();
        let names = if is_connector { &mut self.further } else { &mut self.own };
        names.append(&mut texts(tool, &["server_label"], MCP));
        self.own.append(&mut ids);
        // Some servers switch on a tool of their own by a label (vLLM).
        self.further.append(&mut texts(tool, &["server_label"], ""));
        for url in &urls {
            // A gateway's own server is identified by its address alone (LiteLLM: `litellm_proxy/mcp/NAME`). LiteLLM also takes
            // every full address that ends like this for its own. It may be another server's.
            let url = url.trim_end_matches('/');
            let (head, name) = url.rsplit_once('/').unwrap_or(("", url));
            let named = || name.split(',').map(|name| format!("{MCP}{name}"));
            let of_gateway = url.strip_prefix(GATEWAY);
            // The address of all its servers.
            if of_gateway.is_some_and(|rest| !rest.starts_with("/mcp/")) {
                self.own.push(format!("{MCP}{GATEWAY}"));
            }
            if of_gateway.is_some() || !url.contains("://") && url.contains(['/', '_']) {
                self.own.extend(named());
            } else if head.ends_with("/mcp") {
                self.further.extend(named());
            }
        }
    }
}

/// The texts of the members with these names, each with `before` in front.
#[inline(never)]
pub(crate) fn texts(all: &Object<'_>, names: &[&str], before: &str) -> Vec<String> {
    all.all(names).into_iter().map(|raw| format!("{before}{}", text(raw))).collect()
}

/// The names in a choice of tools. A tool of the provider without a name is called by its type.
#[inline(never)]
pub(crate) fn chosen(element: Raw<'_>) -> Names {
    let mut names = named(element);
    let kinds = texts(&Object::of(element), &["type"], "");
    if names.own.is_empty() {
        names.own = kinds;
    } else if kinds.iter().all(|kind| kind == "mcp") && names.own.iter().any(|name| name.starts_with(MCP)) {
        // A tool of a server.
        for name in std::mem::take(&mut names.own) {
            if name.starts_with(MCP) { &mut names.own } else { &mut names.further }.push(name);
        }
    }
    names
}

/// All names that a tool's definition gives.
#[inline(never)]
fn named(element: Raw<'_>) -> Names {
    let mut names = Names::default();
    if element.is_string() {
        // `server:mcp:files` (Open WebUI).
        let name = text(element);
        let server = name.strip_prefix("server:").filter(|server| server.starts_with(MCP));
        names.own.push(server.unwrap_or(&name).to_owned());
        return names;
    }
    let all = Object::of(element);
    let kinds = texts(&all, &["type"], "");
    for inner in all.all(&INNER) {
        names.own.append(&mut texts(&Object::of(inner), &["name"], ""));
    }
    for kind in &kinds {
        match kind.as_str() {
            "mcp" => {
                names.add_server(&all);
                all.all(&["mcp"]).into_iter().for_each(|inner| names.add_server(&Object::of(inner)));
            }
            "mcp_toolset" => names.own.append(&mut texts(&all, &["mcp_server_name"], MCP)),
            kind if OF_SERVERS.contains(&kind) => names.own.append(&mut texts(&all, &["name"], MCP)),
            _ => {}
        }
    }
    // The name of a server is not the name of a tool.
    if names.own.is_empty() || kinds.iter().any(|kind| !OF_SERVERS.contains(&kind.as_str())) {
        names.own.append(&mut texts(&all, &["name"], ""));
    }
    names
}

/// The names of a tool in a list; an empty one if it has none. A tool of the provider is identified by its type, whatever its
/// name. A dated type (`bash_20250124`) has one fixed name, which the provider insists on. A router may not.
#[inline(never)]
pub(crate) fn element_names(element: Raw<'_>) -> Names {
    const NO_TOOLS: [&str; 7] =
        ["function", "custom", "namespace", "mcp", "mcp_toolset", "mcp_server", "url"];
    const DECIDING: [&str; 12] = [
        "type",
        "name",
        "function",
        "custom",
        "tools",
        "toolSpec",
        "systemTool",
        "mcp",
        "server_label",
        "server_url",
        "connector_id",
        "mcp_server_name",
    ];
    let mut names = named(element);
    let all = Object::of(element);
    let mut objects = all.all(&INNER);
    objects.extend(all.all(&["mcp"]));
    objects.push(element);
    if objects.into_iter().any(|object| hides(object, &DECIDING)) {
        names.own.push(String::new());
    }
    for (key, _) in all.members() {
        let key = snake_case(&key.text());
        if OF_GEMINI.contains(&&*key) {
            names.own.push(key);
        }
    }
    let mut kinds = texts(&all, &["type"], "");
    kinds.retain(|kind| !NO_TOOLS.contains(&kind.as_str()));
    if names.own.is_empty() {
        names.own = kinds;
        // Bedrock marks here how far its cache reaches. Nothing else stands in such an element.
        if names.own.is_empty() && !(all.members().len() == 1 && all.present("cachePoint").is_some()) {
            names.own.push(String::new());
        }
    } else {
        kinds.retain(|kind| !names.own.iter().any(|name| is_dated(kind, name)));
        names.own.append(&mut kinds);
    }
    // A router may take a function of such a name for Gemini's own tool: `googleSearch`.
    let of_gemini = names.own.iter().map(|name| snake_case(name)).filter(|name| OF_GEMINI.contains(&&**name));
    let of_gemini: Vec<_> = of_gemini.filter(|name| !names.own.contains(name)).collect();
    names.further.extend(of_gemini);
    names
}

/// Turns camel case into snake case, so that both spellings of a key are one name.
#[inline(never)]
pub(crate) fn snake_case(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// Whether a type is this name with a date. A text editor has another name.
fn is_dated(kind: &str, name: &str) -> bool {
    let Some((stem, date)) = kind.rsplit_once('_') else { return false };
    let is_date = date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit());
    is_date && (stem == name || stem == "text_editor" && name.starts_with("str_replace_"))
}

/// The names of a server in a list of servers.
pub(crate) fn server_names(element: Raw<'_>) -> Names {
    let mut names = Names { own: texts(&Object::of(element), &["name"], MCP), ..Names::default() };
    if element.is_string() {
        names.own.push(format!("{MCP}{}", text(element)));
    }
    if names.own.is_empty() || hides(element, &["name"]) {
        names.own.push(String::new());
    }
    names
}

/// The decoded string. Any other value as it is written, which matches no tool's name.
#[inline(never)]
pub(crate) fn text(raw: Raw<'_>) -> String {
    json::text(raw).map_or_else(|| raw.get().to_owned(), Into::into)
}
