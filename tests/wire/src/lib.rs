//! How agents and providers speak. It is written from the providers' documents and not from the filter's code, so that
//! it is the other side of every test of a wire format and of each replay. A new dialect is a variant of [`Dialect`];
//! the compiler then names each place here that must know it.
//!
//! What must not live here: anything but pure functions of paths and bodies.

mod answer;
mod dialect;
pub mod event_stream;
pub mod pairing;
mod request;
mod run;
mod sample;
pub mod text;

pub use dialect::{Dialect, Stream, VERTEX_VERSION};
pub use run::{Call, Run, told_after_the_last_result};
