//! Prompt history in Redis with vector search: for several replicas, or to outlive a restart. What is asked and written
//! lives here; the connection, the index and the reading of replies have files of their own.
//!
//! A prompt is one hash `loop:{tenant}:{timestamp}`. The braces are there literally: they make all keys of a tenant one
//! slot of a cluster.

mod index;
mod link;
mod reply;

use std::{sync::Arc, time::Duration};

use ::redis::{Cmd, FromRedisValue, Pipeline, RedisError, Value, cmd, pipe};
use tokio::sync::watch;

use self::link::{Link, Target};
use super::{Earlier, HistoryError, PromptHistory, Record, Retention, Scope};

pub use index::INDEX;

/// Most prompts that any scope can keep, and so the most that one search has to return.
pub const MAX_HISTORY: usize = 100;

/// A write has time: nobody waits for it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// The store.
pub struct RedisHistory {
    link: Link,
    retention: Retention,
    /// Budget of one recall, while a caller waits.
    timeout: Duration,
    /// Tells the keys of this process from another replica's of the same microsecond.
    replica: String,
}

impl RedisHistory {
    /// Connects, and makes the index or checks that it fits vectors of `dimension`.
    ///
    /// # Errors
    /// When Redis is not reachable, has no search module, or has an index that does not fit.
    pub async fn connect(
        url: &str,
        dimension: usize,
        retention: Retention,
        timeout: Duration,
    ) -> Result<Self, HistoryError> {
        let link = Link::open(Target::new(url, dimension)?).await?;
        let seed = format!("{:?}", (std::process::id(), std::time::SystemTime::now()));
        let replica = blake3::hash(seed.as_bytes()).to_hex();
        Ok(Self { link, retention, timeout, replica: replica.chars().take(8).collect() })
    }

    async fn ask<T: FromRedisValue>(&self, command: &Cmd, timeout: Duration) -> Result<T, HistoryError> {
        let mut connection = self.link.connection()?;
        self.within(timeout, command.query_async(&mut connection)).await
    }

    async fn within<T>(
        &self,
        timeout: Duration,
        reply: impl Future<Output = Result<T, RedisError>>,
    ) -> Result<T, HistoryError> {
        let result = match tokio::time::timeout(timeout, reply).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(e)) => reply::error(&e),
            Err(_) => HistoryError::Slow(timeout),
        };
        if !matches!(result, HistoryError::Refused(_)) {
            self.link.doubt();
        }
        Err(result)
    }

    fn key(&self, record: &Record) -> String {
        let tenant = tag(record.scope.tenant());
        format!("loop:{{{tenant}}}:{}-{}", record.moment.0, self.replica)
    }

    fn write(&self, record: &Record) -> Pipeline {
        let key = self.key(record);
        let ttl = u64::try_from(self.retention.ttl.as_millis()).unwrap_or(u64::MAX);
        let embedded = &record.embedded;
        let unseen = embedded.unseen.map_or(String::new(), |d| d.to_hex());
        let mut pipeline = pipe();
        pipeline
            .atomic()
            .cmd("HSET")
            .arg(&key)
            .arg("tenant_id")
            .arg(record.scope.tenant())
            .arg("scope")
            .arg(index::scope_tag(&record.scope))
            .arg("moment")
            .arg(record.moment.0)
            .arg("prompt")
            .arg(&embedded.head)
            .arg("unseen")
            .arg(unseen)
            .arg("vec")
            .arg(bytes(&embedded.vector))
            .ignore()
            .cmd("PEXPIRE")
            .arg(&key)
            .arg(ttl)
            .ignore();
        pipeline
    }

    /// Keys of the scope's prompts that are older than the last `Retention::size`.
    async fn surplus(&self, scope: &Scope) -> Result<Vec<String>, HistoryError> {
        let mut command = cmd("FT.SEARCH");
        command
            .arg(INDEX)
            .arg(index::in_scope(scope))
            .arg("NOCONTENT")
            .arg("SORTBY")
            .arg("moment")
            .arg("DESC")
            .arg("LIMIT")
            .arg(self.retention.size)
            .arg(MAX_HISTORY)
            .arg("DIALECT")
            .arg(2);
        reply::keys(self.ask(&command, WRITE_TIMEOUT).await?)
    }
}

#[tonic::async_trait]
impl PromptHistory for RedisHistory {
    /// One KNN search. A scope holds a handful of prompts, so the search is told to compare with every one of them
    /// (`ADHOC_BF`): walking the HNSW graph under a filter this narrow is approximate, and here it must not be.
    async fn recall(&self, scope: &Scope, vector: &[f32]) -> Result<Vec<Earlier>, HistoryError> {
        let query = format!(
            "({})=>[KNN {MAX_HISTORY} @vec $vec HYBRID_POLICY ADHOC_BF AS distance]",
            index::in_scope(scope)
        );
        let mut command = cmd("FT.SEARCH");
        command
            .arg(INDEX)
            .arg(query)
            .arg("PARAMS")
            .arg(2)
            .arg("vec")
            .arg(bytes(vector))
            .arg("RETURN")
            .arg(4)
            .arg(&["distance", "moment", "prompt", "unseen"])
            .arg("LIMIT")
            .arg(0)
            .arg(MAX_HISTORY)
            .arg("DIALECT")
            .arg(2);
        let found: Value = self.ask(&command, self.timeout).await?;
        let mut earlier = reply::earlier(found)?;
        earlier.sort_by_key(|e| std::cmp::Reverse(e.moment));
        // More are there while a write has not yet tidied up, or another replica keeps longer histories.
        earlier.truncate(self.retention.size);
        Ok(earlier)
    }

    async fn record(&self, record: &Record) -> Result<(), HistoryError> {
        let mut connection = self.link.connection()?;
        let write = self.write(record);
        self.within(WRITE_TIMEOUT, write.query_async::<()>(&mut connection)).await?;
        let surplus = self.surplus(&record.scope).await?;
        if surplus.is_empty() {
            return Ok(());
        }
        self.ask(cmd("DEL").arg(surplus), WRITE_TIMEOUT).await
    }

    fn reachable(&self) -> watch::Receiver<bool> {
        self.link.reachable()
    }
}

/// The tenant as it stands in a key: itself when it is short and plain, else its hash.
fn tag(tenant: &str) -> Arc<str> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    if tenant.len() <= 64 && tenant.bytes().all(plain) {
        return Arc::from(tenant);
    }
    Arc::from(blake3::hash(tenant.as_bytes()).to_hex().as_str())
}

/// A vector as Redis takes it: FLOAT32, little-endian.
fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_cannot_break_out_of_its_key() {
        assert_eq!(&*tag("acme-1.eu_x"), "acme-1.eu_x");
        let long = "x".repeat(65);
        for wild in ["a}b", "a b", "a:b", "{", "ä", "*", long.as_str()] {
            let tag = tag(wild);
            assert_eq!(tag.len(), 64, "{wild}");
            assert!(tag.bytes().all(|b| b.is_ascii_hexdigit()));
        }
    }
}
