//! The tools that a request offers to the model, and how denied ones are cut. Most dialects have a list of tools and a
//! choice among them. How a tool is named is read in `tool_names`; the dialects know where the lists stand.

use crate::{
    edit::{Edit, replace},
    json::{
        Raw, Unreadable,
        cut::{cut_elements, cut_members},
        members::Key,
        object::Object,
    },
    loaded_tools::{is_of_server, may_have},
    switches::{SWITCHES, is_on, is_switch},
    tool_names::{MCP, Names, chosen, element_names, server_names, text, texts},
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
pub type May<'m> = &'m dyn Fn(&str, PolicyLists) -> bool;

/// Which of the operator's lists are asked for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyLists {
    /// `allow` and `deny`.
    Both,
    /// Only `deny`: the tool belongs to something that is allowed by its own name.
    Deny,
}

/// A list of such servers (Anthropic).
const SERVERS: &str = "mcp_servers";
/// Lists of tools. A router takes those of one format in a request of another.
pub(crate) const LISTS: [&str; 3] = ["tools", "functions", SERVERS];
/// Levels of tools within tools that are read. No provider nests them that deep.
pub(crate) const DEEPEST: usize = 8;
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
    /// Something in the list has no name, so only the provider knows what it is.
    pub has_nameless: bool,
    /// A denied tool that cannot be cut.
    pub forced: Option<String>,
}

impl Filtered {
    pub fn add(&mut self, other: Self) {
        self.edits.extend(other.edits);
        self.denied.extend(other.denied);
        self.left = self.left.saturating_add(other.left);
        self.has_nameless |= other.has_nameless;
        self.forced = self.forced.take().or(other.forced);
    }
}

/// Cuts denied tools out of the lists of the object `all`, and adapts the choices in `choosers`, or those in the object itself. All
/// are parts of `body`. `stand_in` replaces an emptied list if the provider requires one. `further` is the result for lists in other
/// places, whose tools count too.
pub(crate) fn restrict(
    body: &str,
    all: &Object<'_>,
    choosers: Option<&[Raw<'_>]>,
    keys: &Keys,
    stand_in: Option<&str>,
    further: Filtered,
    may: May<'_>,
) -> Result<Restricted, Unreadable> {
    let Filtered { edits, denied, mut left, mut has_nameless, forced } = further;
    if forced.is_some() {
        return Ok(Restricted { offer: Offer { edits: Vec::new(), denied, forced }, left });
    }
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
    let is_bare = left == 0 && !offer.denied.is_empty();
    for (key, value) in all.members() {
        offer.denied.extend(switched(key, *value, may).map(str::to_owned));
    }
    let choosers: Option<Vec<Object<'_>>> = choosers.map(|all| all.iter().copied().map(Object::of).collect());
    let choosers = choosers.as_deref();
    for raw in
        choosers.unwrap_or(std::slice::from_ref(all)).iter().flat_map(|chooser| chooser.all(keys.choices))
    {
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
        for chooser in choosers.unwrap_or_default() {
            offer.edits.extend(cut_members(body, chooser, &mut |_, key, _| is_one_of(key, keys.choices))?);
        }
    }
    offer.edits.extend(cut_members(body, all, &mut |at, key, value| {
        let goes_along = || is_one_of(key, keys.choices) || is_one_of(key, keys.with_tools);
        emptied.contains(&at) || switched(key, value, may).is_some() || is_bare && goes_along()
    })?);
    Ok(Restricted { offer, left })
}

/// The denied tool of the provider that a member switches on.
#[inline(never)]
fn switched(key: &Key<'_>, value: Raw<'_>, may: May<'_>) -> Option<&'static str> {
    let is_denied = |tool| !may(tool, PolicyLists::Both);
    let mut on = SWITCHES.iter().filter(|(switch, _)| is_switch(key, switch) && is_on(switch, value));
    on.find(|(_, tool)| is_denied(tool)).map(|(_, tool)| *tool)
}

#[inline(never)]
fn is_one_of(key: &Key<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| key.is(name))
}

/// The elements of a list. Any other value counts as its only element, as providers read it.
#[inline(never)]
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
#[inline(never)]
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
        filtered.has_nameless |= names.own.iter().any(String::is_empty);
        let mut denied = names.denied(may).cloned();
        let mut inner = Filtered::default();
        if denied.is_none() {
            let is_server = names.own.iter().any(|name| name.starts_with(MCP));
            inner = within(left, body, *element, is_server, may)?;
            filtered.has_nameless |= inner.has_nameless;
            if inner.left == 0 {
                denied = inner.denied.pop();
            }
        }
        let is_cut = denied.is_some();
        filtered.left = filtered.left.saturating_add(usize::from(!is_cut && !names.own.is_empty()));
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

/// Tools within a tool: a namespace has tools of its own, and an MCP server may be limited to some of its tools, or may name
/// some. If a server is allowed, all its tools are, except those that `deny` names.
#[inline(never)]
fn within(
    left: usize,
    body: &str,
    element: Raw<'_>,
    is_server: bool,
    may: May<'_>,
) -> Result<Filtered, Unreadable> {
    const LISTS: [&str; 5] =
        ["\"tools\"", "allowed_tools", "allowedTools", "tool_configuration", "\"configs\""];
    let mut all = Filtered::default();
    if !may_have(element, &LISTS) {
        return Ok(all);
    }
    let tool = Object::of(element);
    // The tools of a namespace, whatever its type, and of a tool that asks a model with tools of its own.
    let mut lists = tool.all(&["tools"]);
    lists.extend(
        tool.all(&["parameters"]).into_iter().flat_map(|settings| Object::of(settings).all(&["tools"])),
    );
    let of_server: May<'_> = &|name, _| may(name, PolicyLists::Deny);
    for list in lists {
        let may = if is_of_server(element, list, may) { of_server } else { may };
        all.add(filter_to(left, body, list, false, may)?);
    }
    let (mut lists, may) = (Vec::new(), if is_server { of_server } else { may });
    let limits = tool.all(&["tool_configuration", "mcp"]).into_iter().map(Object::of);
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
    // If a server or a set of tools is allowed, so are its tools, except those that `deny` names.
    for configs in tool.all(&["configs"]) {
        all.add(switched_off(body, configs, of_server)?);
    }
    Ok(all)
}

/// The settings of single tools of a server or a set (Anthropic). A denied tool without settings would get those of the server, so
/// it is switched off by name. The other tools stay.
fn switched_off(body: &str, configs: Raw<'_>, may: May<'_>) -> Result<Filtered, Unreadable> {
    let mut off = Filtered { left: 1, has_nameless: configs.is_list(), ..Filtered::default() };
    for (name, config) in Object::of(configs).members().iter().map(|(key, config)| (key.text(), *config)) {
        let enabled = Object::of(config).all(&["enabled"]);
        let is_off = !enabled.is_empty() && enabled.iter().all(|enabled| enabled.get() == "false");
        if !may(&name, PolicyLists::Both) && !is_off {
            off.edits.push(replace(body, config, r#"{"enabled":false}"#.to_owned())?);
            off.denied.push(name.into_owned());
        }
    }
    Ok(off)
}

/// What a request says about the use of its tools.
#[derive(Default)]
struct Choice<'a> {
    /// One of them must be called.
    must: bool,
    /// The tools that the choice names. One of these must be called.
    one: Names,
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
        let kinds = texts(&all, &["type"], "");
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
        let mut one = Names::default();
        if among.is_none() && !kinds.iter().any(is_free) {
            for tool in both("tool") {
                one.own.append(&mut texts(&Object::of(tool), &["name"], ""));
            }
            if one.own.is_empty() && ["type", "name", "function", "custom"].into_iter().any(has) {
                one = chosen(raw);
            }
        }
        Self { must, one, among }
    }

    /// The denied tool that must be called, if there is one. `left`: number of tools that stay. `denied`: tools that
    /// were cut.
    fn denied(&self, left: usize, denied: &[String], may: May<'_>) -> Option<String> {
        if let Some(one) = self.one.denied(may) {
            return Some(one.clone());
        }
        if !self.must {
            return None;
        }
        if let Some(list) = self.among {
            let mut tools = listed(list).into_iter().map(|tool| chosen(tool).denied(may).cloned());
            let first = tools.next()??;
            return tools.all(|denied| denied.is_some()).then_some(first);
        }
        denied.first().filter(|_| left == 0).cloned()
    }
}
