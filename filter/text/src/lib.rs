//! Words, normal form, fingerprint and digests of texts. The filter and the embedding service use the same functions. Nothing here knows where a text came from, what JSON
//! is, or what follows if two texts are alike.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod alike;
mod fingerprint;
mod normalise;
mod words;

pub use alike::alike;
pub use fingerprint::{Fingerprint, digest, digest_pair, seeded_digest};
pub use normalise::normalise;
pub use words::words;
