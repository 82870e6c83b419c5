//! Rows of activations as unsigned bytes, each with a scale and an offset of its own.

use crate::{LANES, processor::Lanes};

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

/// The rows of one input of a product.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Up to [`TOGETHER`] rows after each other make a group; in a group, four values of each of its rows stand side by
    /// side, then the next four of each.
    bytes: Vec<[u8; 4]>,
    rows: Vec<Row>,
    /// Of a whole group.
    quads: usize,
}

/// Up to [`TOGETHER`] rows, laid out as in [`Rows`].
pub(crate) struct Group<'a> {
    pub(crate) bytes: &'a [[u8; 4]],
    pub(crate) rows: &'a [Row],
}

impl Rows {
    /// Takes `values`, rows as long as `factors`, with every column multiplied by its factor.
    #[inline(always)]
    pub(crate) fn take<L: Lanes>(&mut self, lanes: L, values: &[f32], factors: &[[f32; LANES]]) {
        let inputs = factors.len() * LANES;
        self.quads = TOGETHER * inputs / 4;
        self.rows.clear();
        self.bytes.resize(values.len() / 4, [0; 4]);
        let groups = self.bytes.chunks_mut(self.quads.max(1));
        for (group, values) in groups.zip(values.chunks((TOGETHER * inputs).max(1))) {
            let together = values.len() / inputs;
            for (at, row) in values.chunks_exact(inputs).enumerate() {
                let row = row.as_chunks::<LANES>().0;
                let found = measure(lanes, row, factors);
                self.rows.push(found);
                let (offset, inverse) = (lanes.splat(found.offset), lanes.splat(1.0 / found.scale));
                let mut to = group.iter_mut().skip(at).step_by(together);
                for (x, factor) in row.iter().zip(factors) {
                    let x = lanes.mul(lanes.load(x), lanes.load(factor));
                    let bytes = lanes.bytes(lanes.mul(lanes.sub(x, offset), inverse));
                    for (from, to) in bytes.as_chunks::<4>().0.iter().zip(to.by_ref()) {
                        *to = *from;
                    }
                }
            }
        }
    }

    pub(crate) fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        let bytes = self.bytes.chunks(self.quads.max(1));
        bytes.zip(self.rows.chunks(TOGETHER)).map(|(bytes, rows)| Group { bytes, rows })
    }
}

/// The scale and offset that let a row's bytes reach from its least value to its largest.
#[inline(always)]
fn measure<L: Lanes>(lanes: L, row: &[[f32; LANES]], factors: &[[f32; LANES]]) -> Row {
    let mut least = lanes.splat(f32::INFINITY);
    let mut most = lanes.splat(f32::NEG_INFINITY);
    for (x, factor) in row.iter().zip(factors) {
        let x = lanes.mul(lanes.load(x), lanes.load(factor));
        least = lanes.min(least, x);
        most = lanes.max(most, x);
    }
    let [mut leasts, mut mosts] = [[0.0; LANES]; 2];
    lanes.store(least, &mut leasts);
    lanes.store(most, &mut mosts);
    let offset = leasts.iter().copied().fold(f32::INFINITY, f32::min);
    let most = mosts.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    Row { scale: ((most - offset) / STEPS).max(LEAST_SCALE), offset }
}
