//! Loops: what the run's history and the window of its scope say. Always judged on the bytes that the client sent.

use std::cell::OnceCell;

use sentinel_detect::{
    history::{Reading, Tail},
    prompts::{self, Incoming, IncomingPrompt, Observed},
    signal::{self, StepsPolicy},
    verdict::{Finding, Signal},
    window::Window,
};
use sentinel_text::digest;

use super::Seen;
use crate::{
    bypass::Bypass,
    case::{Case, KeptSteps},
    note::Note,
    shared_data::change_window,
};

/// Adds its findings to the case, and whether the embedding service may know more.
pub fn run(seen: &Seen<'_, '_>, case: &mut Case) {
    let Seen { config, reading, body, trace, host, .. } = seen;
    let Case { policy, scope, arrived, findings, notes, .. } = case;
    let steps = reading.steps();
    // Only a report needs it.
    case.ends_repeated = case.names.is_some() && steps.ends_repeated();
    findings.extend(signal::in_steps(&steps, &policy.steps));
    findings.extend(signal::in_exchanges(&reading.exchanges, &policy.steps));
    findings.extend(signal::in_turns(reading.turns_alone, policy.run_limit));
    if !scope.is_identified() {
        notes.push(Note::Bypassed(Bypass::NoIdentity));
        return;
    }
    let prompt = IncomingPrompt::of(reading);
    let needs_digest = trace.is_some() || prompt.is_some();
    let said = match &reading.tail {
        Tail::Prompt(prompt) => &*prompt.text,
        Tail::Other => "",
    };
    let incoming = Incoming {
        now: *arrived,
        body: if needs_digest { digest(body) } else { 0 },
        messages: reading.messages,
        names_run: scope.names_run(),
        prompt,
        said,
    };
    // Only computed if the window remembers something that the results could change.
    let new_results = OnceCell::new();
    let (kept_finding, kept_steps, observed, spans) =
        change_window(*host, config, scope, *arrived, notes, |window| {
            let (kept_finding, kept_steps) = in_kept_history(window, reading, &policy.steps).unzip();
            let done = || match &kept_steps {
                Some(kept) if !kept.done.is_empty() => kept.done.as_slice(),
                _ => new_results.get_or_init(|| reading.done()).as_slice(),
            };
            let spans = trace.as_ref().map(|trace| trace.of(window, scope, &incoming, done()));
            let observed = prompts::observe(window, &incoming, done, &policy.prompts);
            (kept_finding.flatten(), kept_steps, observed, spans)
        });
    let Observed { finding, entry, is_open } = observed;
    findings.extend(kept_finding);
    findings.extend(finding);
    // A context window that is almost full says nothing about a loop.
    case.is_open = is_open && findings.iter().all(|finding| finding.signal == Signal::MemoryFlush);
    case.entry = entry;
    case.kept_steps = kept_steps;
    let (spans, chat) = spans.unzip();
    (case.spans, case.chat) = (spans.unwrap_or_default(), chat);
}

/// The finding in a history that the provider keeps, and its new results. A history in the body needs no memory.
fn in_kept_history(
    window: &mut Window,
    reading: &Reading<'_>,
    policy: &StepsPolicy,
) -> Option<(Option<Finding>, KeptSteps)> {
    let (steps, done) = window.kept.follow(reading.kept.as_ref()?);
    let is_repeated = steps.ends_repeated();
    Some((signal::in_steps(&steps, policy), KeptSteps { done, is_repeated }))
}
