//! Replaying recorded agent runs through the filter, as a library without files, network or threads: `make eval` and the console's page
//! Replay judge with it.
//!
//! | module | what is in it |
//! |---|---|
//! | [`line`] | one line of a file of runs |
//! | [`history`] | a run as it is held here |
//! | [`dialect`] | a run in the words of each provider |
//! | [`settings`] | the filter's configuration for a replay |
//! | [`mod@replay`] | the requests of a run, and what becomes of them |
//! | [`alone`] | a way for requests: the pipeline alone |
//! | [`chance`] | chance that comes out the same on every machine |

pub mod alone;
pub mod chance;
pub mod dialect;
pub mod history;
pub mod line;
pub mod replay;
pub mod settings;
