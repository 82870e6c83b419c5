//! The store in Redis: for several replicas, and to outlive restarts. A document is a hash (`v` its version, `d` its data), a log is a
//! stream, and a sorted set for each kind says what was written when. All keys have one hash tag, so that in a cluster they lie on one
//! node and a commit can be atomic.

use std::{sync::Arc, time::Duration};

use ::redis::{Cmd, Pipeline, cmd, pipe};
use bytes::Bytes;
use tokio::{sync::watch, task::JoinHandle};

use super::{
    Changes, Commit, Committed, ControlStore, Cursor, Document, DocumentKind, Key, Log, LogEntry,
    MOST_CHANGES, Part, Version,
};
use crate::{
    control::clock,
    store::{
        StoreError,
        redis::{Endpoint, Requirements, SupervisedConnection, options::RedisOptions},
    },
};

const COMMIT: &str = include_str!("commit.lua");
const CHANGES: &str = include_str!("changes.lua");
/// Every key begins with it.
const PREFIX: &str = "sentinel:{control}:";
/// Longer than a request may wait. Only reservations keep a request waiting, and they have a deadline of their own.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How often a Redis that could not be used is tried again.
const RETRY: Duration = Duration::from_secs(2);

/// The way to Redis, or why there is none yet.
type Way = Result<Arc<SupervisedConnection>, StoreError>;

/// The store.
pub struct RedisControl {
    way: watch::Receiver<Way>,
    reachable: watch::Receiver<bool>,
    opening: JoinHandle<()>,
}

impl RedisControl {
    /// Connects. If Redis cannot be used yet, for example because its user lacks a right, the service works without control and tries again.
    pub async fn open(options: &RedisOptions) -> Self {
        let first = connect(options).await;
        if let Err(error) = &first {
            tracing::error!(%error, "control is not usable; the service goes on without it and tries again");
        }
        let (is_usable, reachable) = watch::channel(first.is_ok());
        let (sender, way) = watch::channel(first);
        let options = options.clone();
        let opening = tokio::spawn(async move {
            while sender.borrow().is_err() {
                tokio::time::sleep(RETRY).await;
                let way = connect(&options).await;
                let _ = sender.send_replace(way);
            }
            let way = sender.borrow().clone();
            let Ok(connection) = way else { return };
            let mut reachable = connection.reachable();
            drop(connection);
            loop {
                let is_reachable = *reachable.borrow_and_update();
                is_usable.send_replace(is_reachable);
                if reachable.changed().await.is_err() {
                    return;
                }
            }
        });
        Self { way, reachable, opening }
    }

    fn way(&self) -> Way {
        self.way.borrow().clone()
    }
}

impl Drop for RedisControl {
    fn drop(&mut self) {
        self.opening.abort();
    }
}

/// Connects, and checks that what is there can be used.
async fn connect(options: &RedisOptions) -> Way {
    let requirements = Requirements { questions: vec![changes(DocumentKind::Stop, 0)], index: None };
    let endpoint = Endpoint::new(options)?;
    let store = "store of control";
    SupervisedConnection::open(store, endpoint, requirements, options.timeout).await.map(Arc::new)
}

fn document_key(key: &Key) -> String {
    let kind: &str = key.kind.into();
    format!("{PREFIX}{kind}:{}", key.id)
}

fn changes_key(kind: DocumentKind) -> String {
    let kind: &str = kind.into();
    format!("{PREFIX}changes:{kind}")
}

fn log_key(log: &Log) -> String {
    match log {
        Log::Events => format!("{PREFIX}log:events"),
        Log::Settings => format!("{PREFIX}log:settings"),
        Log::Turns(run) => format!("{PREFIX}log:turns:{run}"),
    }
}

fn clock_key() -> String {
    format!("{PREFIX}clock")
}

/// 0: it stays.
fn milliseconds(ttl: Option<Duration>) -> u64 {
    ttl.map_or(0, |ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX).max(1))
}

fn changes(kind: DocumentKind, after: Version) -> Cmd {
    let mut command = cmd("EVAL");
    command.arg(CHANGES).arg(3).arg(format!("{PREFIX}epoch")).arg(clock_key()).arg(changes_key(kind));
    // The random number becomes the epoch, if Redis is empty.
    command.arg(clock::random()).arg(after).arg(MOST_CHANGES);
    command
}

fn commit_command(commit: &Commit) -> Cmd {
    let mut command = cmd("EVAL");
    command.arg(COMMIT).arg(1).arg(clock_key());
    command.arg(commit.expect.len());
    for (key, version) in &commit.expect {
        command.arg(document_key(key)).arg(version);
    }
    command.arg(commit.puts.len());
    for put in &commit.puts {
        command.arg(document_key(&put.key)).arg(changes_key(put.key.kind));
        command.arg(milliseconds(put.ttl)).arg(&put.data[..]);
    }
    command.arg(commit.appends.len());
    for append in &commit.appends {
        command.arg(log_key(&append.log)).arg(append.keep);
        command.arg(milliseconds(append.ttl)).arg(&append.data[..]);
    }
    command
}

fn unreadable(_: impl Sized) -> StoreError {
    StoreError::Unreadable("control keeps another form of data there")
}

fn text(bytes: &[u8]) -> Result<&str, StoreError> {
    std::str::from_utf8(bytes).map_err(unreadable)
}

fn number(bytes: &[u8]) -> Result<u64, StoreError> {
    text(bytes)?.parse().map_err(unreadable)
}

/// A score may have been written as a floating-point number.
fn version(bytes: &[u8]) -> Result<Version, StoreError> {
    if let Ok(version) = number(bytes) {
        return Ok(version);
    }
    let score: f64 = text(bytes)?.parse().map_err(unreadable)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a version is below 2^53")]
    Ok(score as u64)
}

#[tonic::async_trait]
impl ControlStore for RedisControl {
    async fn read(&self, keys: &[Key]) -> Result<Vec<Document>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut commands: Pipeline = pipe();
        for key in keys {
            commands.cmd("HMGET").arg(document_key(key)).arg("v").arg("d");
        }
        let found: Vec<(Option<u64>, Option<Vec<u8>>)> = self.way()?.ask_all(&commands, TIMEOUT).await?;
        let document = |(version, data): (Option<u64>, Option<Vec<u8>>)| Document {
            version: version.unwrap_or(0),
            data: data.unwrap_or_default().into(),
        };
        Ok(found.into_iter().map(document).collect())
    }

    async fn commit(&self, commit: &Commit) -> Result<Committed, StoreError> {
        let version: String = self.way()?.ask(&commit_command(commit), TIMEOUT).await?;
        Ok(match version.parse().map_err(unreadable)? {
            0 => Committed::Conflict,
            version => Committed::Done(version),
        })
    }

    async fn changes(&self, kind: DocumentKind, after: Version) -> Result<Changes, StoreError> {
        let found: Vec<Vec<u8>> = self.way()?.ask(&changes(kind, after), TIMEOUT).await?;
        let mut found = found.into_iter();
        let mut next = || found.next();
        let (Some(epoch), Some(clock), Some(oldest)) = (next(), next(), next()) else {
            return Err(unreadable(()));
        };
        let clock = version(&clock)?;
        let mut changes = Changes {
            epoch: number(&epoch)?,
            upto: clock,
            oldest: if oldest.is_empty() { clock } else { version(&oldest)? },
            ..Changes::default()
        };
        let prefix = document_key(&Key::new(kind, ""));
        let mut told: usize = 0;
        while let (Some(key), Some(written), Some(data)) = (next(), next(), next()) {
            told = told.saturating_add(1);
            // It has expired meanwhile.
            if written.is_empty() {
                continue;
            }
            let id = text(&key)?.strip_prefix(&prefix).ok_or_else(|| unreadable(()))?;
            let document = Document { version: version(&written)?, data: data.into() };
            changes.documents.push((id.to_owned(), document));
        }
        if told >= MOST_CHANGES {
            // The last commit may be incomplete, so it is left out here and comes with the next answer.
            let last = changes.documents.last().map_or(after, |(_, document)| document.version);
            changes.documents.retain(|(_, document)| document.version < last);
            (changes.more, changes.upto) = (true, last.saturating_sub(1));
        }
        Ok(changes)
    }

    async fn log(&self, log: &Log, part: Part) -> Result<Vec<LogEntry>, StoreError> {
        let mut command = Cmd::new();
        match part {
            Part::After(cursor, most) => {
                let start = format!("({cursor}");
                command.arg("XRANGE").arg(log_key(log)).arg(start).arg("+").arg("COUNT").arg(most);
            }
            Part::Before(before, most) => {
                let end = before.map_or_else(|| "+".to_owned(), |before| format!("({before}"));
                command.arg("XREVRANGE").arg(log_key(log)).arg(end).arg("-").arg("COUNT").arg(most);
            }
        }
        let found: Vec<(String, Vec<(String, Vec<u8>)>)> = self.way()?.ask(&command, TIMEOUT).await?;
        let entry = |(id, fields): (String, Vec<(String, Vec<u8>)>)| {
            let cursor: Cursor = id.parse().map_err(unreadable)?;
            let data = fields.into_iter().find(|(name, _)| name == "d").map(|(_, data)| Bytes::from(data));
            Ok(LogEntry { cursor, data: data.unwrap_or_default() })
        };
        found.into_iter().map(entry).collect()
    }

    fn reachable(&self) -> watch::Receiver<bool> {
        self.reachable.clone()
    }
}
