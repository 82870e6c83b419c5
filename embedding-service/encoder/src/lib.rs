//! A BERT-like encoder in 8-bit integer arithmetic: what an embedding spends its time on.
//!
//! Weights are signed, with a scale per column; activations unsigned, with a scale and an offset per row, so that no row
//! (a word piece) changes another's rounding. Sums of products are exact. Floats are added in an order that the code fixes
//! and not the processor, so the same input gives the same bits on every processor.
//!
//! Knows nothing of models' files, of ONNX and of texts, and starts no threads.

// Sizes are of slices in memory and checked in `Layer::new` and `Encoder::run`; bytes' sums are bounded by `matrix::MAX_INPUTS`.
#![allow(clippy::arithmetic_side_effects)]

mod attention;
mod curves;
mod encoder;
mod halves;
mod layer;
mod matrix;
mod norm;
mod processor;
mod rows;

pub use encoder::{Encoder, Tables};
pub use halves::Helper;
pub use layer::{Affine, Layer, Linear, Scratch, ShapeError, Weights};
pub use processor::Processor;

/// Floats, or columns of a product, that are worked on at once.
const LANES: usize = 16;
