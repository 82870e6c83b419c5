//! An embedder without a model, for tests of what stands around the model. No setting reaches it: a program has to name
//! this type in its code to use it, and `main` does not.

use std::sync::Arc;

use super::{Cut, Cutter, EmbedError, Embedder, window};
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

impl Cutter for BagOfWords {
    fn cut(&self, prompt: &str) -> Result<Cut, EmbedError> {
        let (head, rest) = window::cut(prompt);
        let mut unseen = window::Unseen::default();
        unseen.add(rest);
        let pieces = head.split(' ').map(number).collect();
        Ok(Cut { pieces, head, unseen: unseen.digest() })
    }
}

fn number(word: &str) -> i64 {
    let hash = blake3::hash(word.to_lowercase().as_bytes());
    hash.as_bytes().first_chunk::<8>().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

impl Embedder for BagOfWords {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn cutter(&self) -> Arc<dyn Cutter> {
        Arc::new(self.clone())
    }

    fn infer(&mut self, pieces: &[i64]) -> Result<Vec<f32>, EmbedError> {
        let mut vector = vec![0.0; self.dimension];
        for id in pieces {
            let bucket = usize::try_from(id.unsigned_abs()).unwrap_or_default().checked_rem(self.dimension);
            if let Some(count) = bucket.and_then(|at| vector.get_mut(at)) {
                *count += 1.0;
            }
        }
        similarity::normalise(&mut vector);
        Ok(vector)
    }
}
