//! The tool steps of a run as spans. A run whose id the agent sends has a trace of its own, whose id follows from the
//! scope, so that all its requests find it without memory. Names and digests only; how spans are sent is the host's
//! business.

use sentinel_detect::{
    prompts::Incoming,
    step::{FinishedCall, Kind},
    verdict::{Signal, Verdict},
    window::Window,
};
use sentinel_text::digest_pair;

use crate::identity::Scope;

/// Most steps of one request: a wider fan-out is cut.
const MOST: usize = 16;
/// Makes the second half of a trace's id from the first, and the run's own span.
const TRACE: u64 = 1;
const RUN: u64 = 2;

/// One span, as OpenTelemetry has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The trace's first half is the hash of the scope, as it stands in logs.
    pub trace: u128,
    pub id: u64,
    /// None for the run itself.
    pub parent: Option<u64>,
    pub name: String,
    /// Milliseconds since 1970.
    pub began: u64,
    pub ended: u64,
    pub is_failure: bool,
    pub attributes: Vec<(&'static str, String)>,
    /// The request that brought the result.
    pub cause: Option<Cause>,
}

impl Span {
    /// What was decided on the request that brought this step.
    #[must_use]
    pub fn with_verdict(mut self, verdict: Verdict, signal: Option<Signal>) -> Self {
        if self.parent.is_some() {
            self.attributes.push(("sentinel.verdict", verdict.label().to_owned()));
            self.attributes.extend(signal.map(|signal| ("sentinel.signal", signal.label().to_owned())));
        }
        self
    }
}

/// A span of another trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    pub trace: u128,
    pub id: u64,
}

impl Cause {
    /// From the header `traceparent` (W3C Trace Context); nothing where that span is not kept.
    pub fn of(header: &[u8]) -> Option<Self> {
        let mut parts = std::str::from_utf8(header).ok()?.split('-').skip(1);
        let (trace, id, flags) = (parts.next()?, parts.next()?, parts.next()?);
        let flags = u8::from_str_radix(flags, 16).ok()?;
        let cause =
            Self { trace: u128::from_str_radix(trace, 16).ok()?, id: u64::from_str_radix(id, 16).ok()? };
        (flags & 1 == 1 && cause.trace != 0 && cause.id != 0).then_some(cause)
    }
}

/// Makes the spans of one request.
#[derive(Clone, Copy, Debug)]
pub struct StepSpans {
    /// The request's own span.
    pub cause: Option<Cause>,
}

impl StepSpans {
    /// The spans of the steps that a request brings, and of the run where these are its first. Looks at the window as it
    /// is before the request has touched it.
    pub fn of(
        &self,
        window: &mut Window,
        scope: &Scope,
        incoming: &Incoming,
        done: &[FinishedCall],
    ) -> Vec<Span> {
        of_steps(window, scope, incoming, done, self.cause)
    }
}

fn of_steps(
    window: &mut Window,
    scope: &Scope,
    incoming: &Incoming,
    done: &[FinishedCall],
    cause: Option<Cause>,
) -> Vec<Span> {
    if done.is_empty() {
        return Vec::new();
    }
    let run = scope.id();
    let trace = (u128::from(run) << 64) | u128::from(digest_pair(run, TRACE));
    let run_span = digest_pair(run, RUN);
    // The agent had the call in its hands from the end of the response; nobody has seen more of it.
    let is_known = (window.touched..=incoming.now).contains(&window.answered) && window.answered > 0;
    let began = if is_known { window.answered } else { incoming.now };
    let span = |id, parent, name, began| Span {
        trace,
        id,
        parent,
        name,
        began,
        ended: incoming.now,
        is_failure: false,
        attributes: vec![("sentinel.scope", scope.label())],
        cause: None,
    };
    let mut spans = Vec::new();
    if !window.is_traced {
        window.is_traced = true;
        let began = if window.touched > 0 { window.touched } else { began };
        let mut run = span(run_span, None, "invoke_agent".to_owned(), began);
        run.attributes.push(("gen_ai.operation.name", "invoke_agent".to_owned()));
        spans.push(run);
    }
    // The same request sent again makes the same spans again.
    let request = digest_pair(run, incoming.body);
    for (step, number) in done.iter().take(MOST).zip(0_u64..) {
        let mut span =
            span(digest_pair(request, number), Some(run_span), format!("execute_tool {}", step.tool), began);
        span.is_failure = step.kind == Kind::Failure;
        span.cause = cause;
        span.attributes.extend([
            ("gen_ai.operation.name", "execute_tool".to_owned()),
            ("gen_ai.tool.name", step.tool.clone()),
            ("sentinel.approach", format!("{:016x}", step.approach)),
            ("sentinel.outcome", format!("{:016x}", step.outcome)),
        ]);
        if step.kind == Kind::Failure {
            span.attributes.push(("error.type", "tool_failure".to_owned()));
        }
        spans.push(span);
    }
    spans
}
