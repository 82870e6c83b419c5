//! Rows of activations as unsigned bytes, each row with a scale and an offset of its own.

use crate::{
    error::{OrBroken as _, ShapeError, ensure},
    processor::{Inputs, LANES, Lanes, Quad, reduce, vectors},
};

/// Rows that a product works on at once.
pub(crate) const ROWS_PER_TILE: usize = 8;
/// Steps between the lowest and the highest value of a byte.
const STEPS: f32 = 255.0;
/// Keeps the scale of a constant row from being 0.
const LEAST_SCALE: f32 = 1e-12;

/// value ≈ offset + scale · byte, for each value of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowScale {
    pub(crate) scale: f32,
    pub(crate) offset: f32,
}

/// What is done to each value before it is rounded.
pub(crate) trait Elementwise {
    /// `x`: the values of a row in the columns of vector `at`.
    ///
    /// # Errors
    /// When there is nothing for that vector.
    fn apply<L: Lanes>(&self, lanes: L, x: L::Floats, at: usize) -> Result<L::Floats, ShapeError>;
}

/// Values stay as they are.
pub(crate) struct Identity;

impl Elementwise for Identity {
    #[inline(always)]
    fn apply<L: Lanes>(&self, _: L, x: L::Floats, _: usize) -> Result<L::Floats, ShapeError> {
        Ok(x)
    }
}

/// The rows of one input of a product.
#[derive(Debug, Default)]
pub(crate) struct QuantisedRows {
    /// Row after row.
    inputs: Inputs,
    scales: Vec<RowScale>,
    /// Vectors of [`LANES`] in a row.
    vectors_per_row: usize,
    /// A row that is about to be rounded.
    prepared: Vec<[f32; LANES]>,
}

/// Up to [`ROWS_PER_TILE`] rows.
pub(crate) struct Group<'a, Q> {
    quads: &'a [Q],
    pub(crate) scales: &'a [RowScale],
}

impl QuantisedRows {
    /// Rounds `values`, in rows of `width`, a multiple of [`LANES`].
    #[inline(always)]
    pub(crate) fn quantise<L: Lanes>(
        &mut self,
        lanes: L,
        values: &[f32],
        width: usize,
        first: &impl Elementwise,
    ) -> Result<(), ShapeError> {
        ensure(width > 0 && width.is_multiple_of(LANES), "a row to round is no whole vectors")?;
        ensure(values.len().is_multiple_of(width), "values to round are no whole rows")?;
        let values = vectors(values).or_broken("values to round are no whole vectors")?;
        let width = width / LANES;
        self.vectors_per_row = width;
        self.scales.clear();
        let inputs = L::Quad::kept_mut(&mut self.inputs);
        inputs.resize(values.len(), Default::default());
        self.prepared.resize(width, [0.0; LANES]);
        for (row, inputs) in values.chunks_exact(width).zip(inputs.chunks_exact_mut(width)) {
            let mut least = lanes.splat(f32::INFINITY);
            let mut most = lanes.splat(f32::NEG_INFINITY);
            for (at, (x, to)) in row.iter().zip(&mut self.prepared).enumerate() {
                let x = first.apply(lanes, lanes.load(x), at)?;
                least = lanes.min(least, x);
                most = lanes.max(most, x);
                lanes.store(x, to);
            }
            let found = row_scale(lanes, least, most);
            self.scales.push(found);
            let inverse = 1.0 / found.scale;
            let (inverse, below) = (lanes.splat(inverse), lanes.splat(-found.offset * inverse));
            for (x, to) in self.prepared.iter().zip(inputs) {
                *to = lanes.round_to_quads(lanes.mul_add(lanes.load(x), inverse, below));
            }
        }
        Ok(())
    }

    /// How many rows there are.
    pub(crate) fn count(&self) -> usize {
        self.scales.len()
    }

    pub(crate) fn quads_per_row(&self) -> usize {
        self.vectors_per_row * (LANES / 4)
    }

    pub(crate) fn groups<L: Lanes>(&self) -> impl Iterator<Item = Group<'_, L::Quad>> {
        // Without rows there are no quads either; a chunk must have a size all the same.
        let size = (ROWS_PER_TILE * self.quads_per_row()).max(1);
        let quads = L::Quad::kept(&self.inputs).as_flattened().chunks(size);
        quads.zip(self.scales.chunks(ROWS_PER_TILE)).map(|(quads, scales)| Group { quads, scales })
    }
}

impl<'a, Q> Group<'a, Q> {
    /// The first `R` rows, each of `width` quads. Returns `None` when the group has fewer rows.
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
fn row_scale<L: Lanes>(lanes: L, least: L::Floats, most: L::Floats) -> RowScale {
    let offset = reduce(lanes, least, |x, y| if x < y { x } else { y });
    let most = reduce(lanes, most, |x, y| if x > y { x } else { y });
    RowScale { scale: ((most - offset) / STEPS).max(LEAST_SCALE), offset }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor::{Computation, Processor};

    struct Round<'a>(&'a [f32], usize);

    impl Computation for Round<'_> {
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) -> Result<(), ShapeError> {
            QuantisedRows::default().quantise(lanes, self.0, self.1, &Identity)
        }
    }

    #[test]
    fn what_is_no_rows_is_an_error() {
        let run = |values, width| Processor::portable().run(Round(&vec![1.0; values], width));
        assert_eq!(run(64, 32), Ok(()));
        assert_eq!(run(0, 32), Ok(()));
        for (values, width) in [(33, 32), (48, 32), (64, 0), (40, 20)] {
            assert!(matches!(run(values, width), Err(ShapeError::Invariant(_))), "{values} by {width}");
        }
    }
}
