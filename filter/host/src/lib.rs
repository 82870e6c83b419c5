//! What every host of the pipeline needs: the calls that it makes (`call`), the messages in them (`message`, `control`, `spans`),
//! what it stores before the first request (`shared`), what the requests of a worker share (`per_worker`), and its metrics if the
//! host has no labels (`series`). A host itself adds the transport and the clock.
//!
//! What must not live here: anything that belongs to one host, such as proxy-wasm, and no decision.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

pub mod call;
mod control;
mod message;
pub mod pairs;
pub mod per_worker;
pub mod series;
pub mod shared;
mod spans;
