//! Which tools an agent may use.

use sentinel_detect::step::ToolName;
use sentinel_guard::folded;

use crate::{
    ConfigError,
    raw::{RawToolName, RawTools},
};

/// The tool policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolPolicy {
    /// Empty: all.
    allow: Vec<ToolName>,
    deny: Vec<ToolName>,
    /// The same names folded: what only looks like one of them is denied too.
    deny_folded: Vec<ToolName>,
    /// Every call that passes is on record.
    pub audit: bool,
}

impl ToolPolicy {
    /// Whether every tool may be used.
    pub fn is_open(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty()
    }

    /// Whether the tool of this name may be used.
    pub fn may(&self, tool: &str) -> bool {
        let is_in = |list: &[ToolName]| list.iter().any(|name| name.fits(tool));
        if self.deny.is_empty() {
            return self.allow.is_empty() || is_in(&self.allow);
        }
        let folded = folded(tool);
        let is_denied = is_in(&self.deny) || self.deny_folded.iter().any(|name| name.fits(&folded));
        !is_denied && (self.allow.is_empty() || is_in(&self.allow))
    }
}

pub fn tools(raw: &RawTools) -> Result<ToolPolicy, ConfigError> {
    let list = |field: &str, list: &[RawToolName]| -> Result<Vec<_>, _> {
        list.iter().enumerate().map(|(at, raw)| name(&format!("tools.{field}[{at}]"), raw)).collect()
    };
    let deny = list("deny", &raw.deny)?;
    let deny_folded = deny.iter().filter_map(|name| {
        let (ToolName::Exact(name) | ToolName::Prefix(name), is_exact) =
            (name, matches!(name, ToolName::Exact(_)));
        let folded = Some(folded(name)).filter(|folded| !folded.is_empty())?;
        Some(if is_exact { ToolName::Exact(folded) } else { ToolName::Prefix(folded) })
    });
    Ok(ToolPolicy {
        allow: list("allow", &raw.allow)?,
        deny_folded: deny_folded.collect(),
        deny,
        audit: raw.audit,
    })
}

fn name(path: &str, raw: &RawToolName) -> Result<ToolName, ConfigError> {
    match (&raw.name, &raw.prefix) {
        (Some(name), None) => Ok(ToolName::Exact(name.clone())),
        (None, Some(prefix)) => Ok(ToolName::Prefix(prefix.clone())),
        _ => Err(ConfigError::new(path, "needs exactly one of `name` and `prefix`")),
    }
}
