//! The configurations of the workers. A worker reports a digest, and sends its configuration only if this digest is unknown here.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sentinel_config::Config;
use serde::{Deserialize, Serialize};

use super::{
    clock,
    ingest::encode,
    mirror::Mirror,
    names::hex,
    store::{Commit, ControlStore, DocumentKind, Key, Put},
};
use crate::store::StoreError;

/// Bytes of a configuration.
pub const LONGEST: usize = 256 << 10;
/// Configurations that are stored at once.
const MOST: usize = 64;
/// Digests of refused configurations that are remembered, so that workers are not asked for them with every report.
const MOST_REFUSED: usize = 1_024;
/// A configuration that no worker has any more is forgotten after so long.
const TTL: Duration = Duration::from_secs(7 * 24 * 3_600);
/// A configuration that workers still report is written again when it is older than this.
const RENEWED: Duration = Duration::from_secs(24 * 3_600);
const FRESH: Duration = Duration::from_millis(200);

/// A configuration as a worker has sent it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Configuration {
    pub json: String,
    pub at_ms: u64,
}

/// All that workers have been configured with lately.
pub struct Configurations {
    store: Arc<dyn ControlStore>,
    mirror: Mirror<Configuration>,
    refused: Mutex<HashSet<u64>>,
}

impl Configurations {
    #[must_use]
    pub fn new(store: Arc<dyn ControlStore>) -> Self {
        let mirror = Mirror::new(Arc::clone(&store), DocumentKind::Configuration);
        Self { store, mirror, refused: Mutex::default() }
    }

    /// Takes a configuration, if one is sent, and returns whether one is wanted.
    pub async fn report(&self, digest: u64, json: &str) -> Result<bool, StoreError> {
        if digest == 0 {
            return Ok(false);
        }
        self.mirror.refresh(FRESH).await?;
        let id = hex(digest);
        let now = clock::now_ms();
        let (known, count) = {
            let items = self.mirror.items();
            (items.by_id.get(&id).map(|item| item.value.clone()), items.by_id.len())
        };
        let is_fresh = |known: &Configuration| now.saturating_sub(known.at_ms) < clock::milliseconds(RENEWED);
        let configuration = match known {
            Some(known) if is_fresh(&known) => return Ok(false),
            Some(known) => Configuration { at_ms: now, ..known },
            None if json.is_empty() => return Ok(!self.lock().contains(&digest)),
            None if json.len() > LONGEST || count >= MOST || Config::from_json(json.as_bytes()).is_err() => {
                tracing::warn!(digest = %id, "a worker's configuration is refused: too long, of another version, or one too many");
                let mut refused = self.lock();
                if refused.len() >= MOST_REFUSED {
                    refused.clear();
                }
                refused.insert(digest);
                return Ok(false);
            }
            None => Configuration { json: json.to_owned(), at_ms: now },
        };
        let put = Put {
            key: Key::new(DocumentKind::Configuration, id),
            data: encode(&configuration),
            ttl: Some(TTL),
        };
        self.store.commit(&Commit { puts: vec![put], ..Commit::default() }).await?;
        self.mirror.refresh(Duration::ZERO).await?;
        Ok(false)
    }

    /// The configuration with this digest.
    pub async fn get(&self, digest: u64) -> Result<Option<String>, StoreError> {
        let id = hex(digest);
        let known = || self.mirror.items().by_id.get(&id).map(|item| item.value.json.clone());
        if let Some(json) = known() {
            return Ok(Some(json));
        }
        self.mirror.refresh(FRESH).await?;
        Ok(known())
    }

    /// All of them, with their digests.
    pub async fn all(&self) -> Result<Vec<(String, Configuration)>, StoreError> {
        self.mirror.refresh(FRESH).await?;
        let items = self.mirror.items();
        Ok(items.by_id.iter().map(|(digest, item)| (digest.clone(), item.value.clone())).collect())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<u64>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
