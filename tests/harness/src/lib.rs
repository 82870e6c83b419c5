//! The harness: starts the real parts (Envoy with the filter, the embedding service, Redis) and a mock provider on
//! free ports of this machine, and looks at them from outside. Every value that it returns stops its process when dropped.
//! What must not live here: assertions about the product (they belong to the suites).

pub mod bootstrap;
pub mod client;
pub mod dns;
pub mod envoy;
pub mod fake_service;
pub mod gateway;
pub mod identity;
pub mod metrics;
pub mod operator;
pub mod otlp;
pub mod parts;
mod pieces;
mod pool;
pub mod port;
pub mod process;
pub mod provider;
pub mod ratelimit;
pub mod raw;
pub mod real_provider;
pub mod redis;
pub mod said;
pub mod service;
pub mod stack;
mod threads;
pub mod tls;

pub use sentinel_wire::{Dialect, VERTEX_VERSION};
pub use stack::Stack;
