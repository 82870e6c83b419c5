//! A second opinion on tool results: a model that learned what prompt injection looks like reads them after their request has gone on.
//! Nobody waits for it. What it finds is an event and a metric; no text is stored, and none is logged.
//!
//! | file | what is in it |
//! |---|---|
//! | `model` | the model and its tokeniser: a text, and how likely it is an injection |
//! | `chunks` | the parts of a text that the model reads one by one |
//! | `reader` | what waits to be read, the thread that reads, and what became of it |
//! | `seen` | what was read a short time ago |

mod chunks;
pub mod model;
pub mod reader;
mod seen;

use std::path::PathBuf;

/// Which model reads, and from where on it is believed.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondOpinionOptions {
    pub model: PathBuf,
    /// A text whose score is higher is a finding; 0..=1.
    pub threshold: f64,
}
