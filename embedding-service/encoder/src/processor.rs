//! Processors, and which of them this machine is. What differs from one to another is in the files beside this; nothing here
//! knows what is computed.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod lanes;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

#[cfg(target_arch = "x86_64")]
use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use avx512::Avx512;
pub(crate) use lanes::{Block, Computation, Inputs, LANES, Lanes, Quad, reduce, vectors, vectors_mut};
#[cfg(target_arch = "aarch64")]
use neon::{Bytes, DotProducts, MixedDotProducts, Neon};
use portable::Portable;

use crate::error::ShapeError;

/// A way of computing that this machine has.
#[derive(Clone, Copy, Debug)]
pub struct Processor(Kind);

#[derive(Clone, Copy, Debug)]
enum Kind {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "aarch64")]
    NeonMixed(Neon<MixedDotProducts>),
    #[cfg(target_arch = "aarch64")]
    NeonDot(Neon<DotProducts>),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon<Bytes>),
    Portable,
}

impl std::fmt::Display for Processor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(_) => "AVX-512 VNNI",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(_) => "AVX2",
            #[cfg(target_arch = "aarch64")]
            Kind::NeonMixed(_) => "NEON with i8mm",
            #[cfg(target_arch = "aarch64")]
            Kind::NeonDot(_) => "NEON with dot products",
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(_) => "NEON",
            Kind::Portable => "plain code",
        })
    }
}

impl Processor {
    /// What this machine computes fastest with. Returns `None` when it has only the plain code.
    #[must_use]
    pub fn fastest() -> Option<Self> {
        Self::accelerated().into_iter().next()
    }

    /// All that this machine has instructions for, the fastest first.
    #[must_use]
    pub fn accelerated() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        let found = [Avx512::detect().map(Kind::Avx512), Avx2::detect().map(Kind::Avx2)];
        #[cfg(target_arch = "aarch64")]
        let found = [
            Neon::detect().map(Kind::NeonMixed),
            Neon::detect().map(Kind::NeonDot),
            Neon::detect().map(Kind::Neon),
        ];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let found = [None];
        found.into_iter().flatten().map(Self).collect()
    }

    /// Plain code for every machine: slow, and the definition of what the others must give.
    #[must_use]
    pub fn portable() -> Self {
        Self(Kind::Portable)
    }

    pub(crate) fn run<C: Computation>(self, computation: C) -> Result<(), ShapeError> {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(lanes) => lanes.run(computation),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(lanes) => lanes.run(computation),
            #[cfg(target_arch = "aarch64")]
            Kind::NeonMixed(lanes) => lanes.run(computation),
            #[cfg(target_arch = "aarch64")]
            Kind::NeonDot(lanes) => lanes.run(computation),
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(lanes) => lanes.run(computation),
            Kind::Portable => computation.run(Portable),
        }
    }
}
