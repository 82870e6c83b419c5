//! The configuration as the filter works with it: every value checked, names lower-cased, agents' settings merged.

use std::sync::Arc;

use serde_json::Value;

pub use self::{
    agents::AgentMatch,
    bounds::{BoundsPolicy, PruningPolicy},
    cache::CachePolicy,
    identity::IdentitySource,
    mcp::McpPolicy,
    paths::{PathMatch, PathRule, PathRuleList},
    policy::{GuardPolicy, HintPolicy, KillPolicy, Policy},
    tools::ToolPolicy,
};
use self::{
    agents::agents,
    identity::{header_name, source},
    mcp::mcp,
    paths::path_rule,
    price::price,
};
use super::{
    ConfigError,
    clients::Clients,
    duration::parse_millis,
    field::Field,
    raw::{RawConfig, RawIdentity},
};
use crate::{
    context_window::{self, ContextWindow},
    price::Price,
};

mod agents;
mod bounds;
mod cache;
mod identity;
mod mcp;
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
    /// Envoy cluster to which tool steps are sent as spans; none where they are not.
    pub collector: Option<String>,
    pub buckets: u32,
    /// Milliseconds.
    pub state_ttl: u64,
    base: Arc<Policy>,
    agents: Vec<(AgentMatch, Arc<Policy>)>,
}

impl Config {
    /// Reads the plugin configuration; nothing at all is the default configuration.
    pub fn from_json(json: &[u8]) -> Result<Self, ConfigError> {
        let mut raw = RawConfig::default();
        if !json.iter().all(u8::is_ascii_whitespace) {
            let value: Value =
                serde_json::from_slice(json).map_err(|error| ConfigError::new(".", error.to_string()))?;
            raw.set(&value, "")?;
        }
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

    /// The policy for the agent of this name.
    pub fn policy(&self, agent: Option<&[u8]>) -> &Arc<Policy> {
        let Some(agent) = agent else { return &self.base };
        self.agents.iter().find(|(name, _)| name.fits(agent)).map_or(&self.base, |(_, policy)| policy)
    }
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
        let RawIdentity { tenant, agent, run, principal, clients } = raw.identity;
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
            paths: PathRuleList(raw.paths.into_iter().enumerate().map(path_rule).collect::<Result<_, _>>()?),
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

fn millis(path: &str, text: &str) -> Result<u64, ConfigError> {
    parse_millis(text).map_err(|problem| ConfigError::new(path, problem))
}
