//! The store of one service without Redis: bounded in bytes, lost at exit. When it is full, runs are forgotten, first the one that was idle
//! longest. No log takes more than a quarter of the bytes. Stops, settings and the spending of budgets are never forgotten for want of room.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use tokio::sync::watch;

use super::{
    Append, Changes, Commit, Committed, ControlStore, Cursor, Document, DocumentKind, Key, Log, LogEntry,
    MOST_CHANGES, Part, Put, Version,
};
use crate::{control::clock, store::StoreError};

/// What a document or an entry takes besides its data and its name: maps, counts of references.
const OVERHEAD: usize = 160;

/// The store.
pub struct MemoryControl {
    max_bytes: usize,
    state: Mutex<StoreState>,
    reachable: watch::Sender<bool>,
}

#[derive(Default)]
struct StoreState {
    epoch: u64,
    clock: Version,
    documents: HashMap<Key, StoredDocument>,
    /// By kind: which document was written when.
    changes: HashMap<DocumentKind, BTreeSet<(Version, String)>>,
    expiries: BTreeSet<(Instant, Key)>,
    logs: HashMap<Log, StoredLog>,
    bytes: usize,
}

struct StoredDocument {
    version: Version,
    data: Bytes,
    expires: Option<Instant>,
}

#[derive(Default)]
struct StoredLog {
    entries: VecDeque<LogEntry>,
    bytes: usize,
    expires: Option<Instant>,
}

impl MemoryControl {
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        let start = clock::now_ms();
        let state = StoreState { epoch: clock::random(), clock: start, ..StoreState::default() };
        Self { max_bytes, state: Mutex::new(state), reachable: watch::Sender::new(true) }
    }

    /// Bytes that are taken.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn lock(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn size(name: &str, data: &Bytes) -> usize {
    name.len().saturating_mul(2).saturating_add(data.len()).saturating_add(OVERHEAD)
}

fn is_over(expires: Option<Instant>, now: Instant) -> bool {
    expires.is_some_and(|expires| expires <= now)
}

fn after(now: Instant, ttl: Option<Duration>) -> Option<Instant> {
    now.checked_add(ttl?)
}

impl StoreState {
    fn remove(&mut self, key: &Key) {
        let Some(stored) = self.documents.remove(key) else { return };
        self.bytes = self.bytes.saturating_sub(size(&key.id, &stored.data));
        if let Some(expires) = stored.expires {
            self.expiries.remove(&(expires, key.clone()));
        }
        if let Some(changes) = self.changes.get_mut(&key.kind) {
            changes.remove(&(stored.version, key.id.clone()));
        }
    }

    fn remove_log(&mut self, log: &Log) {
        if let Some(stored) = self.logs.remove(log) {
            self.bytes = self.bytes.saturating_sub(stored.bytes);
        }
    }

    fn put(&mut self, put: &Put, now: Instant) {
        self.remove(&put.key);
        let Put { key, data, ttl } = put;
        self.bytes = self.bytes.saturating_add(size(&key.id, data));
        let stored = StoredDocument { version: self.clock, data: data.clone(), expires: after(now, *ttl) };
        self.changes.entry(key.kind).or_default().insert((self.clock, key.id.clone()));
        self.expiries.extend(stored.expires.map(|expires| (expires, key.clone())));
        self.documents.insert(key.clone(), stored);
    }

    /// `most`: bytes of a log.
    fn append(&mut self, append: &Append, index: u32, most: usize, now: Instant) {
        let cursor = Cursor { version: self.clock, index };
        let log = self.logs.entry(append.log.clone()).or_default();
        let before = log.bytes;
        log.bytes = log.bytes.saturating_add(size("", &append.data));
        log.entries.push_back(LogEntry { cursor, data: append.data.clone() });
        log.expires = after(now, append.ttl);
        while log.entries.len() > append.keep || log.bytes > most {
            let Some(oldest) = log.entries.pop_front() else { break };
            log.bytes = log.bytes.saturating_sub(size("", &oldest.data));
        }
        self.bytes = self.bytes.saturating_sub(before).saturating_add(log.bytes);
    }

    /// The document of this kind that was not written for the longest time.
    fn oldest(&self, kind: DocumentKind) -> Option<Key> {
        let (_, id) = self.changes.get(&kind)?.first()?;
        Some(Key::new(kind, id.clone()))
    }

    fn forget(&mut self, key: &Key) {
        self.remove(key);
        if key.kind == DocumentKind::Run {
            self.remove_log(&Log::Turns(key.id.clone()));
        }
    }

    /// Forgets what has expired.
    fn expire(&mut self, now: Instant) {
        while let Some((_, key)) = self.expiries.first().filter(|(expires, _)| *expires <= now).cloned() {
            self.forget(&key);
        }
    }
}

#[tonic::async_trait]
impl ControlStore for MemoryControl {
    async fn read(&self, keys: &[Key]) -> Result<Vec<Document>, StoreError> {
        let (state, now) = (self.lock(), Instant::now());
        let read = |key| {
            let stored = state.documents.get(key).filter(|stored| !is_over(stored.expires, now));
            stored
                .map(|stored| Document { version: stored.version, data: stored.data.clone() })
                .unwrap_or_default()
        };
        Ok(keys.iter().map(read).collect())
    }

    async fn commit(&self, commit: &Commit) -> Result<Committed, StoreError> {
        let (mut state, now) = (self.lock(), Instant::now());
        for (key, version) in &commit.expect {
            let stored = state.documents.get(key).filter(|stored| !is_over(stored.expires, now));
            if stored.map_or(0, |stored| stored.version) != *version {
                return Ok(Committed::Conflict);
            }
        }
        state.expire(now);
        let names = commit.puts.iter().map(|put| size(&put.key.id, &put.data));
        let wanted = names.chain(commit.appends.iter().map(|append| size("", &append.data)));
        let wanted = wanted.fold(0, usize::saturating_add);
        while state.bytes.saturating_add(wanted) > self.max_bytes {
            let Some(idle) = state.oldest(DocumentKind::Run) else { return Err(StoreError::MemoryFull) };
            state.forget(&idle);
        }
        state.clock = state.clock.saturating_add(1);
        commit.puts.iter().for_each(|put| state.put(put, now));
        for (append, index) in commit.appends.iter().zip(1..) {
            state.append(append, index, self.max_bytes / 4, now);
        }
        Ok(Committed::Done(state.clock))
    }

    async fn changes(&self, kind: DocumentKind, after: Version) -> Result<Changes, StoreError> {
        let (mut state, now) = (self.lock(), Instant::now());
        state.expire(now);
        let mut changes = Changes { epoch: state.epoch, upto: state.clock, ..Changes::default() };
        let Some(written) = state.changes.get(&kind) else { return Ok(changes) };
        changes.oldest = written.first().map_or(state.clock, |(version, _)| *version);
        let newer = written.range((after.saturating_add(1), String::new())..);
        let mut last = after;
        for (version, id) in newer {
            // All documents of one commit are returned together.
            if changes.documents.len() >= MOST_CHANGES && *version != last {
                (changes.more, changes.upto) = (true, last);
                break;
            }
            last = *version;
            let stored = state.documents.get(&Key::new(kind, id.clone()));
            if let Some(stored) = stored.filter(|stored| !is_over(stored.expires, now)) {
                let document = Document { version: *version, data: stored.data.clone() };
                changes.documents.push((id.clone(), document));
            }
        }
        Ok(changes)
    }

    async fn log(&self, log: &Log, part: Part) -> Result<Vec<LogEntry>, StoreError> {
        let (state, now) = (self.lock(), Instant::now());
        let Some(stored) = state.logs.get(log).filter(|stored| !is_over(stored.expires, now)) else {
            return Ok(Vec::new());
        };
        Ok(match part {
            Part::After(cursor, most) => {
                let start = stored.entries.partition_point(|entry| entry.cursor <= cursor);
                stored.entries.iter().skip(start).take(most).cloned().collect()
            }
            Part::Before(before, most) => {
                let end = before.map_or(stored.entries.len(), |before| {
                    stored.entries.partition_point(|entry| entry.cursor < before)
                });
                stored.entries.iter().take(end).rev().take(most).cloned().collect()
            }
        })
    }

    fn reachable(&self) -> watch::Receiver<bool> {
        self.reachable.subscribe()
    }
}
