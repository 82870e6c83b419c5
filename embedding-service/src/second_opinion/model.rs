//! The model: a text classifier in ONNX Runtime, with its own tokeniser. It runs as it was published. The project's own int8 kernels do
//! not fit it: they want the embedder's graph, which is quantised anew from float weights, and here only int8 weights are published.

use std::{fs, path::Path};

use ort::{session::Session, value::Tensor};
use serde::Deserialize;
use tokenizers::Tokenizer;

use super::chunks::chunks;
use crate::embed::{
    error::{EmbedError, ModelError},
    model_files::ModelFiles,
    onnx::Runtime,
    signature::{ATTENTION_MASK, INPUT_IDS},
};

/// Bytes of a text that are read: its beginning.
pub const TEXT: usize = 4_200;
/// Tokens that are read at once, the special ones included. One sentence among many is lost in a longer part: the model judges the mean.
const TOKENS: usize = 128;
/// Parts of a text that are read.
const PARTS: usize = 12;

/// What stands beside a model about its scores.
#[derive(Default, Deserialize)]
struct Card {
    #[serde(default)]
    calibration: Calibration,
}

#[derive(Default, Deserialize)]
struct Calibration {
    /// Logits are divided by it.
    #[serde(rename = "temperatureT")]
    temperature: Option<f64>,
}

/// One session of the model, and its tokeniser.
pub struct Classifier {
    session: Session,
    tokenizer: Tokenizer,
    output: String,
    temperature: f64,
    /// The tokens around a text.
    around: [i64; 2],
}

impl Classifier {
    /// Loads the model and runs it once. `path`: an .onnx file or a folder, as for the embedding model; `classifier_config.json` may lie
    /// beside it.
    ///
    /// # Errors
    /// When a file cannot be read, or the graph is no such classifier.
    pub fn load(runtime: &Runtime, path: &Path) -> Result<Self, ModelError> {
        let files = ModelFiles::find(path)?;
        let shown = files.graph.display().to_string();
        let of_tokeniser =
            |cause: String| ModelError::Tokeniser { path: files.tokeniser.display().to_string(), cause };
        let wrong = |problem: &str| ModelError::Load { path: shown.clone(), cause: problem.to_owned() };
        let mut tokenizer =
            Tokenizer::from_file(&files.tokeniser).map_err(|e| of_tokeniser(e.to_string()))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|e| of_tokeniser(e.to_string()))?;
        let special = |name: &str| {
            tokenizer
                .token_to_id(name)
                .map(i64::from)
                .ok_or_else(|| of_tokeniser(format!("it has no {name}")))
        };
        let around = [special("[CLS]")?, special("[SEP]")?];
        let session = runtime.session(&files.graph).map_err(|e| wrong(&e.to_string()))?;
        let has = |name: &str| session.inputs().iter().any(|input| input.name() == name);
        let [output] = session.outputs() else { return Err(wrong("it has not one output")) };
        if session.inputs().len() != 2 || !has(INPUT_IDS) || !has(ATTENTION_MASK) {
            return Err(wrong("it is no classifier: its inputs are not input_ids and attention_mask"));
        }
        let output = output.name().to_owned();
        let mut model = Self { session, tokenizer, output, temperature: temperature(&files.graph)?, around };
        model.score("It is warm.").map_err(ModelError::WarmUp)?;
        Ok(model)
    }

    /// How likely it is that a text holds an injection, 0 to 1: the highest score of its parts. Only the first `TEXT` bytes are read.
    ///
    /// # Errors
    /// When the tokeniser or the model fails; the message holds nothing of the text.
    pub fn score(&mut self, text: &str) -> Result<f64, EmbedError> {
        self.score_parts(text, &mut || true)
    }

    /// The same; before each part `goes_on` is asked whether it is to be read.
    ///
    /// # Errors
    /// As [`Self::score`].
    pub fn score_parts(&mut self, text: &str, goes_on: &mut dyn FnMut() -> bool) -> Result<f64, EmbedError> {
        let text = text.get(..text.floor_char_boundary(TEXT)).unwrap_or_default();
        let failed = |_| EmbedError::Tokenise { bytes: text.len() };
        let encoding = self.tokenizer.encode(text, false).map_err(failed)?;
        let ids = encoding.get_ids();
        let [first, last] = self.around;
        let mut highest = 0.0_f64;
        for part in chunks(text, encoding.get_offsets(), TOKENS.saturating_sub(2), PARTS) {
            if !goes_on() {
                break;
            }
            let inside = ids.get(part).unwrap_or_default().iter().map(|id| i64::from(*id));
            let row: Vec<i64> = [first].into_iter().chain(inside).chain([last]).collect();
            highest = highest.max(self.run(row)?);
        }
        Ok(highest)
    }

    fn run(&mut self, ids: Vec<i64>) -> Result<f64, EmbedError> {
        let tokens = ids.len();
        let failed = |e: ort::Error| EmbedError::Inference { tokens, cause: e.to_string() };
        let mask = Tensor::from_array(([1, tokens], vec![1_i64; tokens])).map_err(failed)?;
        let ids = Tensor::from_array(([1, tokens], ids)).map_err(failed)?;
        let inputs = ort::inputs![INPUT_IDS => ids, ATTENTION_MASK => mask];
        let outputs = self.session.run(inputs).map_err(failed)?;
        let wrong = |got: String| EmbedError::Shape { got, expected: "[1, 1] or [1, 2]".to_owned() };
        let value = outputs.get(&self.output).ok_or_else(|| wrong("nothing".to_owned()))?;
        let (shape, logits) = value.try_extract_tensor::<f32>().map_err(failed)?;
        // A second logit belongs to another task.
        let ([logit] | [logit, _]) = *logits else { return Err(wrong(shape.to_string())) };
        let score = 1.0 / (1.0 + (-f64::from(logit) / self.temperature).exp());
        if score.is_finite() { Ok(score) } else { Err(EmbedError::NotFinite) }
    }
}

/// By what the logits are divided; 1 where nothing is said of it.
fn temperature(graph: &Path) -> Result<f64, ModelError> {
    let path = graph.with_file_name("classifier_config.json");
    let wrong = |cause: String| ModelError::Load { path: path.display().to_string(), cause };
    let card = match fs::read(&path) {
        Ok(json) => serde_json::from_slice::<Card>(&json).map_err(|e| wrong(e.to_string()))?,
        Err(_) => Card::default(),
    };
    let temperature = card.calibration.temperature.unwrap_or(1.0);
    if temperature.is_finite() && temperature > 0.0 {
        Ok(temperature)
    } else {
        Err(wrong("calibration.temperatureT must be above 0".to_owned()))
    }
}
