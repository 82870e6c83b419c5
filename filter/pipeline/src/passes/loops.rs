//! Loops: what the run's history and the window of its scope say. Always judged on the bytes that the client sent.

use sentinel_detect::{
    history::{Reading, Tail},
    prompts::{self, Incoming, IncomingPrompt, Observed},
    signal,
    step::{FinishedCall, Steps},
    window::Window,
};
use sentinel_text::digest;

use crate::{
    case::Case,
    config::Config,
    fail_open,
    host::Host,
    metric::Bypass,
    shared_data::change_window,
    span::{Span, StepSpans},
};

/// Adds what it finds to the case. True where the prompt is new, nothing was found, and the embedding service may know
/// more.
pub fn run(
    config: &Config,
    case: &mut Case,
    reading: &Reading,
    trace: Option<&StepSpans>,
    host: &mut impl Host,
) -> bool {
    let Case { policy, scope, arrived, body, findings, .. } = case;
    findings.extend(signal::in_steps(&reading.steps, &policy.steps));
    findings.extend(signal::in_exchanges(&reading.exchanges, &policy.steps));
    findings.extend(signal::in_turns(reading.turns_alone, policy.run_limit));
    if !scope.is_identified() {
        fail_open::bypassed(Bypass::NoIdentity, host);
        return false;
    }
    let prompt = IncomingPrompt::of(&reading.tail);
    let needs_digest = trace.is_some() || prompt.is_some();
    let said = match &reading.tail {
        Tail::Prompt(prompt) => prompt.text.as_str(),
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
    let (kept_finding, observed, spans) = change_window(host, config, scope, *arrived, |window| {
        let (steps, done) = in_kept_history(window, reading);
        let done = if done.is_empty() { &reading.done } else { &done };
        let spans: Vec<Span> =
            trace.map(|trace| trace.of(window, scope, &incoming, done)).unwrap_or_default();
        let observed = prompts::observe(window, &incoming, done, &policy.prompts);
        (signal::in_steps(&steps, &policy.steps), observed, spans)
    });
    let Observed { finding, entry, is_open } = observed;
    findings.extend(kept_finding);
    findings.extend(finding);
    let is_open = is_open && findings.is_empty();
    case.entry = entry;
    case.spans = spans;
    is_open
}

/// The steps of a history that the provider keeps, and the new ones. A history in the body needs no memory.
fn in_kept_history(window: &mut Window, reading: &Reading) -> (Steps, Vec<FinishedCall>) {
    reading.kept.as_ref().map(|tail| window.kept.follow(tail)).unwrap_or_default()
}
