//! Settings for single agents, laid over the common ones.

use std::sync::Arc;

use serde_json::Value;

use super::{all_used, policy::Policy};
use crate::{
    ConfigError,
    field::Field,
    raw::{RawAgent, RawConfig},
};

/// Who sends a request, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sender<'a> {
    /// The client that an authentication filter has found.
    pub client: Option<&'a [u8]>,
    /// The name that the agent gives itself.
    pub agent: Option<&'a [u8]>,
}

/// Whom an entry of `agents[]` is for.
#[derive(Clone, Debug)]
pub struct AgentMatch {
    /// `None`: any client, or none.
    client: Option<String>,
    /// `None`: any agent, or none.
    agent: Option<AgentName>,
}

/// The name of an agent, or how it begins.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentName {
    Exact(String),
    Prefix(String),
}

impl AgentName {
    pub fn fits(&self, agent: &[u8]) -> bool {
        match self {
            Self::Exact(name) => agent == name.as_bytes(),
            Self::Prefix(prefix) => agent.starts_with(prefix.as_bytes()),
        }
    }
}

/// Characters of a name in a metric.
const MAX_LABEL: usize = 64;

impl AgentMatch {
    fn of(path: &str, raw: &RawAgent, has_clients: bool) -> Result<Self, ConfigError> {
        let agent = match (&raw.name, &raw.prefix) {
            (Some(name), None) => Some(AgentName::Exact(name.clone())),
            (None, Some(prefix)) => Some(AgentName::Prefix(prefix.clone())),
            (None, None) if raw.client.is_some() => None,
            (None, None) => return Err(ConfigError::new(path, "needs `client`, `name` or `prefix`")),
            (Some(_), Some(_)) => {
                return Err(ConfigError::new(path, "takes only one of `name` and `prefix`"));
            }
        };
        let client = raw.client.clone();
        let problem = match client.as_deref() {
            Some("") => "must not be empty",
            Some(_) if !has_clients => "needs `identity.principal`, the header that names the client",
            _ => return Ok(Self { client, agent }),
        };
        Err(ConfigError::new(format!("{path}.client"), problem))
    }

    /// What metrics call the entry. Envoy parts names of metrics at dots, and some exporters at other signs.
    fn label(&self) -> Arc<str> {
        let (name, end) = match &self.agent {
            Some(AgentName::Exact(name)) => (name.as_str(), ""),
            Some(AgentName::Prefix(prefix)) => (prefix.as_str(), "*"),
            None => ("", "*"),
        };
        let client = self.client.iter().map(|client| plain(client) + "/");
        client.chain([plain(name), end.to_owned()]).collect::<String>().into()
    }

    /// Whether it fits every sender that `other` fits.
    fn covers(&self, other: &Self) -> bool {
        let is_client = self.client.is_none() || self.client == other.client;
        let is_agent = match (&self.agent, &other.agent) {
            (None, _) => true,
            (Some(AgentName::Prefix(prefix)), Some(AgentName::Exact(name) | AgentName::Prefix(name))) => {
                name.starts_with(prefix)
            }
            (Some(own), Some(other)) => own == other,
            (Some(_), None) => false,
        };
        is_client && is_agent
    }

    pub fn fits(&self, sender: Sender<'_>) -> bool {
        let is_client = self.client.as_ref().is_none_or(|name| sender.client == Some(name.as_bytes()));
        let is_agent = |name: &AgentName| sender.agent.is_some_and(|agent| name.fits(agent));
        is_client && self.agent.as_ref().is_none_or(is_agent)
    }
}

fn plain(name: &str) -> String {
    let plain = |char: char| if char.is_ascii_alphanumeric() || char == '-' { char } else { '_' };
    name.chars().take(MAX_LABEL).map(plain).collect()
}

/// The fields that may differ from agent to agent.
pub const MAY_DIFFER: [&str; 18] = [
    "enabled",
    "mode",
    "similarity_threshold",
    "intervention_message",
    "semantic",
    "steps",
    "run_limit",
    "score",
    "models",
    "tools",
    "guard",
    "bounds",
    "cache",
    "spotlight",
    "clean",
    "hint",
    "kill",
    "unreadable",
];

/// Each agent's settings laid over the common ones, and the result checked like any configuration.
pub fn agents(raw: &RawConfig) -> Result<Vec<(AgentMatch, Arc<Policy>)>, ConfigError> {
    let has_clients = !raw.identity.principal.is_empty();
    let policy = |(entry, index): (&RawAgent, usize)| {
        let path = format!("agents[{index}]");
        let agent = AgentMatch::of(&path, entry, has_clients)?;
        let settings = &entry.settings;
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
    let agents: Vec<(AgentMatch, Arc<Policy>)> =
        raw.agents.iter().zip(0..).map(policy).collect::<Result<_, _>>()?;
    all_used("agents", &agents, |(before, _), (entry, _)| before.covers(entry))?;
    Ok(agents)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Config;

    fn refused(agents: serde_json::Value) -> Option<String> {
        let json = json!({"identity": {"principal": "x-client"}, "agents": agents}).to_string();
        Config::from_json(json.as_bytes()).err().map(|error| error.path)
    }

    #[test]
    fn an_entry_that_another_one_hides_is_refused() {
        for hidden in [
            json!([{"prefix": "billing-"}, {"name": "billing-bot-7"}]),
            json!([{"prefix": "billing-"}, {"prefix": "billing-bot-"}]),
            json!([{"name": "a"}, {"name": "a"}]),
            json!([{"client": "acme"}, {"client": "acme", "name": "a"}]),
            json!([{"prefix": ""}, {"client": "acme", "prefix": "a"}]),
        ] {
            assert_eq!(refused(hidden.clone()).as_deref(), Some("agents[1]"), "{hidden}");
        }
        for used in [
            json!([{"name": "billing-bot-7"}, {"prefix": "billing-"}]),
            json!([{"client": "acme"}, {"name": "a"}]),
            json!([{"client": "acme", "prefix": "a"}, {"client": "other", "prefix": "a"}, {"prefix": "a"}]),
            json!([{"name": "a"}, {"name": "A"}]),
            json!([{"prefix": ""}, {"client": "acme"}]),
        ] {
            assert_eq!(refused(used.clone()), None, "{used}");
        }
    }
}
