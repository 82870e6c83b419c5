//! An embedder without a model, for tests of what stands around the model. No setting reaches it: a program has to name
//! this type in its code to use it, and `main` does not.

use std::sync::Arc;

use super::{
    Embedder, TokenisedPrompt, Tokeniser,
    error::EmbedError,
    truncation::{self, UnseenText},
};
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

impl Tokeniser for BagOfWords {
    fn tokenise(&self, prompt: &str) -> Result<TokenisedPrompt, EmbedError> {
        let (head, rest) = truncation::truncate(prompt);
        let mut unseen = UnseenText::default();
        unseen.add(rest);
        let token_ids = head.split(' ').map(token_id).collect();
        Ok(TokenisedPrompt { token_ids, head, unseen: unseen.digest() })
    }
}

fn token_id(word: &str) -> i64 {
    let hash = blake3::hash(word.to_lowercase().as_bytes());
    hash.as_bytes().first_chunk::<8>().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

impl Embedder for BagOfWords {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn tokeniser(&self) -> Arc<dyn Tokeniser> {
        Arc::new(self.clone())
    }

    fn infer(&mut self, token_ids: &[i64]) -> Result<Vec<f32>, EmbedError> {
        let mut vector = vec![0.0; self.dimension];
        for id in token_ids {
            let bucket = usize::try_from(id.unsigned_abs()).unwrap_or_default().checked_rem(self.dimension);
            if let Some(count) = bucket.and_then(|at| vector.get_mut(at)) {
                *count += 1.0;
            }
        }
        similarity::normalise(&mut vector);
        Ok(vector)
    }
}
