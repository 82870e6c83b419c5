//! MCP: JSON-RPC over streamable HTTP, between an agent and a tool server.

mod reply;
mod request;
mod tools;

pub use reply::{AnswerAs, invalid, reply};
pub use request::{McpToolCall, Request, is_batch, requests};
pub use tools::{McpToolUse, restricted_list, wanted};
