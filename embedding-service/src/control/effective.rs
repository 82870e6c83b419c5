//! The effective settings of a worker: its configuration, overridden by the live settings.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use sentinel_config::{Budget, Config};

use super::{configurations::Configurations, live::Live, names::unhex};
use crate::store::StoreError;

/// Settled configurations that are stored.
const MOST: usize = 128;

/// What of a configuration the service needs.
pub struct Settled {
    pub budgets: Vec<Budget>,
}

/// Which configuration, and which version of the live settings.
type Which = (u64, u64);

/// Configurations, with the live settings above them.
pub struct Effective {
    configurations: Arc<Configurations>,
    live: Arc<Live>,
    settled: Mutex<HashMap<Which, Option<Arc<Settled>>>>,
}

impl Effective {
    #[must_use]
    pub fn new(configurations: Arc<Configurations>, live: Arc<Live>) -> Self {
        Self { configurations, live, settled: Mutex::default() }
    }

    /// What acts at workers whose configuration has this digest; `None` where it is not known.
    pub async fn of(&self, digest: u64) -> Result<Option<Arc<Settled>>, StoreError> {
        let live = self.live.current().await?;
        let which = (digest, live.version);
        let lock = || self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(settled) = lock().get(&which) {
            return Ok(settled.clone());
        }
        let Some(json) = self.configurations.get(digest).await? else { return Ok(None) };
        // Live settings were checked with every configuration that was known then. If they do not fit a later one, that one acts without them.
        let config = Config::with_live_settings(json.as_bytes(), live.json.as_bytes())
            .or_else(|_| Config::from_json(json.as_bytes()));
        let settled = config.ok().map(|config| Arc::new(Settled { budgets: config.budgets }));
        let mut all = lock();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(which, settled.clone());
        Ok(settled)
    }

    /// What acts at all workers that are known.
    pub async fn all(&self) -> Result<Vec<Arc<Settled>>, StoreError> {
        let mut configurations = self.configurations.all().await?;
        configurations.sort_by_key(|(_, configuration)| std::cmp::Reverse(configuration.at_ms));
        let mut all = Vec::new();
        for (digest, _) in configurations {
            let Some(digest) = unhex(&digest) else { continue };
            all.extend(self.of(digest).await?);
        }
        Ok(all)
    }
}
