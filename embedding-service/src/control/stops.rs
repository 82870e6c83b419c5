//! Stops: what an operator has said must not go on. Each is a document, so that it survives restarts, and every replica tells its workers.

use std::{sync::Arc, time::Duration};

use sentinel_proto::v1;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    clock,
    ingest::encode,
    mirror::Mirror,
    names::{Names, cut, digest, hex, unhex},
    store::{Commit, Committed, ControlStore, DocumentKind, Key, Put},
};
use crate::store::StoreError;

/// Most stops that may stand.
pub const MOST_STOPS: usize = 10_000;
/// Bytes of a reason.
pub const LONGEST_REASON: usize = 500;
/// The longest time of a stop that ends by itself.
pub const LONGEST_STOP: Duration = Duration::from_secs(366 * 24 * 3_600);
/// How long workers can still be told that a stop was lifted. Whoever comes later gets all that stand.
const LIFTED_TTL: Duration = Duration::from_secs(3_600);
/// How old the view on the stops may be when a worker asks.
const FRESH: Duration = Duration::from_millis(200);
const ATTEMPTS: u32 = 50;

/// A stop. Each name that is there must be equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stop {
    pub id: String,
    pub tenant: Option<String>,
    pub client: Option<String>,
    pub agent: Option<String>,
    pub run: Option<String>,
    /// Stands for the name of the run where it has none.
    pub history: Option<String>,
    /// The operator's words. They go to the agent.
    pub reason: String,
    /// Who has set it, as they said.
    pub author: String,
    pub set_ms: u64,
    /// Milliseconds since 1970; null: until it is lifted.
    pub until_ms: Option<u64>,
    /// When it was lifted; null: it was not.
    pub lifted_ms: Option<u64>,
}

/// Whom a stop is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Target {
    pub tenant: Option<String>,
    pub client: Option<String>,
    pub agent: Option<String>,
    pub run: Option<String>,
    pub history: Option<String>,
}

/// Why no stop was set.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    #[error("name a tenant, a client, an agent or a run: a stop without any of them would stop everybody")]
    Nobody,
    #[error(
        "{MOST_STOPS} stops stand, and no more may. Lift some, or stop an agent or a tenant in the place of its runs"
    )]
    TooMany,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Target {
    /// Exactly this run.
    #[must_use]
    pub fn run(names: &Names) -> Self {
        Self {
            tenant: Some(names.tenant.clone()),
            client: Some(names.client.clone()),
            agent: Some(names.agent.clone()),
            run: Some(names.run.clone()),
            history: Some(names.history.clone()).filter(|history| !history.is_empty()),
        }
    }

    /// The id of its stop.
    #[must_use]
    pub fn id(&self) -> String {
        let part = |name: &Option<String>| name.as_ref().map_or("-".to_owned(), |name| format!("={name}"));
        let Self { tenant, client, agent, run, history } = self;
        let parts = [tenant, client, agent, run, history].map(part);
        digest(&parts.each_ref().map(String::as_str))
    }

    fn is_nobody(&self) -> bool {
        let Self { tenant, client, agent, run, history } = self;
        let is_said = |name: &Option<String>| name.as_ref().is_some_and(|name| !name.is_empty());
        ![tenant, client, agent, run, history].into_iter().any(is_said)
    }
}

impl Stop {
    /// Whether it stands at this time.
    #[must_use]
    pub fn stands(&self, now_ms: u64) -> bool {
        self.lifted_ms.is_none() && self.until_ms.is_none_or(|until| until > now_ms)
    }

    /// Whether it stops the requests of these names.
    #[must_use]
    pub fn fits(&self, names: &Names) -> bool {
        let is = |wanted: &Option<String>, name: &String| wanted.as_ref().is_none_or(|wanted| wanted == name);
        is(&self.tenant, &names.tenant)
            && is(&self.client, &names.client)
            && is(&self.agent, &names.agent)
            && is(&self.run, &names.run)
            && is(&self.history, &names.history)
    }

    fn message(&self, now_ms: u64) -> v1::Stop {
        v1::Stop {
            id: self.id.clone(),
            tenant: self.tenant.clone(),
            client: self.client.clone(),
            agent: self.agent.clone(),
            // For a run without a name, `run` is empty and `history` identifies the run.
            run: self.run.clone().filter(|run| !run.is_empty() || self.history.is_none()),
            history: self.history.as_deref().and_then(unhex),
            reason: self.reason.clone(),
            remaining_ms: self.until_ms.map_or(0, |until| until.saturating_sub(now_ms).max(1)),
        }
    }
}

/// All stops.
pub struct Stops {
    store: Arc<dyn ControlStore>,
    mirror: Mirror<Stop>,
}

/// What a worker is told.
#[derive(Debug, Default)]
pub struct DirectivesReply {
    pub epoch: u64,
    pub version: u64,
    /// Whether these are all.
    pub all: bool,
    pub directives: Vec<v1::Directive>,
}

impl Stops {
    #[must_use]
    pub fn new(store: Arc<dyn ControlStore>) -> Self {
        Self { mirror: Mirror::new(Arc::clone(&store), DocumentKind::Stop), store }
    }

    /// Those that stand, the newest first.
    pub async fn standing(&self) -> Result<Vec<Stop>, StoreError> {
        self.mirror.refresh(FRESH).await?;
        let now = clock::now_ms();
        let mut stops: Vec<Stop> = self
            .mirror
            .items()
            .by_id
            .values()
            .map(|item| &item.value)
            .filter(|stop| stop.stands(now))
            .cloned()
            .collect();
        stops.sort_by(|a, b| (b.set_ms, &b.id).cmp(&(a.set_ms, &a.id)));
        Ok(stops)
    }

    /// Those that stand for these names.
    pub async fn of(&self, names: &Names) -> Result<Vec<Stop>, StoreError> {
        let mut stops = self.standing().await?;
        stops.retain(|stop| stop.fits(names));
        Ok(stops)
    }

    /// Sets a stop; one for the same names is replaced.
    ///
    /// # Errors
    /// When it names nobody, too many stand, or the store does not take it.
    pub async fn set(
        &self,
        target: Target,
        reason: String,
        author: String,
        time: Option<Duration>,
    ) -> Result<Stop, StopError> {
        if target.is_nobody() {
            return Err(StopError::Nobody);
        }
        let id = target.id();
        let count = Key::new(DocumentKind::StopCount, "");
        for _ in 0..ATTEMPTS {
            // The count's document is read first. A stop that is set in between changes it, and then the commit fails.
            let gate = self.store.read(std::slice::from_ref(&count)).await?;
            self.mirror.refresh(Duration::ZERO).await?;
            let now = clock::now_ms();
            let told = now.saturating_sub(clock::milliseconds(LIFTED_TTL));
            self.mirror.forget(|stop| stop.stands(now) || stop.lifted_ms.or(stop.until_ms) > Some(told));
            let others = {
                let items = self.mirror.items();
                items.by_id.iter().filter(|(other, item)| **other != id && item.value.stands(now)).count()
            };
            if others >= MOST_STOPS {
                return Err(StopError::TooMany);
            }
            let Target { tenant, client, agent, run, history } = target.clone();
            let stop = Stop {
                id: id.clone(),
                tenant,
                client,
                agent,
                run,
                history,
                reason: cut(reason.clone(), LONGEST_REASON),
                author: cut(author.clone(), LONGEST_REASON),
                set_ms: now,
                until_ms: time.map(|time| now.saturating_add(clock::milliseconds(time.min(LONGEST_STOP)))),
                lifted_ms: None,
            };
            let put = |key, data, ttl| Put { key, data, ttl };
            let commit = Commit {
                expect: vec![(count.clone(), gate.first().map_or(0, |gate| gate.version))],
                puts: vec![
                    put(
                        Key::new(DocumentKind::Stop, id.clone()),
                        encode(&stop),
                        time.map(|time| time.min(LONGEST_STOP)),
                    ),
                    put(count.clone(), encode(&now), None),
                ],
                appends: Vec::new(),
            };
            if self.store.commit(&commit).await? != Committed::Conflict {
                self.mirror.refresh(Duration::ZERO).await?;
                return Ok(stop);
            }
        }
        Err(StoreError::Contended.into())
    }

    /// Lifts a stop. Returns it as it was, or `None` where it does not stand.
    pub async fn lift(&self, id: &str, author: &str) -> Result<Option<Stop>, StoreError> {
        let key = Key::new(DocumentKind::Stop, id);
        for _ in 0..ATTEMPTS {
            let read = self.store.read(std::slice::from_ref(&key)).await?;
            let Some(document) = read.first().filter(|document| document.version > 0) else {
                return Ok(None);
            };
            let now = clock::now_ms();
            let stop = serde_json::from_slice::<Stop>(&document.data).ok();
            let Some(stop) = stop.filter(|stop| stop.stands(now)) else { return Ok(None) };
            let lifted =
                Stop { lifted_ms: Some(now), author: cut(author.to_owned(), LONGEST_REASON), ..stop.clone() };
            let commit = Commit {
                expect: vec![(key.clone(), document.version)],
                puts: vec![Put { key: key.clone(), data: encode(&lifted), ttl: Some(LIFTED_TTL) }],
                appends: Vec::new(),
            };
            if self.store.commit(&commit).await? != Committed::Conflict {
                self.mirror.refresh(Duration::ZERO).await?;
                return Ok(Some(stop));
            }
        }
        Err(StoreError::Contended)
    }

    /// What is new for a worker that knows the stops of this epoch up to this version.
    pub async fn news(&self, epoch: u64, version: u64) -> Result<DirectivesReply, StoreError> {
        self.mirror.refresh(FRESH).await?;
        let now = clock::now_ms();
        let items = self.mirror.items();
        let all = epoch != items.epoch || version < items.since || version > items.upto;
        let mut told =
            DirectivesReply { epoch: items.epoch, version: items.upto, all, directives: Vec::new() };
        for item in items.by_id.values().filter(|item| all || item.version > version) {
            let kind = match item.value.stands(now) {
                true => v1::directive::Kind::Stop(item.value.message(now)),
                false if all => continue,
                false => v1::directive::Kind::Lift(item.value.id.clone()),
            };
            told.directives.push(v1::Directive { kind: Some(kind) });
        }
        Ok(told)
    }
}

/// The digest of a history as an operator writes it.
#[must_use]
pub fn history_of(digits: &str) -> Option<String> {
    unhex(digits).map(hex)
}
