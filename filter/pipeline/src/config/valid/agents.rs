//! Settings for single agents, laid over the common ones.

use std::sync::Arc;

use serde_json::Value;

use super::{
    super::{
        ConfigError,
        field::Field,
        raw::{RawAgent, RawConfig},
    },
    policy::Policy,
};

#[derive(Clone, Debug)]
pub enum AgentMatch {
    Name(String),
    Prefix(String),
}

/// Characters of a row's name in a metric.
const MAX_LABEL: usize = 64;

impl AgentMatch {
    /// What metrics call the row. Envoy parts names of metrics at dots, and some exporters at other signs.
    fn label(&self) -> Arc<str> {
        let (name, end) = match self {
            Self::Name(name) => (name, ""),
            Self::Prefix(prefix) => (prefix, "*"),
        };
        let plain = |char: char| if char.is_ascii_alphanumeric() || char == '-' { char } else { '_' };
        name.chars().take(MAX_LABEL).map(plain).chain(end.chars()).collect::<String>().into()
    }

    pub fn fits(&self, agent: &[u8]) -> bool {
        match self {
            Self::Name(name) => agent == name.as_bytes(),
            Self::Prefix(prefix) => agent.starts_with(prefix.as_bytes()),
        }
    }
}

/// Each agent's settings laid over the common ones, and the result checked like any configuration.
pub fn agents(raw: &RawConfig) -> Result<Vec<(AgentMatch, Arc<Policy>)>, ConfigError> {
    const MAY_DIFFER: [&str; 16] = [
        "enabled",
        "mode",
        "similarity_threshold",
        "intervention_message",
        "semantic",
        "steps",
        "run_limit",
        "score",
        "tools",
        "guard",
        "bounds",
        "cache",
        "spotlight",
        "clean",
        "hint",
        "kill",
    ];
    let policy = |(RawAgent { name, prefix, settings }, index): (&RawAgent, usize)| {
        let path = format!("agents[{index}]");
        let agent = match (name, prefix) {
            (Some(name), None) => AgentMatch::Name(name.clone()),
            (None, Some(prefix)) => AgentMatch::Prefix(prefix.clone()),
            _ => return Err(ConfigError::new(path, "needs exactly one of `name` and `prefix`")),
        };
        if let Some(key) = settings.keys().find(|key| !MAY_DIFFER.contains(&key.as_str())) {
            return Err(ConfigError::new(
                format!("{path}.settings.{key}"),
                format!("cannot differ between agents; these can: {}", MAY_DIFFER.join(", ")),
            ));
        }
        let mut merged = RawConfig { agents: Vec::new(), ..raw.clone() };
        merged.set(&Value::Object(settings.clone()), &format!("{path}.settings"))?;
        let mut policy =
            Policy::try_from(&merged).map_err(|error| error.below(&format!("{path}.settings")))?;
        policy.agent = agent.label();
        Ok((agent, Arc::new(policy)))
    };
    raw.agents.iter().zip(0..).map(policy).collect()
}
