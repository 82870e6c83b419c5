//! The embedder that production uses: a sentence embedding model in ONNX Runtime.
//!
//! It embeds one text at a time, without padding. Most int8 models have one scale for the whole tensor, so the other
//! texts of a batch would change a text's vector. The same text would then not always get the same vector.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use ort::{
    environment::Environment,
    session::{
        Session, SessionInputValue,
        builder::{GraphOptimizationLevel, SessionBuilder},
    },
    value::Tensor,
};
use sentinel_encoder::Processor;

use super::{
    Embedder, IdleWorkers, Tokeniser,
    error::{EmbedError, ModelError},
    model_config::{ModelConfig, Pooling},
    model_files::ModelFiles,
    operator::{self, Assistants},
    signature::{self, Output, Signature},
    tokeniser::ModelTokeniser,
};
use crate::similarity;

/// The fused operator costs 200 µs a call more than what it replaces.
const DISABLED_OPTIMISERS: &str = "SkipLayerNormFusion";

/// ONNX Runtime, loaded from its shared library. Cheap to clone.
#[derive(Clone)]
pub struct Runtime(Environment);

/// A process can have one environment only, so whoever loads the library again gets the first.
static LOADED: Mutex<Option<Environment>> = Mutex::new(None);

impl Runtime {
    /// Loads the library; the path counts the first time only.
    ///
    /// # Errors
    /// When the library is missing, is no ONNX Runtime, or is too old.
    pub fn load(library: &Path) -> Result<Self, ModelError> {
        let failed = |cause: String| ModelError::Library { path: library.display().to_string(), cause };
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(environment) = &*loaded {
            return Ok(Self(environment.clone()));
        }
        let environment = ort::init_from(library)
            .map_err(|e| failed(e.to_string()))?
            .with_telemetry(false)
            .build()
            .map_err(|e| failed(e.to_string()))?;
        *loaded = Some(environment.clone());
        Ok(Self(environment))
    }

    /// Opens a graph as it was published, for one thread.
    pub(crate) fn session(&self, graph: &Path) -> ort::Result<Session> {
        single(self)?.commit_from_file(graph)
    }
}

/// Whether a session has been opened.
static DOMAIN_KNOWN: Mutex<bool> = Mutex::new(false);

/// One session of the model. Each worker thread has its own.
pub struct OnnxEmbedder {
    session: Session,
    assistants: Assistants,
    tokeniser: Arc<ModelTokeniser>,
    signature: Signature,
    dimension: usize,
}

impl OnnxEmbedder {
    /// Loads the model and runs it on two tokens, to see what it gives and whether the tokeniser is its own.
    ///
    /// # Errors
    /// When a file cannot be read, or the graph is not one of a sentence embedding model.
    pub fn load(runtime: &Runtime, files: &ModelFiles) -> Result<Self, ModelError> {
        Self::load_for(runtime, files, Processor::fastest())
    }

    /// As [`Self::load`], with the project's operator computed by `processor`, or by ONNX Runtime in its own way.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_for(
        runtime: &Runtime,
        files: &ModelFiles,
        processor: Option<Processor>,
    ) -> Result<Self, ModelError> {
        let path = files.graph.display().to_string();
        let config = ModelConfig::read(&files.graph)?;
        let tokeniser = Arc::new(ModelTokeniser::load(&files.tokeniser, config.max_tokens)?);
        let assistants = Assistants::default();
        let session = open(runtime, &files.graph, processor, &assistants)
            .map_err(|e| ModelError::Load { path: path.clone(), cause: e.to_string() })?;
        let wrong = |problem: String| ModelError::Graph { path: path.clone(), problem };
        let signature = Signature::of(session.inputs(), session.outputs(), config.pooling).map_err(&wrong)?;
        let mut embedder = Self { session, assistants, tokeniser, signature, dimension: 0 };
        embedder.dimension = embedder.run(&[0, 0]).map_err(|e| wrong(e.to_string()))?.len();
        let largest = embedder.tokeniser.largest_id();
        embedder.run(&[0, largest]).map_err(|_| ModelError::Tokeniser {
            path: files.tokeniser.display().to_string(),
            cause: format!("it is of another model: it knows a token {largest}, and {path} does not"),
        })?;
        Ok(embedder)
    }

    /// The vector of a row of tokens as the graph gives it, pooled if it is not.
    fn run(&mut self, ids: &[i64]) -> Result<Vec<f32>, EmbedError> {
        let count = ids.len();
        let failed = |e: ort::Error| EmbedError::Inference { tokens: count, cause: e.to_string() };
        let tensor = |values: Vec<i64>| Tensor::from_array(([1, count], values)).map_err(failed);
        let mut inputs: Vec<(&str, SessionInputValue<'_>)> =
            vec![(signature::INPUT_IDS, tensor(ids.to_vec())?.into())];
        if self.signature.takes_mask {
            inputs.push((signature::ATTENTION_MASK, tensor(vec![1; count])?.into()));
        }
        if self.signature.takes_types {
            inputs.push((signature::TOKEN_TYPE_IDS, tensor(vec![0; count])?.into()));
        }
        let outputs = self.session.run(inputs).map_err(failed)?;
        let name = &self.signature.output_name;
        let wrong = |got: String, expected: &str| EmbedError::Shape { got, expected: expected.to_owned() };
        let value = outputs.get(name).ok_or_else(|| wrong("nothing".to_owned(), name))?;
        let (shape, values) = value.try_extract_tensor::<f32>().map_err(failed)?;
        let row = |expected| match shape.last().and_then(|last| usize::try_from(*last).ok()) {
            Some(dimension) if dimension > 0 => Ok(dimension),
            _ => Err(wrong(shape.to_string(), expected)),
        };
        match self.signature.output {
            Output::SentenceEmbedding if values.len() == row(SENTENCE_EMBEDDING)? => Ok(values.to_vec()),
            Output::TokenEmbeddings(pooling)
                if Some(values.len()) == row(TOKEN_EMBEDDINGS)?.checked_mul(count) =>
            {
                Ok(pooled(values, row(TOKEN_EMBEDDINGS)?, pooling))
            }
            Output::SentenceEmbedding => Err(wrong(shape.to_string(), SENTENCE_EMBEDDING)),
            Output::TokenEmbeddings(_) => Err(wrong(shape.to_string(), TOKEN_EMBEDDINGS)),
        }
    }
}

const SENTENCE_EMBEDDING: &str = "[1, dimension]";
const TOKEN_EMBEDDINGS: &str = "[1, tokens, dimension]";

/// Every token is attended to, so the masked mean is the mean of all rows. The sum is enough, because the vector is normalised afterwards.
fn pooled(rows: &[f32], dimension: usize, pooling: Pooling) -> Vec<f32> {
    let read = match pooling {
        Pooling::First => 1,
        Pooling::Mean => usize::MAX,
    };
    let mut vector = vec![0.0; dimension];
    for row in rows.chunks(dimension.max(1)).take(read) {
        vector.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    vector
}

impl Embedder for OnnxEmbedder {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn tokeniser(&self) -> Arc<dyn Tokeniser> {
        Arc::<ModelTokeniser>::clone(&self.tokeniser)
    }

    fn set_idle_workers(&mut self, workers: Arc<dyn IdleWorkers>) {
        let _ = self.assistants.set(workers);
    }

    fn infer(&mut self, token_ids: &[i64]) -> Result<Vec<f32>, EmbedError> {
        let mut vector = self.run(token_ids)?;
        if vector.len() != self.dimension {
            let expected = format!("[{}]", self.dimension);
            return Err(EmbedError::Shape { got: format!("[{}]", vector.len()), expected });
        }
        similarity::normalise(&mut vector);
        if vector.iter().all(|x| x.is_finite()) { Ok(vector) } else { Err(EmbedError::NotFinite) }
    }
}

/// For one thread that does not spin.
fn single(runtime: &Runtime) -> ort::Result<SessionBuilder> {
    Ok(Session::builder(&runtime.0)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_intra_threads(1)?
        .with_inter_threads(1)?
        .with_intra_op_spinning(false)?
        .with_inter_op_spinning(false)?)
}

fn open(
    runtime: &Runtime,
    graph: &Path,
    processor: Option<Processor>,
    assistants: &Assistants,
) -> ort::Result<Session> {
    let session = single(runtime)?.with_disabled_optimizers(DISABLED_OPTIMISERS)?;
    let mut session = operator::register(session, processor, assistants)?;
    // ONNX Runtime makes a domain known when the first session with it is opened, and cannot do that for two at once
    // (microsoft/onnxruntime#22663).
    let mut known = DOMAIN_KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if *known {
        drop(known);
        return session.commit_from_file(graph);
    }
    let opened = session.commit_from_file(graph);
    *known = opened.is_ok();
    opened
}
