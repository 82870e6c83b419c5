//! Cache: an answer that was given before is given again. On the way in it is decided whether one may be looked up
//! (`look_up`), on the service's reply whether it is given (`give`), and on the way out what of the provider's answer is stored
//! (`store`). The look-up itself is the service's, and goes along with `ask`.

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

/// What a request has to do with the cache.
#[derive(Debug)]
pub struct Cached {
    /// Under what an answer may be stored. `None`: it is not stored.
    pub key: Option<Key>,
    pub found: LookUp,
}

/// Under what an answer is stored.
#[derive(Clone, Debug)]
pub struct Key {
    pub partition: Partition,
    pub prompt: String,
    /// The provider keeps the answer, and a later request may name it.
    pub is_kept: bool,
    /// Only the same text shares the answer.
    pub is_exact: bool,
    /// What came near, in the service's words.
    pub candidate: Vec<u8>,
    /// There was a stored answer that was not given: the new one is only compared with it.
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
    /// By what the administration erases the answer.
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

    /// How the client and the records call it.
    pub fn label(&self) -> &'static str {
        match &self.found {
            LookUp::Hit(hit) => hit.kind.metric().label(),
            LookUp::Miss(_) => "miss",
            LookUp::Open | LookUp::Bypass(_) => "bypass",
        }
    }
}

impl HitKind {
    /// How it is counted.
    pub fn metric(self) -> CacheHit {
        match self {
            Self::Exact => CacheHit::Exact,
            Self::Semantic => CacheHit::Semantic,
        }
    }
}
