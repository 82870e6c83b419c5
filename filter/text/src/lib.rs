//! What a text looks like once its accidents are taken away: words, normal form, fingerprint, template; and what speaks
//! against giving two of them one answer; and what of a model's text is not meant for a reader. The filter and the embedding service compare texts with the same functions.
//! Nothing here knows where a text came from, what JSON is, or what follows from a likeness.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

pub mod clean;
mod fingerprint;
mod normalise;
mod template;
pub mod verify;
mod word_set;
mod wording;
mod words;

pub use fingerprint::{Fingerprint, digest, digest_pair};
pub use normalise::normalise;
pub use template::is_template_variant;
pub use word_set::WordSet;
pub use words::words;
