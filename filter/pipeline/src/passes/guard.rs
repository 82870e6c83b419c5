//! Guard: prompt injection in the new part of a request, which is the user texts and tool results after the assistant's
//! last turn. Earlier texts were checked when they were new.

use sentinel_detect::{
    injection::{Found, Pattern, Place, scan, scan_json},
    verdict::{Finding, Signal, Verdict},
};
use sentinel_llm_api::conversation::{Conversation, Part, Role};

use crate::{
    case::Case,
    config::{GuardAction, GuardPolicy},
    host::Host,
    metric::Metric,
    record,
};

/// Injections in the new texts of a request: the first of each pattern and place, with its offset in its text.
type Injections = Vec<(Place, Pattern, usize)>;

/// Reads what is new.
fn read(conversation: &Conversation<'_>, policy: GuardPolicy) -> Injections {
    let mut found = Injections::new();
    if policy.user == GuardAction::Off && policy.tool == GuardAction::Off {
        return found;
    }
    let mut add = |place: Place, patterns: &Found| {
        for (pattern, offset) in patterns.iter() {
            if found.iter().all(|(known, other, _)| (*known, *other) != (place, pattern)) {
                found.push((place, pattern, offset));
            }
        }
    };
    let history = &*conversation.history;
    let is_new = |at: &usize| history.role(*at) != Role::Assistant;
    let new: Vec<usize> = (0..history.len()).rev().take_while(is_new).collect();
    for at in new.into_iter().rev().filter(|at| matches!(history.role(*at), Role::User | Role::Tool)) {
        // A content that is one string is read whole, with all of its escapes.
        let whole = history.content(at).filter(|raw| raw.get().starts_with('"'));
        if let (Role::User, Some(raw)) = (history.role(at), whole) {
            if policy.user != GuardAction::Off {
                add(Place::User, &scan_json(raw.get(), Place::User));
            }
            continue;
        }
        // What cannot be read is nobody's text.
        let _ = history.parts(at, &mut |part| match part {
            Part::Text(text) if policy.user != GuardAction::Off => {
                add(Place::User, &scan(&text, Place::User));
            }
            Part::Result(result) if policy.tool != GuardAction::Off => {
                if let Some(content) = result.content {
                    add(Place::Tool, &scan_json(content.get(), Place::Tool));
                }
            }
            _ => {}
        });
    }
    found
}

/// Looks for them and puts them on record; a finding where one is to be blocked.
pub fn run(case: &mut Case, conversation: &Conversation<'_>, host: &mut impl Host) {
    let policy = case.policy.guard;
    for (place, pattern, offset) in read(conversation, policy) {
        host.count(Metric::Injections(pattern, place, case.dialect.label()), 1);
        let action = policy.action(place);
        record::injection(case, &record::Injection { pattern, place, offset, action }, host);
        if action == GuardAction::Block {
            let tool = pattern.label().to_owned();
            case.findings.push(Finding { tool, ..Finding::of(Signal::Injection, Verdict::Kill) });
        }
    }
}
