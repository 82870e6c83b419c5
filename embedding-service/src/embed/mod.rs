//! Text to vector. This file holds what every embedder promises; how each does it is in the files beside it.

pub mod bag_of_words;
pub mod cache;
pub mod error;
mod inference_times;
pub mod model_config;
pub mod model_files;
pub mod model_id;
pub mod onnx;
mod operator;
pub mod pool;
mod pool_state;
mod queue;
pub mod signature;
pub mod tokeniser;
pub mod truncation;
mod worker;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use self::{error::EmbedError, truncation::UnseenDigest};

/// A prompt with its vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    /// L2-normalised, as long as the embedder's dimension.
    pub vector: Arc<[f32]>,
    /// The part of the prompt that was tokenised, white space folded; at most [`truncation::HEAD_BYTES`].
    pub head: String,
    /// Digest of what the model did not see; `None` if it saw everything.
    pub unseen: Option<UnseenDigest>,
}

impl Embedded {
    /// What is left where no text may be stored: the vector, and the digest of what the model did not see.
    #[must_use]
    pub fn without_text(self) -> Self {
        Self { head: String::new(), ..self }
    }
}

/// How long the two parts of an embedding took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    pub tokenise: Duration,
    pub inference: Duration,
}

/// A prompt as the model takes it: truncated to what the model reads.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenisedPrompt {
    /// The special tokens included.
    pub token_ids: Vec<i64>,
    /// As in [`Embedded`].
    pub head: String,
    /// As in [`Embedded`].
    pub unseen: Option<UnseenDigest>,
}

impl TokenisedPrompt {
    #[must_use]
    pub fn with_vector(self, vector: Vec<f32>) -> Embedded {
        Embedded { vector: Arc::from(vector), head: self.head, unseen: self.unseen }
    }
}

/// Tokenises prompts. Shared by all callers, and done before a prompt waits for a worker.
pub trait Tokeniser: Send + Sync {
    /// Tokenises any text, whatever its length and its characters, into a bounded number of tokens.
    ///
    /// # Errors
    /// When the tokeniser fails; the message holds no prompt text.
    fn tokenise(&self, prompt: &str) -> Result<TokenisedPrompt, EmbedError>;

    /// How many tokens there will be at least, told at a glance: what cannot be done in time need not be tokenised.
    fn least_tokens(&self, _prompt: &str) -> usize {
        1
    }
}

/// Worker threads that have nothing to do at the moment.
pub trait IdleWorkers: Send + Sync {
    /// Gives one of them a task that it begins at once; false if all are busy. The task may be dropped undone.
    fn assist(&self, task: Box<dyn FnOnce() + Send>) -> bool;
}

/// Turns one text into one vector. The same text gives the same bits, whatever was embedded before it.
pub trait Embedder {
    /// Components of every vector.
    fn dimension(&self) -> usize;

    /// The tokeniser of this model.
    fn tokeniser(&self) -> Arc<dyn Tokeniser>;

    /// Tells which workers it may ask to assist with a text.
    fn set_idle_workers(&mut self, _workers: Arc<dyn IdleWorkers>) {}

    /// The normalised vector of a row of tokens.
    ///
    /// # Errors
    /// When the model fails.
    fn infer(&mut self, token_ids: &[i64]) -> Result<Vec<f32>, EmbedError>;

    /// Tokenises a text and infers its vector.
    ///
    /// # Errors
    /// When the tokeniser or the model fails; the message holds no prompt text.
    fn embed(&mut self, prompt: &str) -> Result<(Embedded, Timing), EmbedError> {
        let start = Instant::now();
        let prompt = self.tokeniser().tokenise(prompt)?;
        let tokenise = start.elapsed();
        let start = Instant::now();
        let vector = self.infer(&prompt.token_ids)?;
        Ok((prompt.with_vector(vector), Timing { tokenise, inference: start.elapsed() }))
    }
}
