//! What happens at this moment.

use sentinel_console::now::{Figures, Health, Now, Trouble};

use super::{super::hour::Shown, finding, last_finding, last_outcome, status, who};
use crate::control::{
    runs::{RunView, TurnView},
    turn::VerdictKind,
};

/// Turns in a row that must be let pass before a run counts as recovered.
pub const RECOVERED: usize = 3;

/// A run whose last turns were not all let pass. `turns`: the newest first.
pub fn looping(view: &RunView, turns: &[TurnView]) -> Option<Trouble> {
    let last = turns
        .iter()
        .take(RECOVERED)
        .find(|turn| is_loop(&turn.turn.verdict.signal, turn.turn.verdict.kind))?;
    let found = finding(&last.turn.verdict, last_outcome(&last.turn))?;
    Some(trouble(view, found))
}

/// A run that was ended.
pub fn ended(view: &RunView, turns: &[TurnView]) -> Option<Trouble> {
    let last = turns.iter().find(|turn| turn.turn.verdict.kind == VerdictKind::Kill);
    let found = last.and_then(|last| finding(&last.turn.verdict, last_outcome(&last.turn)));
    Some(trouble(view, found.or_else(|| last_finding(&view.run))?))
}

/// Whether a verdict says that a run repeats itself, and not that one request holds what it may not.
fn is_loop(signal: &str, kind: VerdictKind) -> bool {
    kind != VerdictKind::Allow
        && !matches!(
            signal,
            "tool_denied"
                | "model_denied"
                | "injection"
                | "memory_flush"
                | "unreadable"
                | "stopped"
                | "budget"
        )
}

fn trouble(view: &RunView, finding: sentinel_console::words::Finding) -> Trouble {
    let run = &view.run;
    Trouble {
        id: view.id.clone(),
        who: who(&run.names),
        model: run.models.last().cloned().unwrap_or_default(),
        status: status(view.status),
        finding,
        hints: run.hints,
        cost_nano_usd: run.cost_nano_usd,
        turns: run.turns,
        first_seen_ms: run.first_seen_ms,
        last_seen_ms: run.last_seen_ms,
        is_stopped: false,
        observed: None,
    }
}

pub fn figures(under_way: usize, hour: &Shown) -> Figures {
    Figures {
        under_way: count(under_way),
        turns: hour.line(|minute| minute.turns),
        hints: hour.sum(|minute| minute.hints),
        kills: hour.sum(|minute| minute.kills),
        verdicts: hour.line(|minute| minute.hints.saturating_add(minute.kills)),
        spent_nano_usd: hour.sum(|minute| minute.spent_nano_usd),
        spent: hour.line(|minute| minute.spent_nano_usd),
        saved_nano_usd: hour.sum(|minute| minute.saved_nano_usd),
        saved: hour.line(|minute| minute.saved_nano_usd),
        unpriced: hour.sum(|minute| minute.unpriced),
        minutes: hour.known,
    }
}

pub fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// All of it.
pub fn now(
    now_ms: u64,
    figures: Figures,
    mut looping: Vec<Trouble>,
    more_looping: u64,
    ended: Vec<Trouble>,
    health: Health,
    version: u64,
) -> Now {
    looping.sort_by_key(|trouble| std::cmp::Reverse(trouble.cost_nano_usd));
    Now { now_ms, figures, looping, more_looping, ended, health, version }
}
