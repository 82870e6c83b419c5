//! Budgets: what a request will probably take is reserved before it goes on, and corrected when its answer has come. The
//! embedding service counts. Here is the worker's part.
//!
//! * `amounts`: what is counted, and what models cost.
//! * `past`: what a request will probably take.
//! * `leases` and `by_key`: what the worker holds of budgets.
//! * `spending`: one request from the look at its budgets to the end of its answer.
//! * `words`: what an agent is told.

pub mod amounts;
mod by_key;
pub mod leases;
mod past;
pub mod spending;
mod words;

#[cfg(test)]
mod tests;
