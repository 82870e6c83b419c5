//! 64-bit Arm: sixteen lanes in four registers of four. All such processors have NEON; what multiplies bytes is one of three
//! ways in `neon/products.rs`.
//!
//! With that file and those of x86-64 the only unsafe code. It is sound because a value of [`Neon`] exists only where `detect`
//! has seen that the processor has every instruction used, and because what is read and written are whole arrays.
#![allow(unsafe_code)]

mod products;

use std::arch::aarch64::{
    float32x4_t, vabsq_f32, vaddq_f32, vaddq_s32, vbslq_f32, vcgtq_f32, vcltq_f32, vcombine_u8, vcombine_u16,
    vcvtnq_s32_f32, vcvtnq_u32_f32, vcvtq_f32_s32, vdivq_f32, vdupq_n_f32, vdupq_n_s32, vdupq_n_u8, veorq_u8,
    vfmaq_f32, vld1q_f32, vmulq_f32, vqmovn_u16, vqmovn_u32, vreinterpretq_f32_s32, vrndnq_f32, vshlq_n_s32,
    vst1q_f32, vst1q_u8, vsubq_f32, vzip1q_f32, vzip2q_f32,
};

pub(super) use products::{Bytes, DotProducts, MixedDotProducts, Products};

use super::lanes::{Block, Computation, LANES, Lanes};
use crate::error::ShapeError;

/// With the way in which it multiplies bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neon<P>(P);

/// Four lanes in each.
type Floats = [float32x4_t; 4];

impl<P: Products> Neon<P> {
    pub(super) fn detect() -> Option<Self> {
        P::detect().map(Self)
    }

    /// Runs `computation`, compiled for this processor with all that is inlined in it.
    pub(super) fn run<C: Computation>(self, computation: C) -> Result<(), ShapeError> {
        // SAFETY: see the head of this file.
        unsafe { P::compiled(self, computation) }
    }
}

#[inline(always)]
fn each(x: Floats, of: impl Fn(float32x4_t) -> float32x4_t) -> Floats {
    x.map(of)
}

#[inline(always)]
fn pairs(
    [a, b, c, d]: Floats,
    [w, x, y, z]: Floats,
    of: impl Fn(float32x4_t, float32x4_t) -> float32x4_t,
) -> Floats {
    [of(a, w), of(b, x), of(c, y), of(d, z)]
}

/// The lanes of both alternately.
#[inline(always)]
unsafe fn zipped(x: float32x4_t, y: float32x4_t) -> [float32x4_t; 2] {
    unsafe { [vzip1q_f32(x, y), vzip2q_f32(x, y)] }
}

// SAFETY of every block: see the head of this file.
impl<P: Products> Lanes for Neon<P> {
    type Floats = Floats;
    type Quad = [u8; 4];
    type Sums = P::Sums;

    const PARTS: usize = P::PARTS;
    const FEW_REGISTERS: bool = true;

    #[inline(always)]
    fn splat(self, x: f32) -> Floats {
        [unsafe { vdupq_n_f32(x) }; 4]
    }

    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> Floats {
        let at = from.as_ptr();
        unsafe { [vld1q_f32(at), vld1q_f32(at.add(4)), vld1q_f32(at.add(8)), vld1q_f32(at.add(12))] }
    }

    #[inline(always)]
    fn store(self, [a, b, c, d]: Floats, to: &mut [f32; LANES]) {
        let at = to.as_mut_ptr();
        unsafe {
            vst1q_f32(at, a);
            vst1q_f32(at.add(4), b);
            vst1q_f32(at.add(8), c);
            vst1q_f32(at.add(12), d);
        }
    }

    #[inline(always)]
    fn add(self, x: Floats, y: Floats) -> Floats {
        pairs(x, y, |x, y| unsafe { vaddq_f32(x, y) })
    }

    #[inline(always)]
    fn sub(self, x: Floats, y: Floats) -> Floats {
        pairs(x, y, |x, y| unsafe { vsubq_f32(x, y) })
    }

    #[inline(always)]
    fn mul(self, x: Floats, y: Floats) -> Floats {
        pairs(x, y, |x, y| unsafe { vmulq_f32(x, y) })
    }

    #[inline(always)]
    fn div(self, x: Floats, y: Floats) -> Floats {
        pairs(x, y, |x, y| unsafe { vdivq_f32(x, y) })
    }

    #[inline(always)]
    fn mul_add(self, [a, b, c, d]: Floats, [w, x, y, z]: Floats, [p, q, r, s]: Floats) -> Floats {
        unsafe { [vfmaq_f32(p, a, w), vfmaq_f32(q, b, x), vfmaq_f32(r, c, y), vfmaq_f32(s, d, z)] }
    }

    // NEON's own instructions for maximum and minimum treat NaN and -0 differently from the other processors.
    #[inline(always)]
    fn max(self, x: Floats, y: Floats) -> Floats {
        pairs(x, y, |x, y| unsafe { vbslq_f32(vcgtq_f32(x, y), x, y) })
    }

    #[inline(always)]
    fn min(self, x: Floats, y: Floats) -> Floats {
        pairs(x, y, |x, y| unsafe { vbslq_f32(vcltq_f32(x, y), x, y) })
    }

    #[inline(always)]
    fn abs(self, x: Floats) -> Floats {
        each(x, |x| unsafe { vabsq_f32(x) })
    }

    #[inline(always)]
    fn round(self, x: Floats) -> Floats {
        each(x, |x| unsafe { vrndnq_f32(x) })
    }

    #[inline(always)]
    fn power_of_two(self, x: Floats) -> Floats {
        each(x, |x| unsafe {
            let exponent = vaddq_s32(vcvtnq_s32_f32(x), vdupq_n_s32(127));
            vreinterpretq_f32_s32(vshlq_n_s32::<23>(exponent))
        })
    }

    #[inline(always)]
    fn interleave(self, [a, b, c, d]: Floats, [w, x, y, z]: Floats) -> [Floats; 2] {
        let both = |[a, b]: [float32x4_t; 2], [c, d]: [float32x4_t; 2]| [a, b, c, d];
        unsafe { [both(zipped(a, w), zipped(b, x)), both(zipped(c, y), zipped(d, z))] }
    }

    #[inline(always)]
    fn round_to_quads(self, [a, b, c, d]: Floats) -> [[u8; 4]; LANES / 4] {
        let mut quads = [[0; 4]; LANES / 4];
        unsafe {
            let words = |x, y| vcombine_u16(vqmovn_u32(vcvtnq_u32_f32(x)), vqmovn_u32(vcvtnq_u32_f32(y)));
            let bytes = vcombine_u8(vqmovn_u16(words(a, b)), vqmovn_u16(words(c, d)));
            vst1q_u8(quads.as_flattened_mut().as_mut_ptr(), veorq_u8(bytes, vdupq_n_u8(P::TURNED)));
        }
        quads
    }

    #[inline(always)]
    fn zero_sums(self, weights: &[i32; LANES]) -> P::Sums {
        unsafe { P::zero_sums(weights) }
    }

    #[inline(always)]
    fn dot(self, sums: &mut P::Sums, part: usize, inputs: [u8; 4], weights: &Block) {
        unsafe { P::dot(sums, part, inputs, weights) }
    }

    #[inline(always)]
    fn sums_to_floats(self, sums: P::Sums) -> Floats {
        unsafe { P::columns(sums).map(|sums| vcvtq_f32_s32(sums)) }
    }

    #[inline(always)]
    fn prefetch(self, block: &Block) {
        // Into the second level. No value is read, so no address can be wrong.
        unsafe {
            std::arch::asm!("prfm pldl2keep, [{}]", in(reg) block.0.as_ptr(), options(readonly, nostack, preserves_flags));
        }
    }
}
