//! Whose a request is. Identifiers are hashed as soon as they are read; only the agent's name is kept, until its
//! policy has been found.

use sentinel_llm_api::conversation::BodyIds;
use sentinel_text::{digest, digest_pair};

use crate::config::{Config, IdentitySource};

/// What the request headers say about identity.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    principal: Option<u64>,
    tenant: Option<u64>,
    agent: Option<Vec<u8>>,
    run: Option<u64>,
}

/// Tenant, agent and run, as digests. Windows and histories of two scopes are never mixed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    tenant: u64,
    agent: Option<u64>,
    run: Option<u64>,
    /// The request itself says whose it is: by an agent or a run.
    identified: bool,
    /// The request itself says which run it is of.
    names_run: bool,
}

impl Claims {
    pub fn from_headers(config: &Config, header: impl Fn(&str) -> Option<Vec<u8>>) -> Self {
        let header = |name: &str| header(name).filter(|value| !value.is_empty());
        let first = |source: &IdentitySource| source.headers.iter().find_map(|name| header(name));
        Self {
            principal: config.principal.as_deref().and_then(header).map(|value| digest(&value)),
            tenant: first(&config.tenant).map(|value| digest(&value)),
            agent: first(&config.agent),
            run: first(&config.run).map(|value| digest(&value)),
        }
    }

    /// The agent's name, as far as it is known.
    pub fn agent(&self) -> Option<&[u8]> {
        self.agent.as_deref()
    }

    /// The agent says which run it is.
    pub fn names_run(&self) -> bool {
        self.run.is_some()
    }

    /// The agent says who it is, or which run.
    pub fn is_identified(&self) -> bool {
        self.agent.is_some() || self.run.is_some()
    }

    /// The same claims, with what the body says where the headers were silent.
    pub fn with_body(mut self, config: &Config, ids: &BodyIds<'_>) -> Self {
        let first = |source: &IdentitySource| source.body.iter().find_map(|field| ids.get(field));
        self.tenant = self.tenant.or_else(|| first(&config.tenant).map(|id| digest(id.as_bytes())));
        self.agent = self.agent.or_else(|| first(&config.agent).map(|id| id.into_owned().into_bytes()));
        self.run = self.run.or_else(|| first(&config.run).map(|id| digest(id.as_bytes())));
        self
    }

    /// The scope. `head` is the fingerprint of the conversation's head: it tells runs of one agent apart, but two
    /// users who begin alike share it, so it does not identify by itself.
    pub fn scope(&self, head: Option<u64>) -> Scope {
        Scope {
            tenant: digest_pair(self.principal.unwrap_or(0), self.tenant.unwrap_or(0)),
            agent: self.agent.as_deref().map(digest),
            run: self.run.or(head),
            identified: self.is_identified(),
            names_run: self.run.is_some(),
        }
    }
}

impl Claims {
    /// The scope of a client of an MCP server: its session is its run.
    pub fn mcp_scope(&self, session: Option<&[u8]>) -> Scope {
        let session = session.map(digest);
        Scope { identified: self.agent.is_some() || session.is_some(), ..self.scope(session) }
    }
}

impl Scope {
    /// Without agent and run, nothing may be compared across requests.
    pub fn is_identified(&self) -> bool {
        self.identified
    }

    /// Whether everything in this scope is of one run beyond doubt.
    pub fn names_run(&self) -> bool {
        self.names_run
    }

    /// How the scope is called in logs and traces.
    pub fn label(&self) -> String {
        format!("{:016x}", self.id())
    }

    /// One number for the whole scope. It stands in logs; no identifier can be read from it.
    pub fn id(&self) -> u64 {
        digest_pair(self.tenant, digest_pair(self.agent.unwrap_or(0), self.run.unwrap_or(0)))
    }

    /// Tenant, agent and run as the embedding service gets them; empty where there is none.
    pub fn names(&self) -> [String; 3] {
        let name = |id: Option<u64>| id.map(|id| format!("{id:016x}")).unwrap_or_default();
        [name(Some(self.tenant)), name(self.agent), name(self.run)]
    }
}

#[cfg(test)]
mod tests {
    use sentinel_detect::{
        history::{Reach, Reading},
        signal::StepsPolicy,
    };
    use sentinel_llm_api::registry;

    use super::*;

    fn config(json: &str) -> Config {
        Config::from_json(json.as_bytes()).unwrap()
    }

    fn scope(config: &Config, headers: &[(&str, &str)], body: &str) -> Scope {
        let header = |name: &str| {
            headers.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_bytes().to_vec())
        };
        let chat = registry::by_label("openai_chat").unwrap();
        let conversation = registry::read(chat, body.as_bytes()).unwrap();
        let head = Reading::of(&conversation, Reach::of(&StepsPolicy::default(), 0)).unwrap().head;
        Claims::from_headers(config, header).with_body(config, &conversation.ids).scope(head)
    }

    const BARE: &str = r#"{"messages":[{"role":"user","content":"hello"}]}"#;
    const HISTORY: &str = r#"{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"},{"role":"user","content":"more"}]}"#;

    #[test]
    fn nobody_is_identified_by_history_alone() {
        let config = config("{}");
        assert!(!scope(&config, &[], BARE).is_identified());
        assert!(!scope(&config, &[("x-tenant-id", "t")], HISTORY).is_identified());
        assert!(scope(&config, &[("x-agent-id", "a")], BARE).is_identified());
        assert!(scope(&config, &[("x-run-id", "r")], BARE).is_identified());
        assert!(!scope(&config, &[("x-agent-id", "")], BARE).is_identified());
    }

    #[test]
    fn each_part_makes_another_scope() {
        let config = config(r#"{"identity":{"principal":"X-Client"}}"#);
        let base: &[_] = &[("x-tenant-id", "t"), ("x-agent-id", "a"), ("x-run-id", "r"), ("x-client", "c")];
        let whole = scope(&config, base, BARE);
        for changed in 0..base.len() {
            let mut headers = base.to_vec();
            headers[changed].1 = "other";
            assert_ne!(scope(&config, &headers, BARE).id(), whole.id(), "{:?}", base[changed]);
        }
        assert_eq!(scope(&config, base, HISTORY), whole, "a run that is named needs no head");
    }

    #[test]
    fn history_tells_the_runs_of_an_agent_apart() {
        let config = config("{}");
        let agent: &[_] = &[("x-agent-id", "a")];
        let other = HISTORY.replace("hello", "good day");
        assert_ne!(scope(&config, agent, HISTORY).id(), scope(&config, agent, &other).id());
        assert_eq!(
            scope(&config, agent, HISTORY).id(),
            scope(&config, agent, &HISTORY.replace("more", "less")).id()
        );
    }

    #[test]
    fn body_fields_count_where_the_configuration_says_so() {
        let body = r#"{"user":"u1","metadata":{"agent_id":"a","n":7},"messages":[]}"#;
        let by_default = scope(&config("{}"), &[], body);
        assert_eq!(by_default, scope(&config("{}"), &[("x-agent-id", "a")], body));
        let by_user = config(r#"{"identity":{"agent":{"body":["user"]},"run":{"body":["metadata.n"]}}}"#);
        assert!(scope(&by_user, &[], body).is_identified());
        assert_ne!(scope(&by_user, &[], body).id(), by_default.id());
    }
}
