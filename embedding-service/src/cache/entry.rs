//! One stored answer: what it is found by, and what it is. No store.

use std::{fmt, sync::Arc};

use bytes::Bytes;

use super::learning::Observations;
use crate::{embed::truncation::UnseenDigest, hex};

/// A digest of everything in a request except the last user text. Answers are shared only within one partition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Partition(pub [u8; 16]);

/// A text within its partition, as a digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId([u8; 16]);

/// For whom an answer was stored. The filter sends hashes, never names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    pub tenant: String,
    pub agent: String,
}

/// A stored answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub partition: Partition,
    pub id: EntryId,
    pub owner: Owner,
    /// What was asked, with its vector. `None` if prompts are not to be stored: then the entry is found by its digest alone.
    pub asked: Option<StoredQuestion>,
    /// As the caller encodes it.
    pub answer: Bytes,
    /// Milliseconds since 1970.
    pub stored_at: u64,
    /// What was found out about the answer.
    pub observations: Observations,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StoredQuestion {
    pub text: String,
    /// L2-normalised.
    pub vector: Arc<[f32]>,
    pub unseen: Option<UnseenDigest>,
}

impl Entry {
    /// The entry's name in the administration: the digests of its partition and its text.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}:{}", self.partition, self.id)
    }
}

impl EntryId {
    /// The digest of the exact text. White space and case count, because an answer may depend on them.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(blake3::hash(text.as_bytes()).as_bytes().first_chunk().copied().unwrap_or_default())
    }

    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The inverse of its display; `None` for anything else.
    #[must_use]
    pub fn from_hex(hex: &str) -> Option<Self> {
        hex::read(hex).map(Self)
    }
}

impl Partition {
    /// The inverse of its display; `None` for anything else.
    #[must_use]
    pub fn from_hex(hex: &str) -> Option<Self> {
        hex::read(hex).map(Self)
    }
}

/// 32 lower-case hex digits.
impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(&self.0, f)
    }
}

impl fmt::Debug for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(&self.0, f)
    }
}

/// 32 lower-case hex digits.
impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(&self.0, f)
    }
}

impl fmt::Debug for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(&self.0, f)
    }
}
