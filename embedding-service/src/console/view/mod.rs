//! What control knows, as what a page shows.

pub mod budgets;
pub mod now;
pub mod run;
pub mod trace;

use sentinel_console::{
    run::{Stop, Who},
    words::{Finding, Outcome, StatusWord, VerdictWord},
};

use crate::control::{
    names::Names,
    run::{Run, RunStatus},
    stops,
    turn::{Decision, Turn, VerdictKind},
};

pub fn who(names: &Names) -> Who {
    let Names { tenant, client, agent, run, .. } = names;
    Who { tenant: tenant.clone(), client: client.clone(), agent: agent.clone(), run: run.clone() }
}

pub fn status(status: RunStatus) -> StatusWord {
    match status {
        RunStatus::Working => StatusWord::Working,
        RunStatus::Tools => StatusWord::Tools,
        RunStatus::Idle => StatusWord::Idle,
        RunStatus::Done => StatusWord::Done,
        RunStatus::Killed => StatusWord::Killed,
        RunStatus::Stopped => StatusWord::Stopped,
        RunStatus::Failed => StatusWord::Failed,
    }
}

/// `None` where the request was let pass.
pub fn finding(verdict: &Decision, outcome: Option<Outcome>) -> Option<Finding> {
    let kind = match verdict.kind {
        VerdictKind::Allow => return None,
        VerdictKind::Hint => VerdictWord::Hint,
        VerdictKind::Kill => VerdictWord::Kill,
    };
    Some(Finding {
        verdict: kind,
        signal: verdict.signal.clone(),
        count: u64::from(verdict.count),
        tool: verdict.tool.clone(),
        enforced: verdict.enforced,
        outcome,
    })
}

/// What the last step of a turn was.
pub fn last_outcome(turn: &Turn) -> Option<Outcome> {
    turn.steps.last().map(|step| Outcome::of(&step.kind))
}

/// The last finding of a run.
pub fn last_finding(run: &Run) -> Option<Finding> {
    let kind = Some(&run.last_verdict_kind).filter(|kind| !kind.is_empty());
    finding(run.last_verdict.as_ref()?, kind.map(|kind| Outcome::of(kind)))
}

pub fn stop(stop: &stops::Stop) -> Stop {
    let names = [
        ("tenant", &stop.tenant),
        ("client", &stop.client),
        ("agent", &stop.agent),
        ("run", &stop.run),
        ("history", &stop.history),
    ];
    let is_said = |name: &&String| !name.is_empty();
    let said = names
        .into_iter()
        .filter_map(|(what, name)| Some(format!("{what} {}", name.as_ref().filter(is_said)?)));
    Stop {
        id: stop.id.clone(),
        whom: said.collect::<Vec<_>>().join(", "),
        reason: stop.reason.clone(),
        author: stop.author.clone(),
        set_ms: stop.set_ms,
        until_ms: stop.until_ms,
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantArray as _;

    use super::*;

    /// The crate of the pages lists them too: it knows nothing of control.
    #[test]
    fn the_pages_name_states_as_control_does() {
        for shown in StatusWord::VARIANTS.iter().copied() {
            let known: RunStatus = shown.id().parse().unwrap();
            assert_eq!(status(known), shown);
        }
    }
}
