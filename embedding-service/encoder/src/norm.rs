//! Layer normalisation: bringing each row to the same mean and variance.

use crate::{
    error::{OrBroken as _, ShapeError, ensure},
    processor::{LANES, Lanes, reduce, vectors, vectors_mut},
    weights::{NormWeights, checked_vectors},
};

/// For each column, what a normalised row is multiplied by, and what is added.
#[derive(Debug, PartialEq)]
pub(crate) struct Norm {
    scale: Vec<[f32; LANES]>,
    shift: Vec<[f32; LANES]>,
    epsilon: f32,
}

impl Norm {
    /// # Errors
    /// When the weights are not `width` each, or `width` is no multiple of two times [`LANES`].
    pub(crate) fn new(
        name: &'static str,
        weights: &NormWeights<'_>,
        width: usize,
        epsilon: f32,
    ) -> Result<Self, ShapeError> {
        let [scale, shift] =
            [weights.scale, weights.shift].map(|values| checked_vectors(name, values, width));
        ensure(width > 0 && width.is_multiple_of(2 * LANES), "a row to normalise is no pairs of vectors")?;
        Ok(Self { scale: scale?, shift: shift?, epsilon })
    }

    /// Adds `more` to `rows` and brings each row to mean 0 and variance 1, then scales and shifts it.
    #[inline(always)]
    pub(crate) fn add_and_normalise<L: Lanes>(
        &self,
        lanes: L,
        rows: &mut [f32],
        more: &[f32],
    ) -> Result<(), ShapeError> {
        let width = self.scale.len() * LANES;
        ensure(rows.len().is_multiple_of(width), "values to normalise are no whole rows")?;
        ensure(rows.len() == more.len(), "what is added to rows has not as many values")?;
        #[allow(clippy::cast_precision_loss)]
        let share = 1.0 / width as f32;
        for (row, more) in rows.chunks_exact_mut(width).zip(more.chunks_exact(width)) {
            let row = vectors_mut(row).or_broken("a row to normalise is no whole vectors")?;
            let more = vectors(more).or_broken("a row to add is no whole vectors")?;
            // Two sums in turn, or each addition would wait for the one before.
            let mut totals = [lanes.splat(0.0); 2];
            for (x, more) in row.as_chunks_mut::<2>().0.iter_mut().zip(more.as_chunks::<2>().0) {
                for ((x, more), total) in x.iter_mut().zip(more).zip(&mut totals) {
                    let sum = lanes.add(lanes.load(x), lanes.load(more));
                    *total = lanes.add(*total, sum);
                    lanes.store(sum, x);
                }
            }
            let mean = lanes.splat(sum_of(lanes, totals) * share);
            let mut squares = [lanes.splat(0.0); 2];
            for x in row.as_chunks::<2>().0 {
                for (x, squares) in x.iter().zip(&mut squares) {
                    let x = lanes.sub(lanes.load(x), mean);
                    *squares = lanes.mul_add(x, x, *squares);
                }
            }
            let deviation = (sum_of(lanes, squares) * share + self.epsilon).sqrt();
            let inverse = lanes.splat(1.0 / deviation);
            for ((x, scale), shift) in row.iter_mut().zip(&self.scale).zip(&self.shift) {
                let flat = lanes.mul(lanes.sub(lanes.load(x), mean), inverse);
                lanes.store(lanes.mul_add(flat, lanes.load(scale), lanes.load(shift)), x);
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn sum_of<L: Lanes>(lanes: L, [x, y]: [L::Floats; 2]) -> f32 {
    reduce(lanes, lanes.add(x, y), |x, y| x + y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor::{Computation, Processor};

    struct Normalise<'a> {
        norm: &'a Norm,
        rows: &'a mut [f32],
        more: &'a [f32],
    }

    impl Computation for Normalise<'_> {
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) -> Result<(), ShapeError> {
            self.norm.add_and_normalise(lanes, self.rows, self.more)
        }
    }

    #[test]
    fn rows_that_do_not_fit_are_an_error() {
        let ones = [1.0; 48];
        let norm = |width: usize| {
            let weights = NormWeights { scale: &ones[..width], shift: &ones[..width] };
            Norm::new("the norm", &weights, width, 1e-12)
        };
        assert!(matches!(norm(48), Err(ShapeError::Invariant(_))), "not even");
        let norm = norm(32).unwrap();
        let run = |rows: usize, more: usize| {
            let work = Normalise { norm: &norm, rows: &mut vec![1.0; rows], more: &vec![2.0; more] };
            Processor::portable().run(work)
        };
        assert_eq!(run(64, 64), Ok(()));
        for (rows, more) in [(40, 40), (64, 32), (32, 64)] {
            assert!(matches!(run(rows, more), Err(ShapeError::Invariant(_))), "{rows} and {more}");
        }
    }
}
