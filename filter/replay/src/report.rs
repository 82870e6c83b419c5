//! The report as JSON and as a table on standard output.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::evidence;
use crate::group::{Group, Spread, turns};
use sentinel_replay_core::replay::{Replayed, RequestVerdict, SentRequest};

use crate::case::Case;

/// Everything that is known at the end.
pub struct EvalReport<'a> {
    /// What was asked for and what it ran with.
    pub config: Value,
    pub cases: &'a [Case],
    pub replayed: &'a [Replayed],
    pub groups: Vec<Group>,
    /// Runs that the loop could not be written into.
    pub not_injected: usize,
    /// Time that the native replay took.
    pub took: Duration,
    /// Runs that went through Envoy too, and those of them that differed. `None` if none was sent.
    pub through_envoy: Option<(usize, Vec<Value>)>,
}

impl EvalReport<'_> {
    pub fn requests(&self) -> usize {
        self.groups.iter().map(|group| group.requests).sum()
    }

    pub fn requests_per_second(&self) -> f64 {
        self.requests() as f64 / self.took.as_secs_f64().max(1e-9)
    }

    /// Runs that were hinted or killed, with what became of them.
    pub fn flagged(&self) -> impl Iterator<Item = (&Case, &Replayed)> {
        self.cases.iter().zip(self.replayed).filter(|(_, replayed)| replayed.flagged().is_some())
    }

    /// Runs that a person may want to read: the flagged ones, and those whose loop was not found.
    pub fn to_read(&self) -> impl Iterator<Item = (&Case, &Replayed)> {
        let wanted =
            |(case, replayed): &(&Case, &Replayed)| case.injected.is_some() || replayed.flagged().is_some();
        self.cases.iter().zip(self.replayed).filter(wanted)
    }

    pub fn json(&self) -> Value {
        let groups: Vec<Value> = self.groups.iter().map(Group::json).collect();
        let runs: Vec<Value> = self.flagged().map(|(case, replayed)| run(case, replayed)).collect();
        let mut json = json!({
            "config": self.config,
            "groups": groups,
            "requests": self.requests(),
            "requests_per_second": self.requests_per_second().round(),
            "runs_without_a_place_for_the_loop": self.not_injected,
            "flagged_runs": runs,
        });
        if let Some((runs, differences)) = &self.through_envoy {
            json["through_envoy"] = json!({"runs": runs, "differences": differences});
        }
        json
    }

    pub fn table(&self) -> String {
        let mut rows = vec![
            ["source", "label", "runs", "hinted", "killed", "hint at step", "kill at step", "signals"]
                .map(str::to_owned)
                .to_vec(),
        ];
        let is_injected = self.groups.iter().any(|group| group.injected.is_some());
        if is_injected {
            rows[0].extend(["found", "hint after", "kill after"].map(str::to_owned));
        }
        for group in &self.groups {
            let share = |count: usize| format!("{count} ({:.1} %)", 100.0 * count as f64 / group.runs as f64);
            let mut row = vec![
                group.source.clone(),
                group.title(),
                group.runs.to_string(),
                share(group.hinted),
                share(group.killed),
                spread(&group.hint_at),
                spread(&group.kill_at),
                signals(group),
            ];
            if is_injected {
                let found = &group.found;
                let delay = |steps: &[usize], rounds: &[usize]| match Spread::of(steps) {
                    Some(steps) => format!("{steps} steps, {} rounds", spread(rounds)),
                    None => "-".to_owned(),
                };
                row.push(share(found.found));
                row.push(delay(&found.hint_delay, &found.hint_rounds));
                row.push(delay(&found.kill_delay, &found.kill_rounds));
            }
            rows.push(row);
        }
        aligned(&rows)
    }
}

fn spread(numbers: &[usize]) -> String {
    Spread::of(numbers).map_or_else(|| "-".to_owned(), |spread| spread.to_string())
}

fn signals(group: &Group) -> String {
    let all: Vec<String> = group
        .by_signal
        .iter()
        .map(|(signal, count)| match group.killed_by_signal.get(signal) {
            Some(killed) => format!("{signal} {count} (kills {killed})"),
            None => format!("{signal} {count}"),
        })
        .chain(
            // A run may be hinted for one reason and killed for another.
            group
                .killed_by_signal
                .iter()
                .filter(|(signal, _)| !group.by_signal.contains_key(*signal))
                .map(|(signal, killed)| format!("{signal} (kills {killed})")),
        )
        .collect();
    if all.is_empty() { "-".to_owned() } else { all.join(", ") }
}

/// One flagged run.
fn run(case: &Case, replayed: &Replayed) -> Value {
    let mut json = Map::new();
    json.insert("id".to_owned(), json!(case.run.id));
    json.insert("source".to_owned(), json!(case.run.source));
    json.insert("label".to_owned(), json!(case.run.label));
    for (name, verdict) in [("hint", RequestVerdict::Hint), ("kill", RequestVerdict::Kill)] {
        if let Some(sent) = replayed.first(verdict) {
            json.insert(name.to_owned(), flag(case, sent));
        }
    }
    if let Some(injected) = case.injected {
        let loop_of = json!({"kind": injected.kind.label(), "onset_message": injected.onset, "period": injected.period});
        json.insert("injected".to_owned(), loop_of);
    }
    if let Some(after) = &replayed.after_user {
        json.insert("untouched_after_user_message".to_owned(), json!(after.verdict == RequestVerdict::Allow));
    }
    Value::Object(json)
}

fn flag(case: &Case, sent: &SentRequest) -> Value {
    json!({
        "at_step": turns(case, sent),
        "messages_before": sent.history,
        "signal": sent.judged.signal(),
        "reason": sent.judged.reason,
        "evidence_messages": evidence::messages(&case.run.messages, sent),
    })
}

/// Rows of cells as columns of equal width.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
