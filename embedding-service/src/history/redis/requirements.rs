//! Whether Redis does what this service needs of it: answers its questions, and has the index where one is used.

use std::sync::Once;

use redis::{Cmd, Value};

use super::{
    super::HistoryError,
    connection::Connection,
    reply,
    search::{self, Algorithm},
};
use crate::settings::Lookup;

/// What this service needs of Redis.
pub struct Fit {
    /// What callers will ask, of scopes that nobody has.
    questions: Vec<Cmd>,
    dimension: usize,
    lookup: Lookup,
    told: Once,
}

impl Fit {
    pub fn new(questions: Vec<Cmd>, dimension: usize, lookup: Lookup) -> Self {
        Self { questions, dimension, lookup, told: Once::new() }
    }

    /// Finds out at once what would only be found when callers come.
    pub async fn check(&self, connection: &mut Connection) -> Result<(), HistoryError> {
        for question in &self.questions {
            question.query_async::<Value>(connection).await.map_err(|e| reply::error(&e))?;
        }
        self.index(connection).await
    }

    /// Makes the index, or checks one that is there, where searches need one.
    pub async fn index(&self, connection: &mut Connection) -> Result<(), HistoryError> {
        if self.lookup == Lookup::Search
            && search::ensure_index(connection, self.dimension).await? == Algorithm::Hnsw
        {
            self.told.call_once(|| {
                tracing::warn!(
                    "the index {0} keeps a graph (HNSW), which makes writes slow and is of no use to this service; after FT.DROPINDEX {0} (without DD, so that no prompt is lost) it makes one without",
                    search::INDEX
                );
            });
        }
        Ok(())
    }
}
