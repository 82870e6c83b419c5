//! The configuration as the filter works with it: every value checked, names lower-cased, agents' settings merged.

use std::sync::Arc;

use sentinel_detect::signal::Condition;
use serde_json::{Map, Value};

use self::{
    agents::agents,
    identity::{header_name, source},
    mcp::mcp,
    paths::path_rules,
    price::price,
};
pub use self::{
    agents::{AgentMatch, MAY_DIFFER, Sender},
    bounds::{BoundsPolicy, PruningPolicy},
    budgets::{Budget, BudgetWindow, CalendarUnit, Limits, Payer},
    cache::CachePolicy,
    identity::IdentitySource,
    mcp::McpPolicy,
    models::ModelPolicy,
    paths::{PathMatch, PathRule, PathRuleList},
    policy::{GuardPolicy, HintPolicy, KillPolicy, Policy},
    tools::ToolPolicy,
};
use crate::{
    ConfigError,
    clients::Clients,
    context_window::{self, ContextWindow},
    document::parse,
    duration::parse_millis,
    field::{Field, unknown, wrong_type},
    price::Price,
    raw::{OnUnavailable, RawConfig, RawIdentity},
};

mod agents;
mod bounds;
mod budgets;
mod cache;
mod identity;
mod mcp;
mod models;
mod paths;
mod policy;
mod price;
mod spotlight;
mod steps;
mod tools;

/// A checked configuration.
#[derive(Clone, Debug)]
pub struct Config {
    pub cluster: String,
    /// Milliseconds.
    pub timeout: u64,
    /// Bytes.
    pub max_body: usize,
    pub hold_headers: bool,
    pub response_headers: bool,
    pub tenant: IdentitySource,
    pub agent: IdentitySource,
    pub run: IdentitySource,
    /// Whether providers are asked for answers that are not compressed.
    pub plain_answers: bool,
    /// Lower-case header name.
    pub principal: Option<String>,
    pub clients: Clients,
    pub paths: PathRuleList,
    pub mcp: McpPolicy,
    pub prices: Vec<Price>,
    context_windows: Vec<ContextWindow>,
    /// What is known of a request is left where Envoy's tracer and access logs find it.
    pub annotates: bool,
    /// Envoy cluster to which tool steps are sent as spans. `None` if they are not sent.
    pub collector: Option<String>,
    pub buckets: u32,
    /// Milliseconds.
    pub state_ttl: u64,
    /// Workers report to the service, and do what its operators say.
    pub reports: bool,
    /// Reports have texts too.
    pub reports_content: bool,
    /// What happens with requests that have budgets while the service does not answer.
    pub on_unavailable: OnUnavailable,
    /// Reports have digests in the place of names.
    pub hides_names: bool,
    /// Of the live settings that are in it; 0: none.
    pub settings_version: u64,
    /// In the order in which they are written; their names differ.
    pub budgets: Vec<Budget>,
    base: Arc<Policy>,
    agents: Vec<(AgentMatch, Arc<Policy>)>,
}

impl Config {
    /// Reads the plugin configuration; nothing at all is the default configuration.
    pub fn from_json(json: &[u8]) -> Result<Self, ConfigError> {
        Self::try_from(read(json)?)
    }

    /// As [`Self::from_json`], with live settings above it: `agents`, `budgets` and `steps.tools`. Each of these that is there stands in
    /// the place of the configuration's.
    pub fn with_live_settings(json: &[u8], live: &[u8]) -> Result<Self, ConfigError> {
        let mut raw = read(json)?;
        let live = parse(live)?;
        let members = live.as_object().ok_or_else(|| wrong_type("", "an object, in braces"))?;
        for (name, value) in members {
            match name.as_str() {
                "agents" | "budgets" => {}
                "steps" => {
                    let steps = value.as_object().ok_or_else(|| wrong_type(name, "an object, in braces"))?;
                    if let Some(other) = steps.keys().find(|key| *key != "tools") {
                        return Err(unknown(format!("steps.{other}"), &["tools"]));
                    }
                }
                _ => return Err(unknown(name.clone(), &["agents", "budgets", "steps"])),
            }
        }
        raw.set(&live, "")?;
        Self::try_from(raw)
    }

    /// The price of the model of this name.
    pub fn price(&self, model: &str) -> Option<&Price> {
        self.prices.iter().find(|price| price.model.fits(model))
    }

    /// The tokens that the model of this name reads at most, where that is known.
    pub fn context_window(&self, model: &str) -> Option<usize> {
        let own = self.context_windows.iter().find(|window| window.model.fits(model));
        own.map(|window| window.tokens).or_else(|| context_window::known(model))
    }

    /// The same with one condition of a kill off, for every agent: what the condition is worth is measured so.
    #[must_use]
    pub fn without(mut self, condition: Condition) -> Self {
        let agents = self.agents.iter_mut().map(|(_, policy)| policy);
        for policy in agents.chain([&mut self.base]) {
            Arc::make_mut(policy).steps.off = Some(condition);
        }
        self
    }

    /// The common policy, and those of `agents[]`.
    pub fn policies(&self) -> impl Iterator<Item = &Policy> {
        [&self.base].into_iter().chain(self.agents.iter().map(|(_, policy)| policy)).map(Arc::as_ref)
    }

    /// The policy for this sender: that of the first entry of `agents[]` that fits, or the common one.
    pub fn policy(&self, sender: Sender<'_>) -> &Arc<Policy> {
        self.agents.iter().find(|(entry, _)| entry.fits(sender)).map_or(&self.base, |(_, policy)| policy)
    }
}

/// What of a configuration live settings can change, as JSON, and what they are checked against: what may differ from agent to agent, and
/// `identity.principal`. Of more than `most` bytes only what they can change themselves; empty braces where that is too much too.
pub fn changeable(json: &[u8], most: usize) -> String {
    let whole = parse(json).unwrap_or_default();
    let mut parts = Map::new();
    for (group, field) in
        [("agents", None), ("budgets", None), ("steps", Some("tools")), ("identity", Some("principal"))]
    {
        let Some(known) = whole.get(group) else { continue };
        let part = match field {
            None => Some(known.clone()),
            Some(field) => known
                .get(field)
                .map(|part| Value::Object([(field.to_owned(), part.clone())].into_iter().collect())),
        };
        parts.extend(part.map(|part| (group.to_owned(), part)));
    }
    let mut more = parts.clone();
    let beneath = MAY_DIFFER.iter().filter_map(|name| Some(((*name).to_owned(), whole.get(*name)?.clone())));
    more.extend(beneath);
    let fits = |parts: Map<String, Value>| {
        let json = Value::Object(parts).to_string();
        (json.len() <= most).then_some(json)
    };
    fits(more).or_else(|| fits(parts)).unwrap_or_else(|| "{}".to_owned())
}

fn read(json: &[u8]) -> Result<RawConfig, ConfigError> {
    let mut raw = RawConfig::default();
    if !json.iter().all(u8::is_ascii_whitespace) {
        raw.set(&parse(json)?, "")?;
    }
    Ok(raw)
}

impl TryFrom<RawConfig> for Config {
    type Error = ConfigError;

    fn try_from(raw: RawConfig) -> Result<Self, ConfigError> {
        if raw.cluster.is_empty() {
            return Err(ConfigError::new("cluster", "must name the Envoy cluster of the embedding service"));
        }
        if !(1_024..=67_108_864).contains(&raw.max_body_bytes) {
            return Err(ConfigError::new("max_body_bytes", "must lie between 1024 and 67108864"));
        }
        if !(1..=65_536).contains(&raw.state.buckets) {
            return Err(ConfigError::new("state.buckets", "must lie between 1 and 65536"));
        }
        let base = Policy::try_from(&raw)?;
        let agents = agents(&raw)?;
        let budgets = budgets::budgets(&raw)?;
        let RawIdentity { tenant, agent, run, principal, clients, names } = raw.identity;
        Ok(Self {
            timeout: millis("timeout", &raw.timeout)?,
            state_ttl: millis("state.ttl", &raw.state.ttl)?,
            cluster: raw.cluster,
            max_body: usize::try_from(raw.max_body_bytes).unwrap_or(usize::MAX),
            hold_headers: raw.hold_headers,
            response_headers: raw.response_headers,
            plain_answers: raw.plain_answers,
            tenant: source("identity.tenant", tenant)?,
            agent: source("identity.agent", agent)?,
            run: source("identity.run", run)?,
            clients: Clients::of(&clients)?,
            principal: if principal.is_empty() {
                None
            } else {
                Some(header_name("identity.principal", &principal)?)
            },
            paths: path_rules(raw.paths)?,
            mcp: mcp(raw.mcp)?,
            prices: raw.prices.iter().enumerate().map(price).collect::<Result<_, _>>()?,
            context_windows: raw
                .context_windows
                .iter()
                .enumerate()
                .map(bounds::context_window)
                .collect::<Result<_, _>>()?,
            annotates: raw.traces.attributes,
            collector: Some(raw.traces.cluster).filter(|cluster| !cluster.is_empty()),
            buckets: raw.state.buckets,
            reports: raw.control.enabled,
            reports_content: raw.control.content,
            on_unavailable: raw.control.on_unavailable,
            hides_names: !names,
            settings_version: 0,
            budgets,
            base: Arc::new(base),
            agents,
        })
    }
}

fn between(path: &str, number: u32, least: usize, most: usize) -> Result<usize, ConfigError> {
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    if (least..=most).contains(&number) {
        Ok(number)
    } else {
        Err(ConfigError::new(path, format!("must lie between {least} and {most}")))
    }
}

/// Refuses a list of which the first entry that fits is used, if an entry can never be: `covers(before, entry)` says that the one fits all
/// that the other does.
fn all_used<T>(path: &str, list: &[T], covers: impl Fn(&T, &T) -> bool) -> Result<(), ConfigError> {
    for (at, entry) in list.iter().enumerate() {
        if let Some(before) = list.iter().take(at).position(|before| covers(before, entry)) {
            return Err(ConfigError::new(
                format!("{path}[{at}]"),
                format!(
                    "is never used: the first entry that fits is, and {path}[{before}] fits all that this one fits; move this one before it"
                ),
            ));
        }
    }
    Ok(())
}

fn millis(path: &str, text: &str) -> Result<u64, ConfigError> {
    parse_millis(text).map_err(|problem| ConfigError::new(path, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_live_settings_can_change_is_told_with_what_they_are_checked_against() {
        let json = br#"{"agents":[{"name":"a"}],"steps":{"window":9,"tools":[]},"identity":{"principal":"x-c","names":false},"run_limit":5,"timeout":"9ms"}"#;
        let told = changeable(json, 1_000);
        let wanted = r#"{"agents":[{"name":"a"}],"identity":{"principal":"x-c"},"run_limit":5,"steps":{"tools":[],"window":9}}"#;
        assert_eq!(told, wanted);
        let least = r#"{"agents":[{"name":"a"}],"identity":{"principal":"x-c"},"steps":{"tools":[]}}"#;
        assert_eq!(changeable(json, wanted.len() - 1), least, "what is checked against goes first");
        assert!(Config::from_json(told.as_bytes()).is_ok());
        assert_eq!((changeable(b"", 1_000), changeable(json, 10)), ("{}".to_owned(), "{}".to_owned()));
    }
}
