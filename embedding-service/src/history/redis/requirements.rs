//! What this service requires of Redis, and whether Redis has it: it asks Redis, and creates the index if one is used.

use std::sync::Once;

use redis::{Cmd, Value};

use super::{
    super::HistoryError,
    connection::Connection,
    error::history_error,
    keys::INDEX,
    options::LookupMethod,
    search::{self, Algorithm},
};

/// What this service needs of Redis.
pub struct Requirements {
    /// What callers will ask, of scopes that nobody has.
    questions: Vec<Cmd>,
    dimension: usize,
    lookup: LookupMethod,
    warned_of_graph: Once,
}

impl Requirements {
    pub fn new(questions: Vec<Cmd>, dimension: usize, lookup: LookupMethod) -> Self {
        Self { questions, dimension, lookup, warned_of_graph: Once::new() }
    }

    /// Finds out at once what would only be found when callers come.
    pub async fn check(&self, connection: &mut Connection) -> Result<(), HistoryError> {
        for question in &self.questions {
            question.query_async::<Value>(connection).await.map_err(|e| history_error(&e))?;
        }
        self.ensure_index(connection).await
    }

    /// Makes the index, or checks one that is there, where searches need one.
    pub async fn ensure_index(&self, connection: &mut Connection) -> Result<(), HistoryError> {
        if self.lookup == LookupMethod::Search
            && search::ensure_index(connection, self.dimension).await? == Algorithm::Hnsw
        {
            self.warned_of_graph.call_once(|| {
                tracing::warn!(
                    "the index {0} keeps a graph (HNSW), which makes writes slow and is of no use to this service; after FT.DROPINDEX {0} (without DD, so that no prompt is lost) it makes one without",
                    INDEX
                );
            });
        }
        Ok(())
    }
}
