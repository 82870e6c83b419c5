//! Three ways to sum products of bytes on 64-bit Arm: with plain NEON, which every such processor has; with dot products of signed bytes
//! (Armv8.2); with dot products of unsigned by signed bytes (the extension i8mm).
//!
//! The first two can multiply only signed bytes. So each input x is stored as x − 128, and a column's sum begins with 128 times the sum of
//! its weights: (x − 128) · w + 128 · w = x · w. With 65,000 inputs the sums still fit into 32 bits.
//!
//! The instructions of the last two are inline assembly, because Rust has no stable intrinsics for them.
// See `neon.rs`.
#![allow(unsafe_code)]

use std::arch::{
    aarch64::{
        int8x16_t, int32x4_t, vcombine_s8, vdup_n_s32, vdupq_n_s32, vget_low_s8, vld1q_s8, vld1q_s32,
        vmull_high_s8, vmull_s8, vpadalq_s16, vpaddq_s32, vreinterpret_s8_s32, vreinterpretq_s8_s32,
        vshlq_n_s32, vzip1q_s32, vzip2q_s32,
    },
    asm,
};

use super::Neon;
use crate::{
    error::ShapeError,
    processor::lanes::{Block, Computation, LANES},
};

/// One of the three ways.
pub(crate) trait Products: Copy + Sized {
    type Sums: Copy;

    /// As of `Lanes`.
    const PARTS: usize;
    /// The bits of an input that are flipped when it is stored. Flipping the highest bit subtracts 128.
    const TURNED: u8;

    fn detect() -> Option<Self>;
    /// Runs `computation`, compiled with the instructions of this way. They must be there.
    unsafe fn compiled<C: Computation>(lanes: Neon<Self>, computation: C) -> Result<(), ShapeError>;
    unsafe fn zero_sums(weights: &[i32; LANES]) -> Self::Sums;
    unsafe fn dot(sums: &mut Self::Sums, part: usize, inputs: [u8; 4], weights: &Block);
    /// The sums of four columns each.
    unsafe fn columns(sums: Self::Sums) -> [int32x4_t; 4];
}

/// NEON alone: products of bytes have 16 bits, and are added in pairs of neighbours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes(());

/// Dot products of four bytes with a sign.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DotProducts(());

/// Dot products of four bytes without a sign by four with one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MixedDotProducts(());

/// 128 times the sums of the columns' weights.
#[inline(always)]
unsafe fn turned_back(weights: &[i32; LANES]) -> [int32x4_t; 4] {
    let at = weights.as_ptr();
    [0, 4, 8, 12].map(|from| unsafe { vshlq_n_s32::<7>(vld1q_s32(at.add(from))) })
}

/// Sixteen weights: those of four columns.
#[inline(always)]
unsafe fn four_columns(weights: &Block, number: usize) -> int8x16_t {
    unsafe { vld1q_s8(weights.0.as_ptr().add(LANES * number)) }
}

/// A register with the four inputs four times.
#[inline(always)]
unsafe fn four_times(inputs: [u8; 4]) -> int8x16_t {
    unsafe { vreinterpretq_s8_s32(vdupq_n_s32(i32::from_le_bytes(inputs))) }
}

// SAFETY of every block: see the head of `neon.rs`. A part is below PARTS, so every load is within its block.
#[allow(clippy::indexing_slicing)]
impl Products for Bytes {
    /// Of two columns each; of a column two neighbours, which together are its sum.
    type Sums = [[int32x4_t; 4]; Self::PARTS];

    const PARTS: usize = 2;
    const TURNED: u8 = 0x80;

    fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }

    unsafe fn compiled<C: Computation>(lanes: Neon<Self>, computation: C) -> Result<(), ShapeError> {
        computation.run(lanes)
    }

    #[inline(always)]
    unsafe fn zero_sums(weights: &[i32; LANES]) -> Self::Sums {
        unsafe {
            let none = vdupq_n_s32(0);
            let [a, b, c, d] =
                turned_back(weights).map(|sums| [vzip1q_s32(sums, none), vzip2q_s32(sums, none)]);
            let half = |[a, b]: [int32x4_t; 2], [c, d]: [int32x4_t; 2]| [a, b, c, d];
            [half(a, b), half(c, d)]
        }
    }

    #[inline(always)]
    unsafe fn dot(sums: &mut Self::Sums, part: usize, inputs: [u8; 4], weights: &Block) {
        unsafe {
            let inputs = vreinterpret_s8_s32(vdup_n_s32(i32::from_le_bytes(inputs)));
            let twice = vcombine_s8(inputs, inputs);
            for (half, [low, high]) in sums[part].as_chunks_mut::<2>().0.iter_mut().enumerate() {
                let weights = four_columns(weights, 2 * part + half);
                *low = vpadalq_s16(*low, vmull_s8(inputs, vget_low_s8(weights)));
                *high = vpadalq_s16(*high, vmull_high_s8(twice, weights));
            }
        }
    }

    #[inline(always)]
    unsafe fn columns([[a, b, c, d], [e, f, g, h]]: Self::Sums) -> [int32x4_t; 4] {
        unsafe { [vpaddq_s32(a, b), vpaddq_s32(c, d), vpaddq_s32(e, f), vpaddq_s32(g, h)] }
    }
}

// SAFETY of every block: as above.
impl Products for DotProducts {
    /// Of four columns each.
    type Sums = [int32x4_t; 4];

    const PARTS: usize = 1;
    const TURNED: u8 = 0x80;

    fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("dotprod").then_some(Self(()))
    }

    unsafe fn compiled<C: Computation>(lanes: Neon<Self>, computation: C) -> Result<(), ShapeError> {
        #[target_feature(enable = "neon,dotprod")]
        fn inner<C: Computation>(lanes: Neon<DotProducts>, computation: C) -> Result<(), ShapeError> {
            computation.run(lanes)
        }
        unsafe { inner(lanes, computation) }
    }

    #[inline(always)]
    unsafe fn zero_sums(weights: &[i32; LANES]) -> Self::Sums {
        unsafe { turned_back(weights) }
    }

    #[inline(always)]
    unsafe fn dot(sums: &mut Self::Sums, _: usize, inputs: [u8; 4], weights: &Block) {
        unsafe {
            let inputs = four_times(inputs);
            for (number, sums) in sums.iter_mut().enumerate() {
                asm!("sdot {0:v}.4s, {1:v}.16b, {2:v}.16b", inout(vreg) *sums, in(vreg) inputs,
                    in(vreg) four_columns(weights, number), options(pure, nomem, nostack, preserves_flags));
            }
        }
    }

    #[inline(always)]
    unsafe fn columns(sums: Self::Sums) -> [int32x4_t; 4] {
        sums
    }
}

// SAFETY of every block: as above.
impl Products for MixedDotProducts {
    /// Of four columns each.
    type Sums = [int32x4_t; 4];

    const PARTS: usize = 1;
    const TURNED: u8 = 0;

    fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("i8mm").then_some(Self(()))
    }

    unsafe fn compiled<C: Computation>(lanes: Neon<Self>, computation: C) -> Result<(), ShapeError> {
        #[target_feature(enable = "neon,i8mm")]
        fn inner<C: Computation>(lanes: Neon<MixedDotProducts>, computation: C) -> Result<(), ShapeError> {
            computation.run(lanes)
        }
        unsafe { inner(lanes, computation) }
    }

    #[inline(always)]
    unsafe fn zero_sums(_: &[i32; LANES]) -> Self::Sums {
        [unsafe { vdupq_n_s32(0) }; 4]
    }

    #[inline(always)]
    unsafe fn dot(sums: &mut Self::Sums, _: usize, inputs: [u8; 4], weights: &Block) {
        unsafe {
            let inputs = four_times(inputs);
            for (number, sums) in sums.iter_mut().enumerate() {
                asm!("usdot {0:v}.4s, {1:v}.16b, {2:v}.16b", inout(vreg) *sums, in(vreg) inputs,
                    in(vreg) four_columns(weights, number), options(pure, nomem, nostack, preserves_flags));
            }
        }
    }

    #[inline(always)]
    unsafe fn columns(sums: Self::Sums) -> [int32x4_t; 4] {
        sums
    }
}
