//! A run as spans: what the agent was asked for, and below it the calls of the model and the tool steps. If the agent sends a run
//! id, the run has its own trace. The trace's id follows from the scope, so all requests of the run find it without memory. Spans
//! hold only names and digests. How they are sent is the host's business.

mod chat;

use sentinel_detect::{
    prompts::Incoming,
    step::{FinishedCall, Kind},
    verdict::{Signal, Verdict},
    window::Window,
};
use sentinel_text::digest_pair;

pub use self::chat::{Chat, Ended, end};
use crate::identity::Scope;

/// Most steps of one request: a wider fan-out is cut.
const MOST: usize = 16;
/// Makes the second half of a trace's id from the first, and the ids of the run's own spans.
const TRACE: u64 = 1;
const RUN: u64 = 2;
/// Makes the id of the span of a call from that of its request.
const CHAT: u64 = 3;

/// One span, as OpenTelemetry has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The trace's first half is the hash of the scope, as it stands in logs.
    pub trace: u128,
    pub id: u64,
    /// `None` for what the agent was asked for.
    pub parent: Option<u64>,
    /// It is a call of another system.
    pub is_call: bool,
    pub name: String,
    /// Milliseconds since 1970.
    pub began: u64,
    pub ended: u64,
    pub is_failure: bool,
    pub attributes: Vec<(&'static str, Value)>,
    /// The request that brought the result.
    pub cause: Option<Cause>,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Text(String),
    Number(u64),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl Span {
    /// The span of a run. `invocation`: how often the run was asked for something so far.
    fn of_run(scope: &Scope, invocation: u32, began: u64, ended: u64) -> Self {
        let run = scope.id();
        Self {
            trace: (u128::from(run) << 64) | u128::from(digest_pair(run, TRACE)),
            id: digest_pair(run, RUN.saturating_add(u64::from(invocation))),
            parent: None,
            is_call: false,
            name: "invoke_agent".to_owned(),
            began,
            ended,
            is_failure: false,
            attributes: vec![("sentinel.scope", scope.label().into())],
            cause: None,
        }
    }

    /// A span below this one.
    fn below(&self, id: u64, name: String) -> Self {
        Self { id, name, parent: Some(self.id), ..self.clone() }
    }

    /// What was decided on the request that brought this step.
    #[must_use]
    pub fn with_verdict(mut self, verdict: Verdict, signal: Option<Signal>) -> Self {
        self.attributes.push(("sentinel.verdict", verdict.label().into()));
        self.attributes.extend(signal.map(|signal| ("sentinel.signal", signal.label().into())));
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
    /// From the header `traceparent` (W3C Trace Context). Returns `None` when that span is not sampled.
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
    /// An SDK sends the request again, so its steps have been told already.
    pub is_retry: bool,
    pub random: u64,
}

impl StepSpans {
    /// The spans of the steps that a request brings, and what the span of its own call will need. `window` must be as it was
    /// before the request changed it.
    pub fn of(
        &self,
        window: &mut Window,
        scope: &Scope,
        incoming: &Incoming,
        done: &[FinishedCall],
    ) -> (Vec<Span>, Chat) {
        if window.invoked == 0 {
            (window.invoked, window.invocations) = (incoming.now, window.invocations.wrapping_add(1));
        }
        let invocation = window.invocations;
        // The agent had the call from the end of the response on. More is not known.
        let is_known = (window.touched..=incoming.now).contains(&window.answered) && window.answered > 0;
        let began = if is_known { window.answered } else { incoming.now };
        let run = Span::of_run(scope, invocation, began, incoming.now);
        // If the same request is sent again, it makes the same spans again.
        let request = digest_pair(scope.id(), incoming.body);
        let steps = if self.is_retry { &[] } else { done };
        let steps = steps.iter().take(MOST).zip(0_u64..);
        let steps = steps.map(|(step, number)| self.step(&run, digest_pair(request, number), step));
        let chat = Chat {
            invocation,
            id: digest_pair(digest_pair(request, CHAT), self.random),
            began: incoming.now,
            cause: self.cause,
        };
        (steps.collect(), chat)
    }

    fn step(&self, run: &Span, id: u64, step: &FinishedCall) -> Span {
        let mut span = run.below(id, format!("execute_tool {}", step.tool));
        span.is_failure = step.kind == Kind::Failure;
        span.cause = self.cause;
        span.attributes.extend([
            ("gen_ai.operation.name", "execute_tool".into()),
            ("gen_ai.tool.name", step.tool.clone().into()),
            ("sentinel.approach", format!("{:016x}", step.approach).into()),
            ("sentinel.outcome", format!("{:016x}", step.outcome).into()),
        ]);
        if step.kind == Kind::Failure {
            span.attributes.push(("error.type", "tool_failure".into()));
        }
        span
    }
}
