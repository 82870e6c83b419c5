//! One request from its first byte to the last of its answer. `request` is the way: it says when what happens. On it lie
//! the `passes`, which find evidence; `decide` makes a verdict of what they found, `render` makes bytes of the verdict.
//! Everything outside is behind the port `host`.
//!
//! What must not live here: anything of Envoy, of a provider's format (that is llm-api), of what a loop is (detect).

#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod case;
mod codec;
pub mod config;
mod decide;
pub mod fail_open;
pub mod host;
pub mod identity;
#[cfg(feature = "in-memory")]
pub mod in_memory;
mod inspect;
mod mcp;
mod messages;
pub mod metric;
mod partition;
mod passes;
pub mod price;
mod record;
mod render;
pub mod request;
mod request_head;
mod response;
mod shared_data;
pub mod span;
pub mod stored;
mod tool_list;
