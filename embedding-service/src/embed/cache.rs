//! Recent embeddings by the digest of their text, so that a prompt that is sent again (a retry, a loop) costs no inference. The vector is the
//! same to the bit. It keeps digests, vectors and heads, no whole prompts.

use std::mem::size_of;

use quick_cache::{Weighter, sync::Cache};

use super::Embedded;

/// Bookkeeping of an entry beside what it holds, roughly.
const ENTRY_OVERHEAD: usize = 128;
/// Bytes of an ordinary entry: 384 numbers and a short text. Only to begin with the right size.
const TYPICAL_ENTRY: usize = 2048;

/// Digest of a prompt's text as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PromptDigest([u8; 32]);

impl PromptDigest {
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(*blake3::hash(text.as_bytes()).as_bytes())
    }
}

#[derive(Clone)]
struct EntryBytes;

impl Weighter<PromptDigest, Embedded> for EntryBytes {
    fn weight(&self, _: &PromptDigest, embedded: &Embedded) -> u64 {
        let vector = embedded.vector.len().saturating_mul(size_of::<f32>());
        let kept = size_of::<(PromptDigest, Embedded)>().saturating_add(embedded.head.capacity());
        u64::try_from(kept.saturating_add(vector).saturating_add(ENTRY_OVERHEAD)).unwrap_or(u64::MAX)
    }
}

/// Bounded in bytes; what was not asked for again goes first.
pub struct EmbeddingCache(Option<Cache<PromptDigest, Embedded, EntryBytes>>);

impl EmbeddingCache {
    /// `max_bytes` 0 keeps nothing.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        let entries = max_bytes.checked_div(TYPICAL_ENTRY).unwrap_or_default().max(1);
        let weight = u64::try_from(max_bytes).unwrap_or(u64::MAX);
        Self((max_bytes > 0).then(|| Cache::with_weighter(entries, weight, EntryBytes)))
    }

    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    #[must_use]
    pub fn get(&self, text: &PromptDigest) -> Option<Embedded> {
        self.0.as_ref()?.get(text)
    }

    pub fn insert(&self, text: PromptDigest, embedded: &Embedded) {
        if let Some(cache) = &self.0 {
            cache.insert(text, embedded.clone());
        }
    }

    /// Bytes taken now, bookkeeping included.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, Cache::weight)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn embedded(head: &str) -> Embedded {
        Embedded { vector: Arc::from([0.6, 0.8]), head: head.to_owned(), unseen: None }
    }

    #[test]
    fn what_went_in_comes_out() {
        let cache = EmbeddingCache::new(1 << 20);
        let text = PromptDigest::of("one");
        assert_eq!(cache.get(&text), None);
        cache.insert(text, &embedded("one"));
        assert_eq!(cache.get(&text), Some(embedded("one")));
        assert_eq!(cache.get(&PromptDigest::of("One")), None);
    }

    #[test]
    fn many_texts_stay_within_the_bound_and_the_last_is_there() {
        let max = 100_000;
        let cache = EmbeddingCache::new(max);
        for i in 0..5_000 {
            let text = PromptDigest::of(&i.to_string());
            cache.insert(text, &embedded(&"x".repeat(500)));
            assert!(cache.bytes() <= max as u64, "{}", cache.bytes());
        }
        assert!(cache.bytes() > max as u64 / 2, "{}", cache.bytes());
        assert!((4_900..5_000).any(|i: u32| cache.get(&PromptDigest::of(&i.to_string())).is_some()));
    }

    #[test]
    fn no_room_means_no_cache() {
        let cache = EmbeddingCache::new(0);
        let text = PromptDigest::of("one");
        cache.insert(text, &embedded("one"));
        assert_eq!((cache.get(&text), cache.bytes(), cache.is_on()), (None, 0, false));
    }
}
