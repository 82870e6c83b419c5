//! The way to Redis: its address, one supervised connection for each store, and what the server's errors mean. Nothing here knows what
//! is stored there.

mod connection;
mod endpoint;
mod error;
pub mod options;
mod requirements;
mod supervisor;

pub use self::{
    connection::Connection,
    endpoint::Endpoint,
    error::{index_exists, store_error},
    requirements::{Index, Requirements},
    supervisor::SupervisedConnection,
};
