//! The weights of a layer as they come from a model's file, borrowed.

use crate::{
    error::ShapeError,
    processor::{LANES, vectors},
};

/// The weights of one layer. Every slice is row by row.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// Values of a row between layers.
    pub hidden: usize,
    pub heads: usize,
    /// Values of a row between the two products of the feed-forward part.
    pub intermediate: usize,
    /// `[hidden]`: what the input of `qkv` is multiplied by first (SmoothQuant).
    pub qkv_smoothing: &'a [f32],
    /// `[hidden, 3 · hidden]`: queries, scaled by one over the root of a head's size, then keys, then values.
    pub qkv: Linear<'a>,
    /// `[hidden, hidden]`
    pub attention_output: Linear<'a>,
    pub attention_norm: NormWeights<'a>,
    /// `[hidden]`: what the input of `up` is multiplied by first.
    pub up_smoothing: &'a [f32],
    /// `[hidden, intermediate]`
    pub up: Linear<'a>,
    /// `[intermediate, hidden]`
    pub down: Linear<'a>,
    pub output_norm: NormWeights<'a>,
    /// What is added to the variance in normalising.
    pub epsilon: f32,
}

/// A matrix `[inputs, outputs]`: weight = byte · scale of its column.
#[derive(Clone, Copy, Debug)]
pub struct Linear<'a> {
    pub weight: &'a [i8],
    /// `[outputs]`
    pub scale: &'a [f32],
    /// `[outputs]`
    pub bias: &'a [f32],
}

/// `[hidden]` each.
#[derive(Clone, Copy, Debug)]
pub struct NormWeights<'a> {
    pub scale: &'a [f32],
    pub shift: &'a [f32],
}

/// `values`, which must be `expected` finite ones, in vectors of [`LANES`].
pub(crate) fn checked_vectors(
    name: &'static str,
    values: &[f32],
    expected: usize,
) -> Result<Vec<[f32; LANES]>, ShapeError> {
    let wrong = ShapeError::Length { name, got: values.len(), expected };
    if values.len() != expected {
        return Err(wrong);
    }
    checked_finite(name, values)?;
    vectors(values).map(<[_]>::to_vec).ok_or(wrong)
}

pub(crate) fn checked_finite(name: &'static str, values: &[f32]) -> Result<(), ShapeError> {
    if values.iter().all(|value| value.is_finite()) { Ok(()) } else { Err(ShapeError::NotFinite { name }) }
}
