//! What goes to the caller with a look-up and comes back with the provider's answer: which stored answer came near, and how near.
//! Opaque to the caller.

use super::{Entry, EntryId};

/// Raised with every change of the bytes.
const VERSION: u8 = 1;
/// Version, id, time of storing, similarity.
const LENGTH: usize = 33;

/// An answer that was near. Its partition is that of the request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    pub id: EntryId,
    /// Another time of storing is another answer.
    pub stored_at: u64,
    pub similarity: f64,
}

impl Candidate {
    #[must_use]
    pub fn of(entry: &Entry, similarity: f64) -> Self {
        Self { id: entry.id, stored_at: entry.stored_at, similarity }
    }

    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.push(VERSION);
        bytes.extend(self.id.as_bytes());
        bytes.extend(self.stored_at.to_le_bytes());
        bytes.extend(self.similarity.to_le_bytes());
        bytes
    }

    /// `None` for whatever is no candidate of this version: then there is nothing to learn.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        let (id, rest) = rest.split_first_chunk::<16>()?;
        let (stored_at, rest) = rest.split_first_chunk::<8>()?;
        let (similarity, rest) = rest.split_first_chunk::<8>()?;
        let similarity = f64::from_le_bytes(*similarity);
        let is_ours = *version == VERSION && rest.is_empty() && (0.0..=1.0).contains(&similarity);
        let stored_at = u64::from_le_bytes(*stored_at);
        is_ours.then_some(Self { id: EntryId::from_bytes(*id), stored_at, similarity })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_as_it_went_and_nothing_else_is_one() {
        let candidate = Candidate { id: EntryId::of("x"), stored_at: u64::MAX, similarity: 0.8125 };
        let bytes = candidate.to_bytes();
        assert_eq!((bytes.len(), Candidate::from_bytes(&bytes)), (LENGTH, Some(candidate)));
        for bad in [&[][..], &[0; 33], &[2; 33], &bytes[..32], &[bytes.as_slice(), &[0]].concat()] {
            assert_eq!(Candidate::from_bytes(bad), None, "{bad:?}");
        }
    }
}
