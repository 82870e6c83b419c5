//! Bringing each row to the same mean and variance.

use crate::{
    LANES,
    processor::{Lanes, one_of},
};

/// For each column, what a normalised row is multiplied by, and what is added; an even number of times [`LANES`].
#[derive(Debug, PartialEq)]
pub(crate) struct Norm {
    pub(crate) scale: Vec<[f32; LANES]>,
    pub(crate) shift: Vec<[f32; LANES]>,
    pub(crate) epsilon: f32,
}

impl Norm {
    /// Adds `more` to `rows` and brings each row to mean 0 and variance 1, then scales and shifts it.
    #[inline(always)]
    pub(crate) fn add_and_normalise<L: Lanes>(&self, lanes: L, rows: &mut [f32], more: &[f32]) {
        let width = self.scale.len() * LANES;
        #[allow(clippy::cast_precision_loss)]
        let share = 1.0 / width as f32;
        for (row, more) in rows.chunks_exact_mut(width).zip(more.chunks_exact(width)) {
            let row = row.as_chunks_mut::<LANES>().0;
            // Sums in turns, or each addition would wait for the one before.
            let mut totals = [lanes.splat(0.0); 2];
            let more = more.as_chunks::<LANES>().0.as_chunks::<2>().0;
            for (x, more) in row.as_chunks_mut::<2>().0.iter_mut().zip(more) {
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
    }
}

#[inline(always)]
fn sum_of<L: Lanes>(lanes: L, [x, y]: [L::Floats; 2]) -> f32 {
    one_of(lanes, lanes.add(x, y), |x, y| x + y)
}
