//! Recent embeddings by the digest of their text: a prompt that is sent again (a retry, a loop) costs no inference. What
//! comes out is what went in, to the bit. Holds digests, vectors and heads, no whole prompts.

use std::mem::size_of;

use quick_cache::{Weighter, sync::Cache};

use super::Embedded;

/// Bookkeeping of an entry beside what it holds, roughly.
const OVERHEAD: usize = 128;
/// Bytes of an ordinary entry: 384 numbers and a short text. Only to begin with the right size.
const ORDINARY: usize = 2048;

/// Digest of a prompt's text as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextDigest([u8; 32]);

impl TextDigest {
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(*blake3::hash(text.as_bytes()).as_bytes())
    }
}

#[derive(Clone)]
struct Bytes;

impl Weighter<TextDigest, Embedded> for Bytes {
    fn weight(&self, _: &TextDigest, embedded: &Embedded) -> u64 {
        let vector = embedded.vector.len().saturating_mul(size_of::<f32>());
        let kept = size_of::<(TextDigest, Embedded)>().saturating_add(embedded.head.capacity());
        u64::try_from(kept.saturating_add(vector).saturating_add(OVERHEAD)).unwrap_or(u64::MAX)
    }
}

/// Bounded in bytes; what was not asked for again goes first.
pub struct RecentEmbeddings(Option<Cache<TextDigest, Embedded, Bytes>>);

impl RecentEmbeddings {
    /// `max_bytes` 0 keeps nothing.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        let entries = max_bytes.checked_div(ORDINARY).unwrap_or_default().max(1);
        let weight = u64::try_from(max_bytes).unwrap_or(u64::MAX);
        Self((max_bytes > 0).then(|| Cache::with_weighter(entries, weight, Bytes)))
    }

    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    #[must_use]
    pub fn get(&self, text: &TextDigest) -> Option<Embedded> {
        self.0.as_ref()?.get(text)
    }

    pub fn insert(&self, text: TextDigest, embedded: &Embedded) {
        if let Some(cache) = &self.0 {
            cache.insert(text, embedded.clone());
        }
    }

    /// Bytes held now, bookkeeping included.
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
        let cache = RecentEmbeddings::new(1 << 20);
        let text = TextDigest::of("one");
        assert_eq!(cache.get(&text), None);
        cache.insert(text, &embedded("one"));
        assert_eq!(cache.get(&text), Some(embedded("one")));
        assert_eq!(cache.get(&TextDigest::of("One")), None);
    }

    #[test]
    fn many_texts_stay_within_the_bound_and_the_last_is_there() {
        let max = 100_000;
        let cache = RecentEmbeddings::new(max);
        for i in 0..5_000 {
            let text = TextDigest::of(&i.to_string());
            cache.insert(text, &embedded(&"x".repeat(500)));
            assert!(cache.bytes() <= max as u64, "{}", cache.bytes());
        }
        assert!(cache.bytes() > max as u64 / 2, "{}", cache.bytes());
        assert!((4_900..5_000).any(|i: u32| cache.get(&TextDigest::of(&i.to_string())).is_some()));
    }

    #[test]
    fn no_room_means_no_cache() {
        let cache = RecentEmbeddings::new(0);
        let text = TextDigest::of("one");
        cache.insert(text, &embedded("one"));
        assert_eq!((cache.get(&text), cache.bytes(), cache.is_on()), (None, 0, false));
    }
}
