//! A run as it is replayed: as it was recorded, or with a loop written into it.

use sentinel_replay_core::history::Run;

use crate::inject::Injected;

#[derive(Clone, Debug)]
pub struct Case {
    pub run: Run,
    pub injected: Option<Injected>,
}
