//! All policy of Agent Sentinel: what a request says (`dialect`), whose it is (`identity`), what is suspicious about
//! it (`prompt`, `window`, `score`), what follows (`verdict`) and in which order things happen (`machine`).
//!
//! No I/O, no clock, no Envoy: the host feeds events in and executes the effects that come out. What cannot be
//! named here: proxy-wasm, tonic, redis.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

pub mod arrival;
mod bytes;
pub mod config;
pub mod dialect;
pub mod identity;
pub mod json;
pub mod machine;
pub mod mcp;
pub mod metric;
pub mod price;
pub mod prompt;
pub mod remote;
pub mod signal;
#[cfg(feature = "sim")]
pub mod sim;
pub mod slot;
pub mod span;
pub mod step;
pub mod verdict;
pub mod window;
