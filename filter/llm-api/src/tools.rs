//! The tools that a request offers to the model, and how denied ones are cut. Most dialects have a list of tools and a
//! choice among them. How a tool is named is read here; the dialects know where the lists stand.

use crate::{
    conversation::Conversation,
    disguise::{SWITCHES, hides},
    edit::{Edit, replace},
    json::{
        self, Raw, Unreadable,
        cut::{cut_elements, cut_members},
        members::Key,
        object::Object,
    },
};

/// The tools of a request after the denied ones are cut.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The edits that cut them.
    pub edits: Vec<Edit>,
    /// Names of the tools that are cut.
    pub denied: Vec<String>,
    /// The denied tool that the request forces the model to call.
    pub forced: Option<String>,
}

/// Whether a tool of this name may be offered.
pub type May<'m> = &'m dyn Fn(&str) -> bool;

/// Prefix for the name of an MCP server whose tools the provider offers by itself.
const MCP: &str = "mcp:";
/// A list of such servers (Anthropic).
const SERVERS: &str = "mcp_servers";
/// Lists of tools. A router takes those of one format in a request of another.
const LISTS: [&str; 3] = ["tools", "functions", SERVERS];
/// Levels of tools within tools that are read: no provider has so many.
pub(crate) const DEEPEST: usize = 8;
/// Types of such a server.
const OF_SERVERS: [&str; 2] = ["mcp_server", "url"];
/// Tools of Gemini. A router takes them in tools of other formats.
const OF_GEMINI: [&str; 7] = [
    "google_search",
    "google_search_retrieval",
    "enterprise_web_search",
    "url_context",
    "google_maps",
    "code_execution",
    "computer_use",
];
/// The tools of a server that may be called.
const ALLOWED: [&str; 2] = ["allowed_tools", "allowedTools"];

/// The result for the lists of one object.
pub(crate) struct Restricted {
    pub offer: Offer,
    /// Number of tools that stay.
    pub left: usize,
}

/// Where most dialects have the tools: keys of one object.
pub(crate) struct Keys {
    /// Choices among the tools.
    pub choices: &'static [&'static str],
    /// Members that the provider refuses when there are no tools.
    pub with_tools: &'static [&'static str],
}

/// The result for one list of tools.
#[derive(Default)]
pub(crate) struct Filtered {
    pub edits: Vec<Edit>,
    pub denied: Vec<String>,
    /// Number of tools that stay.
    pub left: usize,
    /// Something in the list has no name: what it is, only the provider knows.
    pub has_nameless: bool,
}

impl Filtered {
    pub fn add(&mut self, other: Self) {
        self.edits.extend(other.edits);
        self.denied.extend(other.denied);
        self.left = self.left.saturating_add(other.left);
        self.has_nameless |= other.has_nameless;
    }
}

/// Cuts denied tools out of the lists of `object` and adapts the choices in `choosers`. All are parts of `body`.
/// `stand_in` replaces an emptied list if the provider requires one. `further` is the result for lists in other places,
/// whose tools count too.
pub(crate) fn restrict(
    body: &str,
    object: Raw<'_>,
    choosers: &[Raw<'_>],
    keys: &Keys,
    stand_in: Option<&str>,
    further: Filtered,
    may: May<'_>,
) -> Result<Restricted, Unreadable> {
    let all = Object::of(object);
    let Filtered { edits, denied, mut left, mut has_nameless } = further;
    let (mut offer, mut emptied) = (Offer { edits, denied, forced: None }, Vec::new());
    for (at, (key, list)) in all.members().iter().enumerate() {
        if !is_one_of(key, &LISTS) {
            continue;
        }
        let filtered = filter(body, *list, key.is(SERVERS), may)?;
        if filtered.left == 0 && !filtered.denied.is_empty() {
            emptied.push(at);
        } else {
            offer.edits.extend(filtered.edits);
        }
        left = left.saturating_add(filtered.left);
        has_nameless |= filtered.has_nameless;
        offer.denied.extend(filtered.denied);
    }
    if has_nameless {
        return Err(Unreadable::Shape);
    }
    let is_off = |key: &Key<'_>| switched(key).filter(|tool| !may(tool));
    let is_bare = left == 0 && !offer.denied.is_empty();
    let switched = all.members().iter().filter(|(_, value)| !matches!(value.get(), "null" | "false"));
    offer.denied.extend(switched.filter_map(|(key, _)| is_off(key)).map(str::to_owned));
    for raw in choosers.iter().flat_map(|chooser| Object::of(*chooser).all(keys.choices)) {
        let choice = Choice::of(raw);
        if let Some(forced) = choice.denied(left, &offer.denied, may) {
            let denied = offer.denied;
            return Ok(Restricted { offer: Offer { edits: Vec::new(), denied, forced: Some(forced) }, left });
        }
        let Some(among) = choice.among.filter(|_| !is_bare) else { continue };
        let filtered = filter(body, among, false, may)?;
        if filtered.left == 0 && !filtered.denied.is_empty() {
            offer.edits.push(replace(body, raw, "\"none\"".to_owned())?);
        } else {
            offer.edits.extend(filtered.edits);
        }
    }
    if is_bare {
        let is_tools = |at: &usize| all.members().get(*at).is_some_and(|(key, _)| !key.is(SERVERS));
        if let (Some(stand_in), Some(first)) = (stand_in, emptied.iter().position(is_tools)) {
            let (_, list) = all.members().get(emptied.remove(first)).ok_or(Unreadable::Shape)?;
            offer.edits.push(replace(body, *list, stand_in.to_owned())?);
        }
        for chooser in choosers.iter().filter(|chooser| **chooser != object) {
            offer.edits.extend(cut_members(body, *chooser, &mut |key| is_one_of(key, keys.choices))?);
        }
    }
    let mut at = 0_usize;
    offer.edits.extend(cut_members(body, object, &mut |key| {
        let is_emptied = emptied.contains(&at);
        at = at.saturating_add(1);
        let goes_along = is_one_of(key, keys.choices) || is_one_of(key, keys.with_tools);
        is_emptied || is_bare && goes_along || is_off(key).is_some()
    })?);
    Ok(Restricted { offer, left })
}

/// The tool of the provider that a member switches on.
#[inline(never)]
fn switched(key: &Key<'_>) -> Option<&'static str> {
    SWITCHES.iter().find(|(name, _)| key.is(name)).map(|(_, tool)| *tool)
}

#[inline(never)]
fn is_one_of(key: &Key<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| key.is(name))
}

/// The elements of a list. Any other value counts as its only element, as providers read it.
pub(crate) fn listed(list: Raw<'_>) -> Vec<Raw<'_>> {
    if list.is_list() { list.elements().collect() } else { vec![list] }
}

/// Filters one list of tools or of names. A denied value in place of a list is replaced with an empty list.
pub(crate) fn filter(
    body: &str,
    list: Raw<'_>,
    is_servers: bool,
    may: May<'_>,
) -> Result<Filtered, Unreadable> {
    filter_to(DEEPEST, body, list, is_servers, may)
}

/// `left`: levels of tools within tools that may still come. An error if there are more.
fn filter_to(
    left: usize,
    body: &str,
    list: Raw<'_>,
    is_servers: bool,
    may: May<'_>,
) -> Result<Filtered, Unreadable> {
    let left = left.checked_sub(1).ok_or(Unreadable::Shape)?;
    let elements = if list.is_object() || list.is_list() { listed(list) } else { Vec::new() };
    let (mut filtered, mut cuts) = (Filtered::default(), Vec::with_capacity(elements.len()));
    for element in &elements {
        let names = if is_servers { server_names(*element) } else { element_names(*element) };
        filtered.has_nameless |= names.iter().any(String::is_empty);
        let mut denied = names.iter().find(|name| !may(name)).cloned();
        let mut inner = Filtered::default();
        if denied.is_none() {
            inner = within(left, body, *element, may)?;
            filtered.has_nameless |= inner.has_nameless;
            if inner.left == 0 {
                denied = inner.denied.pop();
            }
        }
        let is_cut = denied.is_some();
        filtered.left = filtered.left.saturating_add(usize::from(!is_cut && !names.is_empty()));
        filtered.denied.extend(inner.denied);
        filtered.denied.extend(denied);
        if !is_cut {
            filtered.edits.extend(inner.edits);
        }
        cuts.push(is_cut);
    }
    if list.is_list() {
        filtered.edits.extend(cut_elements(body, &elements, &cuts)?);
    } else if cuts.contains(&true) {
        filtered.edits.push(replace(body, list, "[]".to_owned())?);
    }
    Ok(filtered)
}

/// The tools that items of the history load.
pub(crate) fn loaded(read: &Conversation<'_>, may: May<'_>) -> Result<Filtered, Unreadable> {
    let mut loaded = Filtered::default();
    for list in loaded_lists(read) {
        loaded.add(filter(read.body, list, false, may)?);
    }
    Ok(loaded)
}

#[inline(never)]
fn loaded_lists<'a>(read: &Conversation<'a>) -> Vec<Raw<'a>> {
    let mut lists = Vec::new();
    for (item, _) in read.history.items() {
        // Most items load none. A name with escapes is found only by reading.
        let raw = item.raw.get();
        if raw.contains("\"tools\"") || raw.contains("\"functions\"") || raw.contains('\\') {
            lists.extend(Object::of(item.raw).all(&["tools", "functions"]));
        }
    }
    lists
}

/// All lists of tools: those of the body, and those that items of the history load.
pub(crate) fn lists<'a>(read: &Conversation<'a>) -> Vec<Raw<'a>> {
    let mut lists = loaded_lists(read);
    lists.extend(read.top.all(&["tools"]));
    lists
}

/// Tools within a tool: a namespace has tools of its own, and an MCP server may be limited to some of its tools, or name
/// some of them.
fn within(left: usize, body: &str, element: Raw<'_>, may: May<'_>) -> Result<Filtered, Unreadable> {
    const LISTS: [&str; 5] =
        ["\"tools\"", "allowed_tools", "allowedTools", "tool_configuration", "\"configs\""];
    let mut all = Filtered::default();
    // A name with escapes is found only by reading.
    if !LISTS.iter().any(|name| element.get().contains(name)) && !element.get().contains('\\') {
        return Ok(all);
    }
    let tool = Object::of(element);
    // Of a namespace, whatever it calls itself; of a tool that asks a model with tools of its own.
    let mut lists = tool.all(&["tools"]);
    lists.extend(
        tool.all(&["parameters"]).into_iter().flat_map(|settings| Object::of(settings).all(&["tools"])),
    );
    let limits = tool.all(&["tool_configuration"]).into_iter().map(Object::of);
    for limited in limits.flat_map(|limits| limits.all(&ALLOWED)).chain(tool.all(&ALLOWED)) {
        // A list of names, or filters with such lists.
        let filters = listed(limited).into_iter().filter(|filter| filter.is_object());
        let names: Vec<_> =
            filters.flat_map(|filter| Object::of(filter).all(&["tool_names", "tools"])).collect();
        lists.extend(if limited.is_object() || !names.is_empty() { names } else { vec![limited] });
    }
    for list in lists {
        all.add(filter_to(left, body, list, false, may)?);
    }
    for configs in tool.all(&["configs"]) {
        all.add(switched_off(body, configs, may)?);
    }
    Ok(all)
}

/// The settings of single tools of a server (Anthropic). Without its settings a denied tool would have those of the server, so it
/// is switched off by name. The server's other tools stay.
fn switched_off(body: &str, configs: Raw<'_>, may: May<'_>) -> Result<Filtered, Unreadable> {
    let mut off = Filtered { left: 1, has_nameless: configs.is_list(), ..Filtered::default() };
    for (name, config) in Object::of(configs).members().iter().map(|(key, config)| (key.text(), *config)) {
        let enabled = Object::of(config).all(&["enabled"]);
        let is_off = !enabled.is_empty() && enabled.iter().all(|enabled| enabled.get() == "false");
        if !may(&name) && !is_off {
            off.edits.push(replace(body, config, r#"{"enabled":false}"#.to_owned())?);
            off.denied.push(name.into_owned());
        }
    }
    Ok(off)
}

/// The names in a choice of tools. A tool of the provider without a name is called by its type.
fn names(element: Raw<'_>) -> Vec<String> {
    let names = named(element);
    if names.is_empty() { Object::of(element).all(&["type"]).into_iter().map(text).collect() } else { names }
}

/// All names that a tool's definition gives: several if a key occurs twice.
fn named(element: Raw<'_>) -> Vec<String> {
    if element.is_string() {
        return vec![text(element)];
    }
    let all = Object::of(element);
    let kinds: Vec<String> = all.all(&["type"]).into_iter().map(text).collect();
    let server = |key: &str| all.all(&[key]).into_iter().map(|name| format!("{MCP}{}", text(name)));
    let mut names: Vec<String> = all
        .all(&["function", "custom", "toolSpec", "systemTool"])
        .into_iter()
        .flat_map(|inner| Object::of(inner).all(&["name"]))
        .map(text)
        .collect();
    for kind in &kinds {
        match kind.as_str() {
            // A connector of the provider is what its id says.
            "mcp" => {
                for key in ["server_label", "connector_id"] {
                    names.extend(server(key));
                }
            }
            "mcp_toolset" => names.extend(server("mcp_server_name")),
            kind if OF_SERVERS.contains(&kind) => names.extend(server("name")),
            _ => {}
        }
    }
    // Only of a server is it the server's.
    if names.is_empty() || kinds.iter().any(|kind| !OF_SERVERS.contains(&kind.as_str())) {
        names.extend(all.all(&["name"]).into_iter().map(text));
    }
    names
}

/// The names of a tool in a list; an empty one where it has none. A tool of the provider is what its type says, whatever else it
/// is called. A dated type (`bash_20250124`) has one name, which the provider insists on, and a router may not.
fn element_names(element: Raw<'_>) -> Vec<String> {
    const NO_TOOLS: [&str; 7] =
        ["function", "custom", "namespace", "mcp", "mcp_toolset", "mcp_server", "url"];
    const DECIDING: [&str; 10] = [
        "type",
        "name",
        "function",
        "custom",
        "tools",
        "toolSpec",
        "systemTool",
        "server_label",
        "connector_id",
        "mcp_server_name",
    ];
    let mut names = named(element);
    let all = Object::of(element);
    let mut objects = all.all(&["function", "custom", "toolSpec", "systemTool"]);
    objects.push(element);
    if objects.into_iter().any(|object| hides(object, &DECIDING)) {
        names.push(String::new());
    }
    for (key, _) in all.members() {
        let key = snake_case(&key.text());
        if OF_GEMINI.contains(&&*key) {
            names.push(key);
        }
    }
    let kinds = all.all(&["type"]).into_iter().map(text);
    let kinds: Vec<_> = kinds.filter(|kind| !NO_TOOLS.contains(&kind.as_str())).collect();
    if names.is_empty() {
        names = kinds;
        // Bedrock marks there how far is to be kept, with nothing beside it.
        if names.is_empty() && !(all.members().len() == 1 && all.present("cachePoint").is_some()) {
            names.push(String::new());
        }
    } else {
        let is_meant = |kind: &String| names.iter().any(|name| is_dated(kind, name));
        let others: Vec<_> = kinds.into_iter().filter(|kind| !is_meant(kind)).collect();
        names.extend(others);
    }
    names
}

/// Both spellings of a key are one name.
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

/// Whether a type is this name with a date. An editor has a name of its own.
fn is_dated(kind: &str, name: &str) -> bool {
    let Some((stem, date)) = kind.rsplit_once('_') else { return false };
    let is_date = date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit());
    is_date && (stem == name || stem == "text_editor" && name.starts_with("str_replace_"))
}

fn server_names(element: Raw<'_>) -> Vec<String> {
    let names = Object::of(element).all(&["name"]).into_iter().map(|name| format!("{MCP}{}", text(name)));
    let mut names: Vec<_> = names.collect();
    if names.is_empty() || hides(element, &["name"]) {
        names.push(String::new());
    }
    names
}

/// The decoded string. Any other value as it is written, which matches no tool's name.
pub(crate) fn text(raw: Raw<'_>) -> String {
    json::text(raw).map_or_else(|| raw.get().to_owned(), Into::into)
}

/// What a request says about the use of its tools.
#[derive(Default)]
struct Choice<'a> {
    /// One of them must be called.
    must: bool,
    /// The tools that the choice names. One of these must be called.
    one: Vec<String>,
    /// Only these may be called.
    among: Option<Raw<'a>>,
}

impl<'a> Choice<'a> {
    fn of(raw: Raw<'a>) -> Self {
        let is_must = |text: &str| matches!(text, "required" | "any");
        if raw.is_string() {
            return Self { must: is_must(&text(raw)), ..Self::default() };
        }
        let all = Object::of(raw);
        let kinds: Vec<String> = all.all(&["type"]).into_iter().map(text).collect();
        // The list stands in an object of its own (OpenAI chat, Gemini) or beside the type (Responses).
        let inner: Vec<Object<'_>> = all.all(&["allowed_tools"]).into_iter().map(Object::of).collect();
        let has = |name: &str| {
            all.present(name).is_some() || inner.iter().any(|inner| inner.present(name).is_some())
        };
        let both = |name: &str| -> Vec<Raw<'a>> {
            all.all(&[name]).into_iter().chain(inner.iter().flat_map(|inner| inner.all(&[name]))).collect()
        };
        let must = both("mode").into_iter().any(|mode| is_must(&text(mode)))
            || kinds.iter().any(|kind| kind == "any")
            || has("any");
        let among = both("tools").first().copied();
        let is_free = |kind: &String| matches!(kind.as_str(), "auto" | "none" | "any" | "allowed_tools");
        let mut one = Vec::new();
        if among.is_none() && !kinds.iter().any(is_free) {
            let tools = both("tool").into_iter().flat_map(|tool| Object::of(tool).all(&["name"]));
            one = tools.map(text).collect();
            if one.is_empty() && ["type", "name", "function", "custom"].into_iter().any(has) {
                one = names(raw);
            }
        }
        Self { must, one, among }
    }

    /// The denied tool that must be called, if there is one. `left`: number of tools that stay. `denied`: tools that
    /// were cut.
    fn denied(&self, left: usize, denied: &[String], may: May<'_>) -> Option<String> {
        if let Some(one) = self.one.iter().find(|name| !may(name)) {
            return Some(one.clone());
        }
        if !self.must {
            return None;
        }
        if let Some(list) = self.among {
            let mut names = listed(list).into_iter().flat_map(names);
            let first = names.next()?;
            return (!may(&first) && names.all(|name| !may(&name))).then_some(first);
        }
        denied.first().filter(|_| left == 0).cloned()
    }
}
