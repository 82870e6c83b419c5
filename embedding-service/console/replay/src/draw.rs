//! A judged run as what the console draws.

use maud::Markup;
use sentinel_config::Policy;
use sentinel_console::{
    replay::Row,
    run::{self, End, RunPage, Who, count},
    words::{Finding, Outcome, StatusWord, VerdictWord},
};
use sentinel_detect::verdict::Verdict as Decided;
use sentinel_pipeline::turn::{self, Turn};
use sentinel_replay_core::replay::RequestVerdict;

use crate::judge::JudgedRun;

/// In the list.
pub fn row(told: &JudgedRun, place: u32) -> Row {
    let at = |verdict| {
        let at = told.replayed.sent.iter().position(|sent| sent.judged.verdict == verdict);
        at.map(|at| number(at).saturating_add(1))
    };
    Row {
        place,
        id: told.run.id.clone(),
        source: told.run.source.clone(),
        label: told.run.label.clone(),
        turns: number(told.run.messages.iter().filter(|message| message.is_assistant()).count()),
        finding: turns(told).iter().rev().find_map(|turn| turn.finding.clone()),
        hint_at: at(RequestVerdict::Hint),
        kill_at: at(RequestVerdict::Kill),
    }
}

/// As a story.
pub fn story(told: &JudgedRun, policy: &Policy) -> Markup {
    let turns = turns(told);
    let verdicts =
        |verdict| number(told.replayed.sent.iter().filter(|sent| sent.judged.verdict == verdict).count());
    let finding = turns.iter().rev().find_map(|turn| turn.finding.clone());
    let kills = verdicts(RequestVerdict::Kill);
    // The rest of the recording after the request that was ended.
    let ended_at = told.replayed.sent.last().filter(|_| kills > 0).map(|sent| sent.history);
    let rest = ended_at.and_then(|at| told.run.messages.get(at..)).unwrap_or_default();
    let not_sent = number(rest.iter().filter(|message| message.is_assistant()).count());
    let run = RunPage {
        who: Who { agent: told.run.source.clone(), run: told.run.id.clone(), ..Who::default() },
        status: if kills > 0 { StatusWord::Killed } else { StatusWord::Done },
        finding,
        hints: verdicts(RequestVerdict::Hint),
        kills,
        turn_count: number(turns.len()),
        step_count: turns.iter().map(|turn| number(turn.steps.len())).fold(0, u64::saturating_add),
        counted: count(&turns, &policy.steps, policy.similarity_threshold),
        threshold: policy.similarity_threshold,
        turns,
        ..RunPage::default()
    };
    let after_user = told.replayed.after_user.as_ref().map(|judged| judged.verdict == RequestVerdict::Allow);
    run.replayed(not_sent, after_user)
}

/// The turns of the recording, without the user message that the replay adds at the end.
fn turns(told: &JudgedRun) -> Vec<run::TurnRow> {
    let turns = told.turns.iter().take(told.replayed.sent.len());
    turns
        .zip(1..)
        .map(|(turn, number)| turn.as_ref().map_or_else(|| unread(number), |turn| shown(turn, number)))
        .collect()
}

/// A request that passed without being looked at.
fn unread(number: u64) -> run::TurnRow {
    run::TurnRow { number, ..run::TurnRow::default() }
}

fn shown(turn: &Turn, number: u64) -> run::TurnRow {
    let steps: Vec<run::StepRow> = turn.steps.iter().map(step).collect();
    let verdict = match turn.verdict {
        Decided::Allow => None,
        Decided::Hint => Some(VerdictWord::Hint),
        Decided::Kill => Some(VerdictWord::Kill),
    };
    let finding = verdict.map(|verdict| Finding {
        verdict,
        signal: turn.signal.to_owned(),
        count: u64::from(turn.count),
        tool: turn.tool.clone(),
        enforced: turn.is_enforced,
        outcome: steps.last().map(|step| step.kind),
    });
    run::TurnRow {
        number,
        steps,
        more_steps: u64::from(turn.more_steps),
        finding,
        end: match turn.end {
            turn::End::Text => End::Text,
            turn::End::Calls | turn::End::Results => End::Calls,
            turn::End::Unknown | turn::End::Error | turn::End::ClientGone => End::Unknown,
        },
        injections: u64::from(turn.injections),
        prompt: turn.text.clone(),
        ..run::TurnRow::default()
    }
}

fn step(step: &turn::TurnStep) -> run::StepRow {
    run::StepRow {
        tool: step.tool.clone(),
        // Another tool with the same arguments is another call.
        approach: format!("{} {:016x}", step.tool, step.arguments),
        outcome: format!("{:016x}", step.outcome),
        kind: Outcome::of(step.kind),
        bytes: number(step.bytes),
        arguments: step.texts.arguments.clone(),
        result: step.texts.outcome.clone(),
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
