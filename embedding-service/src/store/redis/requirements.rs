//! What a store requires of Redis, and whether Redis has it: it asks Redis, and has the index made where the store uses one.

use redis::{Cmd, Value};

use super::{super::StoreError, connection::Connection, error::store_error};

/// A search index that a store cannot do without.
#[tonic::async_trait]
pub trait Index: Send + Sync {
    /// Makes the index where it is missing, and checks that one that is there fits.
    async fn ensure(&self, connection: &mut Connection) -> Result<(), StoreError>;
}

/// What a store needs of Redis.
#[derive(Default)]
pub struct Requirements {
    /// What callers will ask, of scopes that nobody has.
    pub questions: Vec<Cmd>,
    pub index: Option<Box<dyn Index>>,
}

impl Requirements {
    /// Finds out at once what would only be found when callers come.
    pub(super) async fn check(&self, connection: &mut Connection) -> Result<(), StoreError> {
        for question in &self.questions {
            question.query_async::<Value>(connection).await.map_err(|e| store_error(&e))?;
        }
        self.ensure_index(connection).await
    }

    /// Makes the index, or checks one that is there, where the store has one.
    pub(super) async fn ensure_index(&self, connection: &mut Connection) -> Result<(), StoreError> {
        match &self.index {
            Some(index) => index.ensure(connection).await,
            None => Ok(()),
        }
    }
}
