//! Live settings: what operators have changed since the workers were configured. Each change is a version with its author and its reason;
//! it is checked by the code that checks the filter's configuration.

use std::{sync::Arc, time::Duration};

use sentinel_config::Config;
use sentinel_proto::v1;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::{
    clock,
    configurations::Configurations,
    events::{Event, EventKind},
    ingest::{append, encode},
    mirror::Mirror,
    names::{Names, cut},
    store::{Append, Commit, Committed, ControlStore, Cursor, DocumentKind, Key, Log, LogEntry, Part, Put},
};
use crate::store::StoreError;

/// Bytes of all settings.
pub const LONGEST: usize = 256 << 10;
/// About how many versions are stored.
const VERSIONS: usize = 1_000;
/// Versions that one page shows.
pub const LARGEST_PAGE: usize = 100;
/// Bytes of an author and of a reason.
const LONGEST_WORDS: usize = 500;
const FRESH: Duration = Duration::from_millis(200);
/// The configuration with which settings are checked as long as no worker has sent its own.
const NO_WORKER: &str = r#"{"identity": {"principal": "x-client-id"}}"#;

/// A version of the live settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveSettings {
    /// 0: nothing was ever changed.
    pub version: u64,
    /// `agents`, `budgets` and `steps.tools`: each that is there stands in the place of the configuration's.
    pub settings: Map<String, Value>,
    pub author: String,
    pub reason: String,
    pub at_ms: u64,
    /// The version that it brought back; null: it brought none back.
    pub rolled_back_to: Option<u64>,
}

/// The settings as they act.
#[derive(Clone, Debug)]
pub struct Current {
    pub version: u64,
    pub json: String,
}

/// Who changes settings, why, and what they had before them.
#[derive(Clone, Debug, Default)]
pub struct SettingsChange {
    pub author: String,
    pub reason: String,
    /// The version that the change is made to.
    pub version: u64,
}

/// Why settings were not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("{0}")]
    Invalid(String),
    #[error(
        "the settings have version {0} now, and not the one that this change was made to. Look at them, and try again"
    )]
    Conflict(u64),
    #[error("no version {0} is stored")]
    NoVersion(u64),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The live settings.
pub struct Live {
    store: Arc<dyn ControlStore>,
    configurations: Arc<Configurations>,
    mirror: Mirror<LiveSettings>,
    /// About how many events are stored.
    events: usize,
}

fn key() -> Key {
    Key::new(DocumentKind::Settings, "")
}

impl Live {
    #[must_use]
    pub fn new(store: Arc<dyn ControlStore>, configurations: Arc<Configurations>, events: usize) -> Self {
        Self {
            mirror: Mirror::new(Arc::clone(&store), DocumentKind::Settings),
            store,
            configurations,
            events,
        }
    }

    /// The version that acts.
    pub async fn get(&self) -> Result<LiveSettings, StoreError> {
        self.mirror.refresh(FRESH).await?;
        Ok(self.mirror.items().by_id.get("").map(|item| item.value.clone()).unwrap_or_default())
    }

    pub async fn current(&self) -> Result<Current, StoreError> {
        let settings = self.get().await?;
        let json = Value::Object(settings.settings).to_string();
        Ok(Current { version: settings.version, json })
    }

    /// What is new for a worker that has a version of these settings; 0: it has none.
    pub async fn news(&self, version: u64) -> Result<(u64, Option<v1::Directive>), StoreError> {
        self.mirror.refresh(FRESH).await?;
        let current = self.mirror.items().by_id.get("").map_or(0, |item| item.value.version);
        if current == version {
            return Ok((current, None));
        }
        let Current { version, json } = self.current().await?;
        let settings = v1::directive::Kind::Settings(v1::LiveSettings { version, json });
        Ok((version, Some(v1::Directive { kind: Some(settings) })))
    }

    /// Versions before one, the newest first.
    pub async fn history(&self, before: Option<Cursor>) -> Result<Vec<(Cursor, LiveSettings)>, StoreError> {
        let entries = self.store.log(&Log::Settings, Part::Before(before, LARGEST_PAGE)).await?;
        let version = |entry: LogEntry| Some((entry.cursor, serde_json::from_slice(&entry.data).ok()?));
        Ok(entries.into_iter().filter_map(version).collect())
    }

    /// Changes all settings.
    ///
    /// # Errors
    /// When they are not valid, others were faster, or the store does not take them.
    pub async fn set(
        &self,
        settings: Map<String, Value>,
        change: SettingsChange,
    ) -> Result<LiveSettings, ChangeError> {
        self.put(settings, change, None).await
    }

    /// Brings back an earlier version, as a new one.
    ///
    /// # Errors
    /// As [`Self::set`], and when the version is not kept.
    pub async fn roll_back(&self, to: u64, change: SettingsChange) -> Result<LiveSettings, ChangeError> {
        if to == 0 {
            return self.put(Map::new(), change, Some(0)).await;
        }
        let mut before = None;
        loop {
            let page = self.history(before).await?;
            let Some((last, _)) = page.last() else { return Err(ChangeError::NoVersion(to)) };
            before = Some(*last);
            if let Some((_, found)) = page.into_iter().find(|(_, settings)| settings.version == to) {
                return self.put(found.settings, change, Some(to)).await;
            }
        }
    }

    /// Lets one agent be observed, or judged again as it was: the mode of its own entry in `agents`.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub async fn observe(
        &self,
        agent: &str,
        observe: bool,
        change: SettingsChange,
    ) -> Result<LiveSettings, ChangeError> {
        self.mirror.refresh(Duration::ZERO).await?;
        let mut settings = self.get().await?.settings;
        let base = self.newest_configuration().await?;
        let agents = match settings.get("agents").or_else(|| base.get("agents")) {
            Some(Value::Array(agents)) => agents.clone(),
            _ => Vec::new(),
        };
        settings.insert("agents".to_owned(), Value::Array(with_mode(agents, agent, observe)));
        self.put(settings, change, None).await
    }

    /// The newest configuration of a worker, as far as workers send it: what live settings can change and what they are checked against. Null
    /// if no worker has sent one.
    pub async fn newest_configuration(&self) -> Result<Value, StoreError> {
        let all = self.configurations.all().await?;
        let newest = all.into_iter().max_by_key(|(_, configuration)| configuration.at_ms);
        Ok(newest.and_then(|(_, newest)| serde_json::from_str(&newest.json).ok()).unwrap_or_default())
    }

    /// Checks settings as workers would, on top of what each of them was configured with.
    ///
    /// # Errors
    /// When they are not valid, or the store does not answer.
    pub async fn check(&self, json: &str) -> Result<(), ChangeError> {
        if json.len() > LONGEST {
            return Err(ChangeError::Invalid(format!("settings have at most {LONGEST} bytes")));
        }
        let mut bases: Vec<String> = self
            .configurations
            .all()
            .await?
            .into_iter()
            .map(|(_, configuration)| configuration.json)
            .collect();
        if bases.is_empty() {
            bases.push(NO_WORKER.to_owned());
        }
        for base in bases {
            if let Err(error) = Config::with_live_settings(base.as_bytes(), json.as_bytes()) {
                return Err(ChangeError::Invalid(error.to_string()));
            }
        }
        Ok(())
    }

    async fn put(
        &self,
        settings: Map<String, Value>,
        change: SettingsChange,
        rolled_back_to: Option<u64>,
    ) -> Result<LiveSettings, ChangeError> {
        self.check(&Value::Object(settings.clone()).to_string()).await?;
        let read = self.store.read(&[key()]).await?;
        let Some(document) = read.first() else { return Err(ChangeError::Conflict(0)) };
        let before: LiveSettings = super::ingest::decode(document);
        if before.version != change.version {
            return Err(ChangeError::Conflict(before.version));
        }
        let new = LiveSettings {
            version: before.version.saturating_add(1),
            settings,
            author: cut(change.author, LONGEST_WORDS),
            reason: cut(change.reason, LONGEST_WORDS),
            at_ms: clock::now_ms(),
            rolled_back_to,
        };
        let event = Event::new(EventKind::SettingsChanged, new.at_ms, &Names::default());
        let event =
            event.with("version", &new.version).with("author", &new.author).with("reason", &new.reason);
        let kept = Append { log: Log::Settings, data: encode(&new), keep: VERSIONS, ttl: None };
        let commit = Commit {
            expect: vec![(key(), document.version)],
            puts: vec![Put { key: key(), data: encode(&new), ttl: None }],
            appends: vec![kept, append(&event, self.events)],
        };
        match self.store.commit(&commit).await? {
            Committed::Done(_) => {
                self.mirror.refresh(Duration::ZERO).await?;
                Ok(new)
            }
            Committed::Conflict => Err(ChangeError::Conflict(before.version.saturating_add(1))),
        }
    }
}

/// The index and the settings of the first entry that fits an agent. Entries for a client are skipped: they are only for that client's requests.
#[must_use]
pub fn entry_of(agents: &[Value], agent: &str) -> (usize, Map<String, Value>) {
    let fits = |entry: &Value| {
        let is_named = entry["name"] == agent;
        let has_prefix = entry["prefix"].as_str().is_some_and(|prefix| agent.starts_with(prefix));
        entry["client"].is_null() && (is_named || has_prefix)
    };
    let at = agents.iter().position(fits).unwrap_or(agents.len());
    let settings = agents.get(at).and_then(|entry| entry["settings"].as_object());
    (at, settings.cloned().unwrap_or_default())
}

/// The entries of `agents`, with these settings in an entry for exactly this agent. The first entry that fits is used, so the new one is put
/// before the one that fitted until now.
#[must_use]
pub fn with_entry(mut agents: Vec<Value>, agent: &str, settings: Map<String, Value>) -> Vec<Value> {
    let (at, _) = entry_of(&agents, agent);
    let entry = json!({"name": agent, "settings": settings});
    match agents.get_mut(at).filter(|known| known["name"] == agent) {
        Some(known) => *known = entry,
        None => agents.insert(at, entry),
    }
    agents
}

/// The entries of `agents`, with an entry for exactly this agent that has this mode and otherwise the settings that held for it before.
fn with_mode(agents: Vec<Value>, agent: &str, observe: bool) -> Vec<Value> {
    let (_, mut settings) = entry_of(&agents, agent);
    settings.insert("mode".to_owned(), if observe { "observe" } else { "enforce" }.into());
    with_entry(agents, agent, settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_observed_with_all_that_was_said_of_it_before() {
        let agents = json!([
            {"client": "c", "settings": {"run_limit": 5}},
            {"prefix": "support-", "settings": {"run_limit": 20, "mode": "enforce"}},
            {"name": "other", "settings": {}},
        ]);
        let Value::Array(agents) = agents else { panic!() };
        let observed = with_mode(agents.clone(), "support-1", true);
        assert_eq!(
            observed[1],
            json!({"name": "support-1", "settings": {"run_limit": 20, "mode": "observe"}})
        );
        assert_eq!((observed.len(), &observed[2]), (4, &agents[1]));
        let again = with_mode(observed, "support-1", false);
        assert_eq!((again.len(), &again[1]["settings"]["mode"]), (4, &json!("enforce")));
        let new = with_mode(agents, "somebody", true);
        assert_eq!(new[3], json!({"name": "somebody", "settings": {"mode": "observe"}}));
        assert_eq!(with_mode(Vec::new(), "a", true).len(), 1);
    }
}
