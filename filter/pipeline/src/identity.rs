//! Who sends a request, and for which run. Identifiers are hashed as soon as they are read. Only the names of client and agent
//! are kept until their policy has been found.

use std::{borrow::Cow, hash::Hasher};

use sentinel_config::{Config, IdentitySource, Sender};
use sentinel_llm_api::conversation::BodyIds;
use sentinel_text::{digest, digest_pair};
use siphasher::sip::SipHasher13;

use crate::{host::Secret, turn::Names};

/// What the request headers say about identity.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    secret: Secret,
    /// The client that an authentication filter has found.
    client: Option<Vec<u8>>,
    tenant: Option<Id>,
    agent: Option<Vec<u8>>,
    run: Option<Id>,
    /// Tenant and run as they were sent, if turns are reported.
    sent: Option<[Vec<u8>; 2]>,
    /// Reports get digests instead of names.
    hides_names: bool,
}

/// An identifier, as digests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Id {
    /// The same in every Envoy.
    digest: u64,
    /// Keyed with the secret of this Envoy, so that nobody who chooses an identifier knows where it is stored.
    keyed: u64,
}

impl Id {
    fn of(secret: Secret, bytes: &[u8]) -> Self {
        let [first, second] = secret;
        let mut hasher = SipHasher13::new_with_keys(first, second);
        hasher.write(bytes);
        Self { digest: digest(bytes), keyed: hasher.finish() }
    }

    fn digest_of(id: Option<Self>) -> u64 {
        id.map_or(0, |id| id.digest)
    }

    fn keyed_of(id: Option<Self>) -> u64 {
        id.map_or(0, |id| id.keyed)
    }
}

/// Tenant, agent and run, as digests. Windows and histories of two scopes are never mixed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    tenant: u64,
    agent: Option<u64>,
    run: Option<u64>,
    /// Its place in shared data.
    slot: u64,
    /// The request itself names an agent or a run.
    identified: bool,
    /// The request itself names its run.
    names_run: bool,
}

impl Claims {
    pub fn from_headers<'h>(
        config: &Config,
        secret: Secret,
        header: impl Fn(&str) -> Option<Cow<'h, [u8]>>,
    ) -> Self {
        let header = |name: &str| header(name).filter(|value| !value.is_empty());
        let first = |source: &IdentitySource| source.headers.iter().find_map(|name| header(name));
        let id = |value: &Cow<'_, [u8]>| Id::of(secret, value);
        let owned = |value: &Option<Cow<'_, [u8]>>| value.as_deref().map(<[u8]>::to_vec);
        let (tenant, run) = (first(&config.tenant), first(&config.run));
        Self {
            secret,
            client: owned(&config.principal.as_deref().and_then(header)),
            sent: config.reports.then(|| [&tenant, &run].map(|value| owned(value).unwrap_or_default())),
            hides_names: config.hides_names,
            tenant: tenant.as_ref().map(id),
            agent: owned(&first(&config.agent)),
            run: run.as_ref().map(id),
        }
    }

    /// Client and agent, as far as they are known.
    pub fn sender(&self) -> Sender<'_> {
        Sender { client: self.client.as_deref(), agent: self.agent.as_deref() }
    }

    /// The agent says which run it is.
    pub fn names_run(&self) -> bool {
        self.run.is_some()
    }

    /// The agent says who it is, or which run.
    pub fn is_identified(&self) -> bool {
        self.agent.is_some() || self.run.is_some()
    }

    /// The same claims. What the headers do not say is taken from the body.
    pub fn with_body(mut self, config: &Config, ids: &BodyIds<'_>) -> Self {
        let first = |source: &IdentitySource| source.body.iter().find_map(|field| ids.get(field));
        let secret = self.secret;
        if let Some([tenant, run]) = &mut self.sent {
            for (sent, source) in [(tenant, &config.tenant), (run, &config.run)] {
                if sent.is_empty() {
                    *sent = first(source).map(|id| id.as_bytes().to_vec()).unwrap_or_default();
                }
            }
        }
        self.tenant = self.tenant.or_else(|| first(&config.tenant).map(|id| Id::of(secret, id.as_bytes())));
        self.agent = self.agent.or_else(|| first(&config.agent).map(|id| id.into_owned().into_bytes()));
        self.run = self.run.or_else(|| first(&config.run).map(|id| Id::of(secret, id.as_bytes())));
        self
    }

    /// The names as a report has them. Returns `None` when turns are not reported. `head`: as for `scope`.
    pub fn names(&self, head: Option<u64>) -> Option<Names> {
        let [tenant, run] = self.sent.as_ref()?;
        let name = |sent: &[u8]| match sent {
            [] => String::new(),
            _ if self.hides_names => format!("{:016x}", digest(sent)),
            _ => String::from_utf8_lossy(sent).into_owned(),
        };
        let history = if run.is_empty() { head.unwrap_or(0) } else { 0 };
        let [client, agent] = [&self.client, &self.agent].map(|name| name.as_deref().unwrap_or_default());
        Some(Names {
            tenant: name(tenant),
            client: name(client),
            agent: name(agent),
            run: name(run),
            history,
        })
    }

    /// The scope. `head`, the fingerprint of the conversation's head, tells runs of one agent apart. Two users who begin alike
    /// share it, so it is no identification by itself.
    pub fn scope(&self, head: Option<u64>) -> Scope {
        let head = head.map(|head| Id { digest: head, keyed: head });
        self.scope_of(self.run.or(head))
    }

    fn scope_of(&self, run: Option<Id>) -> Scope {
        let agent = self.agent.as_deref().map(|name| Id::of(self.secret, name));
        let client = self.client.as_deref().map(|name| Id::of(self.secret, name));
        let keyed = [client, self.tenant, agent, run].map(Id::keyed_of);
        Scope {
            tenant: digest_pair(Id::digest_of(client), Id::digest_of(self.tenant)),
            agent: agent.map(|id| id.digest),
            run: run.map(|id| id.digest),
            slot: keyed.into_iter().fold(0, digest_pair),
            identified: self.is_identified(),
            names_run: self.run.is_some(),
        }
    }
}

impl Claims {
    /// The names of a client of an MCP server, as for `names`. If it names no run, its session is its run.
    pub fn mcp_names(&self, session: Option<&[u8]>) -> Option<Names> {
        self.names(session.map(digest))
    }

    /// The scope of a client of an MCP server: its session is its run.
    pub fn mcp_scope(&self, session: Option<&[u8]>) -> Scope {
        let session = session.map(|id| Id::of(self.secret, id));
        Scope { identified: self.agent.is_some() || session.is_some(), ..self.scope_of(self.run.or(session)) }
    }
}

impl Scope {
    /// Without an agent and a run, nothing may be compared across requests.
    pub fn is_identified(&self) -> bool {
        self.identified
    }

    /// Whether everything in this scope is of one run beyond doubt.
    pub fn names_run(&self) -> bool {
        self.names_run
    }

    /// Where shared data has what is remembered of the scope.
    pub fn slot(&self) -> u64 {
        self.slot
    }

    /// How the scope is called in logs and traces.
    pub fn label(&self) -> String {
        format!("{:016x}", self.id())
    }

    /// One number for the whole scope. It stands in logs; no identifier can be read from it.
    pub fn id(&self) -> u64 {
        digest_pair(self.tenant, digest_pair(self.agent.unwrap_or(0), self.run.unwrap_or(0)))
    }

    /// Tenant, agent and run as the embedding service gets them. A name is empty if it is not known.
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
            headers.iter().find(|(key, _)| *key == name).map(|(_, value)| Cow::Borrowed(value.as_bytes()))
        };
        let chat = registry::by_label("openai_chat").unwrap();
        let conversation = registry::read(chat, body.as_bytes()).unwrap();
        let head = Reading::of(&conversation, Reach::of(&StepsPolicy::default(), 0)).unwrap().head;
        Claims::from_headers(config, [1, 2], header).with_body(config, &conversation.ids).scope(head)
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
    fn where_a_scope_lies_depends_on_the_secret_and_what_it_is_called_does_not() {
        let config = config("{}");
        let scope = |secret| {
            let header = |name: &str| (name == "x-agent-id").then_some(Cow::Borrowed(&b"a"[..]));
            Claims::from_headers(&config, secret, header).scope(None)
        };
        let (one, other) = (scope([1, 2]), scope([3, 4]));
        assert_eq!((one.id(), one.names()), (other.id(), other.names()));
        assert_ne!(one.slot(), other.slot());
    }

    /// The console makes the address of a run's trace from its names: `embedding-service/src/console/view/trace.rs` has the same numbers.
    #[test]
    fn what_a_scope_is_called_follows_from_its_names() {
        let config = config(r#"{"identity":{"principal":"x-client"}}"#);
        let headers = [("x-client", "billing"), ("x-agent-id", "repo-fixer"), ("x-run-id", "task-8412")];
        let id = scope(&config, &headers, BARE).id();
        assert_eq!((id, digest_pair(id, 1)), (0x4c3c_621f_55dd_6bae, 0x133c_22e2_aa76_8bda));
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
