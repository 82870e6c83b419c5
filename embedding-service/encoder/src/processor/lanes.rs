//! What every processor offers: sixteen lanes of floats, of integers, and dot products of bytes; and what can be computed with
//! that. Every implementation gives the same bits.

use crate::error::ShapeError;

/// Floats, or columns of a product, that are worked on at once.
pub(crate) const LANES: usize = 16;

/// `values` in vectors; nothing if some are left over.
pub(crate) fn vectors(values: &[f32]) -> Option<&[[f32; LANES]]> {
    match values.as_chunks() {
        (vectors, []) => Some(vectors),
        _ => None,
    }
}

/// As [`vectors`].
pub(crate) fn vectors_mut(values: &mut [f32]) -> Option<&mut [[f32; LANES]]> {
    match values.as_chunks_mut() {
        (vectors, []) => Some(vectors),
        _ => None,
    }
}

/// Sixteen columns by four inputs of a matrix of weights.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub(crate) struct Block(pub(crate) [i8; 4 * LANES]);

/// Inputs of a product, in one of the two; the other is empty.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    bytes: Vec<[[u8; 4]; LANES / 4]>,
    words: Vec<[u64; LANES / 4]>,
}

/// Four inputs of a product, whole numbers from 0 to 255, as [`Lanes::dot`] takes them.
pub(crate) trait Quad: Copy + Default + 'static {
    fn kept_mut(inputs: &mut Inputs) -> &mut Vec<[Self; LANES / 4]>;
    fn kept(inputs: &Inputs) -> &[[Self; LANES / 4]];
}

/// A byte for each.
impl Quad for [u8; 4] {
    fn kept_mut(inputs: &mut Inputs) -> &mut Vec<[Self; LANES / 4]> {
        &mut inputs.bytes
    }

    fn kept(inputs: &Inputs) -> &[[Self; LANES / 4]] {
        &inputs.bytes
    }
}

/// 16 bits for each, the first the lowest.
impl Quad for u64 {
    fn kept_mut(inputs: &mut Inputs) -> &mut Vec<[Self; LANES / 4]> {
        &mut inputs.words
    }

    fn kept(inputs: &Inputs) -> &[[Self; LANES / 4]] {
        &inputs.words
    }
}

/// The operations, on sixteen lanes each. A value of an implementing type says that the processor has them.
pub(crate) trait Lanes: Copy {
    type Floats: Copy;
    type Quad: Quad;
    type Sums: Copy;

    /// The number of parts in which a block's columns are summed, one after the other. With few or small registers, more parts mean fewer
    /// sums at a time.
    const PARTS: usize;
    /// Whether the sums of eight rows with three blocks are more than the registers hold.
    const FEW_REGISTERS: bool;

    fn splat(self, x: f32) -> Self::Floats;
    fn load(self, from: &[f32; LANES]) -> Self::Floats;
    fn store(self, x: Self::Floats, to: &mut [f32; LANES]);
    fn add(self, x: Self::Floats, y: Self::Floats) -> Self::Floats;
    fn sub(self, x: Self::Floats, y: Self::Floats) -> Self::Floats;
    fn mul(self, x: Self::Floats, y: Self::Floats) -> Self::Floats;
    fn div(self, x: Self::Floats, y: Self::Floats) -> Self::Floats;
    /// x · y + z, rounded once.
    fn mul_add(self, x: Self::Floats, y: Self::Floats, z: Self::Floats) -> Self::Floats;
    fn max(self, x: Self::Floats, y: Self::Floats) -> Self::Floats;
    fn min(self, x: Self::Floats, y: Self::Floats) -> Self::Floats;
    fn abs(self, x: Self::Floats) -> Self::Floats;
    /// To the nearest whole number, halves to the even one.
    fn round(self, x: Self::Floats) -> Self::Floats;
    /// 2 to the power of whole numbers from -126 to 127.
    fn power_of_two(self, x: Self::Floats) -> Self::Floats;
    /// The lanes of both alternately: the first eight of each, then the others.
    fn interleave(self, x: Self::Floats, y: Self::Floats) -> [Self::Floats; 2];
    /// Rounds values from 0 to 255 to whole numbers.
    fn round_to_quads(self, x: Self::Floats) -> [Self::Quad; LANES / 4];

    /// The initial sums of sixteen columns. `weights`: the sum of each column's weights. Processors that subtract a constant from each
    /// input need it.
    fn zero_sums(self, weights: &[i32; LANES]) -> Self::Sums;
    /// Adds to each lane of a part, which is below [`Self::PARTS`], the products of `inputs` with the lane's four weights.
    fn dot(self, sums: &mut Self::Sums, part: usize, inputs: Self::Quad, weights: &Block);
    fn sums_to_floats(self, sums: Self::Sums) -> Self::Floats;
    /// Says that `block` will be read soon.
    fn prefetch(self, block: &Block);
}

/// One value from all lanes, by `join` of two at a time, in the same order on every processor.
#[inline(always)]
pub(crate) fn reduce<L: Lanes>(lanes: L, x: L::Floats, join: impl Fn(f32, f32) -> f32 + Copy) -> f32 {
    let mut values = [0.0; LANES];
    lanes.store(x, &mut values);
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = values;
    let low = join_four([a, b, c, d], [e, f, g, h], join);
    let high = join_four([i, j, k, l], [m, n, o, p], join);
    let [w, x, y, z] = join_four(low, high, join);
    join(join(w, x), join(y, z))
}

#[inline(always)]
fn join_four([a, b, c, d]: [f32; 4], [w, x, y, z]: [f32; 4], join: impl Fn(f32, f32) -> f32) -> [f32; 4] {
    [join(a, w), join(b, x), join(c, y), join(d, z)]
}

/// Something to compute, whatever the lanes. `run` and all that it calls with lanes must be `#[inline(always)]`: only what
/// is inlined is compiled for the processor that it runs on.
pub(crate) trait Computation {
    fn run<L: Lanes>(self, lanes: L) -> Result<(), ShapeError>;
}
