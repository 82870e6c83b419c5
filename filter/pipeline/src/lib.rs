//! One request from its first byte to the last byte of its answer. `request` holds the phases and their order. The
//! `passes` find evidence, `decide` makes a verdict of it, and `render` turns the verdict into bytes. Everything
//! outside is behind the trait `host::Host`.
//!
//! What must not live here: anything of Envoy, of a provider's format (that is llm-api), or of what a loop is (detect).

#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

pub mod budget;
pub mod bypass;
mod case;
pub mod clean_text;
mod codec;
mod content_coding;
pub mod control;
mod decide;
pub mod fail_open;
pub mod host;
pub mod identity;
pub mod in_memory;
mod inspect;
mod line;
mod mask;
mod mcp;
mod mcp_answer;
mod messages;
pub mod metric;
mod note;
mod partition;
mod passes;
mod record;
mod render;
pub mod request;
mod request_head;
mod response;
pub mod service_outcome;
mod shared_data;
pub mod span;
pub mod stored;
mod tool_list;
pub mod turn;
mod unread;
pub mod worker;
