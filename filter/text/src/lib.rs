//! Comparing texts: words, normal form, fingerprint, template, and the reasons why two texts may not have one answer.
//! Cleaning texts of models.
//! The filter and the embedding service use the same functions. Nothing here knows where a text came from, what JSON
//! is, or what follows if two texts are alike.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

pub mod clean;
mod fingerprint;
mod normalise;
mod template;
pub mod verify;
mod word_set;
mod wording;
mod words;

pub use fingerprint::{Fingerprint, digest, digest_pair, seeded_digest};
pub use normalise::normalise;
pub use template::is_template_variant;
pub use word_set::WordSet;
pub use words::words;
