//! The words that detection knows: one file a language, one for languages of which few words are known, one for programs, one for
//! the formats of agents and APIs. Each group says what it is for. Words protect a result or a call (a result waits, is empty,
//! merely acknowledges; a call waits or moves on). Or they end such a protection (what "failed" does not wait), or help to read
//! shapes (a label, a unit of time). No word makes a verdict stronger. There is no logic here: the code that imports a group
//! decides what it means.
//!
//! All is in lower case unless a group says otherwise, and is found in any case. A phrase of two words is written with
//! one space. To add a language: add its file, and name its groups in `step/phrases.rs` and `step/asked.rs`.

// rustfmt would give each word a line of its own.
#[rustfmt::skip]
pub mod chinese;
#[rustfmt::skip]
pub mod english;
#[rustfmt::skip]
pub mod formats;
#[rustfmt::skip]
pub mod french;
#[rustfmt::skip]
pub mod german;
#[rustfmt::skip]
pub mod italian;
#[rustfmt::skip]
pub mod japanese;
#[rustfmt::skip]
pub mod korean;
#[rustfmt::skip]
pub mod others;
#[rustfmt::skip]
pub mod portuguese;
#[rustfmt::skip]
pub mod programs;
#[rustfmt::skip]
pub mod russian;
#[rustfmt::skip]
pub mod spanish;
