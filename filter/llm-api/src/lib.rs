//! The wire formats of the LLM providers and of MCP: how a request is read (`conversation`) and edited (`edit`), how an
//! answer is read (`answer`, `framing`), and how the filter answers in the provider's place. Each dialect is a folder;
//! `registry` lists them.
//!
//! What must not live here: what a loop or a verdict is, the configuration, the host.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

pub mod answer;
pub mod answer_event;
pub mod answer_reader;
mod anthropic;
mod bedrock;
pub mod canonical;
mod check_names;
pub mod conversation;
pub mod dialect;
mod disguise;
pub mod edit;
mod format;
pub mod framing;
mod gemini;
mod gemini_interactions;
pub mod history;
mod item_part;
mod items;
pub mod json;
mod loaded_tools;
pub mod mcp;
mod models;
mod openai_chat;
mod openai_responses;
pub mod outline;
pub mod path;
pub mod question;
pub mod registry;
pub mod repeatable;
pub mod route;
pub mod spotlight;
mod switches;
mod template;
mod tool_names;
pub mod tools;
pub mod usage;
mod vertex;
