//! What each condition of a kill is worth: the runs are replayed once more for each, with that condition off. A condition that saves
//! no healthy run is not needed.

use std::fmt::Write;

use sentinel_config::Config;
use sentinel_detect::signal::Condition;
use sentinel_harness::Dialect;
use strum::VariantArray as _;

use crate::native;
use sentinel_replay_core::replay::{Replayed, RequestVerdict};

use crate::case::Case;

/// Runs that are hinted and killed, healthy ones and those that are stuck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    healthy: [usize; 2],
    stuck: [usize; 2],
}

/// A table in Markdown: one line for all conditions, and one for each condition that is off.
pub fn table(cases: &[Case], config: &Config, dialect: Dialect, replayed: &[Replayed]) -> String {
    let all = counts(cases, replayed);
    let mut table = "| condition off | healthy hinted | healthy killed | stuck hinted | stuck killed |\n|---|---|---|---|---|\n".to_owned();
    let mut line = |name: &str, counts: Counts| {
        let of = |now: usize, then: usize| match now.cmp(&then) {
            std::cmp::Ordering::Equal => now.to_string(),
            std::cmp::Ordering::Greater => format!("{now} (+{})", now - then),
            std::cmp::Ordering::Less => format!("{now} (-{})", then - now),
        };
        let [healthy, stuck] = [(counts.healthy, all.healthy), (counts.stuck, all.stuck)]
            .map(|(now, then)| format!("{} | {}", of(now[0], then[0]), of(now[1], then[1])));
        let _ = writeln!(table, "| {name} | {healthy} | {stuck} |");
    };
    line("none", all);
    for condition in Condition::VARIANTS {
        let config = config.clone().without(*condition);
        line(condition.label(), counts(cases, &native::replay_all(cases, &config, dialect, None)));
    }
    table
}

fn counts(cases: &[Case], replayed: &[Replayed]) -> Counts {
    let mut counts = Counts::default();
    for (case, replayed) in cases.iter().zip(replayed) {
        let place = match case.run.label.as_str() {
            "healthy" => &mut counts.healthy,
            "stuck" => &mut counts.stuck,
            _ => continue,
        };
        place[0] += usize::from(replayed.flagged().is_some());
        place[1] += usize::from(replayed.first(RequestVerdict::Kill).is_some());
    }
    counts
}
