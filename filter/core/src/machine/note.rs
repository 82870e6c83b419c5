//! What is known of a request, for Envoy's tracer and access logs to show: filter state `wasm.<name>`. No prompt, no
//! name of a person or agent; the model's name is the client's and the provider's, cut to what a name may be.

use super::{Case, Effect};
use crate::{
    dialect::Answer,
    identity::Scope,
    step::shown,
    verdict::{Signal, Verdict},
};

pub fn of_request(case: &Case) -> Vec<Effect> {
    let mut notes = of_verdict(&case.scope, case.judgement.verdict, case.judgement.signal);
    notes.extend(text("sentinel_model", shown(&case.model)));
    notes
}

pub fn of_verdict(scope: &Scope, verdict: Verdict, signal: Option<Signal>) -> Vec<Effect> {
    let scope = scope.is_identified().then(|| Effect::Note("sentinel_scope", scope.label()));
    let signal = signal.map(|signal| Effect::Note("sentinel_signal", signal.label().to_owned()));
    let verdict = Effect::Note("sentinel_verdict", verdict.label().to_owned());
    [Some(verdict), signal, scope].into_iter().flatten().collect()
}

/// The provider's own words: its model, and all tokens that it counted, cached ones too.
pub fn of_answer(answer: &Answer) -> Vec<Effect> {
    let count = |name, count: u64| (count > 0).then(|| Effect::Note(name, count.to_string()));
    let usage = &answer.usage;
    let notes = [
        text("sentinel_response_model", shown(&answer.model)),
        count("sentinel_input_tokens", usage.input.saturating_add(usage.cached)),
        count("sentinel_output_tokens", usage.output),
    ];
    notes.into_iter().flatten().collect()
}

fn text(name: &'static str, value: String) -> Option<Effect> {
    (!value.is_empty()).then_some(Effect::Note(name, value))
}
