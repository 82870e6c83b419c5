//! The tools that a request offers to the model, and how those that may not be offered are cut. In most dialects this
//! is a list of tools and a choice among them. How a tool is named is read here; where the lists stand is known to the
//! dialects.

use serde_json::value::RawValue;

use crate::{
    edit::{Edit, replace},
    json::{self, Unreadable},
    members::{Member, cut_elements, cut_members, elements, members, named},
};

/// What is left of the tools of a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// They take the tools out.
    pub edits: Vec<Edit>,
    /// Names of the tools that are taken out.
    pub denied: Vec<String>,
    /// The request wants a tool that is taken out to be called.
    pub forced: Option<String>,
}

/// Whether a tool of this name may be offered.
pub type May<'m> = &'m dyn Fn(&str) -> bool;

/// Stands before the name of an MCP server whose tools the provider is to offer by itself.
const MCP: &str = "mcp:";
/// A list of such servers (Anthropic).
const SERVERS: &str = "mcp_servers";

/// What is left of the lists of one object.
pub(crate) struct Restricted {
    pub offer: Offer,
    /// Tools that stay.
    pub left: usize,
}

/// Where the tools stand, in most dialects: keys of one object.
pub(crate) struct Keys {
    /// Lists of tools.
    pub lists: &'static [&'static str],
    /// Choices among them.
    pub choices: &'static [&'static str],
    /// What the provider refuses where there are no tools.
    pub with_tools: &'static [&'static str],
}

/// What one list of tools comes to.
#[derive(Default)]
pub(crate) struct Filtered {
    pub edits: Vec<Edit>,
    pub denied: Vec<String>,
    /// Tools that stay.
    pub left: usize,
}

/// Takes the tools that may not be offered out of the lists of `object`, and lets the choices in `choosers` follow: both
/// are parts of `body`. `stand_in` comes in the place of a list of which nothing is left, where the provider wants one.
pub(crate) fn restrict(
    body: &str,
    object: &RawValue,
    choosers: &[&RawValue],
    keys: &Keys,
    stand_in: Option<&str>,
    may: May<'_>,
) -> Result<Restricted, Unreadable> {
    let all = members(object);
    let (mut offer, mut left, mut emptied) = (Offer::default(), 0_usize, Vec::new());
    for (at, member) in all.iter().enumerate().filter(|(_, member)| keys.lists.contains(&&*member.key)) {
        let filtered = filter(body, member.value, member.key == SERVERS, may)?;
        if filtered.left == 0 && !filtered.denied.is_empty() {
            emptied.push(at);
        } else {
            offer.edits.extend(filtered.edits);
        }
        left = left.saturating_add(filtered.left);
        offer.denied.extend(filtered.denied);
    }
    let is_bare = left == 0 && !offer.denied.is_empty();
    for raw in choosers.iter().flat_map(|chooser| named(&members(chooser), keys.choices)) {
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
        let is_tools = |at: &usize| all.get(*at).is_some_and(|member| member.key != SERVERS);
        if let (Some(stand_in), Some(first)) = (stand_in, emptied.iter().position(is_tools)) {
            let list = all.get(emptied.remove(first)).ok_or(Unreadable::Shape)?.value;
            offer.edits.push(replace(body, list, stand_in.to_owned())?);
        }
        for chooser in choosers.iter().filter(|chooser| !std::ptr::eq(**chooser, object)) {
            offer.edits.extend(cut_members(body, chooser, |member| keys.choices.contains(&&*member.key))?);
        }
    }
    let mut at = 0_usize;
    offer.edits.extend(cut_members(body, object, |member| {
        let is_emptied = emptied.contains(&at);
        at = at.saturating_add(1);
        let goes_along = keys.choices.contains(&&*member.key) || keys.with_tools.contains(&&*member.key);
        is_emptied || is_bare && goes_along
    })?);
    Ok(Restricted { offer, left })
}

/// Filters one list of tools, or of names.
pub(crate) fn filter(
    body: &str,
    list: &RawValue,
    is_servers: bool,
    may: May<'_>,
) -> Result<Filtered, Unreadable> {
    let list = elements(list);
    let (mut filtered, mut cuts) = (Filtered::default(), Vec::with_capacity(list.len()));
    for element in &list {
        let names = if is_servers { server_names(element) } else { names(element) };
        let mut denied = names.iter().find(|name| !may(name)).cloned();
        // A namespace has tools of its own.
        let mut inner = Filtered::default();
        if denied.is_none() && element.get().contains("\"namespace\"") {
            for tools in named(&members(element), &["tools"]) {
                let within = filter(body, tools, false, may)?;
                inner.left = inner.left.saturating_add(within.left);
                inner.edits.extend(within.edits);
                inner.denied.extend(within.denied);
            }
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
    filtered.edits.extend(cut_elements(body, &list, &cuts)?);
    Ok(filtered)
}

/// All names that a tool's definition gives it; more than one where a key stands there twice. None for what is no tool.
/// A tool of the provider that has no name is called by its type.
fn names(element: &RawValue) -> Vec<String> {
    if element.get().starts_with('"') {
        return vec![text(element)];
    }
    let all = members(element);
    let kinds: Vec<String> = named(&all, &["type"]).into_iter().map(text).collect();
    let server = |key: &str| named(&all, &[key]).into_iter().map(|name| format!("{MCP}{}", text(name)));
    let mut names: Vec<String> = named(&all, &["function", "custom", "toolSpec", "systemTool"])
        .into_iter()
        .flat_map(|inner| named(&members(inner), &["name"]))
        .map(text)
        .collect();
    for kind in &kinds {
        match kind.as_str() {
            "mcp" => names.extend(server("server_label")),
            "mcp_toolset" => names.extend(server("mcp_server_name")),
            "mcp_server" => names.extend(server("name")),
            _ => {}
        }
    }
    if names.is_empty() || !kinds.iter().any(|kind| kind.starts_with("mcp")) {
        names.extend(named(&all, &["name"]).into_iter().map(text));
    }
    if names.is_empty() && all.iter().all(|member| member.key != "cachePoint") {
        names = if kinds.is_empty() { vec![String::new()] } else { kinds };
    }
    names
}

fn server_names(element: &RawValue) -> Vec<String> {
    named(&members(element), &["name"]).into_iter().map(|name| format!("{MCP}{}", text(name))).collect()
}

/// A string; what is none stands for itself, and has no tool's name.
pub(crate) fn text(raw: &RawValue) -> String {
    json::string(raw).map_or_else(|| raw.get().to_owned(), Into::into)
}

/// What a request wants of its tools.
#[derive(Default)]
struct Choice<'a> {
    /// One of them must be called.
    must: bool,
    /// These, and no others.
    one: Vec<String>,
    /// The list of those that may be called.
    among: Option<&'a RawValue>,
}

impl<'a> Choice<'a> {
    fn of(raw: &'a RawValue) -> Self {
        let is_must = |text: &str| matches!(text, "required" | "any");
        if raw.get().starts_with('"') {
            return Self { must: is_must(&text(raw)), ..Self::default() };
        }
        let all = members(raw);
        let kinds: Vec<String> = named(&all, &["type"]).into_iter().map(text).collect();
        // The list stands in an object of its own (OpenAI chat, Gemini) or beside its type (Responses).
        let inner = named(&all, &["allowed_tools"]).into_iter().flat_map(members);
        let all: Vec<Member<'_>> = all.into_iter().chain(inner).collect();
        let must = named(&all, &["mode"]).into_iter().any(|mode| is_must(&text(mode)))
            || kinds.iter().any(|kind| kind == "any")
            || all.iter().any(|member| member.key == "any");
        let among = named(&all, &["tools"]).first().copied();
        let is_free = |kind: &String| matches!(kind.as_str(), "auto" | "none" | "any" | "allowed_tools");
        let mut one = Vec::new();
        if among.is_none() && !kinds.iter().any(is_free) {
            let tools = named(&all, &["tool"]).into_iter().flat_map(|tool| named(&members(tool), &["name"]));
            one = tools.map(text).collect();
            let says_a_tool =
                |member: &Member<'_>| matches!(&*member.key, "type" | "name" | "function" | "custom");
            if one.is_empty() && all.iter().any(says_a_tool) {
                one = names(raw);
            }
        }
        Self { must, one, among }
    }

    /// The tool that must be called and may not be offered. `left`: tools that stay, of which `denied` were taken out.
    fn denied(&self, left: usize, denied: &[String], may: May<'_>) -> Option<String> {
        if let Some(one) = self.one.iter().find(|name| !may(name)) {
            return Some(one.clone());
        }
        if !self.must {
            return None;
        }
        if let Some(list) = self.among {
            let mut names = elements(list).into_iter().flat_map(names);
            let first = names.next()?;
            return (!may(&first) && names.all(|name| !may(&name))).then_some(first);
        }
        denied.first().filter(|_| left == 0).cloned()
    }
}
