//! What differs from processor to processor: sixteen lanes of floats, of integers, and dot products of bytes.
//! Every implementation gives the same bits. Nothing here knows what is computed.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

#[cfg(target_arch = "x86_64")]
use avx512::Avx512;
use portable::Portable;

use crate::LANES;

/// Sixteen columns by four inputs of a matrix of weights.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub(crate) struct Block(pub(crate) [i8; 4 * LANES]);

/// The operations, on sixteen lanes each. A value of an implementing type says that the processor has them.
pub(crate) trait Lanes: Copy {
    type Floats: Copy;
    type Sums: Copy;

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
    /// The lanes of both in turns: the first eight of each, then the others.
    fn in_turns(self, x: Self::Floats, y: Self::Floats) -> [Self::Floats; 2];
    /// The nearest whole numbers of what is within 0 and 255.
    fn bytes(self, x: Self::Floats) -> [u8; LANES];

    fn nothing(self) -> Self::Sums;
    /// Adds to each lane the products of `inputs` with the lane's four weights.
    fn dot(self, sums: Self::Sums, inputs: [u8; 4], weights: &Block) -> Self::Sums;
    fn float(self, sums: Self::Sums) -> Self::Floats;
    /// Says that `block` will be read soon.
    fn soon(self, block: &Block);
}

/// One value from all lanes, by `join` of two at a time, in the same order on every processor.
#[inline(always)]
pub(crate) fn one_of<L: Lanes>(lanes: L, x: L::Floats, join: impl Fn(f32, f32) -> f32 + Copy) -> f32 {
    let mut values = [0.0; LANES];
    lanes.store(x, &mut values);
    let [a, b, c, d] = *values.as_chunks::<4>().0 else { return 0.0 };
    let [w, x, y, z] = four(four(a, b, join), four(c, d, join), join);
    join(join(w, x), join(y, z))
}

#[inline(always)]
fn four([a, b, c, d]: [f32; 4], [w, x, y, z]: [f32; 4], join: impl Fn(f32, f32) -> f32) -> [f32; 4] {
    [join(a, w), join(b, x), join(c, y), join(d, z)]
}

/// Something to compute, whatever the lanes. `run` and all that it calls with lanes must be `#[inline(always)]`: only what
/// is inlined is compiled for the processor that it runs on.
pub(crate) trait Work {
    fn run<L: Lanes>(self, lanes: L);
}

/// A way of computing that this machine has.
#[derive(Clone, Copy, Debug)]
pub struct Processor(Kind);

#[derive(Clone, Copy, Debug)]
enum Kind {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    Portable,
}

impl Processor {
    /// What this machine computes fast with; none where it has no instruction for products of bytes.
    #[must_use]
    pub fn fast() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        return Avx512::detect().map(|lanes| Self(Kind::Avx512(lanes)));
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    /// Plain code for every machine: slow, and the definition of what the others must give.
    #[must_use]
    pub fn plain() -> Self {
        Self(Kind::Portable)
    }

    pub(crate) fn run<W: Work>(self, work: W) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(lanes) => lanes.run(work),
            Kind::Portable => work.run(Portable),
        }
    }
}
