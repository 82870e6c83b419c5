//! Whether what lies in Redis fits this service: vectors of one dimension only, and the index where one is used.

use std::time::Duration;

use redis::cmd;

use super::{super::HistoryError, connection::Connection, keys::DIMENSION, milliseconds, reply, search};
use crate::settings::Lookup;

/// Leaves our dimension in Redis unless there is another; answers with what is there then. A Redis that takes no
/// writes is no obstacle.
const CLAIM: &str = include_str!("claim.lua");

/// What this service needs of Redis.
pub struct Fit {
    pub dimension: usize,
    /// How long prompts are kept, and so how long their dimension is remembered after the last service has gone.
    pub ttl: Duration,
    pub lookup: Lookup,
}

impl Fit {
    /// Says that prompts of our dimension are kept here. Has to be repeated before `ttl` is over.
    pub async fn claim(&self, connection: &mut Connection) -> Result<(), HistoryError> {
        let mut claim = cmd("EVAL");
        claim.arg(CLAIM).arg(1).arg(DIMENSION).arg(self.dimension).arg(milliseconds(self.ttl));
        let found: String = claim.query_async(connection).await.map_err(|e| reply::error(&e))?;
        if found == self.dimension.to_string() {
            return Ok(());
        }
        Err(HistoryError::OtherModel { found, wanted: self.dimension })
    }

    /// Makes the index, or checks one that is there, where searches need one.
    pub async fn index(&self, connection: &mut Connection) -> Result<(), HistoryError> {
        match self.lookup {
            Lookup::Direct => Ok(()),
            Lookup::Search => search::ensure_index(connection, self.dimension).await,
        }
    }
}
