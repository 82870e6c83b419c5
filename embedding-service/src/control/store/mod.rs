//! Where control keeps what it knows: small documents with versions, and bounded logs. Everything that the service decides about
//! runs, stops, budgets and settings is decided in Rust, on documents that were read; a commit succeeds only if none of them has changed
//! meanwhile. So several replicas on one Redis are as strict as one service in its own memory.

mod memory;
mod redis;

use std::{fmt, str::FromStr, time::Duration};

use bytes::Bytes;
use strum::IntoStaticStr;
use tokio::sync::watch;

pub use self::{memory::MemoryControl, redis::RedisControl};
use crate::store::StoreError;

/// Rises with every commit to the store. 0: there is nothing.
pub type Version = u64;

/// What a document is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum DocumentKind {
    /// A run, as it stands.
    Run,
    /// How far a worker's turns were counted.
    Worker,
    Stop,
    /// Written with every stop, so that two replicas do not both set the last one that may stand.
    StopCount,
    /// The live settings that act.
    Settings,
    /// What workers were configured with.
    Configuration,
    /// What was spent of a budget.
    Account,
    /// How far events were delivered.
    Webhook,
}

/// The name of a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub kind: DocumentKind,
    pub id: String,
}

impl Key {
    #[must_use]
    pub fn new(kind: DocumentKind, id: impl Into<String>) -> Self {
        Self { kind, id: id.into() }
    }
}

/// A document as it was read. Version 0 and no data: it is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    pub version: Version,
    pub data: Bytes,
}

/// A log: entries in their order, the oldest forgotten first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Log {
    Events,
    Settings,
    /// The turns of the run with this id.
    Turns(String),
}

/// The place of an entry in a log. Rises within a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub version: Version,
    pub index: u32,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.version, self.index)
    }
}

impl FromStr for Cursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (version, index) = text.split_once('-').ok_or(())?;
        Ok(Self { version: version.parse().map_err(drop)?, index: index.parse().map_err(drop)? })
    }
}

/// A document to be written.
#[derive(Clone, Debug)]
pub struct Put {
    pub key: Key,
    pub data: Bytes,
    /// `None`: it stays.
    pub ttl: Option<Duration>,
}

/// An entry to be written at the end of a log.
#[derive(Clone, Debug)]
pub struct Append {
    pub log: Log,
    pub data: Bytes,
    /// About how many entries the log keeps.
    pub keep: usize,
    /// When the log is forgotten if nothing comes; `None`: it stays.
    pub ttl: Option<Duration>,
}

/// What is written, all or nothing.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// The versions that these documents must still have.
    pub expect: Vec<(Key, Version)>,
    pub puts: Vec<Put>,
    pub appends: Vec<Append>,
}

/// What became of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    /// All that was put has this version now.
    Done(Version),
    /// A document has another version than was expected. Nothing was written.
    Conflict,
}

/// Documents of one kind that were written after a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// If it differs from the last answer's, the store has lost its data, and everything that was read from it is void.
    pub epoch: u64,
    /// What to ask for next: changes after this.
    pub upto: Version,
    /// Rising in their versions.
    pub documents: Vec<(String, Document)>,
    /// Whether there are more.
    pub more: bool,
    /// No document of this kind has an older version any more.
    pub oldest: Version,
}

/// An entry of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    pub cursor: Cursor,
    pub data: Bytes,
}

/// Which entries of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The first entries after this one. The number is a limit.
    After(Cursor, usize),
    /// The last entries before this one, newest first. `None`: before the end. The number is a limit.
    Before(Option<Cursor>, usize),
}

/// Most documents that one commit may write.
pub const MOST_PUTS: usize = 1_000;
/// Most changes that are told at once; more than one commit writes.
pub const MOST_CHANGES: usize = 5_000;

/// The store of control.
#[tonic::async_trait]
pub trait ControlStore: Send + Sync {
    /// The documents of these names, in this order.
    async fn read(&self, keys: &[Key]) -> Result<Vec<Document>, StoreError>;

    /// Writes all or nothing.
    async fn commit(&self, commit: &Commit) -> Result<Committed, StoreError>;

    /// What was written of one kind after a version.
    async fn changes(&self, kind: DocumentKind, after: Version) -> Result<Changes, StoreError>;

    /// A part of a log.
    async fn log(&self, log: &Log, part: Part) -> Result<Vec<LogEntry>, StoreError>;

    /// Whether it can be used now.
    fn reachable(&self) -> watch::Receiver<bool>;
}
