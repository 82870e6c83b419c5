//! x86-64 with AVX2 and FMA: sixteen lanes in two registers of eight. It has no exact instruction for products of bytes, so
//! inputs are kept in 16 bits and weights widened to them. Registers are half as wide and half as many, so less is summed at
//! once.
//!
//! With `avx512.rs`, and `neon.rs` with what lies beside it, the only unsafe code. It is sound because a value of [`Avx2`] exists
//! only where `detect` has seen that the processor has every instruction used, and because what is read and written are whole
//! arrays.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256, __m256i, _MM_FROUND_NO_EXC, _MM_FROUND_TO_NEAREST_INT, _MM_HINT_T1, _mm_load_si128, _mm_prefetch,
    _mm256_add_epi32, _mm256_add_ps, _mm256_andnot_ps, _mm256_castsi256_ps, _mm256_cvtepi8_epi16,
    _mm256_cvtepi32_ps, _mm256_cvtps_epi32, _mm256_div_ps, _mm256_fmadd_ps, _mm256_hadd_epi32,
    _mm256_loadu_ps, _mm256_madd_epi16, _mm256_max_ps, _mm256_min_ps, _mm256_mul_ps, _mm256_packus_epi32,
    _mm256_permute2f128_ps, _mm256_permute4x64_epi64, _mm256_round_ps, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_set1_ps, _mm256_setzero_si256, _mm256_slli_epi32, _mm256_storeu_ps, _mm256_storeu_si256,
    _mm256_sub_ps, _mm256_unpackhi_ps, _mm256_unpacklo_ps,
};

use super::lanes::{Block, Computation, LANES, Lanes};
use crate::error::ShapeError;

#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

/// The first eight lanes and the others.
type Floats = [__m256; 2];

/// Takes 64 bits each in the order 0, 2, 1, 3: the instructions work on both halves of a register by themselves.
const ORDER_0_2_1_3: i32 = 0b11_01_10_00;

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        let found = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
        found.then_some(Self(()))
    }

    /// Runs `computation`, compiled for this processor with all that is inlined in it.
    pub(super) fn run<C: Computation>(self, computation: C) -> Result<(), ShapeError> {
        #[target_feature(enable = "avx2,fma")]
        fn inner<C: Computation>(lanes: Avx2, computation: C) -> Result<(), ShapeError> {
            computation.run(lanes)
        }
        // SAFETY: see the head of this file.
        unsafe { inner(self, computation) }
    }
}

#[inline(always)]
fn both([a, b]: Floats, of: impl Fn(__m256) -> __m256) -> Floats {
    [of(a), of(b)]
}

#[inline(always)]
fn pairs([a, b]: Floats, [x, y]: Floats, of: impl Fn(__m256, __m256) -> __m256) -> Floats {
    [of(a, x), of(b, y)]
}

/// The sums of eight columns.
#[inline(always)]
unsafe fn columns(a: __m256i, b: __m256i) -> __m256 {
    unsafe { _mm256_cvtepi32_ps(_mm256_permute4x64_epi64::<ORDER_0_2_1_3>(_mm256_hadd_epi32(a, b))) }
}

/// The lanes of both alternately.
#[inline(always)]
unsafe fn interleaved(x: __m256, y: __m256) -> Floats {
    unsafe {
        let (even, odd) = (_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y));
        [_mm256_permute2f128_ps::<0x20>(even, odd), _mm256_permute2f128_ps::<0x31>(even, odd)]
    }
}

// SAFETY of every block: see the head of this file. Loads that ask for alignment get a `Block`, which has it.
impl Lanes for Avx2 {
    type Floats = Floats;
    type Quad = u64;
    /// Of four columns each; of a column two neighbours, which together are its sum.
    type Sums = [[__m256i; 2]; Self::PARTS];

    const PARTS: usize = 2;
    const FEW_REGISTERS: bool = true;

    #[inline(always)]
    fn splat(self, x: f32) -> Floats {
        [unsafe { _mm256_set1_ps(x) }; 2]
    }

    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> Floats {
        let at = from.as_ptr();
        unsafe { [_mm256_loadu_ps(at), _mm256_loadu_ps(at.add(LANES / 2))] }
    }

    #[inline(always)]
    fn store(self, [a, b]: Floats, to: &mut [f32; LANES]) {
        let at = to.as_mut_ptr();
        unsafe {
            _mm256_storeu_ps(at, a);
            _mm256_storeu_ps(at.add(LANES / 2), b);
        }
    }

    #[inline(always)]
    fn add(self, x: Floats, y: Floats) -> Floats {
        pairs(x, y, |x, y| unsafe { _mm256_add_ps(x, y) })
    }

    #[inline(always)]
    fn sub(self, x: Floats, y: Floats) -> Floats {
        pairs(x, y, |x, y| unsafe { _mm256_sub_ps(x, y) })
    }

    #[inline(always)]
    fn mul(self, x: Floats, y: Floats) -> Floats {
        pairs(x, y, |x, y| unsafe { _mm256_mul_ps(x, y) })
    }

    #[inline(always)]
    fn div(self, x: Floats, y: Floats) -> Floats {
        pairs(x, y, |x, y| unsafe { _mm256_div_ps(x, y) })
    }

    #[inline(always)]
    fn mul_add(self, [a, b]: Floats, [x, y]: Floats, [v, w]: Floats) -> Floats {
        unsafe { [_mm256_fmadd_ps(a, x, v), _mm256_fmadd_ps(b, y, w)] }
    }

    #[inline(always)]
    fn max(self, x: Floats, y: Floats) -> Floats {
        pairs(x, y, |x, y| unsafe { _mm256_max_ps(x, y) })
    }

    #[inline(always)]
    fn min(self, x: Floats, y: Floats) -> Floats {
        pairs(x, y, |x, y| unsafe { _mm256_min_ps(x, y) })
    }

    #[inline(always)]
    fn abs(self, x: Floats) -> Floats {
        let sign = unsafe { _mm256_set1_ps(-0.0) };
        both(x, |x| unsafe { _mm256_andnot_ps(sign, x) })
    }

    #[inline(always)]
    fn round(self, x: Floats) -> Floats {
        both(x, |x| unsafe { _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x) })
    }

    #[inline(always)]
    fn power_of_two(self, x: Floats) -> Floats {
        both(x, |x| unsafe {
            let exponent = _mm256_add_epi32(_mm256_cvtps_epi32(x), _mm256_set1_epi32(127));
            _mm256_castsi256_ps(_mm256_slli_epi32::<23>(exponent))
        })
    }

    #[inline(always)]
    fn interleave(self, x: Floats, y: Floats) -> [Floats; 2] {
        unsafe { [interleaved(x[0], y[0]), interleaved(x[1], y[1])] }
    }

    #[inline(always)]
    fn round_to_quads(self, [a, b]: Floats) -> [u64; LANES / 4] {
        let mut quads = [0; LANES / 4];
        unsafe {
            let words = _mm256_packus_epi32(_mm256_cvtps_epi32(a), _mm256_cvtps_epi32(b));
            _mm256_storeu_si256(quads.as_mut_ptr().cast(), _mm256_permute4x64_epi64::<ORDER_0_2_1_3>(words));
        }
        quads
    }

    #[inline(always)]
    fn zero_sums(self, _: &[i32; LANES]) -> Self::Sums {
        [[unsafe { _mm256_setzero_si256() }; 2]; Self::PARTS]
    }

    // A part is below PARTS.
    #[allow(clippy::indexing_slicing)]
    #[inline(always)]
    fn dot(self, sums: &mut Self::Sums, part: usize, inputs: u64, weights: &Block) {
        let weights = &weights.0.as_chunks::<LANES>().0[2 * part..][..2];
        unsafe {
            let inputs = _mm256_set1_epi64x(inputs.cast_signed());
            for (sums, weights) in sums[part].iter_mut().zip(weights) {
                let weights = _mm256_cvtepi8_epi16(_mm_load_si128(weights.as_ptr().cast()));
                *sums = _mm256_add_epi32(*sums, _mm256_madd_epi16(inputs, weights));
            }
        }
    }

    #[inline(always)]
    fn sums_to_floats(self, [[a, b], [c, d]]: Self::Sums) -> Floats {
        unsafe { [columns(a, b), columns(c, d)] }
    }

    #[inline(always)]
    fn prefetch(self, block: &Block) {
        unsafe { _mm_prefetch::<_MM_HINT_T1>(block.0.as_ptr()) }
    }
}
