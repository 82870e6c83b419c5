//! The tools of a request: `tools` and `toolConfig.functionCallingConfig`. Each tool is an object of function
//! declarations and tools of the provider, which are named by their keys (`google_search`).

use crate::{
    conversation::Conversation,
    disguise::hides,
    edit::{Edit, replace},
    json::{
        Raw, Unreadable,
        cut::{cut_elements, cut_members},
        object::Object,
    },
    tool_names::{snake_case, text},
    tools::{self, May, Offer, PolicyLists, listed},
};

const FUNCTIONS: [&str; 2] = ["functionDeclarations", "function_declarations"];
/// Names of two words that others than the provider may spell in another way.
const NAMES: [&str; 6] =
    ["functionDeclarations", "mcpServers", "googleSearch", "codeExecution", "computerUse", "urlContext"];
const ALLOWED: [&str; 2] = ["allowedFunctionNames", "allowed_function_names"];

pub fn offer(read: &Conversation<'_>, may: May<'_>) -> Result<Offer, Unreadable> {
    let (body, mut found) = (read.body, Cuts::default());
    for list in read.top.all(&["tools"]) {
        found.list(body, list, may)?;
    }
    for config in read.top.all(&["toolConfig", "tool_config"]) {
        for calling in Object::of(config).all(&["functionCallingConfig", "function_calling_config"]) {
            found.choice(body, config, calling, may)?;
        }
    }
    if found.forced.is_some() {
        found.edits.clear();
    }
    Ok(Offer { edits: found.edits, denied: found.denied, forced: found.forced })
}

#[derive(Default)]
struct Cuts {
    edits: Vec<Edit>,
    denied: Vec<String>,
    forced: Option<String>,
    /// Number of functions that stay.
    functions: usize,
}

impl Cuts {
    /// A list of tools, or one tool in its place.
    fn list(&mut self, body: &str, list: Raw<'_>, may: May<'_>) -> Result<(), Unreadable> {
        let all = if list.is_list() || list.is_object() { listed(list) } else { Vec::new() };
        let mut cuts = Vec::with_capacity(all.len());
        for tool in &all {
            let (mut inner, mut gone) = (Vec::new(), Vec::new());
            // Only some servers know what it is.
            if !tool.is_object() || hides(*tool, &NAMES) {
                return Err(Unreadable::Shape);
            }
            for (key, value) in tool.members() {
                let is_function = FUNCTIONS.iter().any(|name| key.is(name));
                let (written, name) = (key.text(), snake_case(&key.text()));
                // `function_declarationS`: a server written in Go takes it for `function_declarations`.
                let is_mixed = written.contains('_') && *written != name;
                if name.starts_with('_') || name.contains("__") || is_mixed {
                    return Err(Unreadable::Shape);
                }
                let is_servers = name == "mcp_servers";
                if !(is_function || is_servers && may(&name, PolicyLists::Both)) {
                    gone.push(!may(&name, PolicyLists::Both));
                    self.denied.extend(Some(name).filter(|name| !may(name, PolicyLists::Both)));
                    continue;
                }
                let filtered = tools::filter(body, value, is_servers, may)?;
                if filtered.has_nameless {
                    return Err(Unreadable::Shape);
                }
                let is_empty = filtered.left == 0 && !filtered.denied.is_empty();
                self.functions = self.functions.saturating_add(if is_function { filtered.left } else { 0 });
                self.denied.extend(filtered.denied);
                gone.push(is_empty);
                if !is_empty {
                    inner.extend(filtered.edits);
                }
            }
            let is_cut = !gone.is_empty() && gone.iter().all(|gone| *gone);
            cuts.push(is_cut);
            if !is_cut {
                self.edits.extend(inner);
                let tool = Object::of(*tool);
                self.edits.extend(cut_members(body, &tool, &mut |at, _, _| gone.get(at) == Some(&true))?);
            }
        }
        if list.is_list() {
            self.edits.extend(cut_elements(body, &all, &cuts)?);
        } else if cuts.contains(&true) {
            self.edits.push(replace(body, list, "[]".to_owned())?);
        }
        Ok(())
    }

    /// `calling`, a member of `config`: the mode, and the functions that may be called.
    fn choice(
        &mut self,
        body: &str,
        config: Raw<'_>,
        calling: Raw<'_>,
        may: May<'_>,
    ) -> Result<(), Unreadable> {
        let all = Object::of(calling);
        let is_any = |mode: &Raw<'_>| text(*mode).eq_ignore_ascii_case("any") || mode.get() == "2";
        let must = all.all(&["mode"]).iter().any(is_any);
        let mut is_limited = false;
        for list in all.all(&ALLOWED) {
            let filtered = tools::filter(body, list, false, may)?;
            is_limited |= filtered.left > 0;
            if must && filtered.left == 0 {
                self.forced = self.forced.take().or_else(|| filtered.denied.first().cloned());
            }
            self.edits.extend(filtered.edits);
        }
        if self.functions == 0 && !self.denied.is_empty() {
            if must && !is_limited {
                self.forced = self.forced.take().or_else(|| self.denied.first().cloned());
            }
            // The provider refuses a choice of functions if there are none.
            let cuts = cut_members(body, &Object::of(config), &mut |_, key, _| {
                key.is("functionCallingConfig") || key.is("function_calling_config")
            })?;
            let is_within = |edit: &Edit| {
                cuts.iter().any(|cut| cut.at.start <= edit.at.start && edit.at.end <= cut.at.end)
            };
            self.edits.retain(|edit| !is_within(edit));
            self.edits.extend(cuts);
        }
        Ok(())
    }
}
