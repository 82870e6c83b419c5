//! A run: what its turns add up to.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use super::{
    events::{EventKind, TurnData, TurnEvent},
    names::Names,
    prices::{Priced, Tokens},
    turn::{Decision, End, Turn, VerdictKind},
};

/// Models and signals of a run that are named.
const MOST_NAMED: usize = 16;
/// Answers of one run that may be under way at once.
const MOST_UNDER_WAY: usize = 256;

/// A run as it stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Run {
    #[serde(flatten)]
    pub names: Names,
    /// By the service's clock, in milliseconds since 1970.
    pub first_seen_ms: u64,
    pub last_seen_ms: u64,
    pub turns: u64,
    pub steps: u64,
    pub repeated_steps: u64,
    #[serde(flatten)]
    pub tokens: Tokens,
    /// Whether some of the tokens were counted from bytes.
    pub estimated: bool,
    /// Billionths of a US dollar.
    pub cost_nano_usd: u64,
    /// Turns whose model has no known price. They are not in the cost.
    pub unpriced_turns: u64,
    pub hints: u64,
    pub kills: u64,
    pub cache_hits: u64,
    pub injections: u64,
    /// At most 16.
    pub models: Vec<String>,
    /// The signals of its hints and kills, at most 16.
    pub signals: Vec<String>,
    /// Of its last turn; that of a model, where it has one.
    pub dialect: String,
    /// Of the same turn.
    pub provider: String,
    /// When its last turn began. Workers of Envoy report by themselves, so an earlier turn may be counted after a later one.
    #[serde(default)]
    pub last_turn_ms: u64,
    /// HTTP status of its last answer.
    pub last_status: u32,
    /// The last verdict that was no `allow`.
    pub last_verdict: Option<Decision>,
    /// What the result of the step was that this verdict is of, as in a step's `kind`; empty where it is not known.
    #[serde(default)]
    pub last_verdict_kind: String,
    /// How it stood after its last turn.
    pub outcome: RunStatus,
    /// Answers that are under way.
    pub under_way: Vec<UnderWay>,
}

/// An answer that is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UnderWay {
    pub worker: String,
    /// Of the turn, within the worker.
    pub number: u64,
    pub at_ms: u64,
}

/// How a run stands.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RunStatus {
    /// An answer is under way.
    #[default]
    Working,
    /// The agent has calls to do.
    Tools,
    /// Nothing was heard of it for some time.
    Idle,
    /// Its last answer was a text.
    Done,
    Killed,
    /// An operator has stopped it.
    Stopped,
    /// Its last answer was an error, or its client went away.
    Failed,
}

/// Which report a turn came with.
#[derive(Clone, Debug)]
pub struct Reported {
    /// Id of the run.
    pub run_id: String,
    pub worker: String,
    pub number: u64,
    /// The number under which the turn was told while its answer was under way; 0: it was not.
    pub begun: u64,
}

/// Takes an event.
pub type Tell<'a> = &'a mut dyn FnMut(TurnEvent<'_>);

impl Run {
    /// How it stands at `now_ms`. A run that was silent for `idle_ms` is idle.
    #[must_use]
    pub fn status(&self, now_ms: u64, idle_ms: u64) -> RunStatus {
        let silent = now_ms.saturating_sub(self.last_seen_ms) >= idle_ms;
        let status = if self.under_way.is_empty() { self.outcome } else { RunStatus::Working };
        match status {
            RunStatus::Working | RunStatus::Tools if silent => RunStatus::Idle,
            status => status,
        }
    }

    /// An answer has begun. `tell` takes the events of it.
    pub fn begin(&mut self, names: &Names, turn: &Turn, reported: &Reported, tell: Tell<'_>) {
        self.see(names, turn, reported, tell);
        if self.under_way.len() >= MOST_UNDER_WAY {
            self.under_way.remove(0);
        }
        let Reported { worker, number, .. } = reported.clone();
        self.under_way.push(UnderWay { worker, number, at_ms: turn.at_ms });
    }

    /// A turn has ended. `tell` takes the events of it.
    pub fn add(&mut self, names: &Names, turn: &Turn, reported: &Reported, tell: Tell<'_>) {
        self.see(names, turn, reported, tell);
        self.under_way.retain(|one| (&one.worker, one.number) != (&reported.worker, reported.begun));
        self.turns = self.turns.saturating_add(1);
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let steps = count(turn.steps.len()).saturating_add(u64::from(turn.more_steps));
        self.steps = self.steps.saturating_add(steps);
        let repeated = count(turn.steps.iter().filter(|step| step.repeated).count());
        self.repeated_steps = self.repeated_steps.saturating_add(repeated);
        self.tokens = self.tokens.plus(turn.tokens);
        self.estimated |= turn.estimated;
        self.cost_nano_usd = self.cost_nano_usd.saturating_add(turn.cost_nano_usd);
        self.unpriced_turns = self.unpriced_turns.saturating_add(u64::from(turn.priced == Priced::Unknown));
        self.cache_hits = self.cache_hits.saturating_add(u64::from(turn.cache_hit));
        self.injections = self.injections.saturating_add(u64::from(turn.injections));
        name(&mut self.models, &turn.model);
        if turn.verdict.kind != VerdictKind::Allow {
            name(&mut self.signals, &turn.verdict.signal);
        }
        match turn.verdict.kind {
            VerdictKind::Allow => {}
            VerdictKind::Hint => self.hints = self.hints.saturating_add(1),
            VerdictKind::Kill => self.kills = self.kills.saturating_add(1),
        }
        self.tell_turn(turn, reported, tell);
        if turn.at_ms < self.last_turn_ms {
            return;
        }
        self.last_turn_ms = turn.at_ms;
        self.last_status = turn.status;
        if turn.verdict.kind != VerdictKind::Allow {
            self.last_verdict = Some(turn.verdict.clone());
            self.last_verdict_kind = turn.steps.last().map(|step| step.kind.clone()).unwrap_or_default();
        }
        let before = std::mem::replace(&mut self.outcome, outcome(turn));
        self.tell_outcome(turn, before, reported, tell);
    }

    fn see(&mut self, names: &Names, turn: &Turn, reported: &Reported, tell: Tell<'_>) {
        if self.first_seen_ms == 0 {
            self.names = names.clone();
            self.first_seen_ms = turn.at_ms;
            if names.has_run() {
                tell(self.event(EventKind::RunStarted, turn.at_ms, reported, TurnData::Begun {}));
            }
        }
        self.first_seen_ms = self.first_seen_ms.min(turn.at_ms);
        let end = turn.at_ms.saturating_add(u64::from(turn.duration_ms));
        self.last_seen_ms = self.last_seen_ms.max(end);
        if self.dialect.is_empty() || turn.end != End::Results {
            self.dialect.clone_from(&turn.dialect);
            self.provider.clone_from(&turn.provider);
        }
    }

    fn event<'a>(
        &'a self,
        kind: EventKind,
        at_ms: u64,
        reported: &'a Reported,
        data: TurnData<'a>,
    ) -> TurnEvent<'a> {
        let run_id = if self.names.has_run() { &*reported.run_id } else { "" };
        TurnEvent { kind, at_ms, names: &self.names, run_id, data }
    }

    fn tell_turn(&self, turn: &Turn, reported: &Reported, tell: Tell<'_>) {
        let mut told = |kind, data| tell(self.event(kind, turn.at_ms, reported, data));
        told(EventKind::Turn, TurnData::Turn { turn });
        for step in &turn.steps {
            told(EventKind::ToolCall, TurnData::call(step));
            if let Some(result) = TurnData::result(step) {
                told(EventKind::ToolResult, result);
            }
        }
        if turn.verdict.kind != VerdictKind::Allow {
            told(EventKind::Verdict, TurnData::Verdict { verdict: &turn.verdict });
        }
        if turn.injections > 0 {
            let texts = turn.injections;
            told(EventKind::InjectionDetected, TurnData::Injection { texts, source: "rules" });
        }
    }

    fn tell_outcome(&self, turn: &Turn, before: RunStatus, reported: &Reported, tell: Tell<'_>) {
        let kind = match (self.outcome, turn.end) {
            (RunStatus::Done, _) => EventKind::RunCompleted,
            (RunStatus::Failed, End::ClientGone) | (RunStatus::Stopped, _) => EventKind::RunCancelled,
            (RunStatus::Failed | RunStatus::Killed, _) => EventKind::RunFailed,
            (RunStatus::Working | RunStatus::Tools | RunStatus::Idle, _) => return,
        };
        // An agent that goes on asking after it was stopped has not ended a second time.
        if self.names.has_run() && (self.outcome == RunStatus::Done || before != self.outcome) {
            let Self { outcome: status, turns, cost_nano_usd, .. } = *self;
            let data = TurnData::Ended { status, turns, cost_nano_usd };
            tell(self.event(kind, turn.at_ms, reported, data));
        }
    }
}

/// How a run stands after a turn.
fn outcome(turn: &Turn) -> RunStatus {
    if turn.verdict.kind == VerdictKind::Kill && turn.verdict.enforced {
        match turn.verdict.signal.as_str() {
            "stopped" => return RunStatus::Stopped,
            // An agent that is denied one call of an MCP server goes on without it.
            signal if turn.end == End::Results && signal != "budget" => {}
            _ => return RunStatus::Killed,
        }
    }
    match turn.end {
        End::Results => RunStatus::Tools,
        End::Error | End::ClientGone => RunStatus::Failed,
        _ if turn.status >= 400 => RunStatus::Failed,
        End::Calls => RunStatus::Tools,
        End::Text | End::Limit | End::Unknown => RunStatus::Done,
    }
}

fn name(names: &mut Vec<String>, new: &str) {
    if !new.is_empty() && names.len() < MOST_NAMED && names.iter().all(|name| name != new) {
        names.push(new.to_owned());
    }
}
