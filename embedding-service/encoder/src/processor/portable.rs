//! Plain code: the definition of what every processor must give.

use std::array::from_fn;

use super::lanes::{Block, LANES, Lanes};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

type Floats = [f32; LANES];

// Every index comes from `from_fn`, so is below the length of its array.
#[allow(clippy::indexing_slicing)]
impl Lanes for Portable {
    type Floats = Floats;
    type Quad = [u8; 4];
    type Sums = [i32; LANES];

    const PARTS: usize = 1;
    const FEW_REGISTERS: bool = false;

    #[inline(always)]
    fn splat(self, x: f32) -> Floats {
        [x; LANES]
    }

    #[inline(always)]
    fn load(self, from: &Floats) -> Floats {
        *from
    }

    #[inline(always)]
    fn store(self, x: Floats, to: &mut Floats) {
        *to = x;
    }

    #[inline(always)]
    fn add(self, x: Floats, y: Floats) -> Floats {
        from_fn(|i| x[i] + y[i])
    }

    #[inline(always)]
    fn sub(self, x: Floats, y: Floats) -> Floats {
        from_fn(|i| x[i] - y[i])
    }

    #[inline(always)]
    fn mul(self, x: Floats, y: Floats) -> Floats {
        from_fn(|i| x[i] * y[i])
    }

    #[inline(always)]
    fn div(self, x: Floats, y: Floats) -> Floats {
        from_fn(|i| x[i] / y[i])
    }

    #[inline(always)]
    fn mul_add(self, x: Floats, y: Floats, z: Floats) -> Floats {
        from_fn(|i| x[i].mul_add(y[i], z[i]))
    }

    // As the instructions do it: the second where one is no number.
    #[inline(always)]
    fn max(self, x: Floats, y: Floats) -> Floats {
        from_fn(|i| if x[i] > y[i] { x[i] } else { y[i] })
    }

    #[inline(always)]
    fn min(self, x: Floats, y: Floats) -> Floats {
        from_fn(|i| if x[i] < y[i] { x[i] } else { y[i] })
    }

    #[inline(always)]
    fn abs(self, x: Floats) -> Floats {
        from_fn(|i| x[i].abs())
    }

    #[inline(always)]
    fn round(self, x: Floats) -> Floats {
        from_fn(|i| x[i].round_ties_even())
    }

    #[inline(always)]
    fn power_of_two(self, x: Floats) -> Floats {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        from_fn(|i| f32::from_bits(((x[i] as i32 + 127) as u32) << 23))
    }

    #[inline(always)]
    fn interleave(self, x: Floats, y: Floats) -> [Floats; 2] {
        let both = [x, y];
        [0, LANES / 2].map(|first| from_fn(|i| both[i % 2][first + i / 2]))
    }

    #[inline(always)]
    fn round_to_quads(self, x: Floats) -> [[u8; 4]; 4] {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        from_fn(|quad| from_fn(|i| x[4 * quad + i].round_ties_even() as u8))
    }

    #[inline(always)]
    fn zero_sums(self, _: &[i32; LANES]) -> [i32; LANES] {
        [0; LANES]
    }

    #[inline(always)]
    fn dot(self, sums: &mut [i32; LANES], _: usize, inputs: [u8; 4], weights: &Block) {
        let product =
            |lane: usize, input: usize| i32::from(inputs[input]) * i32::from(weights.0[4 * lane + input]);
        *sums = from_fn(|i| sums[i] + product(i, 0) + product(i, 1) + product(i, 2) + product(i, 3));
    }

    #[inline(always)]
    fn sums_to_floats(self, sums: [i32; LANES]) -> Floats {
        #[allow(clippy::cast_precision_loss)]
        from_fn(|i| sums[i] as f32)
    }

    #[inline(always)]
    fn prefetch(self, _: &Block) {}
}
