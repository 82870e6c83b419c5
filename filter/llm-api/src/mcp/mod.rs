//! MCP: JSON-RPC over streamable HTTP, between an agent and a tool server.

mod reply;
mod request;

pub use reply::{AnswerAs, reply};
pub use request::{Request, ToolCall, is_batch, requests};
