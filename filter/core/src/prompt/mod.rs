//! What a prompt's text looks like once its accidents are taken away: words, normal form, fingerprint, template.
//! Text only: nothing here knows where a prompt came from or what follows from it.

mod bag;
mod canonical;
mod normalise;
mod print;
mod template;
mod words;

pub use bag::Bag;
pub use canonical::{Form, canonical};
pub use normalise::normalise;
pub use print::{Print, digest, digest_pair};
pub use template::is_template_variant;
pub use words::words;
