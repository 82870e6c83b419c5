//! Answers in this process, for one replica. Bounded in bytes; what was stored longest ago goes first. Which texts of a partition
//! may be near is found by the signs of their vectors ([`signs`]); how near these are is computed here.

mod signs;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    mem::size_of,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use self::signs::Signs;
use super::{AnswerStore, Entry, EntryId, Erase, Near, Partition, learning::Observations};
use crate::{similarity, store::StoreError};

/// Bookkeeping of an entry beside what it holds, roughly: its places in the maps.
const OVERHEAD: usize = 512;
/// At most this many entries of a partition are compared exactly: those whose vectors share the most signs with the vector asked for.
const MAX_COMPARED: usize = 256;

/// The store. Its size is bounded whatever is stored.
pub struct MemoryAnswers {
    ttl: Duration,
    max_bytes: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    entries: HashMap<(Partition, EntryId), Stored>,
    /// The entries of each partition that can be compared.
    partitions: HashMap<Partition, Signs>,
    /// In the order in which they were stored: the first is evicted next.
    by_number: BTreeMap<u64, (Partition, EntryId)>,
    /// By when their time is up.
    by_end: BTreeSet<(Instant, u64)>,
    /// Entries stored so far.
    stored: u64,
    bytes: usize,
}

struct Stored {
    number: u64,
    /// `None` if the end is beyond what an `Instant` can hold.
    end: Option<Instant>,
    /// Its place in the [`Signs`] of its partition. `None` if it has no vector.
    place: Option<usize>,
    entry: Arc<Entry>,
}

impl MemoryAnswers {
    /// `max_bytes` bounds all that is stored, bookkeeping included, to within a small factor.
    #[must_use]
    pub fn new(ttl: Duration, max_bytes: usize) -> Self {
        Self { ttl, max_bytes, inner: Mutex::default() }
    }

    /// Takes the lock, and removes what is too old.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.forget_old();
        inner
    }

    /// Bytes stored now.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }
}

#[tonic::async_trait]
impl AnswerStore for MemoryAnswers {
    async fn exact(&self, partition: Partition, id: EntryId) -> Result<Option<Entry>, StoreError> {
        Ok(self.lock().entries.get(&(partition, id)).map(|stored| Entry::clone(&stored.entry)))
    }

    async fn nearest(
        &self,
        partition: Partition,
        vector: &[f32],
        count: usize,
    ) -> Result<Vec<Near>, StoreError> {
        // Compared without the lock.
        let Some(signs) = self.lock().partitions.get(&partition).cloned() else { return Ok(Vec::new()) };
        let candidates = signs.closest(vector, MAX_COMPARED.max(count));
        let candidates = self.lock().numbered(&candidates);
        let mut near: Vec<(f64, Arc<Entry>)> = candidates
            .into_iter()
            .filter_map(|entry| {
                let stored = &entry.asked.as_ref()?.vector;
                let similarity =
                    (stored.len() == vector.len()).then(|| similarity::of_vectors(vector, stored))?;
                Some((similarity, entry))
            })
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.truncate(count);
        Ok(near
            .into_iter()
            .map(|(similarity, entry)| Near { similarity, entry: Entry::clone(&entry) })
            .collect())
    }

    async fn store(&self, entry: &Entry, ttl: Duration) -> Result<(), StoreError> {
        let mut inner = self.lock();
        if bytes_of(entry) > self.max_bytes {
            inner.remove((entry.partition, entry.id));
            return Ok(());
        }
        inner.add(entry.clone(), ttl.min(self.ttl));
        while inner.bytes > self.max_bytes && inner.remove_first() {}
        Ok(())
    }

    async fn observe(&self, entry: &Entry, observations: &Observations) -> Result<bool, StoreError> {
        let mut inner = self.lock();
        let Some(stored) = inner.entries.get_mut(&(entry.partition, entry.id)) else { return Ok(false) };
        let is_it =
            stored.entry.stored_at == entry.stored_at && stored.entry.observations == entry.observations;
        if is_it {
            Arc::make_mut(&mut stored.entry).observations.clone_from(observations);
        }
        Ok(is_it)
    }

    async fn erase(&self, what: &Erase) -> Result<u64, StoreError> {
        let mut inner = self.lock();
        let gone: Vec<(Partition, EntryId)> = match what {
            Erase::Entry(partition, id) => vec![(*partition, *id)],
            _ => inner
                .entries
                .iter()
                .filter(|(_, stored)| is_meant(what, &stored.entry))
                .map(|(key, _)| *key)
                .collect(),
        };
        let erased = gone.into_iter().filter(|key| inner.remove(*key)).count();
        Ok(u64::try_from(erased).unwrap_or(u64::MAX))
    }

    async fn count(&self) -> Result<u64, StoreError> {
        Ok(u64::try_from(self.lock().entries.len()).unwrap_or(u64::MAX))
    }
}

fn is_meant(what: &Erase, entry: &Entry) -> bool {
    match what {
        Erase::All => true,
        Erase::Tenant(tenant) => entry.owner.tenant == *tenant,
        Erase::Agent(owner) => entry.owner == *owner,
        Erase::Entry(partition, id) => entry.partition == *partition && entry.id == *id,
    }
}

/// Bytes of an entry. Its observations are not counted here, because they grow later. They are few, and [`OVERHEAD`] allows for them.
fn bytes_of(entry: &Entry) -> usize {
    let asked = entry.asked.as_ref();
    let vector = asked.map_or(0, |asked| {
        let components = asked.vector.len().saturating_mul(size_of::<f32>());
        components.saturating_add(signs::bytes_of(&asked.vector))
    });
    [
        OVERHEAD,
        size_of::<Entry>(),
        vector,
        asked.map_or(0, |asked| asked.text.len()),
        entry.answer.len(),
        entry.owner.tenant.len(),
        entry.owner.agent.len(),
    ]
    .into_iter()
    .fold(0, usize::saturating_add)
}

impl Inner {
    fn add(&mut self, mut entry: Entry, ttl: Duration) {
        let key = (entry.partition, entry.id);
        self.remove(key);
        // A slice of a larger buffer would keep all of it.
        entry.answer = entry.answer.to_vec().into();
        self.stored = self.stored.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes_of(&entry));
        self.by_number.insert(self.stored, key);
        let place = entry
            .asked
            .as_ref()
            .map(|asked| self.partitions.entry(entry.partition).or_default().add(self.stored, &asked.vector));
        let end = Instant::now().checked_add(ttl);
        self.by_end.extend(end.map(|end| (end, self.stored)));
        let stored = Stored { number: self.stored, end, place, entry: Arc::new(entry) };
        self.entries.insert(key, stored);
    }

    /// The entries with these numbers, as far as they are still stored.
    fn numbered(&self, numbers: &[u64]) -> Vec<Arc<Entry>> {
        let stored = numbers.iter().filter_map(|number| self.entries.get(self.by_number.get(number)?));
        stored.map(|stored| Arc::clone(&stored.entry)).collect()
    }

    fn remove(&mut self, key: (Partition, EntryId)) -> bool {
        let Some(gone) = self.entries.remove(&key) else { return false };
        self.by_number.remove(&gone.number);
        if let Some(end) = gone.end {
            self.by_end.remove(&(end, gone.number));
        }
        if let Some(place) = gone.place {
            self.remove_signs(key.0, place);
        }
        self.bytes = self.bytes.saturating_sub(bytes_of(&gone.entry));
        true
    }

    fn remove_signs(&mut self, partition: Partition, place: usize) {
        let Some(signs) = self.partitions.get_mut(&partition) else { return };
        let moved = signs.remove(place);
        if signs.is_empty() {
            self.partitions.remove(&partition);
        }
        let moved = moved.and_then(|number| self.entries.get_mut(self.by_number.get(&number)?));
        if let Some(moved) = moved {
            moved.place = Some(place);
        }
    }

    fn remove_first(&mut self) -> bool {
        let first = self.by_number.first_key_value().map(|(_, key)| *key);
        first.is_some_and(|key| self.remove(key))
    }

    fn forget_old(&mut self) {
        let now = Instant::now();
        while let Some((end, number)) = self.by_end.first().copied() {
            if end > now {
                break;
            }
            self.by_end.remove(&(end, number));
            if let Some(key) = self.by_number.get(&number).copied() {
                self.remove(key);
            }
        }
    }
}
