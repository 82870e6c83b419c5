//! Answers in Redis: for several replicas, or to outlive a restart. Here stands what is asked when; the commands and the reading
//! of a hash have files of their own.
//!
//! A Redis user needs the keys that begin with `cache:`, EVAL, HGETALL, HMGET, DEL and SCAN, and with the search module FT.CREATE
//! and FT.SEARCH. In a cluster only single entries can be erased.

mod command;
mod hash;

use std::{collections::HashMap, time::Duration};

use ::redis::{Pipeline, Value, cmd, from_redis_value};

use super::{AnswerStore, Entry, EntryId, Erase, Near, Partition, learning::Observations};
use crate::{
    embed::model_id::ModelId,
    similarity,
    store::{
        StoreError,
        redis::{
            Endpoint, Requirements, SupervisedConnection, index_exists,
            options::{LookupMethod, RedisOptions},
            store_error,
        },
    },
};

pub use self::command::MAX_COMPARED;

/// A write has time: nobody waits for it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);
/// Keys that are looked at in one round trip when answers are erased or counted.
const SCANNED_AT_ONCE: usize = 1000;

/// The store.
pub struct RedisAnswers {
    connection: SupervisedConnection,
    model: ModelId,
    dimension: usize,
    lookup: LookupMethod,
    is_cluster: bool,
    ttl: Duration,
    /// Budget of a look-up, while a caller waits.
    timeout: Duration,
}

impl RedisAnswers {
    /// Connects, and makes the index where searches need one. Vectors have `dimension` components and are of `model`.
    ///
    /// # Errors
    /// When Redis is not reachable, has no search module where one is to be used, or a file that the options name cannot be used.
    pub async fn connect(
        options: &RedisOptions,
        model: ModelId,
        dimension: usize,
        ttl: Duration,
    ) -> Result<Self, StoreError> {
        let nobody = Partition([0; 16]);
        let questions = vec![
            command::newest(nobody, model),
            command::exact(&command::key(nobody, model, EntryId::of(""))),
        ];
        let requirements = Requirements { questions, index: None };
        let connection = SupervisedConnection::open(
            "response cache",
            Endpoint::new(options)?,
            requirements,
            options.timeout,
        )
        .await?;
        let store = Self {
            connection,
            model,
            dimension,
            lookup: options.lookup,
            is_cluster: options.cluster,
            ttl,
            timeout: options.timeout,
        };
        if store.lookup == LookupMethod::Search {
            store.ensure_index().await?;
        }
        Ok(store)
    }

    async fn ensure_index(&self) -> Result<(), StoreError> {
        let mut connection = self.connection.current()?;
        match command::create_index(self.dimension).query_async::<Value>(&mut connection).await {
            Err(e) if !index_exists(&e) => Err(store_error(&e)),
            _ => Ok(()),
        }
    }

    /// Keys of the nearest entries; what lies there is still to be read.
    async fn nearest_keys(
        &self,
        partition: Partition,
        vector: &[f32],
        count: usize,
    ) -> Result<Vec<String>, StoreError> {
        if self.lookup == LookupMethod::Search {
            let search = command::search(partition, self.model, vector, count, self.timeout);
            let found: Result<Value, StoreError> = self.connection.ask(&search, self.timeout).await;
            return match found {
                Ok(found) => Ok(found_keys(found)),
                Err(error) => {
                    // If Redis was emptied, the index is gone. It is made again: this look-up finds nothing, but the next one can.
                    if matches!(error, StoreError::IndexMissing(_) | StoreError::Refused(_)) {
                        self.ensure_index().await?;
                    }
                    Err(error)
                }
            };
        }
        let newest: Vec<(String, Option<Vec<u8>>)> =
            self.connection.ask(&command::newest(partition, self.model), self.timeout).await?;
        let mut compared: Vec<(f64, String)> = newest
            .into_iter()
            .filter_map(|(key, stored)| {
                let stored = stored?;
                let (components, rest) = stored.as_chunks::<4>();
                let fits = components.len() == vector.len() && rest.is_empty();
                let stored: Vec<f32> = components.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
                fits.then(|| (similarity::of_vectors(vector, &stored), key))
            })
            .collect();
        compared.sort_by(|a, b| b.0.total_cmp(&a.0));
        compared.truncate(count);
        Ok(compared.into_iter().map(|(_, key)| key).collect())
    }

    /// The next keys of answers from `cursor` on, and the cursor after them: 0 at the end.
    async fn scan(&self, cursor: u64) -> Result<(u64, Vec<String>), StoreError> {
        if self.is_cluster {
            return Err(StoreError::WrongKind(
                "in a cluster answers cannot be counted, nor erased but one by one: they go when their time is up",
            ));
        }
        let mut scan = cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(format!("{}*", command::PREFIX)).arg("COUNT").arg(SCANNED_AT_ONCE);
        scan.arg("TYPE").arg("hash");
        self.connection.ask(&scan, WRITE_TIMEOUT).await
    }

    async fn delete(&self, keys: &[String]) -> Result<u64, StoreError> {
        if keys.is_empty() {
            return Ok(0);
        }
        self.connection.ask(cmd("DEL").arg(keys), WRITE_TIMEOUT).await
    }

    /// Those of the keys whose answers are to be erased.
    async fn meant(&self, what: &Erase, keys: Vec<String>) -> Result<Vec<String>, StoreError> {
        let (tenant, agent) = match what {
            Erase::All | Erase::Entry(..) => return Ok(keys),
            Erase::Tenant(tenant) => (tenant, None),
            Erase::Agent(owner) => (&owner.tenant, Some(&owner.agent)),
        };
        let mut owners = Pipeline::new();
        for key in &keys {
            owners.cmd("HMGET").arg(key).arg(&["tenant", "agent"]);
        }
        let owners: Vec<StoredOwner> = self.connection.ask_all(&owners, WRITE_TIMEOUT).await?;
        let is_meant = |(its_tenant, its_agent): &StoredOwner| {
            its_tenant.as_deref() == Some(tenant.as_bytes())
                && agent.is_none_or(|agent| its_agent.as_deref() == Some(agent.as_bytes()))
        };
        Ok(keys.into_iter().zip(owners).filter(|(_, owner)| is_meant(owner)).map(|(key, _)| key).collect())
    }
}

/// Tenant and agent, as far as they are there.
type StoredOwner = (Option<Vec<u8>>, Option<Vec<u8>>);

/// The keys in the reply of a search without contents: their number, then each.
fn found_keys(reply: Value) -> Vec<String> {
    let items: Vec<Value> = from_redis_value(reply).unwrap_or_default();
    items.into_iter().skip(1).filter_map(|key| from_redis_value(key).ok()).collect()
}

/// The id at the end of a key.
fn id_in(key: &str) -> Option<EntryId> {
    EntryId::from_hex(key.rsplit_once(':')?.1)
}

#[tonic::async_trait]
impl AnswerStore for RedisAnswers {
    async fn exact(&self, partition: Partition, id: EntryId) -> Result<Option<Entry>, StoreError> {
        let key = command::key(partition, self.model, id);
        let fields: HashMap<String, Vec<u8>> =
            self.connection.ask(&command::exact(&key), self.timeout).await?;
        if fields.is_empty() {
            return Ok(None);
        }
        let entry = hash::entry(partition, id, fields);
        entry.map(Some).ok_or(StoreError::Unreadable("an answer of another version, or with changed bytes"))
    }

    async fn nearest(
        &self,
        partition: Partition,
        vector: &[f32],
        count: usize,
    ) -> Result<Vec<Near>, StoreError> {
        let keys = self.nearest_keys(partition, vector, count).await?;
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut hashes = Pipeline::new();
        for key in &keys {
            hashes.add_command(command::exact(key));
        }
        let hashes: Vec<HashMap<String, Vec<u8>>> = self.connection.ask_all(&hashes, self.timeout).await?;
        let mut near: Vec<Near> = keys
            .iter()
            .zip(hashes)
            .filter_map(|(key, fields)| {
                // Of another partition nothing fits its digest.
                let entry = hash::entry(partition, id_in(key)?, fields)?;
                let stored = &entry.asked.as_ref()?.vector;
                let similarity =
                    (stored.len() == vector.len()).then(|| similarity::of_vectors(vector, stored))?;
                Some(Near { similarity, entry })
            })
            .collect();
        near.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        Ok(near)
    }

    async fn store(&self, entry: &Entry, ttl: Duration) -> Result<(), StoreError> {
        let times = [ttl.min(self.ttl), self.ttl];
        let command = command::store(entry, self.model, times, &hash::fields(entry));
        self.connection.ask::<Value>(&command, WRITE_TIMEOUT).await.map(drop)
    }

    async fn observe(&self, entry: &Entry, observations: &Observations) -> Result<bool, StoreError> {
        let after = Entry { observations: observations.clone(), ..entry.clone() };
        let (old, new) = (hash::fields(entry), hash::fields(&after));
        self.connection.ask(&command::observe(self.model, &old, &after, &new), WRITE_TIMEOUT).await
    }

    async fn erase(&self, what: &Erase) -> Result<u64, StoreError> {
        if let Erase::Entry(partition, id) = what {
            return self.delete(&[command::key(*partition, self.model, *id)]).await;
        }
        let (mut erased, mut cursor) = (0_u64, 0);
        loop {
            let (next, keys) = self.scan(cursor).await?;
            let keys = if keys.is_empty() { keys } else { self.meant(what, keys).await? };
            erased = erased.saturating_add(self.delete(&keys).await?);
            cursor = next;
            if cursor == 0 {
                return Ok(erased);
            }
        }
    }

    async fn count(&self) -> Result<u64, StoreError> {
        let (mut count, mut cursor) = (0_usize, 0);
        loop {
            let (next, keys) = self.scan(cursor).await?;
            count = count.saturating_add(keys.len());
            cursor = next;
            if cursor == 0 {
                return Ok(u64::try_from(count).unwrap_or(u64::MAX));
            }
        }
    }
}
