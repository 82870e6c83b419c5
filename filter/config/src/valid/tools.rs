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
    /// Each as it is, and folded: what only looks like one of them is denied too.
    deny: Vec<ToolName>,
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
        (self.allow.is_empty() || is_in(&self.allow, tool)) && !self.denies(tool)
    }

    /// Whether `deny` names the tool of this name.
    pub fn denies(&self, tool: &str) -> bool {
        let is_denied = || {
            [true, false].into_iter().any(|reads_tags| {
                let folded = folded(tool, reads_tags);
                [tool, &folded, bare(&folded)].into_iter().any(|tool| is_in(&self.deny, tool))
            })
        };
        !self.deny.is_empty() && is_denied()
    }
}

#[inline(never)]
fn is_in(list: &[ToolName], tool: &str) -> bool {
    list.iter().any(|name| name.fits(tool))
}

/// The name without whose tool it is and of which day: a provider takes `web_search_2025_08_26` for `web_search`, and a router
/// has `openrouter:web_search` or `$web_search`.
fn bare(name: &str) -> &str {
    let sign =
        name.bytes().rposition(|byte| matches!(byte, b':' | b'$')).filter(|_| !name.starts_with("mcp:"));
    let name = sign.and_then(|sign| name.get(sign.saturating_add(1)..)).unwrap_or(name);
    let is_of_date = |byte: &u8| byte.is_ascii_digit() || *byte == b'_';
    let date = || name.bytes().rev().take_while(is_of_date);
    let bare = name.get(..name.len().saturating_sub(date().count()));
    bare.filter(|_| date().filter(u8::is_ascii_digit).count() == 8).unwrap_or(name)
}

pub fn tools(raw: &RawTools) -> Result<ToolPolicy, ConfigError> {
    let list = |field: &str, list: &[RawToolName]| -> Result<Vec<_>, _> {
        list.iter().enumerate().map(|(at, raw)| name(&format!("tools.{field}[{at}]"), raw)).collect()
    };
    let mut deny = list("deny", &raw.deny)?;
    let folded: Vec<_> = deny.iter().filter_map(alike).collect();
    deny.extend(folded);
    Ok(ToolPolicy { allow: list("allow", &raw.allow)?, deny, audit: raw.audit })
}

/// The names that look like this one. Returns `None` when the name has no visible character.
fn alike(name: &ToolName) -> Option<ToolName> {
    let (of, name): (fn(String) -> ToolName, _) = match name {
        ToolName::Exact(name) => (ToolName::Exact, name),
        ToolName::Prefix(name) => (ToolName::Prefix, name),
    };
    Some(folded(name, true)).filter(|folded| !folded.is_empty()).map(of)
}

fn name(path: &str, raw: &RawToolName) -> Result<ToolName, ConfigError> {
    match (&raw.name, &raw.prefix) {
        (Some(name), None) => Ok(ToolName::Exact(name.clone())),
        (None, Some(prefix)) => Ok(ToolName::Prefix(prefix.clone())),
        _ => Err(ConfigError::new(path, "needs exactly one of `name` and `prefix`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_of_a_provider_is_the_same_on_every_day_and_through_every_router() {
        for (name, tool) in [
            ("web_search_2025_08_26", "web_search"),
            ("web_search_20250305", "web_search"),
            ("openrouter:web_search", "web_search"),
            ("openrouter:web_search_20260101", "web_search"),
            ("$web_search", "web_search"),
            ("default_api:rm", "rm"),
            // These say nothing of a day or a router.
            ("mcp:rm", "mcp:rm"),
            ("rm2", "rm2"),
            ("build_2025", "build_2025"),
            ("files.rm", "files.rm"),
            ("", ""),
            ("2025_08_26", ""),
        ] {
            assert_eq!(bare(name), tool, "{name}");
        }
    }

    #[test]
    fn what_is_allowed_is_exactly_what_the_list_says() {
        let name = |name: &str| RawToolName { name: Some(name.to_owned()), prefix: None };
        let allowed = RawTools { allow: vec![name("openrouter:web_search")], ..RawTools::default() };
        let policy = tools(&allowed).unwrap();
        assert!(
            policy.may("openrouter:web_search") && !policy.may("web_search") && !policy.may("x:web_search")
        );
        let denied = RawTools { deny: vec![name("web_search"), name("rm")], ..RawTools::default() };
        let policy = tools(&denied).unwrap();
        assert!(!policy.may("openrouter:web_search") && !policy.may("Web_Search_2025_08_26"));
        assert!(policy.may("web_search_preview") && policy.may("mcp:rm") && policy.may("rmdir"));
        for name in [
            "rm\u{1b}",
            "\u{1}rm",
            "r\tm",
            "rm\u{7f}",
            "r\u{9f}m",
            "rm\0",
            "rm\u{e0061}",
            "\u{e0001}r\u{e0100}m",
            "\u{e0072}\u{e006d}",
            "r\u{1dc4}m",
            "r\u{fe20}m",
            "rm\u{fff0}",
            "rm\u{1bca0}",
            "r\u{1d173}m",
            "rm\u{e01f0}",
            "\u{7}R\u{ad}M\n",
        ] {
            assert!(!policy.may(name), "{name:?}");
        }
        assert!(
            policy.may("r m") && policy.may("rm\u{1}x") && policy.may("\u{1}") && policy.may("r\u{e0078}")
        );
    }
}
