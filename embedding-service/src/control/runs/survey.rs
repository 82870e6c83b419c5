//! What the console shows of all runs at once.

use std::{cmp::Reverse, collections::BTreeSet};

use super::{RunView, Runs};
use crate::{
    control::{
        clock,
        run::{Run, RunStatus},
    },
    store::StoreError,
};

/// Names to choose from.
const MOST_NAMED: usize = 200;

/// Runs that somebody may want to see.
#[derive(Debug, Default)]
pub struct Survey {
    /// Runs that are working or have calls to do.
    pub under_way: usize,
    /// Those of them in which there was a hint or a kill, the most expensive first.
    pub told: Vec<RunView>,
    /// How many of these there are.
    pub told_in_all: usize,
    /// Runs that were killed or stopped since a time, the latest first.
    pub ended: Vec<RunView>,
}

/// What runs can be filtered by, in the order of the alphabet.
#[derive(Debug, Default)]
pub struct Named {
    pub signals: Vec<String>,
    pub models: Vec<String>,
}

impl Runs {
    /// At most `most` runs for each list. Runs that ended before `since_ms` are left out.
    pub async fn survey(&self, since_ms: u64, most: usize) -> Result<Survey, StoreError> {
        self.mirror.refresh(std::time::Duration::ZERO).await?;
        let items = self.mirror.items();
        let now = clock::now_ms();
        let (mut under_way, mut told, mut ended) = (0_usize, Vec::new(), Vec::new());
        for (id, item) in items.by_id.iter().filter(|(_, item)| item.value.names.has_run()) {
            let run = &item.value;
            match run.status(now, self.idle_ms) {
                RunStatus::Working | RunStatus::Tools => {
                    under_way = under_way.saturating_add(1);
                    if run.hints > 0 || run.kills > 0 {
                        told.push((Reverse(run.cost_nano_usd), id, run));
                    }
                }
                RunStatus::Killed | RunStatus::Stopped if run.last_seen_ms >= since_ms => {
                    ended.push((Reverse(run.last_seen_ms), id, run));
                }
                _ => {}
            }
        }
        let told_in_all = told.len();
        let first = |mut runs: Vec<(Reverse<u64>, &String, &Run)>| -> Vec<RunView> {
            runs.sort_unstable_by_key(|(order, id, _)| (*order, *id));
            runs.into_iter().take(most).map(|(_, id, run)| self.view(id, run)).collect()
        };
        Ok(Survey { under_way, told: first(told), told_in_all, ended: first(ended) })
    }

    /// Signals and models of the runs that were read last.
    #[must_use]
    pub fn named(&self) -> Named {
        let items = self.mirror.items();
        let of = |names: fn(&Run) -> &Vec<String>| -> Vec<String> {
            let mut all = BTreeSet::new();
            for name in items.by_id.values().flat_map(|item| names(&item.value)) {
                if all.len() < MOST_NAMED && !all.contains(name) {
                    all.insert(name);
                }
            }
            all.into_iter().cloned().collect()
        };
        Named { signals: of(|run| &run.signals), models: of(|run| &run.models) }
    }
}
