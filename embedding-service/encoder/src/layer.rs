//! A layer: attention, then a feed-forward part with Gelu, each followed by adding and normalising. The README of this crate
//! has it in formulas.

use crate::{
    activation::Gelu,
    attention::{self, PeerKeysValues, attend},
    error::{OrBroken as _, ShapeError},
    matrix::PackedMatrix,
    norm::Norm,
    processor::{Computation, LANES, Lanes, Processor},
    quantise::{Elementwise, Identity, QuantisedRows},
    weights::{Weights, checked_vectors},
};

/// A layer, laid out for its products. May be shared by threads.
#[derive(Debug, PartialEq)]
pub struct Layer {
    hidden: usize,
    intermediate: usize,
    head: HeadSize,
    qkv_smoothing: Smoothing,
    qkv: PackedMatrix,
    attention_output: PackedMatrix,
    attention_norm: Norm,
    up_smoothing: Smoothing,
    up: PackedMatrix,
    down: PackedMatrix,
    output_norm: Norm,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum HeadSize {
    Of32,
    Of64,
}

/// For each column, what it is multiplied by.
#[derive(Debug, PartialEq)]
struct Smoothing(Vec<[f32; LANES]>);

impl Elementwise for Smoothing {
    #[inline(always)]
    fn apply<L: Lanes>(&self, lanes: L, x: L::Floats, at: usize) -> Result<L::Floats, ShapeError> {
        let factors = self.0.get(at).or_broken("a row is longer than there are smoothing factors")?;
        Ok(lanes.mul(x, lanes.load(factors)))
    }
}

/// Memory to work in. Of one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) between_layers: Vec<f32>,
    quantised: QuantisedRows,
    /// The result of a product with many outputs; after [`Layer::project_qkv`], queries, keys and values.
    pub(crate) wide: Vec<f32>,
    /// The result of a product with as many outputs as a row between layers has values.
    narrow: Vec<f32>,
    heads_of_32: attention::Scratch<32>,
    heads_of_64: attention::Scratch<64>,
}

impl Layer {
    /// # Errors
    /// When the weights do not fit together.
    pub fn new(weights: &Weights<'_>) -> Result<Self, ShapeError> {
        let Weights { hidden, heads, intermediate, epsilon, .. } = *weights;
        let head = match hidden.checked_div(heads) {
            Some(32) if hidden % 32 == 0 => HeadSize::Of32,
            Some(64) if hidden % 64 == 0 => HeadSize::Of64,
            _ => return Err(ShapeError::Heads { hidden, heads }),
        };
        let smoothing = |name, values| checked_vectors(name, values, hidden).map(Smoothing);
        let norm = |name, norm| Norm::new(name, norm, hidden, epsilon);
        let pack = PackedMatrix::pack;
        Ok(Self {
            hidden,
            intermediate,
            head,
            qkv_smoothing: smoothing("the smoothing of qkv", weights.qkv_smoothing)?,
            qkv: pack("qkv", &weights.qkv, hidden, hidden.saturating_mul(3))?,
            attention_output: pack("the attention output", &weights.attention_output, hidden, hidden)?,
            attention_norm: norm("the norm after attention", &weights.attention_norm)?,
            up_smoothing: smoothing("the smoothing of up", weights.up_smoothing)?,
            up: pack("up", &weights.up, hidden, intermediate)?,
            down: pack("down", &weights.down, intermediate, hidden)?,
            output_norm: norm("the last norm", &weights.output_norm)?,
        })
    }

    /// Takes `rows`, of [`Weights::hidden`] values each, through the layer, in place.
    ///
    /// # Errors
    /// When `rows` are not whole rows.
    pub fn forward(
        &self,
        processor: Processor,
        scratch: &mut Scratch,
        rows: &mut [f32],
    ) -> Result<(), ShapeError> {
        if !rows.len().is_multiple_of(self.hidden) {
            return Err(ShapeError::Rows { got: rows.len(), hidden: self.hidden });
        }
        self.project_qkv(processor, scratch, rows)?;
        self.attend_and_feed_forward(processor, scratch, rows, PeerKeysValues::default())
    }

    pub(crate) fn hidden(&self) -> usize {
        self.hidden
    }

    /// The first part of a layer: the queries, keys and values of `rows`, left in the scratch.
    pub(crate) fn project_qkv(
        &self,
        processor: Processor,
        scratch: &mut Scratch,
        rows: &[f32],
    ) -> Result<(), ShapeError> {
        processor.run(ProjectQkv { layer: self, scratch, rows })
    }

    /// All that follows it, with the keys and values of another thread's rows too.
    pub(crate) fn attend_and_feed_forward(
        &self,
        processor: Processor,
        scratch: &mut Scratch,
        rows: &mut [f32],
        peer: PeerKeysValues<'_>,
    ) -> Result<(), ShapeError> {
        processor.run(AttendAndFeedForward { layer: self, scratch, rows, peer })
    }
}

struct ProjectQkv<'a> {
    layer: &'a Layer,
    scratch: &'a mut Scratch,
    rows: &'a [f32],
}

impl Computation for ProjectQkv<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Result<(), ShapeError> {
        let Self { layer, scratch, rows: x } = self;
        let Scratch { quantised, wide, .. } = scratch;
        wide.resize(3 * x.len(), 0.0);
        quantised.quantise(lanes, x, layer.hidden, &layer.qkv_smoothing)?;
        layer.qkv.multiply(lanes, quantised, wide)
    }
}

struct AttendAndFeedForward<'a> {
    layer: &'a Layer,
    scratch: &'a mut Scratch,
    rows: &'a mut [f32],
    peer: PeerKeysValues<'a>,
}

impl Computation for AttendAndFeedForward<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Result<(), ShapeError> {
        let Self { layer, scratch, rows: x, peer } = self;
        let Scratch { quantised, wide, narrow, heads_of_32, heads_of_64, .. } = scratch;
        let count = x.len() / layer.hidden;
        narrow.resize(x.len(), 0.0);

        match layer.head {
            HeadSize::Of32 => attend(lanes, heads_of_32, layer.hidden, wide, peer, narrow),
            HeadSize::Of64 => attend(lanes, heads_of_64, layer.hidden, wide, peer, narrow),
        }?;
        quantised.quantise(lanes, narrow, layer.hidden, &Identity)?;
        layer.attention_output.multiply(lanes, quantised, narrow)?;
        layer.attention_norm.add_and_normalise(lanes, x, narrow)?;

        wide.resize(count * layer.intermediate, 0.0);
        quantised.quantise(lanes, x, layer.hidden, &layer.up_smoothing)?;
        layer.up.multiply(lanes, quantised, wide)?;
        quantised.quantise(lanes, wide, layer.intermediate, &Gelu)?;
        layer.down.multiply(lanes, quantised, narrow)?;
        layer.output_norm.add_and_normalise(lanes, x, narrow)
    }
}
