//! Text to vector. This file holds what every embedder promises; how each does it is in the files beside it.

pub mod cache;
pub mod deterministic;
pub mod graph;
pub mod model_files;
pub mod model_id;
pub mod onnx;
mod operator;
mod pace;
pub mod pieces;
pub mod pool;
mod queue;
pub mod sidecar;
pub mod window;
mod work;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use window::Digest;

/// One prompt as the model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    /// L2-normalised, as long as the embedder's dimension.
    pub vector: Arc<[f32]>,
    /// The part of the prompt that was tokenised, white space folded; at most [`window::HEAD_BYTES`].
    pub head: String,
    /// Digest of what the model did not see; `None` if it saw everything.
    pub unseen: Option<Digest>,
}

/// How long the two parts of an embedding took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    pub tokenise: Duration,
    pub inference: Duration,
}

/// A prompt as the model takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// Word piece ids, special ones included.
    pub pieces: Vec<i64>,
    /// As in [`Embedded`].
    pub head: String,
    /// As in [`Embedded`].
    pub unseen: Option<Digest>,
}

impl Cut {
    /// With the vector of its pieces.
    #[must_use]
    pub fn with(self, vector: Vec<f32>) -> Embedded {
        Embedded { vector: Arc::from(vector), head: self.head, unseen: self.unseen }
    }
}

/// Cuts prompts into pieces. Shared by all callers, and done before a prompt waits for a worker.
pub trait Cutter: Send + Sync {
    /// Cuts any text, whatever its length and its characters, into a bounded number of pieces.
    ///
    /// # Errors
    /// When the tokeniser fails; the message holds no prompt text.
    fn cut(&self, prompt: &str) -> Result<Cut, EmbedError>;

    /// How many pieces there will be at least, told at a glance: what cannot be done in time need not be cut.
    fn at_least(&self, _prompt: &str) -> usize {
        1
    }
}

/// Threads that have nothing to do at the moment.
pub trait FreeHands: Send + Sync {
    /// Gives one of them an errand that it begins at once; false if all are busy. May be dropped undone.
    fn lend(&self, errand: Box<dyn FnOnce() + Send>) -> bool;
}

/// Turns one text into one vector. The same text gives the same bits, whatever was embedded before it.
pub trait Embedder {
    /// Components of every vector.
    fn dimension(&self) -> usize;

    /// What cuts prompts for this model.
    fn cutter(&self) -> Arc<dyn Cutter>;

    /// Tells whom it may ask for help with a text.
    fn may_ask(&mut self, _hands: Arc<dyn FreeHands>) {}

    /// The normalised vector of a row of pieces.
    ///
    /// # Errors
    /// When the model fails.
    fn infer(&mut self, pieces: &[i64]) -> Result<Vec<f32>, EmbedError>;

    /// Cuts a text and infers its vector.
    ///
    /// # Errors
    /// When the tokeniser or the model fails; the message holds no prompt text.
    fn embed(&mut self, prompt: &str) -> Result<(Embedded, Timing), EmbedError> {
        let start = Instant::now();
        let cut = self.cutter().cut(prompt)?;
        let tokenise = start.elapsed();
        let start = Instant::now();
        let vector = self.infer(&cut.pieces)?;
        Ok((cut.with(vector), Timing { tokenise, inference: start.elapsed() }))
    }
}

/// A fault of the tokeniser or the model on one text. Never holds prompt text.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("the tokeniser failed on a prompt of {bytes} bytes")]
    Tokenise { bytes: usize },
    #[error("the model failed on an input of {pieces} word pieces: {cause}")]
    Inference { pieces: usize, cause: String },
    #[error("the model gave an output of shape {got}, expected {expected}")]
    Shape { got: String, expected: String },
    #[error("the model gave a vector with a value that is no number")]
    NotFinite,
    #[error("the embedder panicked; it goes on with the next prompt")]
    Panicked,
}

/// A model that cannot be used. Every message says which file or setting, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error(
        "cannot load ONNX Runtime from {path}: {cause}. Set ORT_DYLIB_PATH to a libonnxruntime.so of version 1.24 or later"
    )]
    Library { path: String, cause: String },
    #[error("LOOP_EMBEDDING_MODEL_PATH: {path} {problem}")]
    Path { path: String, problem: String },
    #[error("cannot read the tokeniser {path}: {cause}. It must be the model's own tokenizer.json")]
    Tokeniser { path: String, cause: String },
    #[error("cannot load the model {path}: {cause}")]
    Load { path: String, cause: String },
    #[error("the model {path} is no sentence embedding model: {problem}")]
    Graph { path: String, problem: String },
    #[error("the model's warm-up inference failed: {0}")]
    WarmUp(#[from] EmbedError),
    #[error("cannot start a worker thread: {0}")]
    Thread(#[from] std::io::Error),
    #[error("a worker thread ended during start-up; its message is above")]
    WorkerGone,
}
