//! What can go wrong with a prompt, with the pool that embeds it, and with a model as a whole.

/// A fault of the tokeniser or the model on one text. Never holds prompt text.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("the tokeniser failed on a prompt of {bytes} bytes")]
    Tokenise { bytes: usize },
    #[error("the model failed on an input of {tokens} tokens: {cause}")]
    Inference { tokens: usize, cause: String },
    #[error("the model gave an output of shape {got}, expected {expected}")]
    Shape { got: String, expected: String },
    #[error("the model gave a vector with a value that is no number")]
    NotFinite,
    #[error("the embedder panicked; it goes on with the next prompt")]
    Panicked,
}

/// Why a prompt was not embedded.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    #[error("{waiting} prompts wait to be embedded, which is all the queue holds (LOOP_QUEUE_LENGTH)")]
    Full { waiting: usize },
    #[error("there is too much to do: this prompt could not be embedded before its deadline")]
    TooLate,
    #[error("the deadline passed before the prompt was embedded")]
    DeadlinePassed,
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error("the service is shutting down")]
    Stopped,
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
