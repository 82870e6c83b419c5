//! Reports that a request goes on unchecked, or checked only in part: a counter, and a line of the log. In one Envoy
//! there is at most one line a minute for each cause, because all workers share the time of the last line.

use std::iter;

use strum::VariantArray;

use crate::{
    bypass::Bypass,
    codec,
    host::{Host, Level, Stored},
    line::Line,
    metric::Metric,
    service_outcome::ServiceOutcome,
};

/// Between two lines with one cause (milliseconds).
const PAUSE: u64 = 60_000;

/// A request was not inspected, or only in part.
pub fn bypassed(cause: Bypass, host: &mut impl Host) {
    host.count(cause.into(), 1);
    if let Some(meaning) = of_bypass(cause) {
        tell(&bypass_label(cause), meaning, host);
    }
}

/// A call of the embedding service ended like this.
pub fn called(outcome: ServiceOutcome, host: &mut impl Host) {
    host.count(Metric::ServiceCalls(outcome), 1);
    if let Some(meaning) = of_service(outcome) {
        tell(&service_label(outcome), meaning, host);
    }
}

/// Slots that a host creates before the first request, unless they exist. Two workers that create a key at the same time would both
/// succeed.
pub fn slots() -> impl Iterator<Item = (String, Vec<u8>)> {
    let bypasses = Bypass::VARIANTS.iter().copied();
    let bypasses = bypasses.filter(|cause| of_bypass(*cause).is_some()).map(bypass_label);
    let outcomes = ServiceOutcome::VARIANTS.iter().copied();
    let outcomes = outcomes.filter(|outcome| of_service(*outcome).is_some()).map(service_label);
    bypasses.chain(outcomes).map(|label| slot(&label)).zip(iter::repeat_with(|| codec::encode(&0_u64)))
}

fn bypass_label(cause: Bypass) -> String {
    cause.label().to_owned()
}

fn service_label(outcome: ServiceOutcome) -> String {
    format!("service_{}", outcome.label())
}

fn slot(cause: &str) -> String {
    format!("sentinel/told/{cause}")
}

fn tell(cause: &str, meaning: &str, host: &mut impl Host) {
    let (key, now) = (slot(cause), host.now());
    let Stored { bytes, version } = host.load(&key);
    let last: u64 = codec::decode(&bytes.unwrap_or_default());
    // Another worker may have written a moment later than this request's time. If the clock was set back further, the log must not stay
    // silent for longer.
    let is_fresh = now.abs_diff(last) < PAUSE;
    // If another worker was faster, it writes the line.
    if is_fresh || !host.store(&key, &codec::encode(&now), version) {
        return;
    }
    let line = Line::of("fail_open").text("cause", cause).text("meaning", meaning).end();
    host.log(Level::Warn, &line);
}

/// What a bypass means. Returns `None` when it is no fault: nobody is compared without an identity, and an empty body holds nothing to
/// check.
fn of_bypass(cause: Bypass) -> Option<&'static str> {
    Some(match cause {
        Bypass::NoIdentity | Bypass::Empty => return None,
        Bypass::ContentType => {
            "A request to an inspected path is no JSON, or not in UTF-8. It passed unchecked."
        }
        Bypass::Encoded => {
            "A request's body is compressed in a way that the filter does not read. It passed unchecked."
        }
        Bypass::TooLarge => {
            "A request's body is larger than max_body_bytes, as it came or decoded. It passed unchecked."
        }
        Bypass::Upgrade => {
            "A request on an inspected path asks for another protocol than HTTP. It passed unchecked."
        }
        Bypass::InvalidUtf8 => "A request's body is not UTF-8. It passed unchecked.",
        Bypass::NotJson => "A request's body is not the JSON that it says. It passed unchecked.",
        Bypass::Shape => {
            "A request's body has not the shape of its dialect, or more messages than are read. It passed unchecked."
        }
        Bypass::Contention => {
            "What is remembered of a scope could not be written: other workers were faster each time. This request is \
             not remembered."
        }
        Bypass::NoPlace => "A hint found no place in the request. It passed without it.",
        Bypass::Response => {
            "An answer could not be read: it is compressed, too long or of another type. It passed as it came, and is no \
             evidence."
        }
        Bypass::Budget => {
            "The embedding service did not say within `timeout` what a request may take of its budgets. It passed, and is \
             reported when the service is back."
        }
        Bypass::Uncleaned => {
            "An answer was to be cleaned and could not be, or only in part: it is compressed, too long or of another type. What \
             could not be cleaned passed as it came."
        }
    })
}

/// What an outcome means. Returns `None` when the call went well, or the client itself has gone.
fn of_service(outcome: ServiceOutcome) -> Option<&'static str> {
    Some(match outcome {
        ServiceOutcome::Ok | ServiceOutcome::Cancelled => return None,
        ServiceOutcome::Timeout => {
            "The embedding service did not answer within `timeout`. Requests pass without the semantic check."
        }
        ServiceOutcome::Refused => {
            "The embedding service has more to do than it can. Requests pass without the semantic check."
        }
        ServiceOutcome::Unavailable => {
            "The embedding service, or its Redis, cannot be reached. Requests pass without the semantic check."
        }
        ServiceOutcome::Error => {
            "The embedding service answers with an error. Requests pass without the semantic check."
        }
        ServiceOutcome::Unimplemented => {
            "The embedding service does not know what it is asked: is it the same version? Requests pass without the semantic \
             check."
        }
        ServiceOutcome::Garbage => {
            "What the embedding service answers cannot be read: is it the same version? Requests pass without the \
             semantic check."
        }
        ServiceOutcome::UnknownCluster => {
            "Envoy has no cluster of the name in `cluster`. Requests pass without the semantic check."
        }
    })
}
