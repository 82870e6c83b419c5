//! All documents of one kind, read and kept up to date in this process: for lists, and for what every report asks.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
    time::{Duration, Instant},
};

use serde::de::DeserializeOwned;

use super::store::{ControlStore, Document, DocumentKind, Version};
use crate::store::StoreError;

/// The documents of one kind.
pub struct Mirror<T> {
    store: Arc<dyn ControlStore>,
    kind: DocumentKind,
    /// Held while the store is asked, so that it is asked once for all who wait.
    progress: tokio::sync::Mutex<Progress>,
    items: RwLock<Items<T>>,
}

#[derive(Default)]
struct Progress {
    refreshed: Option<Instant>,
}

/// What was read.
pub struct Items<T> {
    /// Of the store that it was read from.
    pub epoch: u64,
    /// All that was written up to this version has been read.
    pub upto: Version,
    /// The version from which on every change is known. A reader that knows less than that gets everything.
    pub since: Version,
    pub by_id: HashMap<String, Item<T>>,
}

pub struct Item<T> {
    pub version: Version,
    pub value: T,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self { epoch: 0, upto: 0, since: 0, by_id: HashMap::new() }
    }
}

impl<T: DeserializeOwned> Mirror<T> {
    #[must_use]
    pub fn new(store: Arc<dyn ControlStore>, kind: DocumentKind) -> Self {
        Self { store, kind, progress: tokio::sync::Mutex::default(), items: RwLock::default() }
    }

    /// What was read last.
    pub fn items(&self) -> RwLockReadGuard<'_, Items<T>> {
        self.items.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets items that are no longer of use. A reader whose version is older than a forgotten item has to read everything again.
    pub fn forget(&self, is_of_use: impl Fn(&T) -> bool) {
        let mut items = self.items.write().unwrap_or_else(PoisonError::into_inner);
        let mut since = items.since;
        items.by_id.retain(|_, item| {
            let stays = is_of_use(&item.value);
            since = if stays { since } else { since.max(item.version) };
            stays
        });
        items.since = since;
    }

    /// Reads what has changed, if that was not done within `age`.
    pub async fn refresh(&self, age: Duration) -> Result<(), StoreError> {
        let asked = Instant::now();
        let mut progress = self.progress.lock().await;
        // Somebody else may have done it while this one waited.
        let fresh = |at: Instant| at >= asked || asked.saturating_duration_since(at) < age;
        if progress.refreshed.is_some_and(fresh) {
            return Ok(());
        }
        let started = Instant::now();
        loop {
            let (epoch, upto) = {
                let items = self.items();
                (items.epoch, items.upto)
            };
            let mut changes = self.store.changes(self.kind, upto).await?;
            if changes.epoch != epoch {
                // This is another store, or it has lost its data. Everything is read again.
                if upto > 0 {
                    changes = self.store.changes(self.kind, 0).await?;
                }
                let mut items = self.items.write().unwrap_or_else(PoisonError::into_inner);
                *items = Items { epoch: changes.epoch, since: Version::MAX, ..Items::default() };
            }
            let read: Vec<_> = changes.documents.into_iter().filter_map(item).collect();
            let mut items = self.items.write().unwrap_or_else(PoisonError::into_inner);
            items.upto = changes.upto;
            items.by_id.extend(read);
            if changes.more {
                continue;
            }
            if items.since == Version::MAX {
                items.since = changes.upto;
            }
            let oldest = changes.oldest;
            items.by_id.retain(|_, item| item.version >= oldest);
            break;
        }
        progress.refreshed = Some(started);
        Ok(())
    }
}

fn item<T: DeserializeOwned>((id, document): (String, Document)) -> Option<(String, Item<T>)> {
    match serde_json::from_slice(&document.data) {
        Ok(value) => Some((id, Item { version: document.version, value })),
        Err(error) => {
            tracing::warn!(%error, "a document of control cannot be read; it is passed over");
            None
        }
    }
}
