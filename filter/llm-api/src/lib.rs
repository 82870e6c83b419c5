//! The wire formats of the LLM providers and of MCP: what a request says (`conversation`), where it may be edited
//! (`edit`), how an answer reads (`answer`, `framing`) and how a request is answered in the provider's place. One folder
//! a dialect; `registry` names them.
//!
//! What must not live here: what a loop is, what a verdict is, any configuration, any host.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

pub mod answer;
pub mod answer_reader;
mod anthropic;
mod bedrock;
pub mod canonical;
pub mod conversation;
pub mod dialect;
pub mod edit;
pub mod framing;
mod gemini;
mod gemini_interactions;
pub mod history;
pub mod json;
mod json_escape;
mod json_reader;
mod json_scan;
pub mod marks;
pub mod mcp;
mod members;
mod object;
mod openai_chat;
mod openai_responses;
pub mod outline;
pub mod path;
pub mod question;
pub mod registry;
pub mod repeatable;
pub mod route;
pub mod spoken;
mod template;
pub mod tools;
mod turns;
pub mod usage;
mod vertex;
