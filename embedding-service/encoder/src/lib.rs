#![doc = include_str!("../README.md")]
// Sizes are of slices in memory and checked in `Layer::new` and `Encoder::run`; bytes' sums are bounded by `matrix::MAX_INPUTS`.
#![allow(clippy::arithmetic_side_effects)]

mod activation;
mod attention;
pub mod codes;
mod encoder;
mod error;
mod layer;
mod matrix;
mod norm;
mod processor;
mod quantise;
mod two_threads;
mod weights;

pub use encoder::{Encoder, Tables};
pub use error::ShapeError;
pub use layer::{Layer, Scratch};
pub use processor::Processor;
pub use two_threads::Helper;
pub use weights::{Linear, NormWeights, Weights};
