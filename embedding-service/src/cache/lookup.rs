//! One look-up: which stored answer may be given, if any. Reads only.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sentinel_proto::v1::{CacheResult, CachedAnswer, cache_result::Kind};

use super::{
    AnswerStore, Entry, EntryId, Erase, Near, Partition, answer,
    candidate::Candidate,
    equality::asks_the_same,
    learning::{Bound, LEAST_SIMILARITY},
    now,
};
use crate::{
    embed::{Embedded, pool::Pool},
    metrics::{Bypassed, LabelValue as _},
    store::StoreError,
};

/// At most this many of the nearest entries are looked at. One is not enough, because the nearest text is often another question.
const NEAREST: usize = 5;
/// The store has to answer a little before the caller's deadline: what else the call finds out must still reach it.
const MARGIN: Duration = Duration::from_millis(2);

/// What is looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub partition: Partition,
    pub id: EntryId,
    pub bound: Bound,
    pub exact_only: bool,
    /// Single flight: how long to wait for an identical request.
    pub wait: Duration,
}

/// A stored answer that may be given.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub entry: Entry,
    pub answer: CachedAnswer,
    pub similarity: f64,
}

/// What a look-up comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum LookUpResult {
    Exact(Box<Hit>),
    Semantic(Box<Hit>),
    Miss {
        /// Of the nearest text. 0 if none is stored.
        similarity: f64,
        /// What the provider's answer can teach about.
        candidate: Option<Candidate>,
    },
    Bypass(Bypassed),
}

/// Finds answers.
pub struct LookUp {
    pub store: Arc<dyn AnswerStore>,
    pub pool: Arc<Pool>,
}

impl LookUp {
    /// The answer to exactly this text. `pending`: an answer that is taken but not stored yet.
    ///
    /// # Errors
    /// The cause, when the store cannot be asked or the entry cannot be read.
    pub async fn exact(
        &self,
        query: &Query,
        pending: Option<Arc<Entry>>,
        deadline: Option<Instant>,
    ) -> Result<Option<Hit>, Bypassed> {
        let found = match pending {
            Some(pending) => Ok(Some(Entry::clone(&pending))),
            None => in_time(self.store.exact(query.partition, query.id), deadline).await,
        };
        let readable = match found {
            Ok(None) => return Ok(None),
            Ok(Some(entry)) => {
                answer::decode(&entry.answer).map(|answer| Hit { entry, answer, similarity: 1.0 })
            }
            Err(Bypassed::Corrupted) => None,
            Err(cause) => return Err(cause),
        };
        if readable.is_none() {
            // It is erased, so that the answer that the provider now gives can take its place.
            self.forget(query);
        }
        readable.map(Some).ok_or(Bypassed::Corrupted)
    }

    fn forget(&self, query: &Query) {
        tracing::warn!("a stored answer cannot be read and is erased: another version, or changed bytes");
        let (store, broken) = (Arc::clone(&self.store), Erase::Entry(query.partition, query.id));
        tokio::spawn(async move { store.erase(&broken).await });
    }

    /// The answer to a text that asks for the same, as far as can be told.
    pub async fn nearest(
        &self,
        query: &Query,
        prompt: &str,
        embedded: &Embedded,
        deadline: Option<Instant>,
    ) -> LookUpResult {
        let nearest = self.store.nearest(query.partition, &embedded.vector, NEAREST);
        match in_time(nearest, deadline).await {
            Ok(near) => self.best(query, prompt, embedded, near),
            Err(cause) => LookUpResult::Bypass(cause),
        }
    }

    fn best(&self, query: &Query, prompt: &str, embedded: &Embedded, near: Vec<Near>) -> LookUpResult {
        let similarity = near.first().map_or(0.0, |near| near.similarity);
        let mut candidate = None;
        for Near { similarity, entry } in near {
            if similarity < LEAST_SIMILARITY || !self.agrees(&entry, prompt, embedded) {
                continue;
            }
            let answer = answer::decode(&entry.answer);
            // The arguments of a call hold words of its own prompt, so an answer with calls is not given for another text.
            if answer.as_ref().is_some_and(|answer| answer.called.is_some()) {
                continue;
            }
            if entry.observations.allow(similarity, query.bound)
                && let Some(answer) = answer
            {
                return LookUpResult::Semantic(Box::new(Hit { entry, answer, similarity }));
            }
            candidate = candidate.or(Some(Candidate::of(&entry, similarity)));
        }
        LookUpResult::Miss { similarity, candidate }
    }

    /// Whether both texts are the same question.
    fn agrees(&self, entry: &Entry, prompt: &str, embedded: &Embedded) -> bool {
        entry
            .asked
            .as_ref()
            .is_some_and(|asked| asked.unseen == embedded.unseen && asks_the_same(&asked.text, prompt))
    }
}

async fn in_time<T>(
    answer: impl Future<Output = Result<T, StoreError>>,
    deadline: Option<Instant>,
) -> Result<T, Bypassed> {
    let answer = match deadline {
        Some(deadline) => {
            let deadline = deadline.checked_sub(MARGIN).unwrap_or(deadline);
            tokio::time::timeout_at(deadline.into(), answer).await.map_err(|_| Bypassed::Deadline)?
        }
        None => answer.await,
    };
    answer.map_err(|error| match error {
        StoreError::Unreadable(_) => Bypassed::Corrupted,
        error => {
            tracing::debug!(%error, "the response cache was not read");
            Bypassed::StoreUnavailable
        }
    })
}

impl LookUpResult {
    /// As the caller gets it.
    #[must_use]
    pub fn result(self) -> CacheResult {
        match self {
            Self::Exact(hit) => hit.result(Kind::Exact),
            Self::Semantic(hit) => hit.result(Kind::Semantic),
            Self::Miss { similarity, candidate } => CacheResult {
                kind: Kind::Miss.into(),
                similarity,
                candidate: candidate.map(Candidate::to_bytes).unwrap_or_default(),
                ..CacheResult::default()
            },
            Self::Bypass(cause) => CacheResult {
                kind: Kind::Bypass.into(),
                cause: cause.text().to_owned(),
                ..CacheResult::default()
            },
        }
    }
}

impl Hit {
    fn result(self, kind: Kind) -> CacheResult {
        CacheResult {
            kind: kind.into(),
            similarity: self.similarity,
            age_ms: now().saturating_sub(self.entry.stored_at),
            candidate: Candidate::of(&self.entry, self.similarity).to_bytes(),
            entry: self.entry.name(),
            answer: Some(self.answer),
            ..CacheResult::default()
        }
    }
}
