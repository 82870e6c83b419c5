//! What every host of the pipeline needs, whatever carries it: the calls that it makes (`call`), the messages in them (`message`,
//! `control`, `spans`), and what it stores before the first request (`shared`), what the requests of a
//! worker share (`per_worker`), and its
//! metrics where the host knows no labels (`series`). A host itself adds the transport and the clock.
//!
//! What must not live here: anything of one host, as proxy-wasm, and no decision.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

pub mod call;
mod control;
mod message;
pub mod pairs;
pub mod per_worker;
pub mod series;
pub mod shared;
mod spans;
