//! A run as it is replayed: as it was recorded, or with a loop written into it.

use sentinel_replay_core::history::RecordedRun;

use crate::inject::Injected;

#[derive(Clone, Debug)]
pub struct Case {
    pub run: RecordedRun,
    pub injected: Option<Injected>,
}
