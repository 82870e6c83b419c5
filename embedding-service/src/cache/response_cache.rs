//! The response cache as the service and the administration use it: look-ups, single flight, storing, figures. The parts are in the
//! files beside this one.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sentinel_proto::v1::CacheResult;

use super::{
    AnswerStore, Entry, EntryId, Erase, Partition,
    flight::{Flights, Joined},
    lookup::{Hit, LookUp, LookUpResult, Query},
    options::CacheOptions,
    writer::{Answered, Writer},
};
use crate::{
    embed::{Embedded, pool::Pool},
    metrics::{Bypassed, LookUps, LookedUp, Metrics},
    store::StoreError,
};

/// The response cache of one server.
pub struct ResponseCache {
    look_up: LookUp,
    flights: Arc<Flights>,
    writer: Writer,
    metrics: Arc<Metrics>,
    options: CacheOptions,
}

impl ResponseCache {
    /// Starts the background work; must be called inside a tokio runtime. `is_counted`: whether the store counts its entries at
    /// no cost.
    #[must_use]
    pub fn start(
        store: Arc<dyn AnswerStore>,
        pool: Arc<Pool>,
        metrics: Arc<Metrics>,
        options: CacheOptions,
        is_counted: bool,
    ) -> Self {
        let flights = Arc::<Flights>::default();
        let writer = Writer::start(
            Arc::clone(&store),
            Arc::clone(&pool),
            Arc::clone(&flights),
            Arc::clone(&metrics),
            options.store_prompt_text,
            is_counted,
        );
        Self { look_up: LookUp { store, pool }, flights, writer, metrics, options }
    }

    #[must_use]
    pub fn options(&self) -> &CacheOptions {
        &self.options
    }

    /// The answer to the very text.
    ///
    /// # Errors
    /// Why nothing can be said.
    pub async fn exact(&self, query: &Query, deadline: Option<Instant>) -> Result<Option<Hit>, Bypassed> {
        let pending = self.writer.pending((query.partition, query.id));
        self.look_up.exact(query, pending, deadline).await
    }

    /// The answer to a text that asks for the same, as far as can be told.
    pub async fn nearest(
        &self,
        query: &Query,
        prompt: &str,
        embedded: &Embedded,
        deadline: Option<Instant>,
    ) -> LookUpResult {
        if query.exact_only || query.bound.max_error <= 0.0 {
            return LookUpResult::Miss { similarity: 0.0, candidate: None };
        }
        self.look_up.nearest(query, prompt, embedded, deadline).await
    }

    /// Single flight: whether this request is the first with its text that is under way. `None` if the request does not wait for others.
    #[must_use]
    pub fn join(&self, query: &Query) -> Option<Joined> {
        (!query.wait.is_zero()).then(|| self.flights.join((query.partition, query.id), query.wait))
    }

    /// Counts how a look-up ended, and gives what the caller gets.
    #[must_use]
    pub fn ended(&self, outcome: LookUpResult) -> CacheResult {
        let counts = &self.metrics.answers;
        match &outcome {
            LookUpResult::Exact(hit) => counts.served(LookedUp::Exact, &hit.answer),
            LookUpResult::Semantic(hit) => counts.served(LookedUp::Semantic, &hit.answer),
            LookUpResult::Miss { .. } => counts.missed(),
            LookUpResult::Bypass(cause) => counts.bypassed(*cause),
        }
        outcome.result()
    }

    /// Takes an answer to be stored, if there is room for it. Never waits.
    pub fn store(&self, answered: Answered) -> bool {
        self.writer.take(answered)
    }

    /// The entry under this name, for the administration. Returns `None` when there is none, or it cannot be read.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn entry(&self, partition: Partition, id: EntryId) -> Result<Option<Entry>, StoreError> {
        self.look_up.store.exact(partition, id).await
    }

    /// Forgets. Gives how many entries.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn erase(&self, what: &Erase) -> Result<u64, StoreError> {
        let erased = self.look_up.store.erase(what).await;
        if erased.is_ok() {
            let _ = self.count().await;
        }
        erased
    }

    /// How many entries there are.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn count(&self) -> Result<u64, StoreError> {
        let number = self.look_up.store.count().await?;
        self.metrics.answers.entries(number);
        Ok(number)
    }

    /// What look-ups have come to since the start.
    #[must_use]
    pub fn look_ups(&self) -> LookUps {
        self.metrics.answers.look_ups()
    }

    /// Stores all that waits, for at most `limit`. Returns how many answers were lost.
    pub async fn drain(&self, limit: Duration) -> usize {
        self.writer.drain(limit).await
    }
}
