//! A layer: attention, then two products with Gelu between, each followed by adding and normalising.

use crate::{
    LANES,
    attention::{self, Others, attend},
    curves::Gelu,
    matrix::Matrix,
    norm::Norm,
    processor::{Lanes, Processor, Work},
    rows::{AsIs, Prepare, Rows},
};

/// The weights of one layer. Every slice is row by row.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// Values of a row between layers.
    pub hidden: usize,
    pub heads: usize,
    /// Values of a row between the last two products.
    pub wide: usize,
    /// `[hidden]`: what the input of `qkv` is multiplied by first.
    pub qkv_factors: &'a [f32],
    /// `[hidden, 3 · hidden]`: queries, scaled by one over the root of a head's size, then keys, then values.
    pub qkv: Linear<'a>,
    /// `[hidden, hidden]`
    pub out: Linear<'a>,
    pub attended: Affine<'a>,
    /// `[hidden]`: what the input of `widen` is multiplied by first.
    pub widen_factors: &'a [f32],
    /// `[hidden, wide]`
    pub widen: Linear<'a>,
    /// `[wide, hidden]`
    pub narrow: Linear<'a>,
    pub done: Affine<'a>,
    /// What is added to the variance in normalising.
    pub epsilon: f32,
}

impl Weights<'_> {
    pub(crate) fn norm(&self, name: &'static str, affine: &Affine<'_>) -> Result<Norm, ShapeError> {
        let [scale, shift] = [affine.scale, affine.shift].map(|values| vectors(name, values, self.hidden));
        Ok(Norm { scale: scale?, shift: shift?, epsilon: self.epsilon })
    }
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
pub struct Affine<'a> {
    pub scale: &'a [f32],
    pub shift: &'a [f32],
}

/// Weights that do not fit together or not this way of computing, or an input that does not fit them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeError {
    Length { name: &'static str, got: usize, expected: usize },
    Size { name: &'static str, inputs: usize, outputs: usize },
    Heads { hidden: usize, heads: usize },
    Rows { got: usize, hidden: usize },
    NoLayer,
    Layers { got: usize, hidden: usize },
    Pieces { got: usize, most: usize },
    Piece { got: i64, words: usize },
    Mean { got: usize, hidden: usize },
}

impl std::fmt::Display for ShapeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Length { name, got, expected } => write!(f, "{name} has {got} values, not {expected}"),
            Self::Size { name, inputs, outputs } => write!(
                f,
                "{name} is {inputs} by {outputs}; inputs must be a multiple of 16 up to 65000, outputs a multiple of 48"
            ),
            Self::Heads { hidden, heads } => {
                write!(f, "{hidden} values in {heads} heads; a head must have 32 or 64 of them")
            }
            Self::Rows { got, hidden } => write!(f, "{got} values are no rows of {hidden}"),
            Self::Layers { got, hidden } => {
                write!(f, "a layer has rows of {got} values, another of {hidden}")
            }
            Self::NoLayer => write!(f, "an encoder has at least one layer"),
            Self::Pieces { got, most } => write!(f, "{got} word pieces; there must be 1 to {most}"),
            Self::Piece { got, words } => write!(f, "{got} is no word piece; there are {words}"),
            Self::Mean { got, hidden } => write!(f, "the mean has {hidden} values, not {got}"),
        }
    }
}

impl std::error::Error for ShapeError {}

/// A layer, laid out for its products. May be shared by threads.
#[derive(Debug, PartialEq)]
pub struct Layer {
    hidden: usize,
    head: Head,
    qkv_factors: Factors,
    qkv: Matrix,
    out: Matrix,
    attended: Norm,
    widen_factors: Factors,
    widen: Matrix,
    narrow: Matrix,
    done: Norm,
    wide: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Head {
    Of32,
    Of64,
}

/// For each column, what it is multiplied by.
#[derive(Debug, PartialEq)]
struct Factors(Vec<[f32; LANES]>);

impl Prepare for Factors {
    #[inline(always)]
    fn prepare<L: Lanes>(&self, lanes: L, x: L::Floats, at: usize) -> L::Floats {
        self.0.get(at).map_or(x, |factor| lanes.mul(x, lanes.load(factor)))
    }
}

/// Memory to work in. Of one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) between_layers: Vec<f32>,
    rows: Rows,
    /// The result of the product at hand; after [`Layer::look`], queries, keys and values.
    pub(crate) wide: Vec<f32>,
    narrow: Vec<f32>,
    of_32: attention::Scratch<32>,
    of_64: attention::Scratch<64>,
}

impl Layer {
    /// # Errors
    /// When the weights do not fit together.
    pub fn new(weights: &Weights<'_>) -> Result<Self, ShapeError> {
        let Weights { hidden, heads, wide, .. } = *weights;
        let head = match hidden.checked_div(heads) {
            Some(32) if hidden % 32 == 0 => Head::Of32,
            Some(64) if hidden % 64 == 0 => Head::Of64,
            _ => return Err(ShapeError::Heads { hidden, heads }),
        };
        Ok(Self {
            hidden,
            head,
            qkv: Matrix::pack("qkv", &weights.qkv, hidden, hidden.saturating_mul(3))?,
            qkv_factors: Factors(vectors("the factors of qkv", weights.qkv_factors, hidden)?),
            out: Matrix::pack("out", &weights.out, hidden, hidden)?,
            attended: weights.norm("the norm after attention", &weights.attended)?,
            widen_factors: Factors(vectors("the factors of widen", weights.widen_factors, hidden)?),
            widen: Matrix::pack("widen", &weights.widen, hidden, wide)?,
            narrow: Matrix::pack("narrow", &weights.narrow, wide, hidden)?,
            done: weights.norm("the last norm", &weights.done)?,
            wide,
        })
    }

    /// Takes `rows`, of [`Weights::hidden`] values each, through the layer, in place.
    ///
    /// # Errors
    /// When `rows` are not whole rows.
    pub fn run(
        &self,
        processor: Processor,
        scratch: &mut Scratch,
        rows: &mut [f32],
    ) -> Result<(), ShapeError> {
        if !rows.len().is_multiple_of(self.hidden) {
            return Err(ShapeError::Rows { got: rows.len(), hidden: self.hidden });
        }
        self.pass(processor, scratch, rows);
        Ok(())
    }

    pub(crate) fn hidden(&self) -> usize {
        self.hidden
    }

    /// As [`Layer::run`], of whole rows.
    pub(crate) fn pass(&self, processor: Processor, scratch: &mut Scratch, rows: &mut [f32]) {
        self.look(processor, scratch, rows);
        self.finish(processor, scratch, rows, Others::default());
    }

    /// The first part: the queries, keys and values of whole `rows`, left in the scratch.
    pub(crate) fn look(&self, processor: Processor, scratch: &mut Scratch, rows: &[f32]) {
        processor.run(Look { layer: self, scratch, rows });
    }

    /// The other part, with the keys and values of `others`' rows too.
    pub(crate) fn finish(
        &self,
        processor: Processor,
        scratch: &mut Scratch,
        rows: &mut [f32],
        others: Others<'_>,
    ) {
        processor.run(Finish { layer: self, scratch, rows, others });
    }
}

fn vectors(name: &'static str, values: &[f32], expected: usize) -> Result<Vec<[f32; LANES]>, ShapeError> {
    match values.as_chunks::<LANES>() {
        (vectors, []) if values.len() == expected => Ok(vectors.to_vec()),
        _ => Err(ShapeError::Length { name, got: values.len(), expected }),
    }
}

struct Look<'a> {
    layer: &'a Layer,
    scratch: &'a mut Scratch,
    rows: &'a [f32],
}

impl Work for Look<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { layer, scratch, rows: x } = self;
        let Scratch { rows, wide, .. } = scratch;
        wide.resize(3 * x.len(), 0.0);
        rows.take(lanes, x, layer.hidden, &layer.qkv_factors);
        layer.qkv.multiply(lanes, rows, wide);
    }
}

struct Finish<'a> {
    layer: &'a Layer,
    scratch: &'a mut Scratch,
    rows: &'a mut [f32],
    others: Others<'a>,
}

impl Work for Finish<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { layer, scratch, rows: x, others } = self;
        let Scratch { rows, wide, narrow, of_32, of_64, .. } = scratch;
        let count = x.len() / layer.hidden;
        narrow.resize(x.len(), 0.0);

        match layer.head {
            Head::Of32 => attend(lanes, of_32, layer.hidden, wide, others, narrow),
            Head::Of64 => attend(lanes, of_64, layer.hidden, wide, others, narrow),
        }
        rows.take(lanes, narrow, layer.hidden, &AsIs);
        layer.out.multiply(lanes, rows, narrow);
        layer.attended.add_and_normalise(lanes, x, narrow);

        wide.resize(count * layer.wide, 0.0);
        rows.take(lanes, x, layer.hidden, &layer.widen_factors);
        layer.widen.multiply(lanes, rows, wide);
        rows.take(lanes, wide, layer.wide, &Gelu);
        layer.narrow.multiply(lanes, rows, narrow);
        layer.done.add_and_normalise(lanes, x, narrow);
    }
}
