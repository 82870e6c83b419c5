//! The tools of a request: `tools`, each an object of function declarations and tools of the provider, which are called
//! by their keys (`google_search`), and `toolConfig.functionCallingConfig`.

use serde_json::value::RawValue;

use crate::{
    edit::Edit,
    json::Unreadable,
    members::{self, cut_elements, cut_members, elements, members, named},
    tools::{self, May, Offer, text},
};

const FUNCTIONS: [&str; 2] = ["functionDeclarations", "function_declarations"];
const ALLOWED: [&str; 2] = ["allowedFunctionNames", "allowed_function_names"];

pub fn offer(body: &str, may: May<'_>) -> Result<Offer, Unreadable> {
    let whole = members::whole(body)?;
    let all = members(whole);
    let mut found = Found::default();
    for list in named(&all, &["tools"]) {
        found.list(body, list, may)?;
    }
    let configs: Vec<&RawValue> = named(&all, &["toolConfig", "tool_config"]);
    for config in configs {
        for calling in named(&members(config), &["functionCallingConfig", "function_calling_config"]) {
            found.choice(body, config, calling, may)?;
        }
    }
    if found.forced.is_some() {
        found.edits.clear();
    }
    Ok(Offer { edits: found.edits, denied: found.denied, forced: found.forced })
}

#[derive(Default)]
struct Found {
    edits: Vec<Edit>,
    denied: Vec<String>,
    forced: Option<String>,
    /// Functions that stay.
    functions: usize,
}

impl Found {
    fn list(&mut self, body: &str, list: &RawValue, may: May<'_>) -> Result<(), Unreadable> {
        let list = elements(list);
        let mut cuts = Vec::with_capacity(list.len());
        for tool in &list {
            let all = members(tool);
            let (mut inner, mut gone) = (Vec::new(), Vec::with_capacity(all.len()));
            for member in &all {
                if !FUNCTIONS.contains(&&*member.key) {
                    let name = snake_case(&member.key);
                    gone.push(!may(&name));
                    self.denied.extend(Some(name).filter(|name| !may(name)));
                    continue;
                }
                let filtered = tools::filter(body, member.value, false, may)?;
                let is_empty = filtered.left == 0 && !filtered.denied.is_empty();
                self.functions = self.functions.saturating_add(filtered.left);
                self.denied.extend(filtered.denied);
                gone.push(is_empty);
                if !is_empty {
                    inner.extend(filtered.edits);
                }
            }
            let is_cut = !gone.is_empty() && gone.iter().all(|gone| *gone);
            cuts.push(is_cut);
            if !is_cut {
                let mut gone = gone.into_iter();
                self.edits.extend(inner);
                self.edits.extend(cut_members(body, tool, |_| gone.next().unwrap_or(false))?);
            }
        }
        self.edits.extend(cut_elements(body, &list, &cuts)?);
        Ok(())
    }

    /// `calling`, a member of `config`: the mode, and the functions that may be called.
    fn choice(
        &mut self,
        body: &str,
        config: &RawValue,
        calling: &RawValue,
        may: May<'_>,
    ) -> Result<(), Unreadable> {
        let all = members(calling);
        let is_any = |mode: &&RawValue| text(mode).eq_ignore_ascii_case("any") || mode.get() == "2";
        let must = named(&all, &["mode"]).iter().any(is_any);
        let mut is_limited = false;
        for list in named(&all, &ALLOWED) {
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
            // The provider takes no choice among functions where there are none.
            let is_choice = |key: &str| matches!(key, "functionCallingConfig" | "function_calling_config");
            let cuts = cut_members(body, config, |member| is_choice(&member.key))?;
            let is_within = |edit: &Edit| {
                cuts.iter().any(|cut| cut.at.start <= edit.at.start && edit.at.end <= cut.at.end)
            };
            self.edits.retain(|edit| !is_within(edit));
            self.edits.extend(cuts);
        }
        Ok(())
    }
}

/// Both spellings of a key are one name.
fn snake_case(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}
