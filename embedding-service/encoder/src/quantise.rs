//! Rows of activations as unsigned bytes, each with a scale and an offset of its own.

use crate::{
    LANES,
    processor::{Inputs, Lanes, Quad, one_of},
};

/// Rows that a product works on at once.
pub(crate) const TOGETHER: usize = 8;
/// What a byte can say above its lowest value.
const STEPS: f32 = 255.0;
/// Keeps the scale of a constant row from being nothing.
const LEAST_SCALE: f32 = 1e-12;

/// value ≈ offset + scale · byte, for each value of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) scale: f32,
    pub(crate) offset: f32,
}

/// What becomes of values before they are rounded.
pub(crate) trait Prepare {
    /// `x` is what stands in its row in the columns of vector `at`.
    fn prepare<L: Lanes>(&self, lanes: L, x: L::Floats, at: usize) -> L::Floats;
}

/// They stay as they are.
pub(crate) struct AsIs;

impl Prepare for AsIs {
    #[inline(always)]
    fn prepare<L: Lanes>(&self, _: L, x: L::Floats, _: usize) -> L::Floats {
        x
    }
}

/// The rows of one input of a product.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Row after row.
    inputs: Inputs,
    rows: Vec<Row>,
    /// A row that is about to be rounded.
    prepared: Vec<[f32; LANES]>,
}

/// Up to [`TOGETHER`] rows.
pub(crate) struct Group<'a, Q> {
    quads: &'a [Q],
    pub(crate) rows: &'a [Row],
}

impl Rows {
    /// Takes `values`, in rows of `inputs`, a multiple of [`LANES`].
    #[inline(always)]
    pub(crate) fn take<L: Lanes>(&mut self, lanes: L, values: &[f32], inputs: usize, as_what: &impl Prepare) {
        let width = (inputs / LANES).max(1);
        let values = values.as_chunks::<LANES>().0;
        self.rows.clear();
        let inputs = L::Quad::kept_mut(&mut self.inputs);
        inputs.resize(values.len(), Default::default());
        self.prepared.resize(width, [0.0; LANES]);
        for (row, inputs) in values.chunks_exact(width).zip(inputs.chunks_exact_mut(width)) {
            let mut least = lanes.splat(f32::INFINITY);
            let mut most = lanes.splat(f32::NEG_INFINITY);
            for (at, (x, to)) in row.iter().zip(&mut self.prepared).enumerate() {
                let x = as_what.prepare(lanes, lanes.load(x), at);
                least = lanes.min(least, x);
                most = lanes.max(most, x);
                lanes.store(x, to);
            }
            let found = reach(lanes, least, most);
            self.rows.push(found);
            let inverse = 1.0 / found.scale;
            let (inverse, below) = (lanes.splat(inverse), lanes.splat(-found.offset * inverse));
            for (x, to) in self.prepared.iter().zip(inputs) {
                *to = lanes.quads(lanes.mul_add(lanes.load(x), inverse, below));
            }
        }
    }

    pub(crate) fn groups<L: Lanes>(&self) -> impl Iterator<Item = Group<'_, L::Quad>> {
        let quads = L::Quad::kept(&self.inputs).as_flattened();
        let width = quads.len() / self.rows.len().max(1);
        quads
            .chunks((TOGETHER * width).max(1))
            .zip(self.rows.chunks(TOGETHER))
            .map(|(quads, rows)| Group { quads, rows })
    }
}

impl<'a, Q> Group<'a, Q> {
    /// The first `R` rows, each of `width` quads; nothing if there are not so many.
    #[inline(always)]
    pub(crate) fn inputs<const R: usize>(&self, width: usize) -> Option<[&'a [Q]; R]> {
        let mut rows = [self.quads; R];
        for (at, row) in rows.iter_mut().enumerate() {
            *row = self.quads.get(at * width..)?.get(..width)?;
        }
        Some(rows)
    }
}

/// The scale and offset that let a row's bytes reach from its least value to its largest.
#[inline(always)]
fn reach<L: Lanes>(lanes: L, least: L::Floats, most: L::Floats) -> Row {
    let offset = one_of(lanes, least, |x, y| if x < y { x } else { y });
    let most = one_of(lanes, most, |x, y| if x > y { x } else { y });
    Row { scale: ((most - offset) / STEPS).max(LEAST_SCALE), offset }
}
