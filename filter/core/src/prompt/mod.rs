//! Texts of prompts, and the canonical form of a call's arguments.

mod canonical;

pub use canonical::{Form, canonical};
pub use sentinel_text::{
    Fingerprint as Print, WordSet as Bag, digest, digest_pair, is_template_variant, normalise, words,
};
