//! Cache: an answer that was given before is given again. Before the request, `look_up` decides whether an answer may be looked
//! up. On the service's reply, `give` decides whether it is given. After the answer, `store` decides what is stored. The service
//! does the look-up itself, in the call of `ask`.

pub mod caller;
mod directives;
pub mod give;
pub mod look_up;
mod material;
mod now;
pub mod store;

use crate::{
    metric::{CacheBypass, CacheHit},
    stored::{Partition, StoredAnswer},
};

/// What the cache knows of a request.
#[derive(Debug)]
pub struct Cached {
    /// The key under which an answer may be stored. `None`: it is not stored.
    pub key: Option<Key>,
    pub found: LookUp,
}

/// The key under which an answer is stored.
#[derive(Clone, Debug)]
pub struct Key {
    pub partition: Partition,
    pub prompt: String,
    /// The provider keeps the answer, and a later request may name it.
    pub is_kept: bool,
    /// Only the same text shares the answer.
    pub is_exact: bool,
    /// The nearest stored questions, in the service's own form.
    pub candidate: Vec<u8>,
    /// There was a stored answer that was not given, so the new one is only compared with it.
    pub compare_only: bool,
}

/// What a look-up came to.
#[derive(Debug)]
pub enum LookUp {
    /// It is under way.
    Open,
    Bypass(CacheBypass),
    /// The similarity of the nearest question. 0 if none is stored.
    Miss(f64),
    Hit(Box<Hit>),
}

/// An answer that can be given.
#[derive(Debug)]
pub struct Hit {
    pub kind: HitKind,
    pub answer: StoredAnswer,
    pub similarity: f64,
    /// Milliseconds.
    pub age: u64,
    /// The name by which an administrator erases the answer.
    pub entry: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitKind {
    Exact,
    Semantic,
}

impl Cached {
    /// Nothing is looked up, and nothing stored.
    fn bypass(cause: CacheBypass) -> Self {
        Self { key: None, found: LookUp::Bypass(cause) }
    }

    /// Its name for the client and in records.
    pub fn label(&self) -> &'static str {
        match &self.found {
            LookUp::Hit(hit) => hit.kind.metric().label(),
            LookUp::Miss(_) => "miss",
            LookUp::Open | LookUp::Bypass(_) => "bypass",
        }
    }
}

impl HitKind {
    /// The metric that counts it.
    pub fn metric(self) -> CacheHit {
        match self {
            Self::Exact => CacheHit::Exact,
            Self::Semantic => CacheHit::Semantic,
        }
    }
}
