//! The embedder that production uses: a sentence embedding model in ONNX Runtime.
//!
//! One text at a time and no padding: with dynamic int8 arithmetic one scale covers the whole tensor, so company in a batch
//! would change a text's vector, and an exact repeat would no longer be exactly similar.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use ort::{
    environment::Environment,
    session::{Session, SessionInputValue, builder::GraphOptimizationLevel},
    value::{Outlet, Tensor, ValueType},
};

use super::{Cutter, EmbedError, Embedder, ModelError, model_files::ModelFiles, pieces::PieceMaker};
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
}

/// What the graph makes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    /// One vector, shape `[1, dimension]`: pooled in the graph.
    Sentence,
    /// One vector a piece, shape `[1, pieces, dimension]`: pooled here.
    Pieces,
}

/// One session of the model. Each worker thread has its own.
pub struct OnnxEmbedder {
    session: Session,
    pieces: Arc<PieceMaker>,
    takes_types: bool,
    output: Output,
    output_name: String,
    dimension: usize,
}

impl OnnxEmbedder {
    /// # Errors
    /// When a file cannot be read, or the graph is not one of a sentence embedding model.
    pub fn load(runtime: &Runtime, files: &ModelFiles) -> Result<Self, ModelError> {
        let path = files.graph.display().to_string();
        let pieces = Arc::new(PieceMaker::load(&files.tokeniser)?);
        let session = open(runtime, &files.graph)
            .map_err(|e| ModelError::Load { path: path.clone(), cause: e.to_string() })?;
        let wrong = |problem: String| ModelError::Graph { path: path.clone(), problem };

        let takes = |name: &str| session.inputs().iter().any(|input| input.name() == name);
        for needed in ["input_ids", "attention_mask"] {
            if !takes(needed) {
                return Err(wrong(format!("it has no input {needed}")));
            }
        }
        let takes_types = takes("token_type_ids");
        let (output_name, output, dimension) = choose_output(session.outputs()).map_err(&wrong)?;
        Ok(Self { takes_types, output, output_name, dimension, session, pieces })
    }
}

impl Embedder for OnnxEmbedder {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn cutter(&self) -> Arc<dyn Cutter> {
        Arc::<PieceMaker>::clone(&self.pieces)
    }

    fn infer(&mut self, chunk: &[i64]) -> Result<Vec<f32>, EmbedError> {
        let count = chunk.len();
        let failed = |e: ort::Error| EmbedError::Inference { pieces: count, cause: e.to_string() };
        let tensor = |values: Vec<i64>| Tensor::from_array(([1, count], values)).map_err(failed);
        let mut inputs: Vec<(&str, SessionInputValue<'_>)> = vec![
            ("input_ids", tensor(chunk.to_vec())?.into()),
            ("attention_mask", tensor(vec![1; count])?.into()),
        ];
        if self.takes_types {
            inputs.push(("token_type_ids", tensor(vec![0; count])?.into()));
        }
        let outputs = self.session.run(inputs).map_err(failed)?;
        let wrong = |got: String| EmbedError::Shape {
            got,
            expected: format!("[1, {count} (if not pooled), {}]", self.dimension),
        };
        let value =
            outputs.get(&self.output_name).ok_or_else(|| wrong(format!("no output {}", self.output_name)))?;
        let (shape, values) = value.try_extract_tensor::<f32>().map_err(failed)?;
        let rows = match self.output {
            Output::Sentence => 1,
            Output::Pieces => count,
        };
        if Some(values.len()) != self.dimension.checked_mul(rows) {
            return Err(wrong(shape.to_string()));
        }
        // Every piece is attended to, so the mean over the mask is the mean over all; its scale goes in normalising.
        let mut vector = vec![0.0; self.dimension];
        for row in values.chunks(self.dimension) {
            for (sum, x) in vector.iter_mut().zip(row) {
                *sum += x;
            }
        }
        similarity::normalise(&mut vector);
        if vector.iter().all(|x| x.is_finite()) { Ok(vector) } else { Err(EmbedError::NotFinite) }
    }
}

fn open(runtime: &Runtime, graph: &Path) -> ort::Result<Session> {
    Session::builder(&runtime.0)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_intra_threads(1)?
        .with_inter_threads(1)?
        .with_intra_op_spinning(false)?
        .with_inter_op_spinning(false)?
        .with_disabled_optimizers(DISABLED_OPTIMISERS)?
        .commit_from_file(graph)
}

/// The pooled output if the graph has one, else the one per piece; with its fixed last dimension.
fn choose_output(outputs: &[Outlet]) -> Result<(String, Output, usize), String> {
    let shaped: Vec<_> = outputs
        .iter()
        .filter_map(|outlet| match outlet.dtype() {
            ValueType::Tensor { shape, .. } => {
                let dimension = usize::try_from(*shape.last()?).ok().filter(|d| *d > 0)?;
                let output = match shape.len() {
                    2 => Output::Sentence,
                    3 => Output::Pieces,
                    _ => return None,
                };
                Some((outlet.name().to_owned(), output, dimension))
            }
            _ => None,
        })
        .collect();
    let of = |wanted: Output| shaped.iter().find(|(_, output, _)| *output == wanted);
    of(Output::Sentence)
        .or_else(|| of(Output::Pieces))
        .cloned()
        .ok_or_else(|| {
            let names: Vec<_> = outputs.iter().map(|o| o.name()).collect();
            format!(
                "none of its outputs ({}) has the shape [batch, dimension] or [batch, pieces, dimension] with a fixed dimension",
                names.join(", ")
            )
        })
}
