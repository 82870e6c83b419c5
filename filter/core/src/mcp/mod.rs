//! The MCP breaker: an agent that calls one tool with the same arguments over and over is answered in the server's
//! place. JSON-RPC over streamable HTTP; no state machine lives here.

mod call;
mod ledger;
mod reply;

pub use call::{Call, Request, is_batch, requests};
pub use ledger::Ledger;
pub use reply::reply;
