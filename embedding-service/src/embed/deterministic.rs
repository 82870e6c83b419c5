//! An embedder without a model, for tests of what stands around the model. No setting reaches it: a program has to name
//! this type in its code to use it, and `main` does not.

use std::sync::Arc;

use super::{EmbedError, Embedded, Embedder, Timing, window};
use crate::similarity;

/// Counts words into buckets by their hash, so that texts with common words come out similar. Says nothing about meaning.
#[derive(Clone, Debug)]
pub struct BagOfWords {
    pub dimension: usize,
}

impl Default for BagOfWords {
    fn default() -> Self {
        Self { dimension: 64 }
    }
}

impl Embedder for BagOfWords {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed(&mut self, prompt: &str) -> Result<(Embedded, Timing), EmbedError> {
        let (head, rest) = window::cut(prompt);
        let mut unseen = window::Unseen::default();
        unseen.add(rest);
        let mut vector = vec![0.0; self.dimension];
        for word in head.split(' ') {
            let hash = blake3::hash(word.to_lowercase().as_bytes());
            let number = hash.as_bytes().first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            let bucket = usize::try_from(number).unwrap_or_default().checked_rem(self.dimension);
            if let Some(count) = bucket.and_then(|at| vector.get_mut(at)) {
                *count += 1.0;
            }
        }
        similarity::normalise(&mut vector);
        let embedded = Embedded { vector: Arc::from(vector), head, unseen: unseen.digest() };
        Ok((embedded, Timing::default()))
    }
}
