//! x86-64 with AVX-512 VNNI, which has one instruction for four products of bytes in each of sixteen lanes.
//!
//! With `avx2.rs`, and `neon.rs` with what lies beside it, the only unsafe code. It is sound because a value of [`Avx512`] exists
//! only where `detect` has seen that the processor has every instruction used, and because what is read and written are whole
//! arrays.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512, __m512i, _MM_FROUND_NO_EXC, _MM_FROUND_TO_NEAREST_INT, _MM_HINT_T1, _mm_prefetch,
    _mm_storeu_si128, _mm512_abs_ps, _mm512_add_ps, _mm512_cvtepi32_ps, _mm512_cvtps_epi32,
    _mm512_cvtusepi32_epi8, _mm512_div_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_load_si512,
    _mm512_loadu_ps, _mm512_loadu_si512, _mm512_max_ps, _mm512_min_ps, _mm512_mul_ps, _mm512_permutex2var_ps,
    _mm512_roundscale_ps, _mm512_scalef_ps, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_si512,
    _mm512_storeu_ps, _mm512_sub_ps,
};

use super::lanes::{Block, Computation, LANES, Lanes};
use crate::error::ShapeError;

#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512(());

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        let found = std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512vnni")
            && std::is_x86_feature_detected!("fma");
        found.then_some(Self(()))
    }

    /// Runs `computation`, compiled for this processor with all that is inlined in it.
    pub(super) fn run<C: Computation>(self, computation: C) -> Result<(), ShapeError> {
        #[target_feature(enable = "avx512f,avx512vnni,fma")]
        fn inner<C: Computation>(lanes: Avx512, computation: C) -> Result<(), ShapeError> {
            computation.run(lanes)
        }
        // SAFETY: see the head of this file.
        unsafe { inner(self, computation) }
    }
}

// SAFETY of every block: see the head of this file. Loads and stores that ask for alignment get a `Block`, which has it.
impl Lanes for Avx512 {
    type Floats = __m512;
    type Quad = [u8; 4];
    type Sums = __m512i;

    const PARTS: usize = 1;
    const FEW_REGISTERS: bool = false;

    #[inline(always)]
    fn splat(self, x: f32) -> __m512 {
        unsafe { _mm512_set1_ps(x) }
    }

    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> __m512 {
        unsafe { _mm512_loadu_ps(from.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, x: __m512, to: &mut [f32; LANES]) {
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), x) }
    }

    #[inline(always)]
    fn add(self, x: __m512, y: __m512) -> __m512 {
        unsafe { _mm512_add_ps(x, y) }
    }

    #[inline(always)]
    fn sub(self, x: __m512, y: __m512) -> __m512 {
        unsafe { _mm512_sub_ps(x, y) }
    }

    #[inline(always)]
    fn mul(self, x: __m512, y: __m512) -> __m512 {
        unsafe { _mm512_mul_ps(x, y) }
    }

    #[inline(always)]
    fn div(self, x: __m512, y: __m512) -> __m512 {
        unsafe { _mm512_div_ps(x, y) }
    }

    #[inline(always)]
    fn mul_add(self, x: __m512, y: __m512, z: __m512) -> __m512 {
        unsafe { _mm512_fmadd_ps(x, y, z) }
    }

    #[inline(always)]
    fn max(self, x: __m512, y: __m512) -> __m512 {
        unsafe { _mm512_max_ps(x, y) }
    }

    #[inline(always)]
    fn min(self, x: __m512, y: __m512) -> __m512 {
        unsafe { _mm512_min_ps(x, y) }
    }

    #[inline(always)]
    fn abs(self, x: __m512) -> __m512 {
        unsafe { _mm512_abs_ps(x) }
    }

    #[inline(always)]
    fn round(self, x: __m512) -> __m512 {
        unsafe { _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x) }
    }

    #[inline(always)]
    fn power_of_two(self, x: __m512) -> __m512 {
        unsafe { _mm512_scalef_ps(_mm512_set1_ps(1.0), x) }
    }

    #[inline(always)]
    fn interleave(self, x: __m512, y: __m512) -> [__m512; 2] {
        // From 16 on, lanes of `y`.
        let from = |first| unsafe {
            let order = std::array::from_fn::<i32, LANES, _>(|i| first + i as i32 / 2 + i as i32 % 2 * 16);
            _mm512_permutex2var_ps(x, _mm512_loadu_si512(order.as_ptr().cast()), y)
        };
        [from(0), from(8)]
    }

    #[inline(always)]
    fn round_to_quads(self, x: __m512) -> [[u8; 4]; 4] {
        let mut quads = [[0; 4]; 4];
        unsafe { _mm_storeu_si128(quads.as_mut_ptr().cast(), _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(x))) };
        quads
    }

    #[inline(always)]
    fn zero_sums(self, _: &[i32; LANES]) -> __m512i {
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    fn dot(self, sums: &mut __m512i, _: usize, inputs: [u8; 4], weights: &Block) {
        unsafe {
            let weights = _mm512_load_si512(weights.0.as_ptr().cast());
            *sums = _mm512_dpbusd_epi32(*sums, _mm512_set1_epi32(i32::from_le_bytes(inputs)), weights);
        }
    }

    #[inline(always)]
    fn sums_to_floats(self, sums: __m512i) -> __m512 {
        unsafe { _mm512_cvtepi32_ps(sums) }
    }

    #[inline(always)]
    fn prefetch(self, block: &Block) {
        unsafe { _mm_prefetch::<_MM_HINT_T1>(block.0.as_ptr()) }
    }
}
