//! Which inputs and which output of an ONNX graph make it a sentence embedding model. Runs nothing.

use ort::value::{Outlet, TensorElementType, ValueType};

use super::model_config::Pooling;

/// The inputs that this service can give, all int64 `[1, tokens]`.
pub const INPUT_IDS: &str = "input_ids";
pub const ATTENTION_MASK: &str = "attention_mask";
pub const TOKEN_TYPE_IDS: &str = "token_type_ids";

/// Vectors of texts, by the names that exporters give them; a graph's only pooled output may have any name.
const SENTENCE_OUTPUTS: [&str; 4] = ["sentence_embedding", "sentence_embeddings", "embeddings", "output"];
/// A graph's pooled output that is not the sentence's vector: BERT's head for the task of its first training.
const POOLER_OUTPUT: &str = "pooler_output";
const TOKEN_OUTPUTS: [&str; 2] = ["last_hidden_state", "token_embeddings"];

/// What a graph makes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// One vector, shape `[1, dimension]`: pooled in the graph.
    SentenceEmbedding,
    /// One vector a token, shape `[1, tokens, dimension]`: pooled here.
    TokenEmbeddings(Pooling),
}

/// The inputs and the output of a graph that are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub takes_mask: bool,
    pub takes_types: bool,
    pub output_name: String,
    pub output: Output,
}

impl Signature {
    /// `pooling`: what is written beside the graph; counts where the graph does not pool by itself, and is the mean
    /// where nothing is written.
    ///
    /// # Errors
    /// A clause that says what is wrong with the graph.
    pub fn of(inputs: &[Outlet], outputs: &[Outlet], pooling: Option<Pooling>) -> Result<Self, String> {
        let takes = |name: &str| inputs.iter().any(|input| input.name() == name);
        if !takes(INPUT_IDS) {
            return Err(format!("it has no input {INPUT_IDS}"));
        }
        for input in inputs {
            if ![INPUT_IDS, ATTENTION_MASK, TOKEN_TYPE_IDS].contains(&input.name()) {
                return Err(format!("it wants the input {}, which this service does not know", input.name()));
            }
            if element(input) != Some(TensorElementType::Int64) {
                return Err(format!("its input {} is not of int64; export it so", input.name()));
            }
        }
        let (output_name, output) = choose(outputs, pooling.unwrap_or(Pooling::Mean))?;
        Ok(Self {
            takes_mask: takes(ATTENTION_MASK),
            takes_types: takes(TOKEN_TYPE_IDS),
            output_name,
            output,
        })
    }
}

/// The pooled output if the graph has one, else the one per token.
fn choose(outputs: &[Outlet], pooling: Pooling) -> Result<(String, Output), String> {
    let of_rank = |rank: usize| -> Vec<&str> {
        let matches = |outlet: &&Outlet| {
            self::rank(outlet) == Some(rank) && element(outlet) == Some(TensorElementType::Float32)
        };
        outputs.iter().filter(matches).map(Outlet::name).filter(|name| *name != POOLER_OUTPUT).collect()
    };
    let only_or = |found: Vec<&str>, known: &[&str]| {
        let named = known.iter().find(|name| found.contains(name)).map(|name| (*name).to_owned());
        named.or_else(|| match found.as_slice() {
            [only] => Some((*only).to_owned()),
            _ => None,
        })
    };
    if let Some(name) = only_or(of_rank(2), &SENTENCE_OUTPUTS) {
        return Ok((name, Output::SentenceEmbedding));
    }
    if let Some(name) = only_or(of_rank(3), &TOKEN_OUTPUTS) {
        return Ok((name, Output::TokenEmbeddings(pooling)));
    }
    let names: Vec<_> = outputs.iter().map(Outlet::name).collect();
    Err(format!(
        "none of its outputs ({}) is plainly a float32 [batch, dimension] or [batch, tokens, dimension]; name it {} or {}",
        names.join(", "),
        SENTENCE_OUTPUTS[0],
        TOKEN_OUTPUTS[0]
    ))
}

fn rank(outlet: &Outlet) -> Option<usize> {
    match outlet.dtype() {
        ValueType::Tensor { shape, .. } => Some(shape.len()),
        _ => None,
    }
}

fn element(outlet: &Outlet) -> Option<TensorElementType> {
    match outlet.dtype() {
        ValueType::Tensor { ty, .. } => Some(*ty),
        _ => None,
    }
}
